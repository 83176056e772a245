//! Reports in a real browser: pages made from the fixtures, opened from disk by headless Chromium.
//!
//! Needs Debian's `chromium`, `node`, and the packages of `tests/browser` (`scripts/setup --for-tests`
//! installs them). Where they are missing the test says so and does nothing, but fails where `RQPS_CI`
//! is set. Pages and screenshots stay in `target/tmp`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rqps_analysis::{Analysis, Joined};
use rqps_export::archive;
use rqps_model::Run;
use rqps_model::run::SystemStep;
use rqps_report::{csv, json};
use rqps_store::RunRef;

use crate::{compare, history};
use rqps_fixtures::{blocks, hostile, inserts, many, stacks, words};

/// What is missing, or the browser.
fn browser(tests: &Path) -> Result<PathBuf, String> {
    if !tests.join("node_modules/playwright-core").is_dir() {
        return Err("packages of tests/browser are not installed".to_owned());
    }
    // As the shell finds programs.
    let path_of = |names: &str| -> Option<PathBuf> {
        let which = format!("for p in {names}; do command -v $p && exit; done");
        let found = Command::new("sh").args(["-c", &which]).output().ok()?;
        let line = String::from_utf8(found.stdout).ok()?;
        Some(PathBuf::from(line.trim())).filter(|path| path.is_file())
    };
    path_of("node").ok_or("node is not installed")?;
    path_of("chromium chromium-browser google-chrome")
        .ok_or_else(|| "chromium is not installed".to_owned())
}

fn write(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).unwrap();
}

fn page(dir: &Path, name: &str, run: &Run) {
    write(dir, &format!("{name}.html"), &rqps_html::render(&Analysis::of(run, 0.05)));
}

/// A measured run: its names, settings and statements are as long as real ones are.
fn kept(name: &str) -> Run {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join(format!("examples/findings/results/{name}.tar.zst"));
    let opened = archive::open(&path, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    opened.store().select_run(&RunRef::Id(opened.run_id().to_owned())).unwrap()
}

/// A few pages, and beside one the figures that it must show.
fn write_few_pages(dir: &Path) {
    let demo = rqps_fixtures::demo();
    page(dir, "demo", &demo);
    let own = Analysis::of(&demo, 0.05);
    write(dir, "demo.json", &json::render(&own));
    write(dir, "demo.csv", &csv::render(&own));
    page(dir, "pair", &rqps_fixtures::pair());
    let mut unfinished = demo;
    for system in unfinished.steps.iter_mut().flat_map(|step| &mut step.systems) {
        *system = SystemStep::pending();
    }
    page(dir, "unfinished", &unfinished);
}

/// The other pages.
fn write_more_pages(dir: &Path) {
    let demo = rqps_fixtures::demo();
    for base in [1, 2] {
        let analysis = Analysis::of_base(&demo, base, 0.05);
        write(dir, &format!("demo.base{base}.json"), &json::render(&analysis));
    }
    let suite = rqps_fixtures::suite();
    page(dir, "suite", &suite);
    write(dir, "suite.json", &json::render(&Analysis::of(&suite, 0.05)));
    page(dir, "large", &rqps_fixtures::large());
    // More than have a column each.
    page(dir, "many", &many::of_systems(12));
    for n_candidates in [1, 3, 8] {
        page(dir, &format!("candidates-{n_candidates}"), &many::of_systems(n_candidates + 1));
    }
    page(dir, "insert", &inserts::run());
    let joined: Joined = compare::joined(None);
    write(dir, "compare.html", &rqps_html::render(&Analysis::of_joined(&joined, 0.05)));
    let profiles = stacks::with_counters(0);
    let pair = rqps_fixtures::pair();
    let with_stacks = Analysis::of(&pair, 0.05).with_profiles(&profiles);
    write(dir, "stacks.html", &rqps_html::render(&with_stacks));
    let reads = |log: f64| blocks::reads("point-query", &blocks::around(log, 0.02, 30));
    page(dir, "blocks", &blocks::run(&[vec![reads(-0.2)]]));
    page(dir, "hostile", &hostile::run("<script>alert(1)</script>"));
    page(dir, "long", &hostile::run(&"a_step_of_a_very_long_name".repeat(12)));
    for name in ["mysql-versions-sysbench", "mariadb-versions-insert", "tls"] {
        write(dir, &format!("{name}.html"), &rqps_html::render(&Analysis::of(&kept(name), 0.05)));
    }
    let runs = ["tls", "postgres-io-uring"].map(kept);
    let command = words("rqps compare tls postgres-io-uring");
    let joined = Joined::of(runs.into(), None, &command).unwrap();
    write(dir, "kept-runs.html", &rqps_html::render(&Analysis::of_joined(&joined, 0.05)));
    write(dir, "history.html", &rqps_html::history::render(&history::changed()));
}

/// Runs the tests of the browser on the pages; `only` are the beginnings of names, all where there is none.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn run(name: &str, only: &[&str]) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    let chromium = match browser(&tests) {
        Ok(chromium) => chromium,
        Err(missing) => {
            #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
            let must_run = std::env::var_os("RQPS_CI").is_some();
            assert!(!must_run, "{missing}: run scripts/setup --for-tests");
            eprintln!("skipped: {missing}; scripts/setup --for-tests installs what is needed");
            return;
        }
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    write_few_pages(&dir);
    if only.is_empty() {
        write_more_pages(&dir);
    }
    let done = Command::new("node")
        .args(["--test", "--test-reporter=spec"])
        .args(only.iter().map(|name| format!("--test-name-pattern=^{name}")))
        .args(["report.test.mjs", "flame.test.mjs", "boxes.test.mjs"])
        .current_dir(&tests)
        .env("RQPS_PAGES", &dir)
        .env("RQPS_SHOTS", dir.join("screenshots"))
        .env("RQPS_CHROMIUM", chromium)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{out}{}", String::from_utf8_lossy(&done.stderr));
    assert!(out.contains("fail 0"), "{out}");
    let found = only.iter().all(|name| out.contains(name));
    assert!(found && !out.contains("pass 0"), "{out}");
}

#[test]
fn a_report_works_in_a_browser() {
    run(
        "browser-smoke",
        &["sorts by a column", "says everything without script", "unfinished: WCAG"],
    );
}

#[test]
#[ignore = "make test-all: minutes in a browser"]
fn reports_work_in_a_browser() {
    run("browser", &[]);
}
