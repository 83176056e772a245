//! A user's own servers: where their file is looked for, what it can do, and what goes wrong with it.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::bench::Bench;

/// A catalogue with one server of the user's in `archive`.
fn catalogue(archive: &str) -> String {
    format!(
        "[[server]]\ndbms = 'postgres'\nversion = '18.6'\nbuild = 'mine'\n\
         compiled = 'my own flags'\nunpacked_mb = 1\nlibraries = []\n\
         [[server.source]]\nfrom = 'file'\npath = {archive:?}\nlayout = 'tree'\n\
         [layout.tree]\nstrip = '*/'\nkeep = ['bin/', 'share/']\nexecutable = ['bin/']\n"
    )
}

/// Packs programs that only say something into `name`, as a server's archive is.
pub(crate) fn pack(bench: &Bench, name: &str, programs: &[(&str, &str)]) {
    let top = bench.path("pg-18.6/bin");
    std::fs::create_dir_all(&top).unwrap();
    for (program, script) in programs {
        std::fs::write(top.join(program), format!("#!/bin/sh\n{script}\n")).unwrap();
    }
    let status = Command::new("tar")
        .args(["-czf", name, "pg-18.6"])
        .current_dir(bench.dir())
        .status()
        .unwrap();
    assert!(status.success());
}

fn refused(bench: &Bench, args: &[&str]) -> String {
    let said = bench.run(args);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let at = said.stderr.find("rqps: error: ").unwrap();
    bench.redact(&said.stderr[at..])
}

#[test]
fn own_servers_are_found_in_the_usual_place_and_by_name() {
    let bench = Bench::new();
    let list = |args: &[&str]| bench.output(&[&["servers", "list"], args].concat());
    assert!(!list(&[]).contains("yours"));
    std::fs::create_dir_all(bench.path("config/rqps")).unwrap();
    bench.write("config/rqps/servers.toml", &catalogue("pg.tar.gz"));
    bench.write("more.toml", &catalogue("pg.tar.gz").replace("'mine'", "'more'"));
    let text = list(&["--catalogue", "more.toml"]);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" 18.6")).collect();
    assert!(lines.is_empty(), "{lines:?}");
    let of_18_6: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("postgres@18.6"))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(
        of_18_6,
        [
            "postgres@18.6",
            "postgres@18.6+pypi",
            "postgres@18.6+debian",
            "postgres@18.6+pgvector-0.8.5",
            "postgres@18.6+mine",
            "postgres@18.6+more"
        ]
    );
    let line = text.lines().find(|line| line.starts_with("postgres@18.6+more ")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(words.join(" ").ends_with("file my own flags (yours)"), "{line}");
}

#[test]
fn what_goes_wrong_with_ones_own_names_the_next_step() {
    let bench = Bench::new();
    bench.write("c.toml", &catalogue("pg.tar.gz"));
    let fetch = ["--cache", "cache", "--catalogue", "c.toml", "servers", "fetch", "pg@18.6+mine"];
    let mut text = String::new();
    text.push_str(&refused(&bench, &["--catalogue", "nosuch.toml", "servers", "list"]));
    text.push_str(&refused(&bench, &fetch));
    bench.write("pg.tar.gz", "<html>404 not found");
    text.push_str(&refused(&bench, &fetch));
    pack(&bench, "pg.tar.gz", &[("postgres", "exit 1")]);
    let whole = std::fs::read(bench.path("pg.tar.gz")).unwrap();
    std::fs::write(bench.path("pg.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    let half = refused(&bench, &fetch);
    assert!(half.contains("pg.tar.gz cannot be unpacked: "), "{half}");
    assert!(half.contains("get it again"), "{half}");
    let sum = format!("checksum = 'md5:{}'\n", "0".repeat(32));
    bench.write(
        "c.toml",
        &catalogue("pg.tar.gz").replacen("layout =", &format!("{sum}layout ="), 1),
    );
    std::fs::write(bench.path("pg.tar.gz"), "x").unwrap();
    text.push_str(&refused(&bench, &fetch));
    bench.write("c.toml", &catalogue("pg.tar.gz").replace("'tree'", "'wood'"));
    text.push_str(&refused(&bench, &["--catalogue", "c.toml", "servers", "list"]).replacen(
        &text_between(&bench, "known: "),
        "LAYOUTS",
        1,
    ));
    expect![[r#"
        rqps: error: read catalogue nosuch.toml: No such file or directory (os error 2); check the path
        rqps: error: DIR/pg.tar.gz does not exist; correct `path` in the catalogue, or put the archive there
        rqps: error: archive DIR/pg.tar.gz cannot be unpacked: it begins with "<html>404 not fo", which is not a zip, tar.gz or tar.xz; it may be incomplete: remove it and get it again
        rqps: error: DIR/pg.tar.gz is corrupt: its MD5 is 9dd4e461268c8034f5c8564e155c67a6, the catalogue says 00000000000000000000000000000000; it is not the archive of the catalogue; correct `path` or `checksum` there
        rqps: error: catalogue DIR/c.toml: line 1, postgres 18.6 mine: unknown layout "wood"; known: LAYOUTS
    "#]].assert_eq(&text);
}

/// The layouts that the message about an unknown one lists.
fn text_between(bench: &Bench, start: &str) -> String {
    let said = bench.run(&["--catalogue", "c.toml", "servers", "list"]);
    said.stderr.split(start).nth(1).unwrap().trim_end().to_owned()
}

#[test]
fn an_archive_that_was_remade_is_unpacked_again() {
    let bench = Bench::new();
    bench.write("c.toml", &catalogue("pg.tar.gz"));
    let args = ["--cache", "cache", "--catalogue", "c.toml", "servers", "fetch", "pg@18.6+mine"];
    let program = || {
        bench.run(&args);
        let path = bench.path("cache/servers/postgres-18.6-mine/bin/postgres");
        std::fs::read_to_string(path).unwrap()
    };
    pack(&bench, "pg.tar.gz", &[("postgres", "echo first"), ("initdb", "true")]);
    assert!(program().contains("first"));
    pack(&bench, "pg.tar.gz", &[("postgres", "echo second"), ("initdb", "true")]);
    assert!(program().contains("second"));
    // What was made of an archive that is gone stays.
    std::fs::remove_file(bench.path("pg.tar.gz")).unwrap();
    assert!(program().contains("second"));
}

#[test]
fn a_server_that_misses_a_library_says_which_and_what_to_do() {
    let bench = Bench::new();
    bench.write("c.toml", &catalogue("pg.tar.gz"));
    let ld_so = "echo \"$0: error while loading shared libraries: libaio.so.1: cannot open shared \
                 object file: No such file or directory\" >&2; exit 127";
    pack(&bench, "pg.tar.gz", &[("postgres", ld_so), ("initdb", ld_so)]);
    let args = ["--cache", "cache", "--catalogue", "c.toml", "servers", "shell", "pg@18.6+mine"];
    expect![[r#"
        rqps: error: PostgreSQL 18.6 needs libaio.so.1, which this host does not have: install it: apt-get install libaio1 (or package libaio elsewhere)
    "#]]
    .assert_eq(&refused(&bench, &args));
    // The same of a directory of one's own.
    let basedir = format!("pg@{}", bench.path("pg-18.6").display());
    for program in ["postgres", "initdb"] {
        make_executable(&bench.path(&format!("pg-18.6/bin/{program}")));
    }
    let text = refused(&bench, &["servers", "shell", &basedir]);
    assert!(text.contains("needs libaio.so.1"), "{text}");
    // And of a newer C library.
    let newer = "echo \"$0: /lib/libc.so.6: version \\`GLIBC_2.99' not found (required by $0)\" >&2; \
                 exit 1";
    std::fs::write(bench.path("pg-18.6/bin/postgres"), format!("#!/bin/sh\n{newer}\n")).unwrap();
    let text = refused(&bench, &["servers", "shell", &basedir]);
    assert!(text.contains("needs GLIBC_2.99") && text.contains("another build"), "{text}");
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
