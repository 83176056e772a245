//! Builds by a recipe that copies files.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// A repository of a made-up MySQL, a cache, and a recipe.
struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    fn new(steps: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let site = Self { dir };
        fs::create_dir(site.path("repo")).unwrap();
        site.git(&["init", "--quiet"]);
        let version = "MYSQL_VERSION_MAJOR=8\nMYSQL_VERSION_MINOR=0\nMYSQL_VERSION_PATCH=33\n";
        fs::write(site.path("repo/VERSION"), version).unwrap();
        site.commit("one");
        let recipe = format!(
            "[[recipe]]\nname = \"copy\"\ndbms = \"mysql\"\nfrom = \"5\"\nserver = \"mysqld\"\n{steps}"
        );
        fs::write(site.path("recipe.toml"), recipe).unwrap();
        site
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn git(&self, words: &[&str]) {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.path("repo"));
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        assert!(command.args(words).status().unwrap().success(), "{words:?}");
    }

    fn commit(&self, text: &str) {
        fs::write(self.path("repo/main.c"), text).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", text]);
    }

    fn commit_of(&self, revision: &str) -> SourceBuild {
        let (repo, revision) = (self.path("repo"), revision.to_owned());
        self.by_recipe(SourceOrigin::Commit { repo, revision, hash: None })
    }

    fn by_recipe(&self, origin: SourceOrigin) -> SourceBuild {
        SourceBuild { recipe: Some(self.path("recipe.toml")), ..SourceBuild::of(origin) }
    }

    fn ensure(&self, how: &SourceBuild) -> Result<Built, Error> {
        self.ensure_of(Dbms::Mysql, how)
    }

    fn ensure_of(&self, dbms: Dbms, how: &SourceBuild) -> Result<Built, Error> {
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        ensure(dbms, how, &self.path("cache"), &mut watch)
    }
}

const COPY: &str = "[[recipe.step]]\nname = \"install\"\nwords = [\"cp\", \"{source}/main.c\", \"{prefix}/mysqld\"]\n";

#[test]
fn a_build_is_made_once_and_is_that_of_its_commit() {
    let site = Site::new(COPY);
    site.commit("two");
    let first = site.ensure(&site.commit_of("HEAD~1")).unwrap();
    assert!(first.is_new);
    assert_eq!(fs::read_to_string(first.prefix.join("mysqld")).unwrap(), "one");
    let commit = first.record.commit.as_ref().unwrap();
    assert_eq!((commit.subject.as_str(), first.record.version.as_str()), ("one", "8.0.33"));
    let again = site.ensure(&site.commit_of("HEAD~1")).unwrap();
    assert!(!again.is_new && again.prefix == first.prefix);
    let second = site.ensure(&site.commit_of("HEAD")).unwrap();
    assert_eq!(fs::read_to_string(second.prefix.join("mysqld")).unwrap(), "two");
    // A commit that takes the second one back has the first one's files and build, and is itself.
    site.commit("one");
    let back = site.ensure(&site.commit_of("HEAD")).unwrap();
    assert!(!back.is_new && back.key == first.key);
    let of_back = back.record.commit.as_ref().unwrap();
    assert!(of_back.tree == commit.tree && of_back.hash != commit.hash, "{of_back:?}");
    let other = SourceBuild { cflags: Some("-O3".to_owned()), ..site.commit_of("HEAD") };
    assert!(site.ensure(&other).unwrap().is_new);
    // Neither source nor objects stay.
    let left = fs::read_dir(first.prefix.parent().unwrap()).unwrap();
    let left: Vec<String> = left.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(
        !left.contains(&"source".to_owned()) && !left.contains(&"build".to_owned()),
        "{left:?}"
    );
}

#[test]
fn what_is_ordered_is_resolved_before_anything_is_built() {
    let site = Site::new(&format!("[recipe.env]\nCC = \"{{cc}}\"\n{COPY}"));
    let cache = site.path("cache");
    fs::create_dir_all(cache.join("source-builds")).unwrap();
    let resolved = |how: &SourceBuild| resolve(Dbms::Mysql, how, &cache);
    let head = Repository::open(&site.path("repo")).unwrap().commit("HEAD").unwrap();
    let origin = resolved(&site.commit_of("HEAD")).unwrap();
    let SourceOrigin::Commit { hash: Some(hash), .. } = &origin else { panic!("{origin:?}") };
    assert_eq!(*hash, head.hash);
    // The hash decides, not what the branch is by then.
    site.commit("two");
    assert_eq!(resolved(&site.by_recipe(origin.clone())).unwrap(), origin);
    assert_eq!(version_of(Dbms::Mysql, &origin).unwrap(), "8.0.33");
    let files = SourceOrigin::Directory { dir: site.path("repo"), tree: None };
    let files = resolved(&site.by_recipe(files)).unwrap();
    fs::write(site.path("repo/main.c"), "changed").unwrap();
    let error = resolved(&site.by_recipe(files)).unwrap_err().to_string();
    assert!(error.contains("changed since the run began"), "{error}");
    for (how, said) in [
        (SourceBuild { lto: true, ..site.commit_of("HEAD") }, "with lto = true"),
        (SourceBuild { rocksdb: true, ..site.commit_of("HEAD") }, "with engine = \"rocksdb\""),
        (
            SourceBuild { build: BuildType::Debug, ..site.commit_of("HEAD") },
            "with build = \"debug\"",
        ),
        (
            SourceBuild { cc: Some("no-such-cc".to_owned()), ..site.commit_of("HEAD") },
            "needs no-such-cc",
        ),
    ] {
        let error = resolved(&how).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(fs::read_dir(cache.join("source-builds")).unwrap().count(), 0);
}

#[test]
fn the_files_tell_the_dbms() {
    let site = Site::new(COPY);
    let of = |name: &str, text: &str| {
        for old in ["VERSION", "configure.ac"] {
            let _ = fs::remove_file(site.path("repo").join(old));
        }
        fs::write(site.path("repo").join(name), text).unwrap();
        site.commit(name);
        let repository = Repository::open(&site.path("repo")).unwrap();
        dbms_of(&repository, &repository.commit("HEAD").unwrap().tree)
    };
    let version = "MYSQL_VERSION_MAJOR=11\nMYSQL_VERSION_MINOR=4\nMYSQL_VERSION_PATCH=5\n";
    assert_eq!(of("VERSION", version), Some(Dbms::Mysql));
    let mature = format!("{version}SERVER_MATURITY=stable\n");
    assert_eq!(of("VERSION", &mature), Some(Dbms::Mariadb));
    assert_eq!(of("configure.ac", "AC_INIT([PostgreSQL], [17.4], [x])\n"), Some(Dbms::Postgres));
    assert_eq!(of("other", "1\n"), None);
}

#[test]
fn files_that_are_not_committed_are_a_build_of_their_own() {
    let site = Site::new(COPY);
    let files = site.by_recipe(SourceOrigin::Directory { dir: site.path("repo"), tree: None });
    let clean = site.ensure(&files).unwrap();
    assert!(!clean.record.is_dirty);
    fs::write(site.path("repo/main.c"), "changed").unwrap();
    let changed = site.ensure(&files).unwrap();
    assert!(changed.record.is_dirty && changed.key != clean.key);
    assert_eq!(fs::read_to_string(changed.prefix.join("mysqld")).unwrap(), "changed");
    let left = fs::read_dir(site.path("cache/source-builds")).unwrap();
    let names: Vec<String> = left.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.starts_with("scratch")), "{names:?}");
}

#[test]
fn a_failed_build_shows_the_end_of_its_log_and_goes_on_where_it_was() {
    let site = Site::new("");
    let counted = site.path("counted");
    let wanted = site.path("wanted");
    fs::write(
        site.path("recipe.toml"),
        format!(
            "[[recipe]]\nname = \"copy\"\ndbms = \"mysql\"\nfrom = \"5\"\nserver = \"mysqld\"\n\
             [[recipe.step]]\nname = \"configure\"\nwords = [\"mkdir\", \"{}\"]\n\
             [[recipe.step]]\nname = \"compile\"\nwords = [\"cp\", \"{}\", \"{{build}}/x\"]\n{COPY}",
            counted.display(),
            wanted.display(),
        ),
    )
    .unwrap();
    let error = site.ensure(&site.commit_of("HEAD")).unwrap_err();
    let Error::Failed { step, last_lines, log, .. } = &error else { panic!("{error}") };
    assert!(step == "compile" && last_lines.contains("No such file"), "{error}");
    assert!(log.is_file());
    fs::write(&wanted, "").unwrap();
    // `mkdir` would fail the second time.
    assert!(site.ensure(&site.commit_of("HEAD")).unwrap().is_new);
}

#[test]
fn a_build_that_is_stopped_leaves_no_finished_one() {
    let site = Site::new("[[recipe.step]]\nname = \"wait\"\nwords = [\"sleep\", \"600\"]\n");
    let stop = AtomicBool::new(false);
    let mut report = |_: Progress<'_>| stop.store(true, Ordering::Relaxed);
    let mut watch = Watch { stop: &stop, report: &mut report };
    let error =
        ensure(Dbms::Mysql, &site.commit_of("HEAD"), &site.path("cache"), &mut watch).unwrap_err();
    assert!(matches!(error, Error::Server(rqps_server::Error::Interrupted { .. })), "{error}");
    let builds = stored::list(&site.path("cache"));
    assert!(builds.len() == 1 && builds[0].record.is_none(), "{builds:?}");
}

#[test]
fn what_is_no_source_of_the_server_is_refused() {
    let site = Site::new(COPY);
    let refused = |dbms, how: SourceBuild| site.ensure_of(dbms, &how).unwrap_err().to_string();
    let builtin = || SourceBuild { recipe: None, ..site.commit_of("HEAD") };
    assert!(refused(Dbms::Postgres, builtin()).contains("no source of PostgreSQL"));
    assert!(refused(Dbms::Mariadb, builtin()).contains("no recipe builds MariaDB 8.0.33"));
    let other = SourceBuild { recipe: Some(site.path("none.toml")), ..builtin() };
    assert!(refused(Dbms::Mysql, other).contains("read the recipe"));
    let none = site.commit_of("nosuch");
    assert!(refused(Dbms::Mysql, none).contains("has no commit \"nosuch\""));
}

#[test]
fn versions_are_read_from_sources() {
    let text = "AC_INIT([PostgreSQL], [18beta1], [pgsql-bugs@lists.postgresql.org], [], [x])";
    assert_eq!(of_autoconf(text).as_deref(), Some("18beta1"));
    assert_eq!(of_autoconf("AC_INIT([other], [1])"), None);
    assert_eq!(of_mysql("MYSQL_VERSION_MAJOR=8"), None);
}

#[test]
fn a_build_begins_again_where_an_interruption_left_half_a_file() {
    let site = Site::new("");
    let go_on = site.path("go-on");
    // The second `mkdir` fails, as linking half an object does.
    let compile = format!("mkdir x && (test -e {} || sleep 600)", go_on.display());
    fs::write(
        site.path("recipe.toml"),
        format!(
            "[[recipe]]\nname = \"copy\"\ndbms = \"mysql\"\nfrom = \"5\"\nserver = \"mysqld\"\n\
             [[recipe.step]]\nname = \"compile\"\nwords = [\"sh\", \"-c\", \"{compile}\"]\n{COPY}"
        ),
    )
    .unwrap();
    let how = site.commit_of("HEAD");
    let begun = || {
        let builds = fs::read_dir(site.path("cache/source-builds")).into_iter().flatten().flatten();
        builds.map(|build| build.path().join("build/x")).any(|made| made.is_dir())
    };
    let (stop, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !begun() && !is_over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::Relaxed);
        });
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let ended = ensure(Dbms::Mysql, &how, &site.path("cache"), &mut watch);
        is_over.store(true, Ordering::Relaxed);
        ended.unwrap_err()
    });
    assert!(matches!(error, Error::Server(rqps_server::Error::Interrupted { .. })), "{error}");
    fs::write(&go_on, "").unwrap();
    let go_on = AtomicBool::new(false);
    let mut notes = Vec::new();
    let mut report = |progress: Progress<'_>| {
        if let Progress::Note { text } = progress {
            notes.push(text.to_owned());
        }
    };
    let mut watch = Watch { stop: &go_on, report: &mut report };
    assert!(ensure(Dbms::Mysql, &how, &site.path("cache"), &mut watch).unwrap().is_new);
    let again = notes.iter().filter(|note| note.contains("begin again, as an interrupted")).count();
    assert_eq!(again, 1, "{notes:?}");
    // A recipe that installs no server is not carried out again.
    let counted =
        Site::new("[[recipe.step]]\nname = \"install\"\nwords = [\"sh\", \"-c\", \"echo x\"]\n");
    for _ in 0..2 {
        let error = counted.ensure(&counted.commit_of("HEAD")).unwrap_err();
        assert!(matches!(error, Error::NoServer { .. }), "{error}");
    }
    let builds = fs::read_dir(counted.path("cache/source-builds")).unwrap();
    let logs = builds.map(|build| fs::read_to_string(build.unwrap().path().join(LOG)).unwrap());
    assert_eq!(logs.map(|log| log.matches("$ sh -c").count()).sum::<usize>(), 1);
    // A step that fails by itself is not tried twice.
    let broken = Site::new("[[recipe.step]]\nname = \"compile\"\nwords = [\"mkdir\", \"/\"]\n");
    let fails = || broken.ensure(&broken.commit_of("HEAD")).unwrap_err().to_string();
    let log = |error: &str| error.matches("$ mkdir /").count();
    fails();
    assert_eq!(log(&fails()), 2);
}
