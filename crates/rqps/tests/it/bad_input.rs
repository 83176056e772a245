//! Bad input: each ends with exit code 2 and one message that names the value and the remedy.

use std::io::Write as _;
use std::process::{Command, Stdio};

use expect_test::expect_file;

use crate::bench::Bench;

/// Plans that are refused, each for one thing.
const PLANS: &[(&str, &str)] = &[
    ("not TOML", "name = \n"),
    ("nothing in it", ""),
    ("unknown key", "name = 'x'\n[[system]]\ndbms = 'null'\ncolour = 'red'\n"),
    ("unknown dbms", "[[system]]\ndbms = 'oracle'\nversion = '1'\n"),
    ("unknown version", "[[system]]\ndbms = 'mysql'\nversion = '5.6.99'\n"),
    ("no version", "[[system]]\ndbms = 'mysql'\nversion = 'latest'\n"),
    ("no source", "[[system]]\ndbms = 'mysql'\n"),
    ("no dbms", "[[system]]\nversion = '8.0.33'\n"),
    ("two sources", "[[system]]\ndbms = 'mysql'\nversion = '8.0.33'\nbasedir = '/opt'\n"),
    ("unknown engine", "[[system]]\ndbms = 'mysql'\nversion = '8.0.33'\nengine = 'myisam'\n"),
    ("wrong engine", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nengine = 'innodb'\n"),
    ("engine to come", "[[system]]\ndbms = 'ma'\nversion = '10.11.5'\nengine = 'rocksdb'\n"),
    ("unknown transport", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ntransport = 'pipe'\n"),
    ("unreadable config", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nconfig = 'no/such.conf'\n"),
    ("endless config", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nconfig = '/dev/zero'\n"),
    ("null with a version", "[[system]]\ndbms = 'null'\nversion = '1'\n"),
    ("basedir without a server", "[[system]]\ndbms = 'mysql'\nbasedir = '/proc/self/fd'\n"),
    ("unknown scheme", "[[system]]\ndsn = 'oracle://scott:tiger@host/db'\n"),
    ("nobody answers", "[[system]]\ndsn = 'mysql://u:secret@127.0.0.1:1/db'\n"),
    ("configured dsn", "[[system]]\ndsn = 'mysql://u@h/db'\noptions = { a = 1 }\n"),
    ("cut password", "[[system]]\ndsn = 'mysql://u:12/secret@h/db'\n"),
    ("dsn of another dbms", "[[system]]\ndbms = 'pg'\ndsn = 'mysql://u@h/db'\n"),
    ("dsn with a transport", "[[system]]\ndsn = 'mysql://u@h/db'\ntransport = 'tls'\n"),
    ("version and more", "[[system]]\ndbms = 'pg'\nversion = '18.0; x'\n"),
    ("two of one label", "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\n"),
    ("unknown base", "base = 'x'\n[[system]]\ndbms = 'null'\n"),
    ("unknown suite", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'tpcc'\n"),
    ("endless suite", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = '/dev/zero'\n"),
    ("unknown step", "[[system]]\ndbms = 'null'\n[[suite]]\nsteps = ['piont-query']\n"),
    ("unknown size", "[[system]]\ndbms = 'null'\n[[suite]]\nsize = 'huge'\n"),
    ("unknown form", "[[system]]\ndbms = 'null'\n[[suite]]\nform = 'long'\n"),
    ("no clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = []\n"),
    ("zero clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [1, 0]\n"),
    ("negative clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [-1]\n"),
    ("too many clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [100_000]\n"),
    ("clients twice", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [1, 2, 1]\n"),
    ("rate beyond all clocks", "[[system]]\ndbms = 'null'\n[[suite]]\nrate = 1e300\n"),
    ("a slice of years", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { read = 1e12 }\n"),
    ("negative seconds", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { read = -1 }\n"),
    ("zero seconds", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { write = 0 }\n"),
    ("no rows", "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 0\n"),
    ("rows as a word", "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 'many'\n"),
    ("two suites of no name", "[[system]]\ndbms = 'null'\n[[suite]]\n[[suite]]\n"),
    ("slip in a short word", "[[system]]\ndbms = 'null'\n[[suite]]\nsize = 'tyni'\n"),
    ("slip in a suite", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'sysbnech'\n"),
    ("slip in a config", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nconfig = 'smal'\n"),
    ("slip in a dbms", "[[system]]\ndbms = 'mysqll'\nversion = '8.0.33'\n"),
    ("a name of no text", "name = 3\n[[system]]\ndbms = 'null'\n"),
    ("steps in no list", "[[system]]\ndbms = 'null'\n[[suite]]\nsteps = 'x'\n"),
    ("a switch as a word", "[[system]]\ndbms = 'null'\n[[suite]]\nreuse_tables = 'yes'\n"),
    ("a rate as a word", "[[system]]\ndbms = 'null'\n[[suite]]\nrate = 'fast'\n"),
    ("starts of no number", "[[system]]\ndbms = 'null'\n[schedule]\nstarts = 1.5\n"),
    ("a schedule of no table", "schedule = 'fast'\n[[system]]\ndbms = 'null'\n"),
    ("a system of no table", "system = 3\n"),
    ("unknown build", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nbuild = 'nope'\n"),
    ("build of nothing", "[[system]]\ndbms = 'pg'\nbuild = 'debian'\n"),
    ("unknown audit", "audit = 'strct'\n[[system]]\ndbms = 'null'\n"),
    (
        "a null arm as base",
        "base = 'b'\n[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'b'\nnull_arm = true\n",
    ),
    (
        "precision of insert",
        "[[system]]\ndbms = 'null'\n[schedule]\nprecision = '1%'\n[[suite]]\nkind = 'insert'\n",
    ),
    ("unknown placement", "[[system]]\ndbms = 'null'\n[schedule]\nplacement = 'best'\n"),
    ("unknown mode", "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'random'\n"),
    ("insert's key elsewhere", "[[system]]\ndbms = 'null'\n[[suite]]\nrates = [100]\n"),
    ("another's key", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'insert'\nform = 'short'\n"),
    (
        "clients of insert",
        "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'insert'\nclients = [1, 2]\n",
    ),
    (
        "bulk load of none",
        "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'insert'\nbulk_load = true\n",
    ),
    ("no slices", "[[system]]\ndbms = 'null'\n[schedule]\nslices = 0\n"),
    ("slip in a key", "[[system]]\ndbms = 'null'\nlable = 'x'\n"),
    ("slip in a transport", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ntransport = 'soket'\n"),
    ("slip in a mode", "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'sequentiel'\n"),
    ("slip in a form", "[[system]]\ndbms = 'null'\n[[suite]]\nform = 'shrot'\n"),
    ("unknown protocol", "[[system]]\ndbms = 'null'\n[[suite]]\nprotocol = 'binary'\n"),
    ("unknown malloc", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nmalloc = 'jmalloc'\n"),
    ("unknown durability", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ndurability = 'none'\n"),
    ("unknown compression", "[[system]]\ndbms = 'ma'\nversion = '10.11.5'\ncompression = 'zsdt'\n"),
    ("compression of another", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ncompression = 'row'\n"),
    ("no memory", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nmemory = '1M'\n"),
    ("memory of what", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nmemory = 'much'\n"),
    ("no such CPU", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ncpus = '9999'\n"),
    ("CPUs backwards", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ncpus = '3-1'\n"),
    ("slowdown of all", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ninjected_slowdown = 100\n"),
    (
        "sql_after_load of insert",
        "[[system]]\ndbms = 'pg'\nversion = '18.0'\nsql_after_load = ['x']\n[[suite]]\n\
         kind = 'insert'\n",
    ),
    ("an option of two", "[[system]]\ndbms = 'pg'\nversion = '18.0'\noptions = { a = [1, 2] }\n"),
    (
        "slice of no unit",
        "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'interleaved'\nslice = '20'\n",
    ),
    ("repo without commit", "[[system]]\ndbms = 'pg'\nrepo = 'x'\n"),
    ("commit without repo", "[[system]]\ndbms = 'pg'\ncommit = 'HEAD'\n"),
    ("source and commit", "[[system]]\ndbms = 'pg'\nsource = 'x'\ncommit = 'HEAD'\n"),
    (
        "version and repo",
        "[[system]]\ndbms = 'pg'\nversion = '17.4'\nrepo = 'x'\ncommit = 'HEAD'\n",
    ),
    ("cflags of nothing", "[[system]]\ndbms = 'pg'\nversion = '17.4'\ncflags = '-O3'\n"),
    ("unknown build type", "[[system]]\ndbms = 'pg'\nsource = 'x'\nbuild = 'fast'\n"),
    ("source of nothing", "[[system]]\ndbms = 'pg'\nsource = 'no/such/dir'\n"),
    ("no repository", "[[system]]\ndbms = 'pg'\nrepo = 'no/such/dir'\ncommit = 'HEAD'\n"),
    ("slice of sequential", "[[system]]\ndbms = 'null'\n[schedule]\nslice = '20ms'\n"),
    (
        "budget of no unit",
        "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'interleaved'\nbudget = '20'\n",
    ),
    (
        "budget and slices",
        "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'interleaved'\nbudget = '20s'\nslices = 2\n",
    ),
    (
        "precision of nothing",
        "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'interleaved'\nprecision = '0%'\n",
    ),
    (
        "time of no unit",
        "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'interleaved'\ntime = '5x'\n",
    ),
    (
        "time too short",
        "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'interleaved'\ntime = '1s'\n",
    ),
    ("no loads", "[[system]]\ndbms = 'null'\n[schedule]\nloads = 0\n"),
    ("seed below zero", "[[system]]\ndbms = 'null'\n[schedule]\nseed = -1\n"),
    (
        "tables of another server",
        "[[system]]\ndsn = 'mysql://u@h/db'\n[[suite]]\nreuse_tables = true\n",
    ),
    ("profile of an hour", "profile = { seconds = 3600 }\n[[system]]\ndbms = 'null'\n"),
    ("profile as a word", "profile = 'yes'\n[[system]]\ndbms = 'null'\n"),
];

/// Runs a command that must fail with one message, and shows it.
fn refused(bench: &Bench, shown: &str, args: &[&str]) -> String {
    let said = bench.run(args);
    assert_eq!(said.code(), 2, "{shown}: {}", said.stderr);
    assert_eq!(said.stdout, "", "{shown}");
    // Other tests may have the CPUs meanwhile.
    let is_of_host = |line: &&str| line.contains("% of this host's CPU is in use");
    let told: String = said.stderr.split_inclusive('\n').filter(|line| !is_of_host(line)).collect();
    format!("{shown}\n{}", bench.redact(&told))
}

/// Command lines that are refused, in a directory with a plan, two runs and what [`refusals`] writes there.
const COMMAND_LINES: &[&str] = &[
    "rum",
    "run",
    "run --nosuch",
    "run nosuch.toml",
    "run --base null",
    "run --vs null",
    "run --base pg@11.22 --vs 18",
    "run --base pg@11.22 --vs pg@11.22",
    "run --base pg11.22 --vs pg@11.22",
    "run --base pg@11.22 --vs pg@11.23",
    "run --base pg@11.22 --vs oracle@19",
    "run --base pg@11.22 --vs mysqll@8.0.33",
    "run --base pg@11.22+nope --vs null",
    "run --base pg@latest --vs null",
    "run --base null --vs null",
    "run --base mysql@ --vs null",
    "run --base a=b --vs null",
    "run --base a;b --vs null",
    "run --base pg@11.22 --vs pg@no/such/dir",
    "run --base pg@11.22 --vs mysql:user@host",
    "run --base null --vs mysql://user:secret@host/db",
    "run --base null --vs mysql://user@127.0.0.1:1/db?password_env=NO_SUCH_VARIABLE",
    "run plan.toml --base null",
    "run plan.toml --suite tpcc",
    "run plan.toml --size tyni",
    "run plan.toml --form long",
    "run plan.toml --steps x*",
    "run plan.toml --steps piont-query",
    "run plan.toml --steps read-only.pre_range=10",
    "run plan.toml --steps a/scan",
    "run suites.toml --steps c/scan",
    "run plan.toml --clients 0",
    "run plan.toml --clients x",
    "run plan.toml --rate 0",
    "run plan.toml --rate x",
    "run plan.toml --slices x",
    "run plan.toml --seed x",
    "run plan.toml --suite sysbnech",
    "run plan.toml --audit strct",
    "run plan.toml --placement splitt",
    "run plan.toml --schedule random",
    "run plan.toml --slices 0",
    "run plan.toml --time 5x",
    "run plan.toml --schedule interleaved --time 5x",
    "run plan.toml --loads 0",
    "run plan.toml --time 10m --slices 3",
    "run plan.toml --starts 0",
    "run plan.toml --placement here",
    "run plan.toml --audit lax",
    "run plan.toml --stop-after soon",
    "run plan.toml --wait-for-quiet never",
    "run plan.toml --bound 90%",
    "run plan.toml --results file",
    "run plan.toml --results other",
    "servers fetch pg@11.22 --cache file",
    "run plan.toml --catalogue nosuch.toml",
    "run plan.toml --catalogue file.toml",
    "profile",
    "profile point-query",
    "profile point-query --plan plan.toml --seconds 100",
    "profile point-query --plan plan.toml --seconds x",
    "profile point-query --plan nosuch.toml",
    "profile point-qury --systems null",
    "profile point-query --systems null,pg@18.99",
    "report 1999",
    "report 2",
    "report --base x",
    "report --bound 90",
    "report --bound x",
    "report --format pdf",
    "report -o x.pdf",
    "report --format csv -o y.html",
    "compare first second -o x.pdf",
    "report nosuch.tar.zst",
    "report garbage.tar.zst",
    "report --format html --full",
    "report --summary --full",
    "report -o no/such/file",
    "report file.tar.zst",
    "compare",
    "compare first x",
    "compare first second --base x",
    "compare first second --format text --base x",
    "gate 1999",
    "gate first --max-slowdown 0",
    "gate first --format xml",
    "gate garbage.tar.zst",
    "gate nosuch.tar.zst",
    "gate first --steps x",
    "history x",
    "history --steps x",
    "history --system x",
    "history --by name",
    "history --format pdf",
    "history 2",
    "history first -o no/such/file",
    "serve --listen here",
    "serve --listen 0.0.0.0:0",
    "serve --token-file nosuch",
    "serve --token-file file",
    "serve --listen 127.0.0.1:x",
    "serve --listen localhost:7477",
    "import mytools nosuch",
    "import sysbench nosuch",
    "import sysbench file",
    "import iibench other",
    "import iibench nosuch",
    "import mytools other",
    "import sysbench l:s=nosuch",
    "import sysbench file --clients 0",
    "import sysbench file --dbms mysqll",
    "import sysbench file --date 2999-01-01",
    "import sysbench file --date today",
    "import sysbench file --dbms oracle",
    "runs list --results file",
    "runs list --results other",
    "runs list --results nothing",
    "runs show x",
    "runs rm x",
    "runs export x",
    "runs export first --format csv -o other",
    "runs export first -o x.zip",
    "runs import nosuch.tar.zst",
    "runs import file.tar.zst",
    "runs import garbage.tar.zst",
    "runs import other",
    "runs tag x y",
    "runs tag first a,b",
    "tables rm",
    "tables rm x",
    "servers fetch mysql@1.2.3",
    "servers fetch mysql@8.0.34",
    "servers audit",
    "servers audit pg@no/such/dir",
    "servers audit --plan nosuch.toml",
    "servers fetch null",
    "servers fetch mysql://user@host/db",
    "servers audit mysql://user:secret@host/db",
    "servers audit null --option x",
    "servers shell mysql",
    "suites show tpcc",
    "suites show insrt",
    "calibrate null --seconds 0",
    "calibrate null --power --looks 0",
    "calibrate mysql://user@host/db",
    "warnings host-buzy",
    "warnings x",
    "bisect --repo . --good HEAD",
    "bisect --repo . --good HEAD --step x --confidence high",
    "bisect --repo no/such/dir --good HEAD --step x",
    "bisect --repo other --good HEAD --step x",
    "bisect --repo repo --good nosuch --step x",
    "bisect --repo repo --good HEAD --bad HEAD~1 --step x",
    "bisect --repo repo --good HEAD --bad HEAD --step x",
    "bisect --repo repo --good side --step x",
    "bisect --repo repo --good HEAD~1 --step x",
    "bisect --repo repo --good HEAD~1 --step x --dbms mysqll",
    "bisect --repo repo --good HEAD~1 --step x --dbms pg",
    "bisect --repo repo --good HEAD~1 --step x --dbms pg --min-change 0",
    "bisect --repo repo --good HEAD~1 --step x --dbms pg --time 5x",
    "bisect version.toml --repo repo --good HEAD~1 --step x",
    "bisect suites.toml --repo repo --good HEAD~1 --step c/x --dbms pg",
    "track",
    "track --repo no/such/dir --pin HEAD",
    "track --repo other --pin HEAD",
    "track --repo repo --pin nosuch",
    "track --repo repo --pin HEAD~1 --branch nosuch",
    "track --repo repo --pin HEAD~1",
    "track --repo repo --pin HEAD~1 --dbms mysqll",
    "track --repo repo --pin HEAD~1 --dbms pg --max-slowdown 0",
    "track --repo repo --pin HEAD~1 --dbms pg --confidence high",
    "track --repo repo --pin HEAD~1 --dbms pg --starts 0",
    "track --repo repo --pin HEAD~1 --dbms pg --time 5x",
    "track --repo repo --pin HEAD~1 --dbms pg --wait-for-quiet never",
    "track --repo repo --pin HEAD~1 --dbms pg --steps piont-query",
    "track --repo repo --pin HEAD~1 --dbms pg --steps point-query",
    "track two.toml --repo repo --pin HEAD~1",
    "track version.toml --repo repo --pin HEAD~1",
    "track null.toml --repo repo --pin HEAD~1",
    "track nosuch.toml --repo repo --pin HEAD~1",
    "run --base pg@git:x --vs pg@18.0",
    "builds log x",
    "builds rm",
];

/// A repository whose files are of no DBMS, with a commit beside its first parents. Its hashes are always the same.
fn write_repository(bench: &Bench) {
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(bench.path("repo"));
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
        let date = "2026-11-21T00:00:00Z";
        command.env("GIT_AUTHOR_DATE", date).env("GIT_COMMITTER_DATE", date);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        assert!(command.args(words).output().unwrap().status.success(), "{words:?}");
    };
    std::fs::create_dir(bench.path("repo")).unwrap();
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    git(&["branch", "side"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "second"]);
    git(&["checkout", "--quiet", "side"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "beside"]);
    git(&["checkout", "--quiet", "main"]);
    git(&["merge", "--quiet", "--no-ff", "-m", "third", "side"]);
}

/// Every refusal of plans and of the command line, in one file that is read as a whole.
#[test]
fn refusals() {
    let bench = Bench::new();
    let mut text = String::from("Refusals: of plans, of command lines\n");
    for (what, plan) in PLANS {
        bench.write_private("plan.toml", plan);
        text.push_str(&refused(&bench, &format!("\n# {what}"), &["run", "plan.toml"]));
    }
    // None of them left a run behind.
    assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
    for name in ["first", "second"] {
        let plan = format!(
            "name = {name:?}\n[[system]]\ndbms = 'null'\n[[suite]]\nrows = 10\n\
             steps = ['point-query']\nseconds = {{ read = 0.02, warm_up = 0, fixed_at_most = 0.02 }}\n"
        );
        bench.write("plan.toml", &plan);
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
    }
    bench.write("plan.toml", "[[system]]\ndbms = 'null'\n");
    let suites = "[[system]]\ndbms = 'null'\n[[suite]]\nname = 'a'\n[[suite]]\nname = 'b'\n";
    bench.write("suites.toml", suites);
    for empty in ["file", "file.tar.zst"] {
        bench.write(empty, "");
    }
    bench.write("garbage.tar.zst", "This is no archive.");
    bench.write("version.toml", "[[system]]\ndbms = 'pg'\nversion = '17.4'\n");
    bench.write("two.toml", "[[system]]\ndbms = 'pg'\n[[system]]\ndbms = 'pg'\n");
    bench.write("null.toml", "null = true\n[[system]]\ndbms = 'pg'\n");
    write_repository(&bench);
    bench.write("file.toml", "[[server]]\ncolour = 'red'\n");
    std::fs::create_dir(bench.path("other")).unwrap();
    bench.write("other/rqps.db", &"This is a text and no database. ".repeat(100));
    for line in COMMAND_LINES {
        let args: Vec<&str> = line.split(' ').collect();
        text.push_str(&refused(&bench, &format!("\n$ rqps {line}"), &args));
    }
    expect_file!["../data/refusals.out"].assert_eq(&text);
}

#[test]
fn plans_without_an_end_and_from_a_pipe() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero.toml")).unwrap();
    // It is refused, not read until there is no memory.
    let said = bench.run_after("ulimit -v 8000000", &["run", "zero.toml"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let words =
        "read the plan zero.toml (or name systems with --base and --vs): it is not a regular file";
    assert!(said.stderr.contains(words), "{}", said.stderr);
    let mut command = bench.command(&["run", "/dev/stdin", "--no-html"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let plan = "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 10\nsteps = ['point-query']\n\
                seconds = { read = 0.02, warm_up = 0, fixed_at_most = 0.02 }\n";
    child.stdin.take().unwrap().write_all(plan.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_plan_with_a_password_that_others_may_read_is_refused() {
    let bench = Bench::new();
    let plan = "[[system]]\ndsn = 'mysql://u:secret@127.0.0.1:1/d'\n";
    bench.write("plan.toml", plan);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("run chmod 600 plan.toml"), "{}", said.stderr);
    assert!(!said.stderr.contains("secret"), "{}", said.stderr);
    bench.write_private("plan.toml", plan);
    let said = bench.run(&["run", "plan.toml"]);
    assert!(said.stderr.contains("127.0.0.1:1"), "{}", said.stderr);
}

#[test]
fn a_factor_of_time_limits_is_a_number() {
    let bench = Bench::new();
    let said = bench.run_with(&["runs", "list"], &[("RQPS_PATIENCE", "soon")]);
    let words = "rqps: error: RQPS_PATIENCE: \"soon\" is no factor for time limits (expected a number from \
                 0.01 to 100, such as 2)\n";
    assert_eq!((said.code(), said.stderr.as_str()), (2, words));
}
