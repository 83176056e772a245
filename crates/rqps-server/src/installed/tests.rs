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
        (
            "mysqld  Ver 8.0.35-cluster for Linux on x86_64 (Source distribution)",
            Dbms::Mysql,
            "8.0.35",
        ),
        (
            "mysqld  Ver 10.6.16-11-MariaDB-enterprise-log for Linux on x86_64 (MariaDB Enterprise)",
            Dbms::Mariadb,
            "10.6.16",
        ),
        ("postgres (PostgreSQL) 17.4", Dbms::Postgres, "17.4"),
        ("postgres (PostgreSQL) 16.3 - Percona Distribution", Dbms::Postgres, "16.3"),
        ("postgres (PostgreSQL) 18devel", Dbms::Postgres, "18devel"),
        ("edb-postgres (EnterpriseDB) 16.4.1 (Debian 16.4.1-1)", Dbms::Postgres, "16.4"),
        ("postgres (PostgreSQL) 19rc1 (Debian 19~rc1-1)", Dbms::Postgres, "19rc1"),
    ] {
        let (got, found) = parse_version_output(text).unwrap();
        assert_eq!((got, found.to_string().as_str()), (dbms, version));
    }
    assert_eq!(parse_version_output("error while loading shared libraries: libaio.so.1"), None);
}

/// A directory with servers that are scripts.
struct ServerTree {
    dir: tempfile::TempDir,
}

impl ServerTree {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(below)
    }

    /// Puts a program there that says this. Another process does it: this one forks beside, and what it has open to
    /// write cannot be run.
    fn program(&self, below: &str, script: &str) -> &Self {
        let from = self.path("script");
        fs::write(&from, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mut install = Command::new("install");
        let done = install.args(["-D", "-m", "755"]).arg(from).arg(self.path(below)).status();
        assert!(done.unwrap().success());
        self
    }

    fn postgres(&self, below: &str, version: &str) -> &Self {
        self.program(below, &format!("echo 'postgres (PostgreSQL) {version}'"))
    }

    fn mysqld(&self, below: &str, version: &str) -> &Self {
        self.program(below, &format!("echo 'mysqld  Ver {version} for Linux on x86_64'"))
    }

    fn file(&self, below: &str, text: &str) -> &Self {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn detect(&self, below: &str, dbms: Dbms) -> Result<Installed, String> {
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let (path, cache, scratch) = (self.path(below), self.path("cache"), self.path("out"));
        let search = Search { path: &path, dbms, cache: &cache, identity: &me, scratch: &scratch };
        let found = Installed::detect(search, &mut watch);
        found.map_err(|e| e.to_string().replace(&self.path("").display().to_string(), "D/"))
    }

    /// The name of what is found, and its program below the place.
    fn found(&self, below: &str, dbms: Dbms) -> (String, String) {
        let found = self.detect(below, dbms).unwrap();
        let program = found.program.strip_prefix(self.path("")).unwrap().display().to_string();
        (found.name(), program)
    }
}

fn pair(name: &str, program: &str) -> (String, String) {
    (name.to_owned(), program.to_owned())
}

#[test]
fn detects_a_server_or_says_what_was_looked_for() {
    let place = ServerTree::new();
    let detect = || place.detect("", Dbms::Postgres);
    assert!(detect().unwrap_err().contains("looked for postgres, edb-postgres in bin, sbin"));
    place.postgres("bin/postgres", "18.0");
    let found = detect().unwrap();
    assert_eq!((found.dbms, found.name().as_str()), (Dbms::Postgres, "PostgreSQL 18.0"));
    let picky = "case \"$LD_LIBRARY_PATH\" in\n*/libs) echo 'postgres (PostgreSQL) 18.0' ;;\n\
                 *) echo libx missing; exit 127 ;;\nesac";
    place.program("bin/postgres", picky);
    let error = detect().unwrap_err();
    assert!(error.contains("exit code 127 (libx missing)"), "{error}");
    fs::create_dir(place.path("libs")).unwrap();
    assert_eq!(detect().unwrap().library_dirs, [place.path("libs")]);
}

#[test]
fn a_path_may_be_the_prefix_its_bin_or_the_program() {
    let place = ServerTree::new();
    place.postgres("pg/bin/postgres", "17.4");
    for below in ["pg", "pg/bin", "pg/bin/postgres"] {
        let found = place.detect(below, Dbms::Postgres).unwrap();
        assert_eq!(found.prefix, place.path("pg"), "{below}");
    }
    place.mysqld("usr/sbin/mysqld", "8.4.4").file("usr/share/mysql-8.4/english/errmsg.sys", "");
    for below in ["", "usr", "usr/sbin", "usr/sbin/mysqld"] {
        let found = place.detect(below, Dbms::Mysql).unwrap();
        assert_eq!(found.share, place.path("usr/share/mysql-8.4"), "{below}");
        assert_eq!(found.basedir, place.path("usr"), "{below}");
    }
}

#[test]
fn links_lead_to_the_server_that_they_name() {
    let place = ServerTree::new();
    place.postgres("pg/bin/postgres", "17.4").file("pg/share/x", "").file("pg/lib/libpq.so.5", "");
    let link = |from: &str, to: &str| {
        let to = place.path(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(place.path(from), to).unwrap();
    };
    link("pg/bin", "linked/bin");
    link("pg/bin/postgres", "stow/bin/postgres");
    link("pg", "whole");
    for below in ["linked", "stow", "whole", "linked/bin", "stow/bin/postgres"] {
        let found = place.detect(below, Dbms::Postgres).unwrap();
        assert_eq!(found.prefix, place.path("pg"), "{below}");
    }
    // A program that is a link within its own prefix stays there.
    place.mysqld("maria/bin/mariadbd", "11.4.5-MariaDB").file("maria/share/english/errmsg.sys", "");
    link("maria/bin/mariadbd", "maria/bin/mysqld");
    let found = place.found("maria", Dbms::Mariadb);
    assert_eq!(found, pair("MariaDB 11.4.5", "maria/bin/mariadbd"));
}

#[test]
fn a_program_that_says_nothing_or_does_not_stop_is_ended() {
    let place = ServerTree::new();
    place.program("broken/bin/postgres", "kill -SEGV $$");
    let error = place.detect("broken", Dbms::Postgres).unwrap_err();
    assert!(error.ends_with("killed by signal 11 (SIGSEGV), without output"), "{error}");
    place.program(
        "noisy/bin/postgres",
        "exec yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    );
    let error = place.detect("noisy", Dbms::Postgres).unwrap_err();
    assert!(error.contains("--version: it wrote more than 16 MB and was killed"), "{error}");
    assert!(error.len() < 10_000, "{} bytes", error.len());
}

#[test]
fn the_places_of_packages() {
    let place = ServerTree::new();
    place.postgres("debian/usr/lib/postgresql/15/bin/postgres", "15.20");
    let program = "debian/usr/lib/postgresql/15/bin/postgres";
    for below in
        ["debian", "debian/usr", "debian/usr/lib/postgresql", "debian/usr/lib/postgresql/15"]
    {
        assert_eq!(place.found(below, Dbms::Postgres), pair("PostgreSQL 15.20", program));
    }
    place.postgres("rpm/usr/pgsql-17/bin/postgres", "17.4");
    let program = "rpm/usr/pgsql-17/bin/postgres";
    assert_eq!(place.found("rpm/usr", Dbms::Postgres), pair("PostgreSQL 17.4", program));
    place.program("edb/usr/edb/as16/bin/edb-postgres", "echo 'edb-postgres (EnterpriseDB) 16.4.1'");
    let program = "edb/usr/edb/as16/bin/edb-postgres";
    assert_eq!(place.found("edb", Dbms::Postgres), pair("PostgreSQL 16.4", program));
    place.mysqld("percona/usr/sbin/mysqld", "8.0.36-28");
    place.file("percona/usr/share/percona-server/english/errmsg.sys", "");
    fs::create_dir_all(place.path("percona/usr/lib64/mysql/plugin")).unwrap();
    let found = place.detect("percona/usr", Dbms::Mysql).unwrap();
    assert_eq!(found.plugin_dir, Some(place.path("percona/usr/lib64/mysql/plugin")));
}

#[test]
fn several_servers_in_one_place_are_told_apart_by_what_the_plan_names() {
    let place = ServerTree::new();
    place.mysqld("usr/sbin/mysqld", "8.0.33").file("usr/share/mysql-8.0/english/errmsg.sys", "");
    place
        .mysqld("usr/sbin/mariadbd", "11.4.5-MariaDB")
        .file("usr/share/mariadb/english/errmsg.sys", "");
    place.postgres("usr/lib/postgresql/15/bin/postgres", "15.20");
    let mysql = pair("MySQL 8.0.33", "usr/sbin/mysqld");
    assert_eq!(place.found("usr", Dbms::Mysql), mysql);
    assert_eq!(place.found("usr", Dbms::Mariadb), pair("MariaDB 11.4.5", "usr/sbin/mariadbd"));
    let postgres = pair("PostgreSQL 15.20", "usr/lib/postgresql/15/bin/postgres");
    assert_eq!(place.found("usr", Dbms::Postgres), postgres);
    // What else lies there is named by the caller, who knows what was meant.
    assert_eq!(place.found("usr/lib/postgresql/15", Dbms::Mysql), postgres);
    place.postgres("usr/lib/postgresql/17/bin/postgres", "17.4");
    let error = place.detect("usr", Dbms::Postgres).unwrap_err();
    assert!(
        error.contains("it holds several: D/usr/lib/postgresql/15, D/usr/lib/postgresql/17"),
        "{error}"
    );
}

#[test]
fn a_sandbox_stands_for_the_server_that_it_runs() {
    let place = ServerTree::new();
    place.mysqld("opt/8.0.33/bin/mysqld", "8.0.33").file("opt/8.0.33/share/english/errmsg.sys", "");
    let basedir = place.path("opt/8.0.33").display().to_string();
    place
        .file("sandboxes/a/my.sandbox.cnf", &format!("[mysqld]\nbasedir            = {basedir}\n"));
    place.file(
        "sandboxes/b/sb_include",
        &format!("export SBHOST=x\nexport BASEDIR=\"{basedir}\"\n"),
    );
    for sandbox in ["sandboxes/a", "sandboxes/b"] {
        let found = place.found(sandbox, Dbms::Mysql);
        assert_eq!(found, pair("MySQL 8.0.33", "opt/8.0.33/bin/mysqld"));
    }
}

#[test]
fn a_build_that_was_not_installed_is_installed_or_told() {
    let place = ServerTree::new();
    place.mysqld("mysql/build/bin/mysqld", "9.7.4").file("mysql/build/CMakeCache.txt", "# none\n");
    let error = place.detect("mysql/build", Dbms::Mysql).unwrap_err();
    let command = "run `cmake --install D/mysql/build --prefix DIR`, then name DIR";
    assert!(error.contains(command), "{error}");

    // A program of the build says the same, where its messages are elsewhere.
    place.mysqld("mysql/build/runtime_output_directory/mysqld", "9.7.4");
    place.file("maria/CMakeCache.txt", "# none\n");
    place.mysqld("maria/sql/mariadbd", "11.4.5-MariaDB");
    for (below, dbms) in [
        ("mysql/build/runtime_output_directory/mysqld", Dbms::Mysql),
        ("mysql/build/runtime_output_directory", Dbms::Mysql),
        ("maria/sql/mariadbd", Dbms::Mariadb),
    ] {
        let error = place.detect(below, dbms).unwrap_err();
        assert!(error.contains("`cmake --install D/m"), "{error}");
    }

    place.file("pg/src/include/catalog/catversion.h", "");
    let error = place.detect("pg", Dbms::Postgres).unwrap_err();
    assert!(error.contains("it is a source tree of PostgreSQL without a build"), "{error}");

    place
        .postgres("pg/build/src/backend/postgres", "18.0")
        .file("pg/build/src/Makefile.global", "");
    let error = place.detect("pg", Dbms::Postgres).unwrap_err();
    assert!(error.contains("name its build, D/pg/build"), "{error}");
    let install = "install:\n\tinstall -D src/backend/postgres $(DESTDIR)/opt/pg/bin/postgres\n\
                   \tinstall -D lib $(DESTDIR)/opt/pg/lib/libpq.so.5\n";
    place.file("pg/build/lib", "").file("pg/build/Makefile", install);
    let found = place.detect("pg/build", Dbms::Postgres).unwrap();
    assert_eq!(found.name(), "PostgreSQL 18.0");
    assert!(found.program.starts_with(place.path("cache/builds")));
    assert_eq!(found.library_dirs, [found.prefix.join("opt/pg/lib")]);

    // The same build is not installed again; another one takes its place when nobody uses it.
    let copies = || fs::read_dir(place.path("cache/builds")).unwrap().count();
    for below in ["pg/build", "pg/build/src/backend/postgres", "pg/build/src/backend"] {
        let again = place.detect(below, Dbms::Postgres).unwrap();
        assert_eq!(again.program, found.program, "{below}");
    }
    place.postgres("pg/build/src/backend/postgres", "18.1");
    let newer = place.detect("pg/build", Dbms::Postgres).unwrap();
    assert_eq!((newer.name().as_str(), copies()), ("PostgreSQL 18.1", 2));
    drop((found, newer));
    place.postgres("pg/build/src/backend/postgres", "18.2");
    let newest = place.detect("pg/build", Dbms::Postgres).unwrap();
    assert_eq!((newest.name().as_str(), copies()), ("PostgreSQL 18.2", 1));

    place.file("pg/build/Makefile", "install:\n\t@echo no such file; exit 1\n");
    let error = place.detect("pg/build", Dbms::Postgres).unwrap_err();
    assert!(error.contains("make -s -C D/pg/build install DESTDIR="), "{error}");
    assert!(error.contains("no such file"), "{error}");
}
