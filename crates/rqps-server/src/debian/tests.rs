//! Versions as Debian writes them, and what a suite that has moved on says.

use super::*;

#[test]
fn upstream_versions() {
    for (debian, version) in [
        ("1:10.11.19-0+deb12u1", "10.11.19"),
        ("1:11.8.9+ds-4", "11.8.9"),
        ("9.7.4-2", "9.7.4"),
        ("19~rc1-1", "19rc1"),
        ("13.23-0+deb11u4", "13.23"),
    ] {
        assert_eq!(upstream(debian).unwrap().to_string(), version);
    }
    assert_eq!(upstream("sid"), None);
}

#[test]
fn a_suite_that_has_moved_on_says_what_it_has() {
    let catalogue = crate::Catalogue::builtin().unwrap();
    let version = "9.7.4".parse().unwrap();
    let entry = catalogue.find(rqps_model::Dbms::Mysql, &version, None).unwrap();
    let Some(crate::Source::Debian(source)) = entry.sources.first() else {
        panic!("{:?}", entry.sources);
    };
    let error = gone(entry, source, source.main(), &["9.7.6-1", "9.7.5-1"]).to_string();
    expect_test::expect!["mysql-9.7.4: Debian sid now has mysql-server-core 9.7.6-1 and 9.7.5-1, not the version in the catalogue; choose another version or build of mysql (see `rqps servers list`), or add the suite's version with the same source to a catalogue of your own"].assert_eq(&error);
    assert!(
        gone(entry, source, source.main(), &[]).to_string().contains(" (none), not the version")
    );
}

#[test]
fn parts_of_a_server_are_of_one_build() {
    let catalogue = crate::Catalogue::builtin().unwrap();
    let find = |dbms, version: &str, build: Option<&str>| {
        catalogue.find(dbms, &version.parse().unwrap(), build).unwrap().clone()
    };
    let chosen = |entry: &Entry, packages: &[&str], known: &[(&str, &str)]| {
        let packages = packages.iter().map(|name| (*name).to_owned()).collect();
        let source = Debian {
            suite: "sid".to_owned(),
            packages,
            needs: Vec::new(),
            without: Vec::new(),
            glibc: Glibc::Own,
            layout: "x".to_owned(),
            download_bytes: 1,
        };
        let known: Vec<_> = known.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let versions = |parts: Vec<(String, String)>| parts.into_iter().map(|(_, v)| v).collect();
        let chosen: Result<Vec<String>, Error> = parts(entry, &source, &known).map(versions);
        chosen.map_err(|e| e.to_string())
    };
    let mariadb = find(rqps_model::Dbms::Mariadb, "11.8.9", None);
    let names = ["server", "plugin"];
    let both = [("server", "1:11.8.9-5"), ("server", "1:11.8.9-4"), ("plugin", "1:11.8.9-5")];
    assert_eq!(chosen(&mariadb, &names, &both).unwrap(), ["1:11.8.9-5", "1:11.8.9-5"]);
    // Of another build, or of the version before: the archive is between two states.
    for other in ["1:11.8.9-4", "1:11.8.8-5"] {
        let error = chosen(&mariadb, &names, &[both[0], ("plugin", other)]).unwrap_err();
        assert!(error.contains(&format!("now has plugin {other}")), "{error}");
    }
    assert!(chosen(&mariadb, &names, &both[..1]).unwrap_err().contains(" (none), not the version"));
    assert!(chosen(&mariadb, &names, &[("server", "1:11.8.10-1")]).is_err());
    // An extension is no part of it.
    let postgres = find(rqps_model::Dbms::Postgres, "17.12", None);
    let known = [("server", "17.12-0+deb13u1"), ("plugin", "0.8.0-1")];
    assert_eq!(chosen(&postgres, &names, &known).unwrap()[1], "0.8.0-1");
}

#[test]
fn libraries_of_a_prefix_are_found_unless_its_programs_know_them() {
    let prefix = tempfile::tempdir().unwrap();
    assert_eq!(library_dirs(prefix.path()), Vec::<PathBuf>::new());
    let dir = prefix.path().join("usr/lib/x86_64-linux-gnu");
    fs::create_dir_all(&dir).unwrap();
    fs::create_dir_all(prefix.path().join("lib/x86_64-linux-gnu")).unwrap();
    fs::write(dir.join("libaio.so.1"), b"elf").unwrap();
    assert_eq!(library_dirs(prefix.path()), std::slice::from_ref(&dir));
    fs::write(dir.join("ld-linux-x86-64.so.2"), b"elf").unwrap();
    assert_eq!(library_dirs(prefix.path()), Vec::<PathBuf>::new());
}

#[test]
fn a_prefix_whose_programs_ask_for_a_loader_elsewhere_was_moved() {
    let me = std::env::current_exe().unwrap();
    let hosts = crate::elf::interpreter(&me).unwrap().unwrap();
    let prefix = tempfile::tempdir().unwrap();
    // On the host's C library it can be anywhere.
    assert_eq!(moved_from(prefix.path(), &me), None);
    let dir = prefix.path().join("usr/lib/x86_64-linux-gnu");
    fs::create_dir_all(&dir).unwrap();
    let own = dir.join("ld-linux-x86-64.so.2");
    fs::write(&own, b"elf").unwrap();
    assert_eq!(moved_from(prefix.path(), &me), Some(hosts.clone()));
    fs::remove_file(&own).unwrap();
    std::os::unix::fs::symlink(&hosts, &own).unwrap();
    assert_eq!(moved_from(prefix.path(), &me), None);
    assert_eq!(moved_from(prefix.path(), Path::new("/no/such/program")), None);
}

#[test]
fn names_that_are_no_packages_are_refused() {
    let mut source = Debian {
        suite: "sid".to_owned(),
        packages: vec!["mysql-server-core".to_owned()],
        needs: Vec::new(),
        without: vec!["libstdc++6".to_owned()],
        glibc: Glibc::Own,
        layout: "x".to_owned(),
        download_bytes: 1,
    };
    assert_eq!(source.flaw(), None);
    source.needs = vec!["-o Dir=/".to_owned()];
    assert!(source.flaw().unwrap().contains("is not a Debian name"));
    source.packages.clear();
    assert_eq!(source.flaw().unwrap(), "no packages");
}
