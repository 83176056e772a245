//! Names as the table finds them.

use super::*;

fn found(dbms: Dbms, written: &str) -> String {
    let resolved = table(dbms).unwrap().resolve(config_format(dbms).unwrap(), written);
    let what = match resolved.found {
        Found::Rule(rule) => format!("{:?}", rule.treatment),
        other => format!("{other:?}"),
    };
    format!("{}{} {what}", if resolved.is_negated { "no " } else { "" }, resolved.name)
}

#[test]
fn prefixes_and_dashes_lead_to_the_option() {
    let my = |written| found(Dbms::Mysql, written);
    assert_eq!(my("log-bin"), "log_bin File");
    assert_eq!(my("loose-log_bin"), "log_bin File");
    assert_eq!(my("loose_skip-log-bin"), "no log_bin File");
    assert_eq!(my("skip-name-resolve"), "skip_name_resolve Known");
    assert_eq!(my("innodb_buffer_pool_size"), "innodb_buffer_pool_size Known");
    assert_eq!(my("DataDir"), "datadir Ours");
    assert_eq!(my("wsrep_cluster_address"), "wsrep_cluster_address Drop");
    assert_eq!(my("no_such_option"), "no_such_option Unknown");
    assert_eq!(found(Dbms::Postgres, "Archive_Command"), "archive_command Drop");
    assert_eq!(found(Dbms::Postgres, "loose_archive_command"), "loose_archive_command Unknown");
}

#[test]
fn the_last_prefix_says_whether_an_option_is_negated() {
    let my = |written| found(Dbms::Mysql, written);
    assert_eq!(my("skip_loose_log_bin"), "log_bin File");
    assert_eq!(my("enable-skip-log-bin"), "no log_bin File");
    assert_eq!(my("disable-enable-event_scheduler"), "event_scheduler Drop");
}

#[test]
fn what_stands_behind_a_point_is_found_whatever_stands_before() {
    let my = |written| found(Dbms::Mysql, written).split_once(' ').unwrap().1.to_owned();
    for written in [
        "x.skip-grant-tables",
        "loose-x.skip-grant-tables",
        "x.loose-skip_grant_tables",
        "x.y.skip-grant-tables",
        "key_buffer_size.skip-grant-tables",
    ] {
        assert_eq!(my(written), "BehindPoint(\"skip_grant_tables\")", "{written}");
    }
    assert_eq!(my("x.feedback"), "BehindPoint(\"feedback\")");
    assert_eq!(my("skip-x.plugin_load_add"), "x.plugin_load_add BehindPoint(\"plugin_load_add\")");
    assert_eq!(my("x.datad"), "BehindPoint(\"datad\")");
    assert_eq!(my("x.sort_buffer_size"), "BehindPoint(\"sort_buffer_size\")");
    for written in ["hot.key_buffer_size", "loose-hot_cache.key-cache-division-limit"] {
        assert_eq!(my(written), "Known", "{written}");
    }
    assert_eq!(my("x.hot.key_buffer_size"), "BehindPoint(\"key_buffer_size\")");
    for written in ["validate_password.policy", "loose-validate-password.policy"] {
        assert_eq!(my(written), "Drop", "{written}");
    }
    for written in ["my_component.level", "x.", ".x"] {
        assert_eq!(my(written), "Foreign", "{written}");
    }
}

#[test]
fn parameters_of_extensions_that_are_loaded_are_not_foreign() {
    let pg = |written| found(Dbms::Postgres, written);
    assert_eq!(pg("my.setting"), "my.setting Foreign");
    assert_eq!(pg("bloom.new"), "bloom.new Unknown");
    assert_eq!(pg("Auto_Explain.new"), "auto_explain.new Keep");
    assert_eq!(pg("new"), "new Unknown");
}

#[test]
fn the_beginning_of_a_name_is_taken_for_the_name() {
    let my = |written| found(Dbms::Mysql, written);
    assert_eq!(my("innodb_data_home"), "innodb_data_home Abbreviation(\"innodb_data_home_dir\")");
    assert_eq!(my("loose-datad"), "datad Abbreviation(\"datadir\")");
    assert_eq!(my("skip-grant-tab"), "skip_grant_tab Refuse");
    assert_eq!(my("loose-skip-netw"), "skip_netw Abbreviation(\"skip_networking\")");
    assert_eq!(my("loose-plugin-innodb-data-home-dir"), "plugin_innodb_data_home_dir Refuse");
    assert_eq!(my("group_repl"), "group_repl Abbreviation(\"group_replication\")");
}

/// The examples of the page for users.
#[test]
fn the_page_says_what_the_table_does() {
    let page = include_str!("../../../../../docs/how-to/configurations.md");
    let rows = [
        ("is a size", None),
        ("rqps sets itself", Some(Treatment::Ours)),
        ("names a file", Some(Treatment::File)),
        ("names a directory", Some(Treatment::Directory)),
        ("loads libraries", Some(Treatment::Libraries)),
        ("runs a command", Some(Treatment::Drop)),
        ("would make the server", Some(Treatment::Refuse)),
    ];
    for (beginning, treated) in rows {
        let row = page.lines().find(|line| line.starts_with(&format!("| {beginning}"))).unwrap();
        let examples = row.rsplit('|').nth(1).unwrap();
        let names: Vec<&str> = examples.split('`').skip(1).step_by(2).collect();
        assert!(names.len() > 1, "{row}");
        for name in names {
            let found = [Dbms::Mysql, Dbms::Postgres].map(|dbms| treatment(dbms, name).unwrap());
            assert!(
                found.contains(&treated) && (treated.is_some() || found == [None, None]),
                "{name}: {found:?}"
            );
        }
    }
}
