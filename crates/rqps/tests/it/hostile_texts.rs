//! Words of plans, servers and stored runs steer no terminal, whatever command shows them.

use crate::bench::{Bench, Said};
use crate::stored::{run, store};

/// What clears a screen, rings a bell, overwrites a line, sets a colour and turns a line round.
const HOSTILE: &str = "x\u{1b}[2J\u{7}\r\u{9b}31m\u{202e}y";

/// How its beginning is shown.
const SHOWN: &str = "x\u{fffd}[2J\u{fffd}";

fn assert_fit(said: &Said, what: &str) {
    let steers = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || c == '\u{202e}';
    for text in [&said.stdout, &said.stderr] {
        assert!(!text.contains(steers), "{what}: {text:?}");
    }
}

#[test]
fn those_of_stored_runs() {
    let bench = Bench::new();
    for day in [1, 2] {
        let mut run = run(day, &["17.4", "18.0"], &[("scan", &[5_000, 4_000])]);
        run.name = HOSTILE.to_owned();
        run.command_line = vec!["rqps".to_owned(), HOSTILE.to_owned()];
        run.plan = format!("name = '{HOSTILE}'\n");
        run.host.hostname = HOSTILE.to_owned();
        run.host.kernel = HOSTILE.to_owned();
        run.host.cpu_model = HOSTILE.to_owned();
        for system in &mut run.systems {
            system.spec.label.0.push_str(HOSTILE);
            system.version_text = HOSTILE.to_owned();
            system.origin = HOSTILE.to_owned();
        }
        run.steps[0].info.name = HOSTILE.to_owned();
        if day == 2 {
            // Done, and nothing was measured: `runs verify` tells of it, with step and label.
            run.steps[0].systems[1].slices.clear();
        }
        store(&bench, &run);
    }
    for (args, code, is_shown) in [
        (&["runs", "list"][..], 0, true),
        (&["runs", "show", "20261101"], 0, true),
        (&["runs", "verify"], 2, true),
        (&["runs", "tag", "20261101", "t\u{202e}t", "--note", HOSTILE], 0, true),
        (&["runs", "show", HOSTILE], 2, false),
        (&["runs", "export", "20261101"], 0, false),
        (&["report", "20261101"], 0, false),
        (&["report", "20261101", "--base", "nosuch"], 2, true),
        (&["gate", "20261101", "--steps", "nosuch"], 2, true),
        (&["history", "20261101", "--system", "nosuch"], 2, true),
    ] {
        let said = bench.run(args);
        assert_eq!(said.code(), code, "{args:?}: {}", said.stderr);
        assert_fit(&said, &format!("{args:?}"));
        let is_there = said.stdout.contains(SHOWN) || said.stderr.contains(SHOWN);
        assert!(!is_shown || is_there, "{args:?}: {}{}", said.stdout, said.stderr);
    }
    // A name with line breaks is no row of its own.
    let rows = bench.output(&["runs", "list"]);
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

#[test]
fn those_of_plans_that_are_refused() {
    let bench = Bench::new();
    for system in [
        r#"dbms = "mysql\u001b[31m\u202e""#,
        "dbms = 'mysql'\nversion = '8'\n\"col\\u001b[2J\\u202e\" = 1",
        "dbms = 'mysql'\nbasedir = \"/nonexistent\\u001b[31m\\u202e/..\"",
        "dbms = 'mysql'\nbasedir = \"/nonexistent\\u001b[31m\\u202e\"",
    ] {
        bench
            .write("plan.toml", &format!("name = \"n\\u001b]0;x\\u0007\"\n[[system]]\n{system}\n"));
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        // Quoted as Rust does it, or made fit.
        assert!(said.stderr.contains(['\u{fffd}', '\\']), "{}", said.stderr);
        assert_fit(&said, system);
    }
}

#[test]
fn those_of_a_run() {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        "name = \"n\\u001b[2J\"\n[[system]]\ndbms = 'null'\nlabel = \"a\\u001b[2J\\u202e\"\n\
         [[system]]\ndbms = 'null'\nlabel = \"b\\u0007\"\n\
         [[suite]]\nrows = 10\nsteps = ['point-query']\nseconds = { read = 0.02, warm_up = 0, fixed_at_most = 0.02 }\n",
    );
    for args in [&["run", "plan.toml"][..], &["runs", "list"], &["runs", "show"], &["report"]] {
        let said = bench.run(args);
        assert_eq!(said.code(), 0, "{args:?}: {}", said.stderr);
        assert_fit(&said, &format!("{args:?}"));
        assert!(said.stdout.contains("a\u{fffd}[2J"), "{args:?}: {}", said.stdout);
    }
}
