//! `rqps serve` in a real browser, beside a run of two real servers that is under way.
//!
//! Needs what the browser tests of `rqps-html` need; where that is missing the test says so and does
//! nothing, but fails where `RQPS_CI` is set. Screenshots stay in `target/tmp/browser-serve`.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::bench::{Bench, DEADLINE, pause};
use crate::browser::Served;

/// Two interleaved servers, for `seconds` a step.
fn plan(name: &str, steps: &str, seconds: u32) -> String {
    format!(
        "name = {name:?}\n[[system]]\ndbms = 'mariadb'\nversion = '10.2.11'\n\
         [[system]]\ndbms = 'postgres'\nversion = '11.22'\n\
         [[suite]]\nrows = 10_000\nclients = [1]\nsteps = [{steps}]\n\
         seconds = {{ read = 0.5, write = 0.5, insert = 0.5, warm_up = 0.2, fixed_at_most = 0.2 }}\n\
         [schedule]\nstarts = 1\nbudget = '{seconds}s'\n"
    )
}

/// What is missing, or the browser.
fn chromium(tests: &Path) -> Result<PathBuf, String> {
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

#[test]
#[ignore = "make test-all: real servers"]
fn its_pages_work_in_a_browser() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    let chromium = match chromium(&tests) {
        Ok(chromium) => chromium,
        Err(missing) => {
            #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
            let must_run = std::env::var_os("RQPS_CI").is_some();
            assert!(!must_run, "{missing}: run scripts/setup --for-tests");
            eprintln!("skipped: {missing}; scripts/setup --for-tests installs what is needed");
            return;
        }
    };
    let bench = Bench::new();
    bench.write("short.toml", &plan("short", "'point-query', 'update-index'", 1));
    let [done, other] = [(), ()].map(|()| {
        let said = bench.run(&["run", "short.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        bench.latest()["id"].as_str().unwrap().to_owned()
    });
    let served = Served::start(&bench, &[]);
    let token = "correct-horse-battery+/=";
    let token_file = crate::serve::token_file(&bench, token, 0o600);
    let locked = Served::start(&bench, &["--token-file", &token_file]);
    // Much longer than anybody looks.
    bench.write("live.toml", &plan("two servers", "'point-query', 'range-*', 'points-*'", 120));
    let mut running = bench.spawn(&["run", "live.toml", "--no-html"]);
    let live = running.run_id();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser-serve");
    fs::create_dir_all(&dir).unwrap();
    let (seen, told) = (bench.path("seen"), bench.path("browser.txt"));
    let out = File::create(&told).unwrap();
    let mut browser = Command::new("node")
        .args(["--test", "--test-reporter=spec", "serve.test.mjs"])
        .current_dir(&tests)
        .env("RQPS_URL", format!("http://{}", served.at))
        .env("RQPS_DONE", &done)
        .env("RQPS_OTHER", &other)
        .env("RQPS_LIVE", &live)
        .env("RQPS_SEEN", &seen)
        .env("RQPS_LOCKED", format!("http://{}", locked.at))
        .env("RQPS_TOKEN", token)
        .env("RQPS_SHOTS", dir.join("screenshots"))
        .env("RQPS_CHROMIUM", chromium)
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .stdin(Stdio::null())
        // Its own children are told to end as well.
        .process_group(0)
        .spawn()
        .unwrap();
    let since = Instant::now();
    let mut is_followed = true;
    let status = loop {
        if is_followed && seen.exists() {
            running.signal(Signal::SIGINT);
            is_followed = false;
        }
        if let Some(status) = browser.try_wait().unwrap() {
            break status;
        }
        if since.elapsed() > DEADLINE {
            let group = nix::unistd::Pid::from_raw(browser.id().cast_signed());
            let _ = nix::sys::signal::killpg(group, Signal::SIGKILL);
        }
        pause();
    };
    if is_followed {
        running.signal(Signal::SIGINT);
    }
    assert_eq!(running.finish().code(), 130);
    let told = fs::read_to_string(told).unwrap();
    assert!(status.success() && told.contains("fail 0"), "{told}");
}
