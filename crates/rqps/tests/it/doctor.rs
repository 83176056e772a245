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
    let block = "MISSING  mvn              not found\n           \
                 for: fetching most servers: MySQL, MariaDB, PostgreSQL\n           \
                 do:  apt-get install maven\n";
    assert!(said.stdout.contains(block), "{}", said.stdout);
    assert!(said.stdout.ends_with("a normal run is not possible yet\n"), "{}", said.stdout);
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
