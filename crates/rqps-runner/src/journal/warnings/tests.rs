//! What a system was and what it is when it is started again.

use rqps_model::{Dbms, SystemSource, SystemSpec};

use super::*;

fn system(version: &str, settings: &[(&str, &str)]) -> RunSystem {
    let pairs = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let spec = SystemSpec::new(Label("a".to_owned()), Dbms::Mysql, SystemSource::Builtin);
    RunSystem {
        version_text: version.to_owned(),
        settings: pairs.collect(),
        ..RunSystem::new(spec)
    }
}

#[test]
fn another_version_or_program_is_no_part_of_the_same_run() {
    let was = system("8.0.33", &[]);
    assert_eq!(other_program(&was, &was), None);
    let newer = system("8.0.34", &[]);
    assert_eq!(other_program(&was, &newer).as_deref(), Some("was 8.0.33 and is now 8.0.34"));
    let built = |sum: &str| {
        let mut system = was.clone();
        system.build.insert("program_sha256".to_owned(), sum.to_owned());
        system
    };
    let why = other_program(&built("aa"), &built("bb")).unwrap();
    assert_eq!(why, "is now a different program (SHA-256 aa before, bb now)");
    let from = |origin: &str| RunSystem { origin: origin.to_owned(), ..was.clone() };
    let why = other_program(&from("a:zip sha256:aa"), &from("a:zip sha256:bb")).unwrap();
    assert_eq!(why, "came from a:zip sha256:aa and now comes from a:zip sha256:bb");
    // The same one with a log.
    assert_eq!(other_program(&was, &system("8.0.33-log", &[])), None);
}

#[test]
fn missing_counters_are_told_once_for_each_system() {
    let warning = |scope, kind| Warning { at_unix_ms: None, scope, kind };
    let reason = "connect: refused".to_owned();
    let warnings = [
        warning(Scope::System(1), WarningKind::CountersMissing { reason }),
        warning(Scope::System(2), WarningKind::NewTables),
        warning(Scope::Run, WarningKind::RunResumed { last: None }),
    ];
    assert_eq!(
        [0, 1, 2].map(|idx| lacks_counters(&warnings, SystemIdx(idx))),
        [false, true, false]
    );
}

#[test]
fn settings_that_changed_are_named_and_places_are_not() {
    let was = system(
        "8.0.33",
        &[
            ("innodb_buffer_pool_size", "1073741824"),
            ("my_own_plugin_depth", "3"),
            ("datadir", "/results/a"),
            ("server_uuid", "1-2"),
        ],
    );
    assert!(other_settings(&was, &was).is_empty());
    let moved = system(
        "8.0.33",
        &[
            ("innodb_buffer_pool_size", "1073741824"),
            ("my_own_plugin_depth", "3"),
            ("datadir", "/results/b"),
            ("server_uuid", "1-3"),
        ],
    );
    assert!(other_settings(&was, &moved).is_empty());
    let mut now = moved.clone();
    now.settings.insert("innodb_buffer_pool_size".to_owned(), "2147483648".to_owned());
    now.settings.insert("my_own_plugin_depth".to_owned(), "4".to_owned());
    let changed = |name: &str, before: &str, after: &str| ChangedSetting {
        name: name.to_owned(),
        before: Some(before.to_owned()),
        after: Some(after.to_owned()),
    };
    let expected =
        [changed("innodb_buffer_pool_size", "1G", "2G"), changed("my_own_plugin_depth", "3", "4")];
    assert_eq!(other_settings(&was, &now), expected);
}
