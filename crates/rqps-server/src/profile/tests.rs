//! The profile as each version gets it, in whole, and the user's own files and options.

use std::collections::BTreeSet;

use expect_test::expect_file;

use super::*;
use crate::Catalogue;

const SIZING: Sizing = Sizing { memory_bytes: 16 << 30, systems_up: 2 };

fn config(base: &str, options: &[(&str, &str)]) -> Config {
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config { base: base.to_owned(), options }
}

fn small(dbms: Dbms, version: &str, options: &[(&str, &str)]) -> Rendered {
    render(dbms, &version.parse().unwrap(), &config("small", options), SIZING).unwrap()
}

#[test]
fn the_least_memory_is_twice_the_smallest_cache() {
    let least = |dbms, version: &str, options: &[(&str, &str)]| {
        least_memory(dbms, &version.parse().unwrap(), &config("small", options)).unwrap()
    };
    assert_eq!(least(Dbms::Mysql, "8.0.33", &[]), Some(512 << 20));
    assert_eq!(least(Dbms::Postgres, "17.4", &[]), Some(512 << 20));
    assert_eq!(least(Dbms::Postgres, "17.4", &[("shared_buffers", "64MB")]), None);
    assert_eq!(least(Dbms::Mariadb, "10.2.11", &[("innodb-buffer-pool-size", "64M")]), None);
    let own = config("my.cnf", &[]);
    assert_eq!(least_memory(Dbms::Mysql, &"8.0.33".parse().unwrap(), &own).unwrap(), None);
}

#[test]
fn small_is_as_it_should_be_for_each_version() {
    for (dbms, version) in [
        (Dbms::Mysql, "5.5.34"),
        (Dbms::Mysql, "5.6.14"),
        (Dbms::Mysql, "8.0.33"),
        (Dbms::Mysql, "9.7.4"),
        (Dbms::Mariadb, "10.1.23"),
        (Dbms::Mariadb, "10.2.11"),
        (Dbms::Mariadb, "10.11.5"),
        (Dbms::Mariadb, "11.4.5"),
        (Dbms::Postgres, "9.6.24"),
        (Dbms::Postgres, "11.22"),
        (Dbms::Postgres, "17.4"),
        (Dbms::Postgres, "18.0"),
    ] {
        let rendered = small(dbms, version, &[]);
        let initdb = rendered.initdb_arguments.join(" ");
        let text = format!("{}# initdb: {initdb}\n", rendered.text);
        let path =
            format!("{}/tests/data/profile/{dbms}-{version}.out", env!("CARGO_MANIFEST_DIR"));
        expect_file![path].assert_eq(&text);
    }
}

#[test]
fn no_version_of_the_catalogue_gets_an_option_twice() {
    for entry in Catalogue::builtin().unwrap().servers() {
        let text = small(entry.dbms, &entry.version.to_string(), &[]).text;
        let mut seen = BTreeSet::new();
        for name in text.lines().filter_map(option_name) {
            assert!(seen.insert(name), "{} gets {name} twice", entry.name());
        }
        assert!(seen.len() > 15, "{} gets {} options", entry.name(), seen.len());
    }
}

#[test]
fn options_of_the_plan_replace_the_profiles() {
    let text = small(Dbms::Mysql, "8.0.33", &[("innodb-flush-method", "fsync"), ("x", "a#b")]).text;
    assert!(!text.contains("O_DIRECT"), "{text}");
    assert!(
        text.ends_with("# options of the plan\n[mysqld]\ninnodb-flush-method=fsync\nx=\"a#b\"\n")
    );
    let text = small(Dbms::Postgres, "17.4", &[("x.y", "it's a \\")]).text;
    assert!(text.ends_with("x.y = 'it''s a \\\\'\n"), "{text}");
}

#[test]
fn values_cannot_smuggle_in_lines() {
    for (option, value) in [("a", "1\nb=2"), ("a\nb", "1"), ("a b", "1"), ("", "1"), ("[x]", "1")] {
        let config = config("small", &[(option, value)]);
        let error = render(Dbms::Mysql, &"8.0.33".parse().unwrap(), &config, SIZING).unwrap_err();
        assert!(error.to_string().contains("line breaks"), "{error}");
    }
}

#[test]
fn a_users_file_is_taken_as_it_is_and_overrides_are_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf");
    fs::write(&path, "[mysqld]\nport = 3306\nlog-error=/x\n# socket=/y\ninnodb_x=1").unwrap();
    let config = config(path.to_str().unwrap(), &[("datadir", "/z"), ("b", "2")]);
    let rendered = render(Dbms::Mariadb, &"10.2.11".parse().unwrap(), &config, SIZING).unwrap();
    assert!(rendered.text.starts_with("[mysqld]\nport = 3306\n"));
    assert!(
        rendered.text.ends_with("innodb_x=1\n# options of the plan\n[mysqld]\nb=2\ndatadir=/z\n")
    );
    let path = path.display();
    let tail = "has no effect: rqps sets it for each system itself";
    assert_eq!(
        rendered.notes,
        [
            format!("port of {path} {tail}"),
            format!("log-error of {path} {tail}"),
            format!("datadir of the plan's options {tail}"),
        ]
    );
}

#[test]
fn an_unknown_config_names_the_profiles() {
    let config = config("smal", &[]);
    let error = render(Dbms::Mysql, &"8.0.33".parse().unwrap(), &config, SIZING).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("config \"smal\" is neither a built-in profile (small) nor"),
        "{text}"
    );
}
