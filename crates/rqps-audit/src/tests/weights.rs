//! What differences weigh: each rule by a pair of values that it parts, and one that it does not.

use rqps_model::{Compression, CpuSet};

use super::*;

/// What a difference of one setting weighs; `None` where there is none.
fn of_settings(dbms: (Dbms, Dbms), old: &str, new: &str) -> Option<Severity> {
    let list = |text: &str| -> Vec<String> {
        text.split(' ').filter(|s| !s.is_empty()).map(str::to_owned).collect()
    };
    let (old, new) = (list(old), list(new));
    let borrowed = |all: &[String]| -> Vec<String> { all.to_vec() };
    let make = |label, dbms, all: Vec<String>| {
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        system(label, dbms, &all)
    };
    let systems = [make("a", dbms.0, borrowed(&old)), make("b", dbms.1, borrowed(&new))];
    heaviest(&systems)
}

fn heaviest(systems: &[RunSystem]) -> Option<Severity> {
    let audit = Audit::of(systems);
    let all = audit.session.iter().chain(&audit.settings).chain(&audit.harmless);
    all.map(|e| e.severity).max()
}

const MYSQL: (Dbms, Dbms) = (Dbms::Mysql, Dbms::Mysql);
const MARIADB: (Dbms, Dbms) = (Dbms::Mariadb, Dbms::Mariadb);
const POSTGRES: (Dbms, Dbms) = (Dbms::Postgres, Dbms::Postgres);
const SEVERE: Option<Severity> = Some(Severity::Severe);
const NOTABLE: Option<Severity> = Some(Severity::Notable);
const MINOR: Option<Severity> = Some(Severity::Minor);

/// Both sides' DBMS, the settings of the one and of the other, and what their difference weighs.
type Case = ((Dbms, Dbms), &'static str, &'static str, Option<Severity>);

/// Every difference weighs what is wanted, whichever side has which.
fn check(cases: &[Case]) {
    for &(dbms, old, new, wanted) in cases {
        assert_eq!(of_settings(dbms, old, new), wanted, "{old} against {new}");
        assert_eq!(of_settings((dbms.1, dbms.0), new, old), wanted, "{new} against {old}");
    }
}

#[test]
fn durability_of_one_family() {
    check(&[
        // Durability: 0 and 2 both leave the disk to a thread.
        (MYSQL, "innodb_flush_log_at_trx_commit=1", "innodb_flush_log_at_trx_commit=2", SEVERE),
        (MYSQL, "innodb_flush_log_at_trx_commit=0", "innodb_flush_log_at_trx_commit=2", MINOR),
        (MYSQL, "log_bin=ON sync_binlog=0", "log_bin=ON sync_binlog=1", SEVERE),
        (MYSQL, "log_bin=ON sync_binlog=0", "log_bin=ON sync_binlog=1000", NOTABLE),
        // Without a binary log nothing of it is synced, formatted or checked.
        (MYSQL, "log_bin=OFF sync_binlog=0", "log_bin=OFF sync_binlog=1", None),
        (MYSQL, "log_bin=OFF binlog_format=ROW", "log_bin=OFF binlog_format=STATEMENT", None),
        (MYSQL, "log_bin=OFF binlog_checksum=CRC32", "log_bin=OFF binlog_checksum=NONE", None),
        (MYSQL, "log_bin=OFF binlog_row_image=FULL", "log_bin=OFF binlog_row_image=MINIMAL", None),
        (MYSQL, "log_bin=OFF max_binlog_size=1M", "log_bin=OFF max_binlog_size=1G", None),
        (MYSQL, "log_bin=ON binlog_format=ROW", "log_bin=ON binlog_format=STATEMENT", NOTABLE),
        // MariaDB's 3 waits for the disk as 1 does.
        (MARIADB, "innodb_flush_log_at_trx_commit=1", "innodb_flush_log_at_trx_commit=3", MINOR),
        (MARIADB, "innodb_flush_log_at_trx_commit=2", "innodb_flush_log_at_trx_commit=3", SEVERE),
        (MYSQL, "log_bin=OFF", "log_bin=ON", SEVERE),
        (MYSQL, "log_bin=0", "log_bin=OFF", None),
        (MYSQL, "log_bin=ON binlog_checksum=CRC32", "log_bin=ON", NOTABLE),
        (MYSQL, "innodb_doublewrite=ON", "innodb_doublewrite=OFF", SEVERE),
        (MYSQL, "innodb_doublewrite=1", "innodb_doublewrite=DETECT_AND_RECOVER", MINOR),
        (MYSQL, "innodb_doublewrite=DETECT_ONLY", "innodb_doublewrite=OFF", MINOR),
        (MYSQL, "innodb_doublewrite=DETECT_ONLY", "innodb_doublewrite=ON", SEVERE),
        (MYSQL, "innodb_flush_method=fsync", "innodb_flush_method=O_DIRECT", NOTABLE),
        (MYSQL, "innodb_flush_method=fsync", "innodb_flush_method=nosync", SEVERE),
        (MYSQL, "innodb_flush_method=littlesync", "innodb_flush_method=O_DIRECT", SEVERE),
        (MYSQL, "innodb_checksum_algorithm=crc32", "innodb_checksum_algorithm=none", NOTABLE),
        (MYSQL, "innodb_checksum_algorithm=crc32", "innodb_checksum_algorithm=strict_crc32", MINOR),
        (POSTGRES, "fsync=on", "fsync=off", SEVERE),
        (POSTGRES, "synchronous_commit=on", "synchronous_commit=off", SEVERE),
        (POSTGRES, "synchronous_commit=on", "synchronous_commit=local", MINOR),
        (POSTGRES, "full_page_writes=on", "full_page_writes=off", SEVERE),
        (POSTGRES, "data_checksums=off", "data_checksums=on", NOTABLE),
        (POSTGRES, "wal_level=minimal", "wal_level=replica", NOTABLE),
    ]);
}

#[test]
fn sizes_of_one_family() {
    check(&[
        // Sizes: a tenth more is no other cache.
        (MYSQL, "innodb_buffer_pool_size=1073741824", "innodb_buffer_pool_size=4G", SEVERE),
        (MYSQL, "innodb_buffer_pool_size=1000M", "innodb_buffer_pool_size=1100M", MINOR),
        (POSTGRES, "shared_buffers=128MB", "shared_buffers=4GB", SEVERE),
        (
            MYSQL,
            "innodb_redo_log_capacity=1073741824",
            "innodb_redo_log_capacity=8589934592",
            NOTABLE,
        ),
        (
            MYSQL,
            "innodb_redo_log_capacity=1048576000",
            "innodb_redo_log_capacity=1153433600",
            MINOR,
        ),
        (MYSQL, "innodb_page_size=16384", "innodb_page_size=4096", SEVERE),
        (POSTGRES, "block_size=8192", "block_size=16384", SEVERE),
        (POSTGRES, "huge_pages=off", "huge_pages=on", NOTABLE),
        // One server got what both asked for; a version that does not tell is no other.
        (
            POSTGRES,
            "huge_pages=try huge_pages_status=on",
            "huge_pages=try huge_pages_status=off",
            NOTABLE,
        ),
        (POSTGRES, "huge_pages_status=off", "huge_pages_status=off", None),
        (POSTGRES, "huge_pages_status=on", "x=1", None),
        (POSTGRES, "shared_memory_size=143MB", "shared_memory_size=152MB", MINOR),
        (MYSQL, "large_pages=ON", "x=1", NOTABLE),
    ]);
}

#[test]
fn instrumentation_of_one_family() {
    check(&[
        // Instrumentation: on by default in MySQL since 5.6, unknown to nobody.
        (MYSQL, "performance_schema=OFF", "performance_schema=ON", SEVERE),
        (MYSQL, "performance_schema_digests_size=1", "performance_schema_digests_size=2", None),
        (MYSQL, "general_log=ON", "general_log=OFF", SEVERE),
        (MYSQL, "slow_query_log=ON", "log_slow_query=OFF", NOTABLE),
        // Slow ones are few, unless every one is slow; a log that goes nowhere is none.
        (MYSQL, "slow_query_log=ON long_query_time=0.000000", "slow_query_log=OFF", SEVERE),
        (
            MYSQL,
            "slow_query_log=ON long_query_time=0 min_examined_row_limit=1000000",
            "slow_query_log=OFF",
            NOTABLE,
        ),
        (MYSQL, "general_log=ON log_output=NONE", "general_log=OFF", MINOR),
        (
            MYSQL,
            "slow_query_log=OFF long_query_time=0",
            "slow_query_log=OFF long_query_time=10",
            MINOR,
        ),
        (POSTGRES, "log_statement=all", "log_statement=none", SEVERE),
        (POSTGRES, "log_statement=mod", "log_statement=none", SEVERE),
        (POSTGRES, "log_statement=ddl", "log_statement=none", MINOR),
        (POSTGRES, "log_min_duration_statement=0", "log_min_duration_statement=-1", SEVERE),
        (POSTGRES, "log_min_duration_statement=250ms", "log_min_duration_statement=-1", NOTABLE),
        (POSTGRES, "log_min_duration_statement=250", "log_min_duration_statement=500", MINOR),
        (POSTGRES, "log_duration=on", "log_duration=off", SEVERE),
        (
            POSTGRES,
            "log_duration=off log_min_duration_sample=0 log_statement_sample_rate=0.01",
            "log_duration=off log_min_duration_sample=-1 log_statement_sample_rate=1",
            NOTABLE,
        ),
        (
            POSTGRES,
            "shared_preload_libraries=pg_stat_statements",
            "shared_preload_libraries=",
            NOTABLE,
        ),
        (POSTGRES, "track_io_timing=on", "track_io_timing=off", NOTABLE),
    ]);
}

#[test]
fn caches_and_thread_pools_of_one_family() {
    check(&[
        // What answers or hands over in the engine's place.
        (MYSQL, "query_cache_type=ON query_cache_size=1M", "x=1", SEVERE),
        (MYSQL, "query_cache_type=DEMAND query_cache_size=1M", "x=1", MINOR),
        // A cache is off by its type or by its size, and is then like none.
        (
            MYSQL,
            "query_cache_type=ON query_cache_size=0",
            "query_cache_type=OFF query_cache_size=1048576",
            None,
        ),
        (MYSQL, "query_cache_type=ON query_cache_size=0", "x=1", None),
        (
            MYSQL,
            "query_cache_type=ON query_cache_size=0",
            "query_cache_type=ON query_cache_size=67108864",
            SEVERE,
        ),
        (
            MYSQL,
            "query_cache_type=ON query_cache_size=1048576",
            "query_cache_type=ON query_cache_size=67108864",
            MINOR,
        ),
        (
            MYSQL,
            "thread_handling=pool-of-threads",
            "thread_handling=one-thread-per-connection",
            SEVERE,
        ),
        (MYSQL, "innodb_adaptive_hash_index=ON", "innodb_adaptive_hash_index=OFF", NOTABLE),
        (MYSQL, "innodb_encrypt_tables=ON", "x=1", SEVERE),
        (MARIADB, "innodb_encrypt_tables=FORCE", "x=1", SEVERE),
        (MARIADB, "innodb_encrypt_tables=FORCE", "innodb_encrypt_tables=ON", None),
    ]);
}

#[test]
fn planners_of_one_family() {
    check(&[
        // The planner and its processes.
        (
            POSTGRES,
            "max_parallel_workers_per_gather=0",
            "max_parallel_workers_per_gather=2",
            SEVERE,
        ),
        (POSTGRES, "jit=on", "jit=off", NOTABLE),
        (POSTGRES, "x=1", "jit=on", NOTABLE),
        (POSTGRES, "enable_indexscan=off", "enable_indexscan=on", NOTABLE),
        (POSTGRES, "autovacuum=on", "autovacuum=off", SEVERE),
        (POSTGRES, "io_method=worker", "x=1", NOTABLE),
        // Nothing that is measured.
        (MYSQL, "back_log=50", "back_log=512", MINOR),
        (MYSQL, "max_allowed_packet=1M", "max_allowed_packet=64M", MINOR),
        (MYSQL, "made_up=1", "made_up=2", None),
    ]);
}

#[test]
fn sessions_weigh_by_what_is_in_them() {
    let pair = |dbms: (Dbms, Dbms), name: &str, a: &str, b: &str| {
        let mut systems = [system("a", dbms.0, &[]), system("b", dbms.1, &[])];
        systems[0].session.insert(name.to_owned(), a.to_owned());
        systems[1].session.insert(name.to_owned(), b.to_owned());
        heaviest(&systems)
    };
    let across = (Dbms::Mysql, Dbms::Postgres);
    for (dbms, name, a, b, wanted) in [
        (MYSQL, "tls", "", "TLSv1.3 X", SEVERE),
        (across, "tls", "", "TLSv1.3 X", SEVERE),
        (MYSQL, "tls", "TLSv1.3 X", "TLSv1.3 X", None),
        (MYSQL, "tls", "TLSv1.2 Y", "TLSv1.3 X", NOTABLE),
        (MYSQL, "transport", "socket", "tcp", NOTABLE),
        (MYSQL, "transport", "socket", "tls", NOTABLE),
        // What differs of them is told of TLS.
        (MYSQL, "transport", "tcp", "tls", None),
        (MYSQL, "character_set_database", "latin1", "utf8mb4", SEVERE),
        (MYSQL, "character_set_database", "utf8", "utf8mb3", None),
        (MYSQL, "collation_database", "latin1_swedish_ci", "latin1_bin", NOTABLE),
        (MYSQL, "autocommit", "ON", "OFF", SEVERE),
        (MYSQL, "transaction_isolation", "REPEATABLE-READ", "READ-COMMITTED", NOTABLE),
        (MYSQL, "transaction_isolation", "REPEATABLE-READ", "SERIALIZABLE", SEVERE),
        // What each family does by itself.
        (across, "transaction_isolation", "REPEATABLE-READ", "read committed", MINOR),
        (across, "transaction_isolation", "REPEATABLE-READ", "serializable", SEVERE),
        (across, "jit", "off", "on", MINOR),
        (POSTGRES, "lc_collate", "C", "en_US.UTF-8", SEVERE),
        (POSTGRES, "lc_collate", "C", "POSIX", MINOR),
        // One locale in two spellings, and one name with another library behind it.
        (POSTGRES, "lc_collate", "en_US.UTF-8", "en_US.utf8", None),
        (POSTGRES, "lc_collate", "de_DE.ISO8859-15@euro", "de_DE.iso885915@euro", None),
        (POSTGRES, "lc_collate", "en_US.UTF-8", "en_US.utf8 (icu en-US)", SEVERE),
        (POSTGRES, "lc_collate", "en_US.utf8 (icu de-DE)", "en_US.utf8 (icu en-US)", SEVERE),
        (POSTGRES, "synchronous_commit", "on", "off", SEVERE),
        (MYSQL, "auth", "mysql_native_password", "caching_sha2_password", MINOR),
        (MYSQL, "Compression", "OFF", "ON", SEVERE),
    ] {
        assert_eq!(pair(dbms, name, a, b), wanted, "{name}: {a} against {b}");
    }
}

#[test]
fn families_differ_in_a_few_things_only() {
    let across = (Dbms::Mysql, Dbms::Postgres);
    let mysql = "innodb_flush_log_at_trx_commit=2 log_bin=ON sync_binlog=0 \
                 innodb_buffer_pool_size=4G innodb_page_size=16384 performance_schema=ON";
    let postgres = "fsync=on synchronous_commit=off shared_buffers=4GB block_size=8192 jit=on \
                    max_parallel_workers_per_gather=2";
    assert_eq!(of_settings(across, mysql, postgres), None);
    // One waits for the disk, by whichever of its settings.
    assert_eq!(of_settings(across, mysql, "fsync=on synchronous_commit=on"), SEVERE);
    let synced = "innodb_flush_log_at_trx_commit=2 log_bin=ON sync_binlog=1";
    assert_eq!(of_settings(across, synced, "fsync=on synchronous_commit=on"), None);
    assert_eq!(of_settings(across, synced, "fsync=off synchronous_commit=on"), SEVERE);
    // What never reaches the disk is waited for by nobody, whatever a commit asks for.
    let nosync = "innodb_flush_log_at_trx_commit=1 innodb_flush_method=nosync";
    assert_eq!(of_settings(across, nosync, "fsync=off synchronous_commit=on"), None);
    let synced = "innodb_flush_log_at_trx_commit=3";
    let mariadb = (Dbms::Mariadb, Dbms::Postgres);
    assert_eq!(of_settings(mariadb, synced, "fsync=on synchronous_commit=on"), None);
    // Logs of statements are alike by what they take, whatever they are called.
    let quiet = "log_statement=none log_duration=off log_min_duration_statement=-1";
    assert_eq!(of_settings(across, "general_log=OFF slow_query_log=OFF", quiet), None);
    assert_eq!(of_settings(across, "general_log=ON slow_query_log=OFF", quiet), SEVERE);
    assert_eq!(of_settings(across, "general_log=ON", "log_statement=all"), None);
    // PostgreSQL reads through the page cache as well: its own cache is not all.
    let (large, small) = ("innodb_buffer_pool_size=4G", "shared_buffers=1GB");
    assert_eq!(of_settings(across, large, small), NOTABLE);
}

#[test]
fn settings_of_an_engine_weigh_where_the_tables_are_of_it() {
    let settings = |pool: &str, cache: &str, log: &str| {
        [
            format!("innodb_buffer_pool_size={pool}"),
            format!("rocksdb_block_cache_size={cache}"),
            format!("innodb_flush_log_at_trx_commit={log}"),
            format!("rocksdb_flush_log_at_trx_commit={log}"),
        ]
    };
    let make = |label, all: [String; 4], engine| {
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut made = system(label, Dbms::Mariadb, &all);
        made.spec.engine = engine;
        made
    };
    let innodb = make("innodb", settings("4G", "512M", "2"), Engine::Innodb);
    let rocksdb = make("rocksdb", settings("64M", "3G", "2"), Engine::Rocksdb);
    assert_eq!(heaviest(&[innodb.clone(), rocksdb]), MINOR);
    let synced = make("rocksdb", settings("64M", "3G", "1"), Engine::Rocksdb);
    assert_eq!(heaviest(&[innodb, synced]), SEVERE);
    let without_log = |disabled: &str| {
        let mut made = make("log", settings("64M", "3G", "1"), Engine::Rocksdb);
        made.settings.insert("rocksdb_write_disable_wal".to_owned(), disabled.to_owned());
        made
    };
    assert_eq!(heaviest(&[without_log("ON"), without_log("OFF")]), SEVERE);
    let small = make("small", settings("4G", "1G", "2"), Engine::Rocksdb);
    let large = make("large", settings("4G", "3G", "2"), Engine::Rocksdb);
    assert_eq!(heaviest(&[small, large]), SEVERE);
}

#[test]
fn facts_that_no_setting_tells() {
    let pair = || [system("a", Dbms::Mysql, &[]), system("b", Dbms::Mysql, &[])];
    assert_eq!(heaviest(&pair()), None);
    let mut compressed = pair();
    compressed[1].spec.variant.compression = Compression::Row;
    assert_eq!(heaviest(&compressed), SEVERE);
    compressed[1].spec.engine = Engine::Rocksdb;
    assert_eq!(heaviest(&compressed), NOTABLE);
    let mut limited = pair();
    limited[0].spec.variant.limits.cpus = Some("0".parse::<CpuSet>().unwrap());
    assert_eq!(heaviest(&limited), SEVERE);
    let mut limited = pair();
    limited[0].spec.variant.limits.memory_bytes = Some(1 << 30);
    assert_eq!(heaviest(&limited), NOTABLE);
    let mut malloc = pair();
    for (idx, text) in ["glibc 2.36", "jemalloc 5.3.0"].into_iter().enumerate() {
        malloc[idx].process.insert("malloc".to_owned(), text.to_owned());
    }
    assert_eq!(heaviest(&malloc), NOTABLE);
    malloc[1].process.insert("malloc".to_owned(), "glibc 2.41".to_owned());
    assert_eq!(heaviest(&malloc), None);
}

#[test]
fn severe_findings_name_values_and_remedy() {
    let mut systems = [
        system("old", Dbms::Mysql, &["log_bin=ON", "sync_binlog=0", "back_log=1"]),
        system("new", Dbms::Mysql, &["log_bin=ON", "sync_binlog=1", "back_log=2"]),
    ];
    systems[1].session.insert("tls".to_owned(), "TLSv1.3 X".to_owned());
    systems[0].build.insert("assertions".to_owned(), "on".to_owned());
    let told: Vec<String> =
        severe(&systems).iter().map(|f| format!("{} | {}", f.text, f.remedy)).collect();
    expect![[r#"
        The benchmark's sessions differ in tls: no TLS on old, TLSv1.3 X on new. Encryption costs CPU for every packet, so large results cost most; unnoticed TLS looks like a regression. | give all systems the same `transport`
        The systems differ in sync_binlog: 0 on old, 1 on new. 1 syncs the binary log at each group commit; 1 is the default of MySQL since 5.7, 0 before and in MariaDB. | give all systems the same sync_binlog in `options`
        old is built with assertions, which check the server all the time: its QPS say nothing about a release build. | measure release builds with the same optimisation"#]]
    .assert_eq(&told.join("\n"));
    // A single system has nobody to differ from; its build says nothing all the same.
    assert_eq!(severe(&systems[..1]).len(), 1);
    assert_eq!(severe(&systems[1..]).len(), 0);
}
