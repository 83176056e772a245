//! Differences between systems made by hand.

use expect_test::expect;
use rqps_model::{
    Dbms, Engine, Label, RunSystem, SettingOrigin, SettingSource, SystemSource, SystemSpec,
};

use super::*;

mod weights;

/// A system with settings as `name=value`, or `name=value!` where the configuration sets it.
pub(super) fn system(label: &str, dbms: Dbms, settings: &[&str]) -> RunSystem {
    let source = SystemSource::Builtin;
    let mut system = RunSystem {
        session: BTreeMap::from([("transport".to_owned(), "socket".to_owned())]),
        ..RunSystem::new(SystemSpec::new(Label(label.to_owned()), dbms, source))
    };
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap();
        let (value, source) = match value.strip_suffix('!') {
            Some(value) => (value, SettingSource::Config),
            None => (value, SettingSource::Default),
        };
        system.settings.insert(name.to_owned(), value.to_owned());
        system.origins.insert(name.to_owned(), SettingOrigin { source, default: None });
    }
    system
}

/// One line per difference.
fn told(differences: &[Explained]) -> String {
    let value = |v: &Option<Shown>| match v {
        Some(shown) if shown.is_implied => format!("({})", shown.text),
        Some(shown) => shown.text.clone(),
        None => "-".to_owned(),
    };
    let line = |e: &Explained| {
        let values: Vec<String> = e.values.iter().map(value).collect();
        format!("{}: {} [{}]\n", e.name, values.join(" / "), e.choice.key())
    };
    differences.iter().map(line).collect()
}

#[test]
fn names_units_and_what_is_missing_are_seen_through() {
    let old = [
        "tx_isolation=REPEATABLE-READ",
        "innodb_log_file_size=536870912!",
        "innodb_log_files_in_group=2",
        "innodb_flush_method=",
        "innodb_buffer_pool_instances=8",
        "log_bin=ON!",
        "sync_binlog=0!",
        "query_cache_type=OFF!",
        "innodb_purge_threads=1!",
        "innodb_change_buffering=none!",
        "port=3306",
        "performance_schema_digests_size=-1",
        "back_log=152",
        "made_up=1",
    ];
    let new = [
        "transaction_isolation=REPEATABLE-READ",
        "innodb_redo_log_capacity=1073741824!",
        "innodb_log_file_size=50331648",
        "innodb_log_files_in_group=2",
        "innodb_flush_method=O_DIRECT",
        "log_bin=ON!",
        "sync_binlog=1",
        "innodb_purge_threads=4!",
        "port=3307",
        "performance_schema_digests_size=0",
        "back_log=512",
        "made_up=2",
    ];
    let systems = [system("old", Dbms::Mysql, &old), system("new", Dbms::Mysql, &new)];
    let audit = Audit::of(&systems);
    // The redo logs are of one size, the query cache is off or gone: no difference.
    expect![[r#"
        sync_binlog: 0 / 1 [mixed]
        innodb_buffer_pool_instances: 8 / (1) [defaults]
        innodb_flush_method: fsync / O_DIRECT [defaults]
        innodb_purge_threads: 1 / 4 [configuration]
    "#]]
    .assert_eq(&told(&audit.settings));
    assert_eq!(told(&audit.harmless), "back_log: 152 / 512 [defaults]\n");
    assert!(audit.session.is_empty());
    assert!(audit.known_names.contains("back_log") && !audit.known_names.contains("made_up"));
    let unknown = crate::Differences::between(&systems);
    let unknown: Vec<String> = unknown.unknown().map(|d| d.name.clone()).collect();
    assert_eq!(unknown, ["made_up"]);
}

#[test]
fn what_the_plan_asks_for_is_on_purpose() {
    let mut systems = [
        system("a", Dbms::Postgres, &["io_method=worker!", "shared_buffers=4GB!"]),
        system("b", Dbms::Postgres, &["io_method=sync!", "shared_buffers=4294967296!"]),
    ];
    systems[1].spec.options.insert("io_method".to_owned(), "sync".to_owned());
    assert_eq!(told(&Audit::of(&systems).settings), "io_method: worker / sync [plan]\n");
    systems[1].spec.options.clear();
    systems[1].spec.config = "mine.conf".to_owned();
    assert_eq!(told(&Audit::of(&systems).settings), "io_method: worker / sync [plan]\n");
    let older = system("c", Dbms::Postgres, &["shared_buffers=4GB!"]);
    let two = [older, systems[0].clone()];
    // It had no such setting, and read like this.
    assert_eq!(told(&Audit::of(&two).settings), "io_method: (sync) / worker [configuration]\n");
}

#[test]
fn families_have_counterparts_and_are_not_compared_otherwise() {
    let systems = [
        system("my", Dbms::Mysql, &["innodb_buffer_pool_size=4294967296!", "sync_binlog=0!"]),
        system("pg", Dbms::Postgres, &["shared_buffers=2GB!", "fsync=on"]),
    ];
    let audit = Audit::of(&systems);
    assert_eq!(
        told(&audit.settings),
        "innodb_buffer_pool_size / shared_buffers: 4G / 2G [configuration]\n"
    );
}

#[test]
fn sessions_are_compared_fact_by_fact() {
    let mut systems = [system("a", Dbms::Mysql, &[]), system("b", Dbms::Mysql, &[])];
    for (idx, facts) in [
        [("tls", ""), ("character_set_client", "latin1"), ("auth", "mysql_native_password")],
        [("tls", "TLSv1.3 X"), ("character_set_client", "utf8mb4"), ("auth", "caching_sha2")],
    ]
    .into_iter()
    .enumerate()
    {
        for (name, value) in facts {
            systems[idx].session.insert(name.to_owned(), value.to_owned());
        }
        for part in ["connection", "results"] {
            systems[idx].session.insert(format!("character_set_{part}"), "latin1".to_owned());
        }
    }
    systems[1].session.insert("only_here".to_owned(), "1".to_owned());
    systems[1].session.insert("Ssl_cipher".to_owned(), "X".to_owned());
    let audit = Audit::of(&systems);
    expect![[r"
        tls: no TLS / TLSv1.3 X [mixed]
        character_set: latin1 / client utf8mb4, connection latin1, results latin1 [mixed]
    "]]
    .assert_eq(&told(&audit.session));
    // Logging in is over when measuring begins.
    assert_eq!(told(&audit.harmless), "auth: mysql_native_password / caching_sha2 [mixed]\n");
    // A system that never started has no facts, and makes no difference.
    systems[1].session.clear();
    assert!(Audit::of(&systems).session.is_empty());
}

#[test]
fn a_part_of_what_is_off_makes_no_difference() {
    let hash = |on: &str, parts: &str| {
        let of = format!("innodb_adaptive_hash_index={on}");
        system("x", Dbms::Mysql, &[&of, &format!("innodb_adaptive_hash_index_parts={parts}")])
    };
    assert!(Audit::of(&[hash("OFF", "8"), hash("OFF", "1")]).settings.is_empty());
    assert_eq!(Audit::of(&[hash("ON", "8"), hash("ON", "1")]).settings.len(), 1);
    // What is not there is off.
    let parts =
        |n: &str| system("x", Dbms::Mysql, &[&format!("innodb_adaptive_hash_index_parts={n}")]);
    assert!(Audit::of(&[parts("8"), parts("1")]).settings.is_empty());
    assert!(Audit::of(&[parts("8"), hash("OFF", "1")]).settings.is_empty());
}

/// Two systems as an audit shows them: builds, sessions, settings.
fn pair() -> [RunSystem; 2] {
    let old = ["sync_binlog=0!", "innodb_io_capacity=200", "innodb_io_capacity_max=2000"];
    let new = ["sync_binlog=0!", "innodb_io_capacity=10000", "innodb_io_capacity_max=20000", "x=1"];
    let mut pair = [system("my56", Dbms::Mysql, &old), system("my84", Dbms::Mysql, &new)];
    pair[0].version = Some("5.6.14".parse().unwrap());
    pair[0].version_text = "5.6.14-log".to_owned();
    for (name, value) in [("source", "official"), ("compiled", "tarball"), ("debug", "off")] {
        pair[0].build.insert(name.to_owned(), value.to_owned());
        pair[1].build.insert(name.to_owned(), value.to_owned());
    }
    pair[1].build.insert("source".to_owned(), "debian".to_owned());
    pair[1].build.insert("engine_plugins".to_owned(), "rocksdb".to_owned());
    for (idx, tls) in ["", "TLSv1.3 X"].into_iter().enumerate() {
        pair[idx].session.insert("tls".to_owned(), tls.to_owned());
    }
    pair
}

#[test]
fn several_systems_as_text() {
    expect![[r#"
        ! Severe: The benchmark's sessions differ in tls: no TLS on my56, TLSv1.3 X on my84. Encryption
          costs CPU for every packet, so large results cost most; unnoticed TLS looks like a regression.
        ! The MySQL servers come from different sources, so not only their versions differ: debian
          (tarball): my84; official (tarball): my56.

        my56  MySQL 5.6.14
          source    official; tarball
          version   5.6.14-log
          build     debug off
          session   socket; no TLS
          settings  1 configured, 2 defaults

        my84  MySQL
          source    debian; tarball
          build     debug off
          engines   as plugins: rocksdb
          session   socket; TLSv1.3 X
          settings  1 configured, 3 defaults

        Differences, in this order: my56 / my84

        Unplanned settings that can change QPS: none

        Different defaults that can change QPS: 2 (2 notable)
          innodb_io_capacity: 200 / 10000
          innodb_io_capacity_max: 2000 / 20000
              the pace of write-back: too low and redo fills up, too high and it takes the disk from the
              clients (notable: writes; defaults)

        Other settings that differ: 1 that not all systems have. --all lists them.
    "#]].assert_eq(&sheet::text(&pair(), sheet::Extent::Short));
}

#[test]
fn a_packagers_release_is_shown() {
    let mut one = pair()[..1].to_vec();
    one[0].build.insert("packaged".to_owned(), "Percona Server 8.0.20-11".to_owned());
    let text = sheet::text(&one, sheet::Extent::Short);
    assert!(text.contains("source    official; Percona Server 8.0.20-11; tarball"), "{text}");
}

#[test]
fn one_system_as_text() {
    let mut one = pair()[..1].to_vec();
    let default = Some("1".to_owned());
    let origin = SettingOrigin { source: SettingSource::Config, default };
    one[0].origins.insert("sync_binlog".to_owned(), origin);
    expect![[r#"
        my56  MySQL 5.6.14
          source    official; tarball
          version   5.6.14-log
          build     debug off
          session   socket; no TLS
          settings  1 configured, 2 defaults
            sync_binlog = 0 (default 1)
    "#]]
    .assert_eq(&sheet::text(&one, sheet::Extent::Short));
}

#[test]
fn programs_get_everything() {
    let value: serde_json::Value = serde_json::from_str(&sheet::json(&pair())).unwrap();
    assert_eq!(value["warnings"].as_array().unwrap().len(), 2);
    assert_eq!(value["systems"][0]["settings"]["sync_binlog"]["source"], "config");
    let settings = value["differences"]["settings"].as_array().unwrap();
    let names: Vec<&str> = settings.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["innodb_io_capacity", "innodb_io_capacity_max"]);
    assert_eq!(settings[0]["values"], serde_json::json!(["200", "10000"]));
    assert_eq!(value["differences"]["not_everywhere"][0]["name"], "x");
}

/// A difference in what a profile sets must never pass for an unknown setting.
#[test]
fn every_option_of_a_profile_is_known() {
    let profiles = [
        include_str!("../../rqps-server/src/profiles/small.toml"),
        include_str!("../../rqps-server/src/profiles/medium.toml"),
        include_str!("../../rqps-server/src/profiles/io-bound.toml"),
    ];
    let mut unknown = BTreeSet::new();
    for profile in profiles {
        let profile: toml::Table = toml::from_str(profile).unwrap();
        for option in profile["option"].as_array().unwrap() {
            let name = option["name"].as_str().unwrap();
            // A part of an option: `rocksdb_default_cf_options.compression`.
            let name = name.split_once('.').map_or(name, |(whole, _)| whole);
            for dbms in Dbms::ALL.iter().filter(|dbms| option.get(dbms.to_string()).is_some()) {
                let is_known = is_hidden(name)
                    || known::list().find(*dbms, name).is_some()
                    || known::list().session(name).is_some()
                    || MADE.iter().any(|(_, parts)| parts.contains(&name));
                if !is_known {
                    unknown.insert(format!("{dbms} {name}"));
                }
            }
        }
    }
    assert_eq!(unknown, BTreeSet::new());
}
