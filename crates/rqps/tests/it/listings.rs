//! Listings, help, and a shell on a server.

use std::os::fd::OwnedFd;

use nix::sys::signal::Signal;

use crate::bench::{Bench, for_each_server};
use crate::stored::{run, store};

#[test]
fn servers_that_can_be_had() {
    let bench = Bench::new();
    let list = bench.json(&["servers", "list", "--json"]);
    let text = bench.output(&["servers", "list"]);
    let mut lines = text.lines();
    let headings: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(headings, ["system", "here", "MB", "from", "compiled"]);
    let list = list.as_array().unwrap();
    assert!(list.len() > 100, "{} servers", list.len());
    assert_eq!(lines.filter(|line| !line.is_empty()).count(), list.len());
    for server in list {
        let name = server["system"].as_str().unwrap();
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {text}");
        assert!(server["cached"].is_boolean());
        // Coordinates and checksum; suite and package.
        let identity = server["sources"][0]["identity"].as_str().unwrap();
        assert!(identity.contains(':') || identity.starts_with("Debian "), "{server}");
        let keys: Vec<&str> = server.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys.join(" "),
            "arch build cached compiled dbms download_bytes engines libraries name own packaged \
             sources system tried unpacked_mb version"
        );
    }
    let of_percona = |server: &&serde_json::Value| server["system"] == "mysql@8.0.20+percona";
    let packaged = &list.iter().find(of_percona).unwrap()["packaged"];
    assert_eq!(packaged, "Percona Server 8.0.20-11");
    assert!(text.contains("Percona Server 8.0.20-11, minimal tarball"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn suites() {
    let bench = Bench::new();
    let list = bench.json(&["suites", "list", "--json"]);
    let n = list[0]["steps"].as_u64().unwrap();
    let steps = bench.output(&["suites", "show", "--steps"]);
    assert_eq!(steps.lines().count() as u64, n + 1);
    assert!(steps.lines().any(|line| line.starts_with("point-query  ")), "{steps}");
    // What is shown is a suite file that can be used.
    bench.write("mine.toml", &bench.output(&["suites", "show", "sysbench"]));
    bench.write(
        "plan.toml",
        "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'mine.toml'\nrows = 10\n\
         steps = ['point-query']\nseconds = { read = 0.02, warm_up = 0, fixed_at_most = 0.02 }\n[schedule]\nslices = 1\n",
    );
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_shell_takes_statements_and_leaves_nothing() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let system = format!("{dbms}@{version}");
        let sql = "create table t (a int);\ninsert into t\n  values (1), (2);\nselect a from t;\n\
                   select nonsense;\nselect count(*) as n from t;\nquit\nselect 7;\n";
        let said = bench.run_with_input(&["servers", "shell", &system], sql);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert_eq!(
            said.stdout, "0 rows affected\n2 rows affected\na\n1\n2\n2 rows\nn\n2\n1 row\n",
            "{}",
            said.stderr
        );
        let refusal = said.stderr.lines().last().unwrap();
        assert!(refusal.starts_with("rqps: server error "), "{}", said.stderr);
        assert!(refusal.contains("nonsense"), "{refusal}");
        let pid = said.stderr.split("is up (process ").nth(1).unwrap().split(')').next().unwrap();
        assert!(!std::path::Path::new("/proc").join(pid).exists(), "{pid} is left");
        bench.assert_tidy(&bench.dir().display().to_string());
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_shell_ends_when_it_is_interrupted() {
    let bench = Bench::new();
    // The test holds the other end, so the input never ends.
    let (_other_end, input) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut running =
        bench.spawn_with_input(&["servers", "shell", "postgres@11.22"], OwnedFd::from(input));
    running.await_line(" is up (process ");
    running.signal(Signal::SIGINT);
    let said = running.finish();
    assert_eq!(said.code(), 130, "{}", said.stderr);
    assert!(said.stderr.ends_with("rqps: interrupted\n"), "{}", said.stderr);
    bench.assert_tidy(&bench.dir().display().to_string());
}

/// A terminal that is read through a pager or a log states its columns.
#[test]
fn sentences_have_the_columns_that_are_stated() {
    let bench = Bench::new();
    let system = |label| format!("[[system]]\ndbms = 'null'\nlabel = '{label}'\n");
    let suite = "[[suite]]\nrows = 10\nsteps = ['point-query']\n\
                 seconds = { read = 0.02, warm_up = 0, fixed_at_most = 0.02 }\n";
    bench.write("plan.toml", &format!("{}{}{suite}", system("a"), system("b")));
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    for detail in [&["report", "--summary"][..], &["report"]] {
        let widest = |columns| {
            let said = bench.run_with(detail, &[("COLUMNS", columns)]);
            said.stdout.lines().map(|line| line.chars().count()).max().unwrap()
        };
        assert!((60..=72).contains(&widest("72")), "{detail:?}: {}", widest("72"));
        assert!((73..=100).contains(&widest("none")), "{detail:?}: {}", widest("none"));
    }
}

/// When the run of a name is gone, the name is not the beginning of another's.
#[test]
fn a_run_is_removed_only_by_what_names_it() {
    let bench = Bench::new();
    for (day, name) in [(1, "demo"), (2, "demo-keep")] {
        let own = run(day, &["17.4", "18.0"], &[("scan", &[1_000, 1_000])]);
        let id = format!("2026110{day}-080000-{name}");
        store(&bench, &rqps_model::Run { id, name: name.to_owned(), ..own });
    }
    // Nothing is removed where one of them is not known.
    let said = bench.run(&["runs", "rm", "demo", "nosuch"]);
    assert!(said.code() == 2 && said.stderr.contains("\"nosuch\""), "{}", said.stderr);
    assert_eq!(bench.output(&["runs", "rm", "demo", "demo"]), "removed 20261101-080000-demo\n");
    let said = bench.run(&["runs", "rm", "demo"]);
    assert!(said.code() == 2 && said.stderr.contains("a whole name"), "{}", said.stderr);
    assert!(bench.output(&["runs", "list"]).contains("demo-keep"));
    assert_eq!(bench.output(&["runs", "rm", "20261102"]), "removed 20261102-080000-demo-keep\n");
}
