//! Listings, help, and a shell on a server.

use std::os::fd::OwnedFd;

use expect_test::expect;
use nix::sys::signal::Signal;

use crate::bench::{Bench, for_each_server};

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

#[test]
fn help_of_the_tool() {
    let bench = Bench::new();
    expect![[r#"
        Finds performance regressions in database servers, and says how sure that is

        Usage: rqps [OPTIONS] <COMMAND>

        Commands:
          run        Measure what a plan says, or a base against candidates; resumes after an interruption
          profile    Measure steps and show in which functions of the servers their CPU time goes: flame
                     graphs, and how they differ
          report     Write the report of a run
          compare    Write one report of the systems of several runs
          gate       For CI: end with 1 when a step is slower than allowed, with 2 when that cannot be said
          history    Show figures over runs or versions, and where they changed
          serve      Show runs, reports, comparisons and histories in a browser, and follow runs that are
                     under way
          import     Take over other tools' results as runs: figures without intervals
          runs       The results store
          tables     Filled tables that runs with reuse_tables have stored
          servers    The servers that can be had
          suites     The suites of steps
          calibrate  Measure how noisy this host is: the same server against itself; used by plans and
                     reports
          sysbench   In place of the program sysbench: its options, its scripts, its output
                     (docs/sysbench.md)
          warnings   What warnings of reports mean, and what to do about them
          doctor     What this host lacks for a run, and what disturbs one, with the command that mends it

        Options:
              --results <DIR>     Directory of the results store [default: rqps-results]
              --cache <DIR>       Directory where fetched servers are kept [default: the user's cache
                                  directory]
              --catalogue <FILE>  File of servers of your own, beside the built-in ones [default:
                                  rqps/servers.toml in the user's configuration directory]
          -h, --help              Print help
          -V, --version           Print version
    "#]].assert_eq(&bench.output(&["--help"]));
}

#[test]
fn help_of_commands() {
    let bench = Bench::new();
    expect![[r#"
        Measure what a plan says, or a base against candidates; resumes after an interruption

        Usage: rqps run [OPTIONS] [PLAN.toml]

        Arguments:
          [PLAN.toml]  Plan to carry out

        Options:
              --base <SYSTEM>          The system that others are compared with: DBMS@VERSION,
                                       DBMS@DIRECTORY or an address such as
                                       mysql://user@host:3306/db?password_env=NAME
              --results <DIR>          Directory of the results store [default: rqps-results]
              --cache <DIR>            Directory where fetched servers are kept [default: the user's cache
                                       directory]
              --vs <SYSTEM>            A system to compare with the base, such as patched=pg@/build/pg, with
                                       its label before it; may be given more than once
              --catalogue <FILE>       File of servers of your own, beside the built-in ones [default:
                                       rqps/servers.toml in the user's configuration directory]
              --suite <SUITE>          Suite: sysbench, insert (the Insert Benchmark), or the path of a
                                       suite file
              --size <SIZE>            Size of tables and length of slices: tiny, small or medium
              --form <FORM>            short (32 figures, as published by the Small Datum blog) or full (all
                                       steps)
              --steps <GLOB>           Steps to run, by name or glob; may be given more than once
              --clients <N,N...>       Numbers of clients, separated by commas; every step runs with each
              --reuse-tables           Copy the tables that an earlier run filled alike; else fill them, and
                                       store them for later runs
              --rate <N>               Events per second, all clients together; response times then count
                                       from the intended start
              --schedule <MODE>        Whether systems alternate in slices of milliseconds (interleaved) or
                                       come one after the other (sequential) [default: interleaved, for
                                       several systems that rqps runs itself]
              --slices <N>             Slices per step and system; interleaved, the time of so many slices
              --time <TIME>            Time of the whole run once its servers are there, divided among the
                                       steps: 20m
              --starts <N>             Starts of the servers among which the time of a step is divided
                                       [default: 4 where rqps starts them]
              --null                   Measure the base once more, as a server of its own: what it differs
                                       by from itself is noise
              --placement <PLACEMENT>  Where client and server threads run: auto, free, split or paired
              --seed <N>               Seed of all randomness [default: drawn, and recorded]
              --audit <RULE>           Refuse systems that differ severely: strict [default: warn]
              --new                    Start a new run, even where an unfinished run of the same plan could
                                       be resumed
              --allow-settings         Let settling change settings of servers given by their address; they
                                       are restored after it
              --stop-after <TIME>      Stop after this long, such as 36h, as an interrupt would; the same
                                       command resumes the run
              --no-html                Write no HTML report at the end
              --wait-for-quiet <TIME>  Wait this long, such as 10m, for other programs to leave the CPUs;
                                       end with an error if they do not
              --bound <PERCENT>        Difference that matters, such as 5% [default: 5%]
              --allow-busy-host        Give verdicts on steps during which other programs had the CPUs, too
          -h, --help                   Print help
    "#]].assert_eq(&bench.output(&["run", "--help"]));
    expect![[r#"
        The servers that can be had

        Usage: rqps servers [OPTIONS] <COMMAND>

        Commands:
          list   The catalogue: versions, sources, sizes, and which are here already
          fetch  Fetch servers into the cache
          audit  Show what servers run with (build, session, settings) and, of several, which differences
                 can move a figure and why
          shell  Start a server with a new, empty data directory and read SQL from standard input; it is
                 removed at the end

        Options:
              --results <DIR>     Directory of the results store [default: rqps-results]
              --cache <DIR>       Directory where fetched servers are kept [default: the user's cache
                                  directory]
              --catalogue <FILE>  File of servers of your own, beside the built-in ones [default:
                                  rqps/servers.toml in the user's configuration directory]
          -h, --help              Print help
    "#]].assert_eq(&bench.output(&["servers", "--help"]));
}
