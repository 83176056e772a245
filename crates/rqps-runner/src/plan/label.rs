//! Labels of systems that are the same but for a setting: told apart by that setting.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rqps_model::{
    BuildType, Dbms, Label, SourceBuild, SourceOrigin, SystemSource, SystemSpec, Transport,
};

/// Longest part of a value that a label shows.
const MAX_VALUE: usize = 24;

/// Adds to labels that several systems have what these systems differ in: options, transport,
/// limits. Only labels that rqps made (`is_made`) change; what stays the same is for the caller to
/// refuse.
pub(super) fn tell_apart(systems: &mut [SystemSpec], is_made: impl Fn(usize) -> bool) {
    let mut groups: BTreeMap<Label, Vec<usize>> = BTreeMap::new();
    for (idx, system) in systems.iter().enumerate().filter(|(idx, _)| is_made(*idx)) {
        groups.entry(system.label.clone()).or_default().push(idx);
    }
    for members in groups.values().filter(|members| members.len() > 1) {
        let dirs = dirs(&members.iter().map(|&idx| &systems[idx]).collect::<Vec<_>>());
        let traits: Vec<BTreeMap<String, String>> = members
            .iter()
            .zip(dirs)
            .map(|(&idx, dir)| traits(&systems[idx]).into_iter().chain(dir).collect())
            .collect();
        let names: BTreeSet<&String> = traits.iter().flat_map(BTreeMap::keys).collect();
        let differ =
            |name: &&&String| traits.iter().any(|t| t.get(**name) != traits[0].get(**name));
        let differing: Vec<&String> = names.iter().filter(differ).copied().collect();
        for (&idx, traits) in members.iter().zip(&traits) {
            for name in &differing {
                if let Some(value) = traits.get(*name) {
                    systems[idx].label.0.push_str(&suffix(name, value));
                }
            }
        }
    }
}

/// Numbers external systems of one label that rqps made: on the command line two of a family can get
/// no other.
pub(super) fn number_externals(systems: &mut [SystemSpec], is_made: impl Fn(usize) -> bool) {
    for idx in 0..systems.len() {
        let (before, rest) = systems.split_at_mut(idx);
        let Some(system) = rest.first_mut() else { continue };
        if !is_made(idx) || !matches!(system.source, SystemSource::External { .. }) {
            continue;
        }
        let is_free = |label: &Label| before.iter().all(|other| other.label != *label);
        let free = numbered(&system.label).find(is_free);
        system.label = free.unwrap_or_else(|| system.label.clone());
    }
}

/// A label, and the same with numbers.
fn numbered(label: &Label) -> impl Iterator<Item = Label> {
    let label = label.clone();
    let with_number =
        move |n: u32| if n == 1 { label.clone() } else { Label(format!("{label}-{n}")) };
    (1..).map(with_number)
}

/// The label that rqps makes for a server given by its address.
pub(super) fn external(dbms: Dbms) -> Label {
    Label(format!("{}-external", dbms.letters()))
}

/// Renames a system given by its address that had the label of another DBMS, `was`.
pub(super) fn follow_dbms(systems: &mut [SystemSpec], idx: usize, was: Dbms) {
    let label = &systems[idx].label;
    let after = label.as_str().strip_prefix(external(was).as_str());
    let is_number = |text: &str| text.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    if !after.is_some_and(|after| after.is_empty() || is_number(after)) {
        return;
    }
    let is_free = |label: &Label| {
        systems.iter().enumerate().all(|(other, system)| other == idx || system.label != *label)
    };
    if let Some(label) = numbered(&external(systems[idx].dbms)).find(is_free) {
        systems[idx].label = label;
    }
}

/// For each of these systems the parts of its directory's path that not all of them have, as a trait.
fn dirs(systems: &[&SystemSpec]) -> Vec<Option<(String, String)>> {
    let parts = |system: &&SystemSpec| -> Vec<String> {
        let path = match &system.source {
            SystemSource::Basedir { path } => path,
            SystemSource::Built(SourceBuild {
                origin: SourceOrigin::Directory { dir, .. },
                ..
            }) => dir,
            SystemSource::Built(SourceBuild {
                origin: SourceOrigin::Commit { repo, .. }, ..
            }) => repo,
            _ => return Vec::new(),
        };
        path.iter().rev().map(|part| part.to_string_lossy().into_owned()).collect()
    };
    let all: Vec<Vec<String>> = systems.iter().map(parts).collect();
    let deepest = all.iter().map(Vec::len).max().unwrap_or(0);
    let differ = |at: &usize| all.iter().any(|parts| parts.get(*at) != all[0].get(*at));
    let differing: Vec<usize> = (0..deepest).filter(differ).collect();
    let of = |parts: &Vec<String>| {
        let told = differing.iter().rev().filter_map(|at| parts.get(*at));
        let told: Vec<&str> = told.map(String::as_str).filter(|part| *part != "/").collect();
        (!told.is_empty()).then(|| ("dir".to_owned(), told.join("_")))
    };
    all.iter().map(of).collect()
}

/// What two systems of one label may differ in.
fn traits(system: &SystemSpec) -> BTreeMap<String, String> {
    let mut traits = system.options.clone();
    if system.transport != Transport::default() {
        traits.insert(String::new(), system.transport.to_string());
    }
    if let SystemSource::Built(how) = &system.source {
        traits.extend(of_build(how));
    }
    let limits = &system.variant.limits;
    if let Some(bytes) = limits.memory_bytes {
        traits.insert("memory".to_owned(), format!("{}M", bytes >> 20));
    }
    if let Some(cpus) = &limits.cpus {
        traits.insert("cpus".to_owned(), cpus.to_string());
    }
    traits
}

/// How builds of one source may differ.
fn of_build(how: &SourceBuild) -> BTreeMap<String, String> {
    let file = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let patches: Vec<String> = how.patches.iter().map(file).collect();
    let mut traits = BTreeMap::new();
    let mut add = |name: &str, value: Option<String>| {
        traits.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("cc", how.cc.clone());
    add("cflags", how.cflags.as_ref().map(|text| text.replace(' ', "")));
    add("lto", how.lto.then(|| "on".to_owned()));
    add("build", (how.build == BuildType::Debug).then(|| "debug".to_owned()));
    add("patches", (!patches.is_empty()).then(|| patches.join("+")));
    add("recipe", how.recipe.as_ref().map(file));
    traits
}

/// `-advise_random_on_open=0`: without the engine's name, which the label has or implies.
fn suffix(name: &str, value: &str) -> String {
    let short = name.rsplit('.').next().unwrap_or(name);
    let short = ["innodb_", "rocksdb_"].iter().find_map(|p| short.strip_prefix(p)).unwrap_or(short);
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.%+-".contains(c) { c } else { '_' };
    let value: String = value.chars().map(plain).take(MAX_VALUE).collect();
    if short.is_empty() { format!("-{value}") } else { format!("-{short}={value}") }
}

#[cfg(test)]
mod tests {
    use rqps_server::Catalogue;

    use crate::PlanFile;

    fn labels(systems: &[&str]) -> Result<Vec<String>, String> {
        let head = "[[system]]\ndbms = 'mariadb'\nversion = '10.2.11'\n";
        let text: String = systems.iter().map(|system| format!("{head}{system}\n")).collect();
        let plan = PlanFile::parse(&text, "test")
            .unwrap()
            .resolve("test", &Catalogue::builtin().unwrap())
            .map_err(|e| e.to_string())?;
        Ok(plan.systems.iter().map(|s| s.label.to_string()).collect())
    }

    #[test]
    fn systems_that_differ_in_options_have_labels_that_say_so() {
        assert_eq!(
            labels(&[
                "options = { innodb_flush_method = 'O_DIRECT', innodb_io_capacity = 100 }",
                "options = { innodb_flush_method = 'fsync', innodb_io_capacity = 100 }",
                "options = { innodb_io_capacity = 100, max_connections = 9 }\ntransport = 'tcp'",
            ])
            .unwrap(),
            [
                "ma100211.small-flush_method=O_DIRECT",
                "ma100211.small-flush_method=fsync",
                "ma100211.small-tcp-max_connections=9",
            ]
        );
        let parts = |value| format!("options = {{ 'rocksdb_default_cf_options.x' = '{value}' }}");
        assert_eq!(
            labels(&["", &parts("{a=1;b=2}"), "durability = 'full'", "cpus = '0-1'"]).unwrap(),
            [
                "ma100211.small",
                "ma100211.small-x=_a_1_b_2_",
                "ma100211.small-durable",
                "ma100211.small-cpus=0-1",
            ]
        );
    }

    #[test]
    fn builds_in_different_directories_have_labels_that_say_so() {
        let labels = |paths: &[&str]| {
            let head = "[[system]]\ndbms = 'postgres'\n";
            let text: String =
                paths.iter().map(|path| format!("{head}basedir = '{path}'\n")).collect();
            let plan = PlanFile::parse(&text, "test").unwrap();
            let plan = plan.resolve("test", &Catalogue::builtin().unwrap());
            let plan = plan.map_err(|e| e.to_string())?;
            Ok::<_, String>(plan.systems.iter().map(|s| s.label.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(
            labels(&["a/inst", "b/inst"]).unwrap(),
            ["pg-inst.small-dir=a", "pg-inst.small-dir=b"]
        );
        assert_eq!(
            labels(&["/src/main/inst", "/src/patched/gcc/inst", "/src/patched/clang/inst"])
                .unwrap(),
            [
                "pg-inst.small-dir=src_main",
                "pg-inst.small-dir=src_patched_gcc",
                "pg-inst.small-dir=src_patched_clang",
            ]
        );
        assert_eq!(labels(&["/a/one", "/a/two"]).unwrap(), ["pg-one.small", "pg-two.small"]);
        let error = labels(&["a/inst", "a/inst"]).unwrap_err();
        assert!(error.contains("two systems have the label \"pg-inst.small\""), "{error}");
    }

    #[test]
    fn systems_that_do_not_differ_are_refused_and_labels_that_were_given_stay() {
        let error = labels(&["", "", "options = { a = 1 }"]).unwrap_err();
        assert!(error.contains("two systems have the label \"ma100211.small\""), "{error}");
        assert!(error.contains("give each a `label` of its own"), "{error}");
        let given = "label = 'ma100211.small'";
        let error = labels(&[given, "options = { a = 1 }"]).unwrap_err();
        assert!(error.contains("two systems have the label"), "{error}");
        assert_eq!(
            labels(&["label = 'x'", "options = { a = 1 }"]).unwrap(),
            ["x", "ma100211.small"]
        );
    }

    #[test]
    fn an_engine_that_a_build_lacks_is_refused() {
        let error = labels(&["engine = 'rocksdb'"]).unwrap_err();
        assert!(
            error.starts_with(
                "test: system 1: MariaDB 10.2.11 of the catalogue has no engine \"rocksdb\"; "
            ),
            "{error}"
        );
        assert!(error.contains("basedir"), "{error}");
    }

    #[test]
    fn builds_from_source_have_labels_that_say_of_what_and_how() {
        let labels = |systems: &[&str]| {
            let head = "[[system]]\ndbms = 'postgres'\n";
            let text: String = systems.iter().map(|keys| format!("{head}{keys}\n")).collect();
            let plan = PlanFile::parse(&text, "test").unwrap();
            let plan = plan.resolve("test", &Catalogue::builtin().unwrap());
            let plan = plan.map_err(|e| e.to_string())?;
            // What is stored of a plan says the same.
            let again = PlanFile::parse(&plan.to_toml(), "stored").unwrap();
            let again = again.resolve("stored", &Catalogue::builtin().unwrap()).unwrap();
            assert_eq!(again.systems, plan.systems);
            Ok::<_, String>(plan.systems.iter().map(|s| s.label.to_string()).collect::<Vec<_>>())
        };
        let commit = |revision: &str| format!("repo = '/src/pg'\ncommit = '{revision}'");
        assert_eq!(
            labels(&[&commit("REL_17_STABLE~3"), &commit("work/fix"), "source = '/src/mine'"])
                .unwrap(),
            ["pg-REL_17_STABLE~3.small", "pg-work_fix.small", "pg-mine.small"]
        );
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(labels(&[&commit(hash)]).unwrap(), ["pg-0123456789ab.small"]);
        let head = commit("HEAD");
        let with = |keys: &str| format!("{head}\n{keys}");
        assert_eq!(
            labels(&[
                &head,
                &with("cc = 'clang'"),
                &with("cflags = '-O3 -g'"),
                &with("lto = true"),
                &with("build = 'debug'"),
                &with("patches = ['a/fix.patch']"),
            ])
            .unwrap(),
            [
                "pg-HEAD.small",
                "pg-HEAD.small-cc=clang",
                "pg-HEAD.small-cflags=-O3-g",
                "pg-HEAD.small-lto=on",
                "pg-HEAD.small-build=debug",
                "pg-HEAD.small-patches=fix",
            ]
        );
        let error = labels(&[&head, &head]).unwrap_err();
        assert!(error.contains("two systems have the label"), "{error}");
    }
}
