//! What becomes of options of a user's file.

use expect_test::expect;

use super::*;
use crate::options::describe_changes;

fn settings(text: &str) -> Vec<Setting> {
    let lines = (1..).zip(text.lines()).map(|(line, text)| {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (text.trim(), None),
        };
        let written = Written::File { path: "my.cnf".into(), line };
        Setting { name: name.to_owned(), value, written }
    });
    lines.collect()
}

fn classified(dbms: Dbms, text: &str) -> String {
    let Clean { settings, changes } = classify(dbms, &settings(text)).unwrap();
    let mut out = String::new();
    for (name, value) in settings {
        out += &value.map_or(format!("{name}\n"), |value| format!("{name}={value}\n"));
    }
    out += "--\n";
    for sentence in describe_changes(&changes) {
        out += &format!("{sentence}\n");
    }
    out
}

fn refused(dbms: Dbms, text: &str) -> String {
    classify(dbms, &settings(text)).unwrap_err().to_string()
}

#[test]
fn files_come_below_the_data_directory() {
    expect![[r#"
        log_bin=mysql-bin
        log_bin_index=y.index
        slow_query_log_file=log
        general_log_file=general_log_file-log
        relay_log=relay-bin
        skip_log_bin
        log_bin
        innodb_data_file_path=ibdata1:12M;ibdata2:50M:autoextend
        --
        my.cnf:1: log-bin = /var/log/mysql/mysql-bin became mysql-bin in the data directory
        my.cnf:2: log_bin_index = /x/y.index became y.index in the data directory
        my.cnf:3: slow_query_log_file = /x/log became log in the data directory
        my.cnf:4: general_log_file = /y/log became general_log_file-log in the data directory
        my.cnf:9: innodb_log_group_home_dir = /prod/redo is left out: the server uses its data directory
        my.cnf:11: innodb_data_file_path = ibdata1:12M;/prod/ibdata2:50M:autoextend became ibdata1:12M;ibdata2:50M:autoextend in the data directory
    "#]].assert_eq(&classified(
        Dbms::Mysql,
        "log-bin = /var/log/mysql/mysql-bin\nlog_bin_index=/x/y.index\nslow_query_log_file=/x/log\n\
         general_log_file=/y/log\nrelay-log = relay-bin\nskip-log-bin\nlog_bin\n\
         innodb_data_home_dir = \ninnodb_log_group_home_dir=/prod/redo\ninnodb_undo_directory = ./\n\
         innodb_data_file_path = ibdata1:12M;/prod/ibdata2:50M:autoextend\n",
    ));
}

#[test]
fn what_reaches_out_is_excluded_and_told_once_for_each_reason() {
    expect![[r#"
        innodb_buffer_pool_size=128M
        loose_event_scheduler=OFF
        --
        my.cnf: left out wsrep_on (line 1), wsrep_provider (line 2), wsrep_cluster_address (line 3): a cluster: rqps's server stands alone
        my.cnf: rqps sets port, socket itself
        my.cnf: left out init_file (line 8): statements of the user's tables: rqps's server has none of them
    "#]].assert_eq(&classified(
        Dbms::Mariadb,
        "wsrep_on=ON\nwsrep_provider = /usr/lib/galera/libgalera_smm.so\nwsrep_cluster_address=gcomm://10.0.0.1\n\
         innodb_buffer_pool_size = 128M\nport=3306\nsocket=/run/mysqld/mysqld.sock\nevent_scheduler=OFF\n\
         init_file=/etc/mysql/init.sql\n",
    ));
    expect![[r#"
        shared_buffers=128MB
        shared_preload_libraries=pg_stat_statements
        --
        my.cnf: left out archive_mode (line 1), archive_command (line 2): archiving: rqps's server runs no commands and keeps its log to itself
        my.cnf: left out external_pid_file (line 4): rqps starts, watches and stops the server itself
        my.cnf: rqps sets data_directory, port, lc_messages itself
        my.cnf: left out cron.host (line 9): extensions that reach out, run jobs or are not loaded
        my.cnf:8: shared_preload_libraries loads no pg_cron: only extensions that stay within the server are loaded
    "#]].assert_eq(&classified(
        Dbms::Postgres,
        "archive_mode = on\narchive_command = cp %p /archive/%f\nshared_buffers = 128MB\n\
         external_pid_file=/run/15.pid\ndata_directory=/prod\nport=5432\nlc_messages=en_US.UTF-8\n\
         shared_preload_libraries = pg_stat_statements, pg_cron\ncron.host = db1\narchive_library=\n",
    ));
}

#[test]
fn what_may_lead_out_and_is_not_known_is_refused() {
    expect!["my.cnf:2: new_backup_hook = /usr/bin/rsync: rqps does not know what it does, and the value looks like a path; leave it out"].assert_eq(&refused(Dbms::Mysql, "innodb_io_capacity=1\nnew_backup_hook = /usr/bin/rsync"));
    expect!["my.cnf:1: innodb_data_home = /prod: a server may take it for innodb_data_home_dir; write the whole name of the option"].assert_eq(&refused(Dbms::Mysql, "innodb_data_home = /prod"));
    expect!["my.cnf:1: innodb_data_file_path = /dev/sdb:3Gnewraw: it names a raw device, which the server would write to; name files, or leave it out"].assert_eq(&refused(Dbms::Mysql, "innodb_data_file_path = /dev/sdb:3Gnewraw"));
    expect![
        "my.cnf:1: skip-grant-tables: every account of this host could use the server; leave it out"
    ]
    .assert_eq(&refused(Dbms::Mysql, "skip-grant-tables"));
    expect!["my.cnf:1: new_hook = rsync -a x y: rqps does not know what it does, and the value looks like a command; leave it out"].assert_eq(&refused(Dbms::Postgres, "new_hook = rsync -a x y"));
    expect![[r#"
        new_size=1G
        loose_x_y=ON
        --
    "#]]
    .assert_eq(&classified(Dbms::Mysql, "new_size=1G\nskip-grant-tables=0\nloose-x_y = ON"));
}

#[test]
fn a_negated_option_carries_no_path() {
    expect![[r#"
        skip_loose_general_log_file=x
        skip_log_bin=y
        loose_disable_slow_query_log_file=z
        skip_log_bin=0
        skip_relay_log
        loose_skip_event_scheduler
        --
        my.cnf:1: skip_loose_general_log_file = /prod/x became x in the data directory
        my.cnf:2: skip_log_bin = /prod/y became y in the data directory
        my.cnf:3: loose_disable_slow_query_log_file = /prod/z became z in the data directory
        my.cnf:7: skip_innodb_undo_directory = /prod/x is left out: the server uses its data directory
    "#]].assert_eq(&classified(
        Dbms::Mysql,
        "skip_loose_general_log_file = /prod/x\nskip_log_bin = /prod/y\n\
         loose_disable_slow_query_log_file=/prod/z\nskip-log-bin=0\nskip-relay-log\n\
         skip_event_scheduler = /prod/x\nskip_innodb_undo_directory=/prod/x\n",
    ));
}

#[test]
fn an_option_behind_a_point_is_refused_and_a_foreign_one_excluded() {
    expect!["my.cnf:2: x.skip-grant-tables: a server takes it for skip_grant_tables; write the option without the prefix before the point"].assert_eq(&refused(Dbms::Mariadb, "a=1\nx.skip-grant-tables"));
    for text in ["x.feedback=ON", "loose-x.plugin_load_add = a.so", "x.loose-init_file = a"] {
        let error = refused(Dbms::Mariadb, text);
        assert!(error.contains("without the prefix before the point"), "{error}");
    }
    // A part of an option is one in a plan alone.
    let text = "rocksdb_default_cf_options.skip-grant-tables = 1";
    assert!(refused(Dbms::Mariadb, text).contains("a server takes it for skip_grant_tables"));
    let mut part = settings(text);
    part[0].written = Written::Plan;
    assert_eq!(classify(Dbms::Mariadb, &part).unwrap().settings.len(), 1);
    expect![[r#"
        hot.key_buffer_size=1M
        hot.key_cache_block_size=1024
        --
        my.cnf: left out validate_password.policy (line 3): rqps connects with an account and a password of its own
        my.cnf: left out my_component.target (line 4): no component that rqps loads has such a variable
    "#]].assert_eq(&classified(
        Dbms::Mysql,
        "hot.key_buffer_size = 1M\nhot.key-cache-block-size=1024\nvalidate_password.policy=LOW\n\
         my_component.target = https://user:secret@host\n",
    ));
}

#[test]
fn a_placeholder_that_may_lead_out_is_excluded_without_its_value() {
    let text = "my.app_setting = https://user:secret@x\nmy.level = 3\nmy.dir = /x\n";
    let clean = classify(Dbms::Postgres, &settings(text)).unwrap();
    assert!(!format!("{clean:?}").contains("secret"), "{clean:?}");
    expect![[r#"
        my.level=3
        --
        my.cnf: left out my.app_setting (line 1), my.dir (line 3): no extension that rqps loads has it, and the value may lead out of the server
    "#]].assert_eq(&classified(Dbms::Postgres, text));
    assert!(refused(Dbms::Postgres, "bloom.dir = /x").contains("looks like a path"));
}

#[test]
fn off_is_kept_where_a_version_has_the_option_on() {
    expect![[r#"
        loose_event_scheduler=OFF
        loose_event_scheduler=DISABLED
        loose_skip_event_scheduler
        loose_feedback=OFF
        loose_feedback_url=
        loose_unix_socket=0
        loose_ft_stopword_file=
        loose_skip_federated
        --
        my.cnf: left out skip_event_scheduler (line 11), skip_loose_event_scheduler (line 12), event_scheduler (line 13): statements of the user's tables: rqps's server has none of them
        my.cnf: left out sha256_password_auto_generate_rsa_keys (line 14): rqps's server makes the keys that logins over TCP need
    "#]].assert_eq(&classified(
        Dbms::Mysql,
        "event_scheduler = OFF\nevent-scheduler=DISABLED\nskip-event-scheduler\nloose-feedback=OFF\n\
         feedback_url=\nunix_socket=0\nft_stopword_file =\nskip_federated\ninnodb_force_recovery=0\n\
         read_only=OFF\nskip_event_scheduler=0\nskip_loose_event_scheduler\nevent_scheduler=ON\n\
         sha256_password_auto_generate_rsa_keys=OFF\n",
    ));
    let error = refused(Dbms::Mysql, "plugin_innodb_adaptive_hash_index = OFF");
    assert!(error.contains("write it without plugin_"), "{error}");
    expect![[r#"
        --
        my.cnf: left out search_path (line 1): rqps's tables lie in the schema public
    "#]]
    .assert_eq(&classified(Dbms::Postgres, "search_path =\narchive_mode = off"));
}

#[test]
fn a_path_in_a_known_option_is_called_so() {
    expect!["my.cnf:1: sync_binlog = /x: the value looks like a path, which the option does not take; write another value, or leave it out"].assert_eq(&refused(Dbms::Mysql, "sync_binlog = /x"));
    expect!["my.cnf:1: work_mem = /x: the value looks like a path, which the option does not take; write another value, or leave it out"].assert_eq(&refused(Dbms::Postgres, "work_mem = /x"));
}

#[test]
fn data_files_have_names_and_sizes_alone() {
    let error =
        refused(Dbms::Mysql, "innodb_data_file_path = a:/../../../../out/ibx:12M:autoextend");
    assert!(error.contains("has no size"), "{error}");
    let kept = classified(Dbms::Mysql, "innodb_data_file_path = ibdata1:12M:autoextend:max:1G");
    assert!(kept.starts_with("innodb_data_file_path=ibdata1:12M:autoextend:max:1G"), "{kept}");
}

#[test]
fn raw_parts_of_rocksdbs_options_name_no_paths() {
    let options = "{filter_policy=bloomfilter:10:false;whole_key_filtering=1}";
    let text = format!(
        "rocksdb_default_cf_options = write_buffer_size=64m;block_based_table_factory={options}"
    );
    assert!(classified(Dbms::Mariadb, &text).contains("bloomfilter:10:false"));
    let error = refused(Dbms::Mariadb, "rocksdb_override_cf_options = cf1={cf_paths=/prod}");
    assert!(error.contains("looks like a path"), "{error}");
}

#[test]
fn libraries_are_told_apart_as_the_servers_do() {
    let left = |dbms, text: &str| classified(dbms, text).lines().next().unwrap().to_owned();
    let of = |list: &str| left(Dbms::Mysql, &format!("plugin_load = {list}"));
    assert_eq!(
        of("ha_archive.so;x=thread_pool.so"),
        "plugin_load=\"ha_archive.so;x=thread_pool.so\"".replace('"', "")
    );
    assert_eq!(of("libmemcached.so:x=ha_archive.so"), "plugin_load=x=ha_archive.so");
    assert_eq!(of("/prod/ha_archive.so"), "--");
    assert_eq!(left(Dbms::Postgres, "shared_preload_libraries = /prod/x=auto_explain"), "--");
    let kept =
        left(Dbms::Postgres, "shared_preload_libraries = '$libdir/auto_explain', \"pg_prewarm\"");
    assert!(kept.contains("auto_explain") && kept.contains("pg_prewarm"), "{kept}");
}
