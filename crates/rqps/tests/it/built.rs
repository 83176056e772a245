//! Servers that rqps builds from commits: fake ones, by a recipe that copies them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;
use rqps_fake_server::{Family, Fault, Tree, When};

use crate::bench::{Bench, Said, pause};
use crate::fake::program;

/// A repository whose commits say in the file `kind` which server their build is: `fast`, `slow`, or one that is not
/// there.
struct Site {
    bench: Bench,
    /// The servers live as long as these.
    _trees: Vec<Tree>,
}

impl Site {
    fn new(kinds: &[&str]) -> Self {
        let bench = Bench::impatient();
        let mut trees = Vec::new();
        // Both wait, so that what else the host does moves their rates little.
        for (kind, ms) in [("fast", 1), ("slow", 4)] {
            let dir = bench.path(&format!("trees/{kind}"));
            let mut tree = Tree::lay_out(&dir, &program(), Family::Postgres, "11.22").unwrap();
            let late = Fault::Slow(Duration::from_millis(ms));
            tree.fail_each_time(When::Now, late).unwrap();
            trees.push(tree);
        }
        fs::create_dir(bench.path("repo")).unwrap();
        let site = Self { bench, _trees: trees };
        let copy = "cp -a \"$0/$(cat \"$1/kind\")/.\" \"$2\"";
        let trees = site.bench.path("trees");
        site.bench.write(
            "recipe.toml",
            &format!(
                "[[recipe]]\nname = 'copy'\ndbms = 'postgres'\nfrom = '9'\nserver = 'bin/postgres'\n\
                 [[recipe.step]]\nname = 'copy'\n\
                 words = ['sh', '-c', '{copy}', '{}', '{{source}}', '{{prefix}}']\n",
                trees.display()
            ),
        );
        site.git(&["init", "--quiet"]);
        fs::write(site.bench.path("repo/configure.ac"), "AC_INIT([PostgreSQL], [11.22], [x])\n")
            .unwrap();
        for (n, kind) in kinds.iter().enumerate() {
            site.commit(kind, &format!("commit {n}"));
        }
        site.bench.write("plan.toml", &site.plan());
        site
    }

    /// What all builds share, and a suite of a second.
    fn plan(&self) -> String {
        "[[system]]\nrecipe = 'recipe.toml'\n[[suite]]\nrows = 100\nsteps = ['point-query']\nclients = [1]\n\
         seconds = { read = 0.5, warm_up = 0.01, fixed_at_most = 0.1 }\n\
         [schedule]\nmode = 'interleaved'\nslices = 1\nstarts = 1\nseed = 7\n[profile]\nseconds = 0.5\n"
            .to_owned()
    }

    fn commit(&self, kind: &str, subject: &str) {
        fs::write(self.bench.path("repo/kind"), kind).unwrap();
        fs::write(self.bench.path("repo/subject"), subject).unwrap();
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", subject]);
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.bench.path("repo"));
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn cache(&self) -> PathBuf {
        self.bench.path("cache")
    }

    fn rqps(&self, words: &[&str]) -> Said {
        let cache = self.cache().display().to_string();
        let words: Vec<&str> =
            ["--cache", &cache].into_iter().chain(words.iter().copied()).collect();
        self.bench.run(&words)
    }

    /// `rqps bisect` on the plan's step, with more words.
    fn search(&self, more: &[&str]) -> Said {
        let words: Vec<&str> = SEARCH.iter().chain(more).copied().collect();
        self.rqps(&words)
    }

    /// A plan of two commits.
    fn write_pair(&self, commits: [&str; 2]) {
        let system = |commit: &str| {
            format!(
                "[[system]]\ndbms = 'postgres'\nrepo = 'repo'\ncommit = '{commit}'\nrecipe = 'recipe.toml'\n"
            )
        };
        let suite = self.plan().split_once("[[suite]]").unwrap().1.to_owned();
        let suite = suite.split_once("[profile]").unwrap().0.to_owned();
        let systems = commits.map(system).concat();
        self.bench.write("pair.toml", &format!("{systems}[[suite]]{suite}"));
    }
}

/// A search on the plan's step.
const SEARCH: [&str; 8] = [
    "bisect",
    "plan.toml",
    "--repo",
    "repo",
    "--step",
    "point-query",
    "--no-html",
    "--allow-busy-host",
];

fn n_builds(cache: &Path) -> usize {
    fs::read_dir(cache.join("source-builds")).map_or(0, |entries| entries.flatten().count())
}

#[test]
fn two_commits_are_built_once_and_compared() {
    let site = Site::new(&["fast", "slow"]);
    site.write_pair(["HEAD~1", "HEAD"]);
    let said = site.rqps(&["run", "pair.toml", "--no-html", "--allow-busy-host"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("build PostgreSQL 11.22 ("), "{}", said.stderr);
    assert_eq!(n_builds(&site.cache()), 2);
    let run = site.bench.latest();
    let build = &run["systems"][1]["build"];
    assert_eq!(build["commit"], site.git(&["rev-parse", "HEAD"]));
    assert_eq!(build["commit_subject"], "commit 1");
    assert_eq!(run["systems"][1]["spec"]["label"], "pg-HEAD.small");
    // The report names the commit.
    let short = &build["commit"].as_str().unwrap()[..12];
    assert!(said.stdout.contains(short), "{}", said.stdout);
    assert!(said.stdout.contains("slower"), "{}", said.stdout);

    // What is there is not built again.
    let again = site.rqps(&["run", "pair.toml", "--no-html", "--new"]);
    assert_eq!(again.code(), 0, "{}", again.stderr);
    assert!(!again.stderr.contains("build PostgreSQL"), "{}", again.stderr);
    let listed = site.rqps(&["builds", "list"]);
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.stdout);
    assert!(listed.stdout.contains(short), "{}", listed.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&site.rqps(&["builds", "list", "--json"]).stdout).unwrap();
    let key = json[0]["key"].as_str().unwrap();
    assert!(site.rqps(&["builds", "log", &key[..8]]).stdout.starts_with("$ sh -c"), "{json}");
    assert_eq!(site.rqps(&["builds", "rm", key]).code(), 0);
    assert_eq!(n_builds(&site.cache()), 1);
}

#[test]
fn a_commit_that_does_not_build_is_told_with_the_end_of_its_log() {
    let site = Site::new(&["fast", "missing"]);
    site.write_pair(["HEAD~1", "HEAD"]);
    let said = site.rqps(&["run", "pair.toml", "--no-html"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("the step copy failed"), "{}", said.stderr);
    assert!(said.stderr.contains("trees/missing/.': No such file or directory"), "{}", said.stderr);
    // In a screen.
    assert!(said.stderr.lines().count() < 24, "{}", said.stderr);
}

#[test]
fn a_run_keeps_its_commit_when_the_branch_moves() {
    let site = Site::new(&["fast", "fast"]);
    site.git(&["branch", "work", "HEAD~1"]);
    site.write_pair(["work", "HEAD"]);
    assert_eq!(site.rqps(&["run", "pair.toml", "--no-html"]).code(), 0);
    let first = site.bench.latest();
    let before = site.git(&["rev-parse", "work"]);
    assert!(first["plan"].as_str().unwrap().contains(&format!("commit = \"{before}\"")), "{first}");
    site.git(&["branch", "--force", "work", "HEAD"]);
    assert_eq!(first["systems"][0]["build"]["commit"], before);
}

#[test]
fn the_commit_that_made_it_slower_is_found_and_a_second_search_measures_nothing() {
    let kinds = ["fast", "fast", "fast", "missing", "fast", "slow", "slow", "slow"];
    let site = Site::new(&kinds);
    let first = site.git(&["rev-parse", "HEAD~7"]);
    let search = || site.search(&["--good", &first, "--bad", "HEAD"]);
    let said = search();
    assert_eq!(said.code(), 0, "{}\n{}", said.stdout, said.stderr);
    let culprit = site.git(&["rev-parse", "HEAD~2"]);
    let answer = format!("{} commit 5\nis the commit that changed point-query", &culprit[..12]);
    assert!(said.stdout.contains(&answer), "{}", said.stdout);
    let n_probes = said.stderr.matches("probe ").count();
    assert!(n_probes <= 6, "{}", said.stderr);
    let again = search();
    assert_eq!(again.code(), 0, "{}", again.stderr);
    assert!(again.stdout.contains(&answer), "{}", again.stdout);
    let compared = format!(" compares {} with ", &culprit[..12]);
    assert!(again.stdout.contains(&compared), "{}", again.stdout);
    for measures in ["probe 1:", "start 1 of"] {
        assert!(!again.stderr.contains(measures), "{}", again.stderr);
    }

    // The page says the same.
    let words = SEARCH.iter().filter(|word| **word != "--no-html");
    let words: Vec<&str> =
        words.copied().chain(["--good", first.as_str(), "--bad", "HEAD"]).collect();
    let with_page = site.rqps(&words);
    let path = with_page.stdout.lines().find_map(|line| line.strip_prefix("search: "));
    let page = fs::read_to_string(site.bench.path(path.unwrap())).unwrap();
    let told = ["commit 5", "is the commit that changed point-query", "rQPS 0.", "<svg"];
    for told in told {
        assert!(page.contains(told), "{told}: {page}");
    }
}

#[test]
fn ends_that_are_alike_accuse_nobody() {
    let site = Site::new(&["fast", "fast", "fast"]);
    let said = site.search(&["--good", "HEAD~2", "--min-change", "50%"]);
    assert_eq!(said.code(), 1, "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("No difference of 50% or more between"), "{}", said.stdout);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let site = Site::new(&["fast", "fast"]);
    for (words, said) in [
        (&["--good", "HEAD", "--bad", "HEAD~1"][..], "is no ancestor of"),
        (&["--good", "nosuch"], "has no commit \"nosuch\""),
        (&["--good", "HEAD~1", "--confidence", "20%"], "--confidence \"20%\" is not a percentage"),
        (&["--good", "HEAD~1", "--dbms", "oracle"], "unknown dbms \"oracle\""),
    ] {
        let head = ["bisect", "--repo", "repo", "--step", "point-query"];
        let words: Vec<&str> = head.iter().chain(words).copied().collect();
        let refused = site.rqps(&words);
        assert_eq!(refused.code(), 2, "{words:?}");
        assert!(refused.stderr.contains(said), "{words:?}: {}", refused.stderr);
    }
    let words =
        ["bisect", "pair.toml", "--repo", "repo", "--good", "HEAD~1", "--step", "point-query"];
    site.write_pair(["HEAD~1", "HEAD"]);
    assert!(site.rqps(&words).stderr.contains("one [[system]] at most"));
}

/// `rqps track` on the plan.
fn track(site: &Site, more: &[&str]) -> Said {
    let words = ["track", "plan.toml", "--repo", "repo", "--no-html", "--allow-busy-host"];
    let words: Vec<&str> = words.iter().chain(more).copied().collect();
    site.rqps(&words)
}

fn n_runs(site: &Site) -> usize {
    site.bench.json(&["runs", "list", "--json"]).as_array().unwrap().len()
}

#[test]
fn a_branch_is_tracked_and_the_commit_that_made_it_slower_is_found() {
    let site = Site::new(&["fast", "fast"]);
    site.git(&["tag", "release", "HEAD~1"]);
    let first = track(&site, &["--pin", "release"]);
    assert_eq!(first.code(), 0, "{}\n{}", first.stdout, first.stderr);
    assert!(first.stderr.contains("the first one of HEAD that is measured"), "{}", first.stderr);
    let run = site.bench.latest();
    let name = format!("track-repo-HEAD-pin-{}", &site.git(&["rev-parse", "release"])[..12]);
    assert_eq!(run["name"], name);

    // Three commits in one call.
    for (kind, subject) in [("fast", "one"), ("slow", "two"), ("slow", "three")] {
        site.commit(kind, subject);
    }
    let slower = track(&site, &["--pin", "release", "--no-bisect"]);
    assert_eq!(slower.code(), 1, "{}\n{}", slower.stdout, slower.stderr);
    assert!(slower.stderr.contains("3 commits after the last measured one"), "{}", slower.stderr);
    assert!(slower.stdout.contains("this finds it:\n  rqps bisect plan.toml"), "{}", slower.stdout);
    let searched = track(&site, &["--pin", "release"]);
    assert_eq!(searched.code(), 1, "{}\n{}", searched.stdout, searched.stderr);
    let culprit = site.git(&["rev-parse", "HEAD~1"]);
    let answer = format!("{} two\nis the commit that changed point-query", &culprit[..12]);
    assert!(searched.stdout.contains(&answer), "{}", searched.stdout);

    // Nothing new: the same answer, and nothing is measured.
    let n_before = n_runs(&site);
    let again = track(&site, &["--pin", "release"]);
    assert_eq!(again.code(), 1, "{}", again.stderr);
    assert!(again.stdout.contains("nothing new on HEAD since"), "{}", again.stdout);
    assert!(
        again.stdout.contains("it was searched, and this shows the answer:"),
        "{}",
        again.stdout
    );
    let typed = again.stdout.lines().find_map(|line| line.trim().strip_prefix("rqps bisect "));
    let words: Vec<&str> = ["bisect"].into_iter().chain(typed.unwrap().split(' ')).collect();
    let shown = site.rqps(&words);
    assert_eq!(shown.code(), 0, "{words:?}: {}", shown.stderr);
    assert!(shown.stdout.contains(&answer), "{}", shown.stdout);
    assert_eq!(n_runs(&site), n_before);

    // The history has the commits in their order.
    let history = site.bench.json(&["history", &name, "--format", "json"]);
    let points = history["series"][0]["points"].as_array().unwrap();
    let after: Vec<Option<i64>> =
        points.iter().map(|point| point["commit"]["after_base"].as_i64()).collect();
    assert_eq!(after, [None, Some(1), Some(1), Some(4)], "{history}");

    // What was slower and is mended passes against the pinned commit.
    site.commit("fast", "mended");
    let mended = track(&site, &["--pin", "release", "--no-bisect"]);
    assert_eq!(mended.code(), 0, "{}\n{}", mended.stdout, mended.stderr);
    let head = site.git(&["rev-parse", "HEAD"]);
    let told = format!("{} mended changed the speed of point-query", &head[..12]);
    assert!(mended.stdout.contains(&told), "{}", mended.stdout);

    // A slowdown that is accepted is measured against no commit before it.
    site.commit("slow", "slow again");
    assert_eq!(track(&site, &["--pin", "release", "--no-bisect"]).code(), 1);
    let accepted = track(&site, &["--pin", "HEAD"]);
    assert_eq!(accepted.code(), 0, "{}", accepted.stderr);
    assert!(accepted.stdout.contains("HEAD is the pinned commit"), "{}", accepted.stdout);
    site.commit("slow", "and one more");
    let after = track(&site, &["--pin", "HEAD~1", "--no-bisect"]);
    assert_eq!(after.code(), 0, "{}\n{}", after.stdout, after.stderr);

    // The branch is rewritten to before the last measured commit.
    site.git(&["reset", "--quiet", "--hard", "HEAD~6"]);
    site.commit("fast", "another way");
    let rewritten = track(&site, &["--pin", "release", "--no-bisect"]);
    assert_eq!(rewritten.code(), 0, "{}\n{}", rewritten.stdout, rewritten.stderr);
    assert!(rewritten.stdout.contains("HEAD was rewritten: commit "), "{}", rewritten.stdout);
    assert!(
        rewritten.stderr.contains("1 commit after the last measured one"),
        "{}",
        rewritten.stderr
    );
}

#[test]
fn what_cannot_be_tracked_is_refused() {
    let site = Site::new(&["fast", "missing"]);
    for (words, said) in [
        (&["--pin", "nosuch"][..], "has no commit \"nosuch\""),
        (&["--pin", "HEAD~1", "--branch", "nosuch"], "has no commit \"nosuch\""),
        (&["--pin", "HEAD~1", "--max-slowdown", "much"], "--max-slowdown \"much\""),
        // The latest commit does not build.
        (&["--pin", "HEAD~1"], " commit 1: "),
    ] {
        let refused = track(&site, words);
        assert_eq!(refused.code(), 2, "{words:?}");
        assert!(refused.stderr.contains(said), "{words:?}: {}", refused.stderr);
    }
}

/// The words of [`Site::search`], for a search that is not waited for.
fn words_of_search(site: &Site, good: &str, bad: &str) -> Vec<String> {
    let cache = site.cache().display().to_string();
    let head = ["--cache", &cache].into_iter().chain(SEARCH);
    head.chain(["--good", good, "--bad", bad]).map(str::to_owned).collect()
}

#[test]
fn a_killed_build_and_a_killed_probe_are_resumed() {
    let site = Site::new(&["fast", "fast", "slow"]);
    // Copies, then waits below a shell that hears nothing of rqps's end, until it may go on.
    let go_on = site.bench.path("go-on");
    let recipe = fs::read_to_string(site.bench.path("recipe.toml")).unwrap();
    let wait = format!(
        "[[recipe.step]]\nname = 'wait'\n\
         words = ['sh', '-c', '(touch \"$0.waits\"; while ! test -e \"$0\"; do sleep 0.05; done); true', '{}']\n",
        go_on.display()
    );
    site.bench.write("recipe.toml", &format!("{recipe}{wait}"));
    let first = site.git(&["rev-parse", "HEAD~2"]);
    let words = words_of_search(&site, &first, "HEAD");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let waits = site.bench.path("go-on.waits");
    let mut killed = site.bench.spawn(&words);
    killed.await_line(": wait");
    while !waits.exists() {
        pause();
    }
    killed.signal(Signal::SIGKILL);
    killed.finish();
    let mut killed = site.bench.spawn(&words);
    killed.await_line("ended compilers of an earlier attempt");
    fs::write(&go_on, "").unwrap();
    // Killed again while it measures.
    killed.run_id();
    killed.await_line("point-query.warm");
    killed.signal(Signal::SIGKILL);
    killed.finish();
    let said = site.bench.run(&words);
    assert_eq!(said.code(), 0, "{}\n{}", said.stdout, said.stderr);
    let culprit = site.git(&["rev-parse", "HEAD"]);
    let answer = format!("{} commit 2\nis the commit that changed", &culprit[..12]);
    assert!(said.stdout.contains(&answer), "{}", said.stdout);
    assert!(said.stderr.contains("resume"), "{}", said.stderr);
}

#[test]
fn a_branch_that_is_rewritten_meanwhile_changes_no_search() {
    let site = Site::new(&["fast", "fast", "slow"]);
    let (first, last) = (site.git(&["rev-parse", "HEAD~2"]), site.git(&["rev-parse", "HEAD"]));
    site.git(&["branch", "work"]);
    let spawned = words_of_search(&site, &first, "work");
    let mut search = site.bench.spawn(&spawned.iter().map(String::as_str).collect::<Vec<_>>());
    search.await_line("probe 1:");
    site.git(&["branch", "--force", "work", &first]);
    let said = search.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    // What it measured are the commits that the branch had when it began.
    let n_before = n_runs(&site);
    let again = site.search(&["--good", &first, "--bad", "HEAD"]);
    assert!(again.stdout.contains(&format!("{} commit 2", &last[..12])), "{}", again.stdout);
    assert_eq!(n_runs(&site), n_before);
}
