//! What a server says of itself, and directories that have none.

use std::process::Command;
use std::sync::atomic::AtomicBool;

use super::*;

#[test]
fn reads_what_servers_say_of_themselves() {
    for (text, dbms, version) in [
        (
            "x/bin/mysqld  Ver 5.6.14 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))",
            Dbms::Mysql,
            "5.6.14",
        ),
        (
            "/p/bin/mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)",
            Dbms::Mysql,
            "8.0.33",
        ),
        (
            "mysqld  Ver 8.0.32-24 for Linux on x86_64 (Percona Server (GPL), Release 24)",
            Dbms::Mysql,
            "8.0.32",
        ),
        (
            "bin/mysqld  Ver 10.2.11-MariaDB for Linux on x86_64 (MariaDB Server)",
            Dbms::Mariadb,
            "10.2.11",
        ),
        (
            "warning\nmariadbd  Ver 11.4.5-MariaDB for linux-systemd on x86_64 (MariaDB Server)",
            Dbms::Mariadb,
            "11.4.5",
        ),
        ("postgres (PostgreSQL) 17.4", Dbms::Postgres, "17.4"),
        ("postgres (PostgreSQL) 19rc1 (Debian 19~rc1-1)", Dbms::Postgres, "19rc1"),
    ] {
        let (got, found) = parse_version_output(text).unwrap();
        assert_eq!((got, found.to_string().as_str()), (dbms, version));
    }
    assert_eq!(parse_version_output("error while loading shared libraries: libaio.so.1"), None);
}

#[test]
fn detects_a_server_or_says_what_was_looked_for() {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let mut watch = Watch { stop: &stop, report: &mut |_| {} };
    let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
    let scratch = dir.path().join("out");
    let mut detect = || Installed::detect(dir.path(), &me, &scratch, &mut watch);
    assert!(detect().unwrap_err().to_string().contains("looked for mysqld, mariadbd"));
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    // Put there by another process: this one forks beside, and what it has open to write cannot be run.
    let put = |text: &str| {
        let from = dir.path().join("script");
        fs::write(&from, text).unwrap();
        let mut install = Command::new("install");
        let done = install.args(["-m", "755"]).arg(from).arg(bin.join("postgres")).status();
        assert!(done.unwrap().success());
    };
    put("#!/bin/sh\necho 'postgres (PostgreSQL) 18.0'\n");
    let found = detect().unwrap();
    assert_eq!((found.dbms, found.name().as_str()), (Dbms::Postgres, "PostgreSQL 18.0"));
    let picky = "#!/bin/sh\ncase \"$LD_LIBRARY_PATH\" in\n*/libs) echo 'postgres (PostgreSQL) 18.0' ;;\n\
                 *) echo libx missing; exit 127 ;;\nesac\n";
    put(picky);
    let error = detect().unwrap_err().to_string();
    assert!(error.contains("exit code 127 (libx missing)"), "{error}");
    let libs = dir.path().canonicalize().unwrap().join("libs");
    fs::create_dir(&libs).unwrap();
    assert_eq!(detect().unwrap().library_dirs, [libs]);
}
