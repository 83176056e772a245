//! `rqps serve` on stored runs: every page, and who is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::sys::signal::Signal;
use rqps_model::run::SystemStep;
use rqps_model::{Label, Run, RunStatus};
use sha2::{Digest as _, Sha256};

use crate::bench::Bench;
use crate::browser::{Answer, Served};
use crate::stored::{run, store};

const HOSTILE: &str = "<script>alert(1)</script>";

/// Three nights of two systems.
fn nights() -> Bench {
    let bench = Bench::new();
    for (day, qps) in [(1, 20_000), (2, 20_010), (3, 18_000)] {
        store(&bench, &run(day, &["17.4", "18.0"], &[("point-query", &[19_000, qps])]));
    }
    bench
}

const NIGHT: &str = "20261101-080000-nightly";

fn assert_guarded(path: &str, answer: &Answer) {
    let policy = answer.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    assert!(!policy.contains("'unsafe"), "{path}: {policy}");
    assert_styles(path, answer, policy);
    assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
    for outside in ["src=\"http", "href=\"http", "src=\"//", "href=\"//", "url("] {
        assert!(!answer.body.contains(outside), "{path} has {outside}");
    }
}

/// No style in an attribute; one in an element on pages that state their policy themselves, which names it and is sent
/// with the page.
fn assert_styles(path: &str, answer: &Answer, policy: &str) {
    let body = &answer.body;
    assert!(!body.contains(" style=\""), "{path}");
    let begin = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
    let Some((_, after)) = body.split_once(begin) else {
        assert!(!body.contains("<style"), "{path}");
        return;
    };
    let stated = after.split('"').next().unwrap().replace("&#39;", "'");
    assert_eq!(policy, format!("{stated}; frame-ancestors 'none'"), "{path}");
    let styles: Vec<&str> = body.split("<style>").skip(1).collect();
    assert_eq!(styles.len(), 1, "{path}");
    let (style, _) = styles[0].split_once("</style>").unwrap();
    let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
    assert!(stated.contains(&format!("; style-src 'sha256-{hash}'; ")), "{path}: {stated}");
    assert!(style.contains("nav.pages {") && body.contains("<nav class=\"pages\""), "{path}");
}

#[test]
fn every_page() {
    let bench = nights();
    let served = Served::start(&bench, &[]);
    let list = served.get("/");
    assert_eq!(list.body.matches("<tr data-words").count(), 3);
    assert_guarded("/", &list);
    let compare = format!("/compare?s={NIGHT}:0&s=20261103-080000-nightly:1");
    let of_one = format!("/compare?s={NIGHT}:0&s={NIGHT}:1&base={NIGHT}:1");
    for (path, words) in [
        (format!("/runs/{NIGHT}"), &["rqps report", "All runs", "point-query"][..]),
        (format!("/runs/{NIGHT}/about"), &["point-query", "pg180.small", "6 slices"]),
        (format!("/runs/{NIGHT}/live"), &["The run finished.", "point-query, 1 client"]),
        (compare, &["pg174.small", "pg180.small", "20261103-080000-nightly", "Compare with:"]),
        (of_one, &["pg174.small", "Compare with:", "<strong><bdi>pg180.small</bdi></strong>"]),
        (
            "/history".to_owned(),
            &["<option value=\"point-query\">", "/history?step=point-query&amp;by=time"],
        ),
        ("/history?step=point-query&by=time".to_owned(), &["rqps history by time", "Another step"]),
        ("/?q=17 nightly+bench1".replace(' ', "+"), &["<tr data-words"]),
    ] {
        let answer = served.get(&path);
        assert!(answer.body.starts_with("<!DOCTYPE html>"), "{path}");
        for word in words {
            assert!(answer.body.contains(word), "{path} lacks {word}: {}", answer.body);
        }
        assert_guarded(&path, &answer);
    }
    // The same as on the command line, with links before the header.
    let by_time = served.get("/history?step=point-query&by=time").body;
    assert!(by_time.contains("point-query got slower"), "{by_time}");
    let args = ["history", "--steps", "point-query", "--by", "time", "--format", "html"];
    let page = bench.output(&args);
    let (before, after) = page.split_once("<header>").unwrap();
    assert!(by_time.starts_with(before) && by_time.ends_with(after), "{by_time}");
    for name in ["report.css", "serve.css", "list.js", "live.js", "unlock.js"] {
        let answer = served.get(&format!("/static/{name}"));
        assert_guarded(name, &answer);
        assert!(answer.body.len() > 200);
    }
    let csv = served.get(&format!("/runs/{NIGHT}/data/{NIGHT}.csv"));
    assert!(csv.header("content-disposition").contains(&format!("{NIGHT}.csv")));
    assert_eq!(csv.body, bench.output(&["report", NIGHT, "--format", "csv"]));
    let json = served.get(&format!("/runs/{NIGHT}/data/{NIGHT}.json"));
    let json: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    assert_eq!(json, bench.json(&["report", NIGHT, "--format", "json"]));
    assert_eq!(served.get("/?q=nosuchword").body.matches("<tr data-words").count(), 0);
}

#[test]
fn what_happened_is_told_of_the_systems_that_are_compared() {
    let bench = Bench::new();
    let mut night =
        run(1, &["16.4", "17.4", "18.0"], &[("point-query", &[19_000, 20_000, 20_000])]);
    let what = "its server was killed".to_owned();
    let kind = rqps_model::WarningKind::NotStopped { reason: what };
    let scope = rqps_model::Scope::System(1);
    night.warnings = vec![rqps_model::Warning { at_unix_ms: Some(5_000), scope, kind }];
    store(&bench, &night);
    let served = Served::start(&bench, &[]);
    let told = |systems: [u32; 2]| {
        let [a, b] = systems.map(|idx| format!("s={NIGHT}:{idx}"));
        let page = served.get(&format!("/compare?{a}&{b}")).body;
        let (before, _) = page.split_once(": its server was killed")?;
        before.rsplit(' ').next().map(str::to_owned)
    };
    assert_eq!(told([1, 2]).as_deref(), Some("pg174.small"));
    assert_eq!(told([0, 1]).as_deref(), Some("pg174.small"));
    assert_eq!(told([0, 2]), None);
}

#[test]
fn a_history_leaves_out_what_cannot_be_read() {
    let bench = nights();
    let steps: [(&str, &[u32]); 2] =
        [("point-query", &[19_000, 20_000]), ("scan", &[1_000, 1_000])];
    let mut broken = run(4, &["17.4", "18.0"], &steps);
    broken.base = 9;
    store(&bench, &broken);
    let served = Served::start(&bench, &[]);
    let page = served.get("/history?step=point-query&by=time").body;
    assert!(page.contains("point-query got slower"), "{page}");
    let words = "Excluded: run 20261104-080000-nightly cannot be read (";
    assert!(page.contains(&format!("<p role=\"alert\">{words}")), "{page}");
    // No other run has it.
    let none = served.get_with("/history?step=scan&by=time", &[]);
    assert!(none.status == 404 && none.body.contains(words), "{}", none.body);
}

/// As on the command line: the report says that nothing is measured, and what was to be.
#[test]
fn a_run_without_a_finished_step_has_a_report() {
    let bench = Bench::new();
    let mut unfinished = run(6, &["17.4", "18.0"], &[("point-query", &[19_000, 18_000])]);
    unfinished.status = RunStatus::Interrupted;
    for system in unfinished.steps.iter_mut().flat_map(|step| &mut step.systems) {
        *system = SystemStep::pending();
    }
    store(&bench, &unfinished);
    let empty = run(7, &["17.4", "18.0"], &[]);
    store(&bench, &empty);
    let served = Served::start(&bench, &[]);
    let (id, no_steps) = (&unfinished.id, &empty.id);
    let report = served.get(&format!("/runs/{id}"));
    assert_guarded("report", &report);
    for words in ["The run was interrupted.", "Not reached on", "All runs"] {
        assert!(report.body.contains(words), "lacks {words}: {}", report.body);
    }
    let about = served.get(&format!("/runs/{id}/about")).body;
    assert!(about.contains(&format!("href=\"/runs/{id}\"")), "{about}");
    let csv = served.get(&format!("/runs/{id}/data/{id}.csv"));
    assert_eq!(csv.body, bench.output(&["report", id, "--format", "csv"]));
    // A run without steps has none, there as here.
    assert!(served.get(&format!("/runs/{no_steps}")).body.contains("There is no report"));
    assert_ne!(bench.run(&["report", no_steps, "--format", "html"]).code(), 0);
}

/// A list says how each run came out, where a run has said so; of an older state of the run nobody has.
#[test]
fn the_list_has_verdicts() {
    let bench = nights();
    let archive = bench.path("night.tar.zst").display().to_string();
    bench.output(&["runs", "export", NIGHT, "-o", &archive]);
    bench.output(&["runs", "rm", NIGHT]);
    let served = Served::start(&bench, &[]);
    assert!(!served.get("/").body.contains("unclear"));
    bench.output(&["runs", "import", &archive]);
    let list = served.get("/").body;
    let headline = bench.json(&["report", NIGHT, "--format", "json"]);
    let counts = &headline["candidates"][0];
    let words: Vec<String> = ["slower", "faster", "same", "unclear"]
        .into_iter()
        .filter_map(|word| Some((word, counts[format!("n_{word}")].as_u64().filter(|n| *n > 0)?)))
        .map(|(word, n)| format!("<span class=\"{word}\">{n} {word}</span>"))
        .collect();
    assert!(!words.is_empty(), "{headline}");
    assert!(words.iter().all(|word| list.contains(word)), "{words:?}: {list}");
    let file = bench.path(&format!("rqps-results/artifacts/{NIGHT}/verdicts.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"n_done\":", "\"n_done\":1")).unwrap();
    assert!(!served.get("/").body.contains(&words[0]));
}

#[test]
fn what_is_not_there() {
    let bench = nights();
    let served = Served::start(&bench, &[]);
    for path in [
        "/rqps.db",
        "/runs/nosuch",
        // The beginning of an id is not the id.
        "/runs/20261101",
        "/runs/20261101/about",
        "/runs/..",
        "/runs/%2e%2e/about",
        "/runs/../../rqps.db",
        "/static/../Cargo.toml",
        "/static/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        &format!("/runs/{NIGHT}/data/20261102-080000-nightly.csv"),
        &format!("/runs/{NIGHT}/data/rqps.db"),
        "/history?step=nosuch",
    ] {
        let answer = served.get_with(path, &[]);
        assert_eq!(answer.status, 404, "{path}: {}", answer.body);
        assert_guarded(path, &answer);
        assert!(!answer.body.contains("root:"), "{path}");
    }
    for query in [
        "",
        "?s=x",
        "?s=nosuch:0",
        "?s=a:0&s=a:0",
        &format!("?s={NIGHT}:0"),
        &format!("?s={NIGHT}:0&s={NIGHT}:9"),
    ] {
        let answer = served.get_with(&format!("/compare{query}"), &[]);
        assert!(matches!(answer.status, 404 | 422), "{query}: {}", answer.status);
    }
    let tags = format!("/runs/{NIGHT}/tags");
    for (method, path) in [("POST", "/"), ("PUT", "/"), ("POST", &tags), ("DELETE", "/runs/x")] {
        assert_eq!(served.ask(&served.request(method, path, &[])).status, 405, "{method} {path}");
    }
    assert_eq!(served.get_with(&tags, &[]).status, 404);
    let long = format!("/?q={}", "x".repeat(9000));
    assert_eq!(served.get_with(&long, &[]).status, 414);
    let longer = format!("/?q={}", "x".repeat(90_000));
    assert!(matches!(served.get_with(&longer, &[]).status, 414 | 431));
    // An empty results directory is no error.
    let empty = Bench::new();
    let served = Served::start(&empty, &[]);
    for path in ["/", "/history"] {
        assert!(served.get(path).body.contains("There are no runs yet"), "{path}");
    }
    assert!(!empty.path("rqps-results").exists(), "looking makes no results");
}

/// A run in which everything that comes from outside is hostile.
fn hostile() -> Run {
    let mut run = run(4, &["17.4", "18.0"], &[("point-query", &[19_000, 18_000])]);
    for text in [&mut run.name, &mut run.host.hostname, &mut run.plan] {
        HOSTILE.clone_into(text);
    }
    run.command_line = vec![HOSTILE.to_owned()];
    for (idx, system) in run.systems.iter_mut().enumerate() {
        system.spec.label = Label(format!("{HOSTILE}\" onclick='x' {idx}"));
        HOSTILE.clone_into(&mut system.version_text);
    }
    for step in &mut run.steps {
        step.info.name = format!("{HOSTILE}{}", "long".repeat(75));
        HOSTILE.clone_into(&mut step.info.what);
    }
    run
}

#[test]
fn texts_from_outside_are_only_text() {
    let bench = Bench::new();
    let hostile = hostile();
    let id = hostile.id.clone();
    store(&bench, &hostile);
    store(&bench, &run(5, &["17.4"], &[("point-query", &[19_000])]));
    let said = bench.run(&["runs", "tag", &id, "<img/src=x>", "--note", HOSTILE]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let served = Served::start(&bench, &[]);
    let step = "%3Cscript%3Ealert%281%29%3C%2Fscript%3E".to_owned() + &"long".repeat(75);
    for path in [
        "/".to_owned(),
        format!("/?q={step}&tag=%22%3E{step}"),
        format!("/runs/{id}"),
        format!("/runs/{id}/about"),
        format!("/runs/{id}/live"),
        format!("/compare?s={id}:0&s=20261105-080000-nightly:0"),
        format!("/compare?s={id}:0&s={id}:1"),
        "/history".to_owned(),
        format!("/history?step={step}"),
    ] {
        let answer = served.get(&path);
        for bad in ["<script>alert", "<img", "\" onclick"] {
            assert!(!answer.body.contains(bad), "{path} has {bad}");
        }
        assert!(answer.body.contains("&lt;script&gt;alert(1)"), "{path}");
        assert_guarded(&path, &answer);
    }
    let unknown = served.get_with("/runs/%3Cscript%3Ealert(1)", &[]);
    assert!(unknown.status == 404 && !unknown.body.contains("<script>"));
}

#[test]
fn other_names_and_other_sites_are_refused() {
    let bench = nights();
    let served = Served::start(&bench, &["--name", "bench1"]);
    for host in ["evil.example", "evil.example:7477", "127.0.0.1.evil.example", ""] {
        let answer = served.get_with("/", &[("Host", host)]);
        assert_eq!(answer.status, 421, "{host}");
        assert!(!answer.body.contains("nightly"), "{host}");
    }
    for host in ["localhost", "localhost:1", "[::1]:7477", "bench1:80"] {
        assert_eq!(served.get_with("/", &[("Host", host)]).status, 200, "{host}");
    }
    let site =
        |site, mode| served.get_with("/", &[("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode)]);
    assert_eq!(site("cross-site", "no-cors").status, 403);
    assert_eq!(site("cross-site", "navigate").status, 200);
}

const TOKEN: &str = "correct-horse-battery";

pub(crate) fn token_file(bench: &Bench, text: &str, mode: u32) -> String {
    bench.write("token", text);
    let path = bench.path("token");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.display().to_string()
}

/// Names of styles and scripts by hash in a policy.
fn hashes(policy: &str) -> Vec<&str> {
    policy.split([' ', ';']).filter(|word| word.starts_with("'sha256-")).collect()
}

#[test]
fn a_token_is_shown_before_anything_is() {
    let bench = nights();
    let file = token_file(&bench, &format!("{TOKEN}\n"), 0o600);
    let served = Served::start(&bench, &["--token-file", &file]);
    let bearer = format!("Bearer {TOKEN}");
    let with = [("Authorization", bearer.as_str())];
    let locked = served.get_with("/", &[]);
    assert_eq!(locked.header("www-authenticate"), "Bearer");
    assert!(locked.body.contains("src=\"/static/unlock.js\""), "{}", locked.body);
    let report = format!("/runs/{NIGHT}");
    let none = [
        "/",
        "/history",
        &report,
        &format!("/runs/{NIGHT}/events"),
        &format!("/runs/{NIGHT}/data/{NIGHT}.csv"),
        // Nobody learns what is there.
        "/runs/nosuch",
        "/nosuch",
        "/static/nosuch/x",
        &format!("/?token={TOKEN}"),
    ];
    for path in none {
        let answer = served.get_with(path, &[]);
        assert_eq!((answer.status, &answer.body), (401, &locked.body), "{path}");
        assert_guarded(path, &answer);
    }
    assert!(!locked.body.contains("nightly") && !locked.body.contains(TOKEN));
    for wrong in
        ["Bearer wrong", "Bearer ", &format!("Basic {TOKEN}"), TOKEN, &format!("{bearer}0")]
    {
        let answer = served.get_with("/", &[("Authorization", wrong)]);
        assert_eq!((answer.status, &answer.body), (401, &locked.body), "{wrong}");
    }
    assert_eq!(served.get_with("/", &[("Cookie", &format!("token={TOKEN}"))]).status, 401);
    let page = served.get_with("/", &with);
    assert!(page.status == 200 && page.body.contains("nightly"));
    assert_eq!((page.header("set-cookie"), page.header("vary")), ("", "authorization"));
    assert_eq!(served.get_with("/nosuch", &with).status, 404);
    // Other sites and names are refused with the token, too.
    let foreign = [with[0], ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors")];
    assert_eq!(served.get_with("/", &foreign).status, 403);
    assert_eq!(served.get_with("/", &[with[0], ("Host", "evil.example")]).status, 421);
    // What the page without a secret fetches takes its place, and keeps its policy.
    let allowed = locked.header("content-security-policy");
    for path in [&report, "/history?step=point-query&by=time"] {
        let answer = served.get_with(path, &with);
        let needed = hashes(answer.header("content-security-policy"));
        assert!(!needed.is_empty(), "{path}");
        assert!(needed.iter().all(|one| hashes(allowed).contains(one)), "{path}: {allowed}");
    }
}

#[test]
fn other_addresses_and_weak_tokens_are_refused() {
    let bench = nights();
    let refused = |args: &[&str], words: &str| {
        let said = bench.run(&[&["serve", "--listen", "0.0.0.0:0"], args].concat());
        assert_eq!(said.code(), 2, "{args:?}");
        assert!(said.stderr.contains(words), "{}", said.stderr);
    };
    refused(
        &[],
        "there is no token; give --token-file FILE or set RQPS_TOKEN and open \
         http://HOST:0/#token=TOKEN, or listen at 127.0.0.1",
    );
    let file = token_file(&bench, TOKEN, 0o644);
    refused(&["--token-file", &file], "chmod 600");
    let file = token_file(&bench, "short", 0o600);
    refused(&["--token-file", &file], "the token has 5 characters");
    refused(&["--token-file", "nosuch"], "read the token file nosuch");
    let weak = bench.run_with(&["serve", "--listen", "127.0.0.1:0"], &[("RQPS_TOKEN", "a b")]);
    assert!(weak.code() == 2 && weak.stderr.contains("RQPS_TOKEN"), "{}", weak.stderr);
    let file = token_file(&bench, TOKEN, 0o600);
    let mut open = bench.spawn(&["serve", "--listen", "0.0.0.0:0", "--token-file", &file]);
    let line = open.await_line("http://0.0.0.0:");
    assert!(line.contains("/#token=TOKEN shows") && !line.contains(&TOKEN[..7]), "{line}");
    open.signal(Signal::SIGINT);
    assert_eq!(open.finish().code(), 0);
}

#[test]
fn a_port_that_is_taken_is_said() {
    let bench = nights();
    let served = Served::start(&bench, &[]);
    let at = served.at.to_string();
    let said = bench.run(&["serve", "--listen", &at]);
    assert_eq!(said.code(), 2);
    let words = format!("another program listens at {at}; stop it, or choose another port");
    assert!(said.stderr.contains(&words), "{}", said.stderr);
}

#[test]
fn two_hundred_runs_in_one_list() {
    let bench = Bench::new();
    let first = run(1, &["17.4", "18.0"], &[("point-query", &[19_000, 18_000])]);
    for n in 0..210_u32 {
        let id = format!("20260101-{n:06}-many");
        let started_unix_ms = first.started_unix_ms + i64::from(n) * 1000;
        store(&bench, &Run { id, started_unix_ms, ..first.clone() });
    }
    let served = Served::start(&bench, &[]);
    let page = served.get("/").body;
    assert_eq!(page.matches("<tr data-words").count(), 200);
    assert!(page.contains("210 runs") && page.contains("from=200"), "the rest is a link away");
    let rest = served.get("/?from=200").body;
    assert_eq!(rest.matches("<tr data-words").count(), 10);
    assert!(rest.contains("20260101-000000-many") && !page.contains("20260101-000000-many"));
}
