//! `rqps track`: one call measures what is new on a branch, beside the last measured and a pinned commit.
//!
//! A run is the pinned commit, the last one and the branch's latest, interleaved. All that came in between is one
//! step of the history; where the speed changed in it, a search finds the commit.

mod changes;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use rqps_analysis::gate::{Gate, Outcome, Passage};
use rqps_analysis::{Analysis, Judging};
use rqps_build::{Commit, Repository};
use rqps_model::{Run, RunSystem, StepOutcome};
use rqps_report::{command, gate};
use rqps_store::Store;
use rqps_text::number::{count, ratio_with_interval, utc};
use rqps_text::words::list_in_short;

use crate::args::{BisectArgs, TrackArgs};
use crate::commit_plans::{
    self, CommitPlans, Labelled, commit_line, finished_runs, finished_runs_where, is_of,
    open_repository,
};
use crate::output::say;
use crate::progress::Progress;
use crate::run::{Ended, carry_out};
use crate::{Surroundings, bisect, complain, report};

use changes::Stretch;

/// The least time of a probe, s.
const LEAST_PROBE_S: f64 = 60.0;

/// A branch, and what is known of it.
struct Track<'a> {
    args: &'a TrackArgs,
    around: &'a Surroundings,
    judging: Judging,
    repository: Repository,
    plans: CommitPlans,
    /// What all its runs are named, and how those with another pinned commit begin too.
    name: String,
    name_begins: String,
    head: Commit,
    pinned: Commit,
    /// Where each commit of the branch is, by hash: 0 is the latest.
    places: BTreeMap<String, usize>,
}

/// What earlier runs of the branch measured.
struct Before {
    /// A run of the branch's latest commit by the same plan.
    of_head: Option<Run>,
    /// The latest commit of the branch that was measured before.
    last: Option<Commit>,
    /// The commit of the latest run, where the branch no longer has it.
    lost: Option<String>,
}

/// How the latest commit compares with one other.
struct Compared {
    /// The gate's sentence, and the steps that are slower or faster.
    text: String,
    /// Why there is no answer.
    errors: Vec<String>,
    /// Whether the host was too busy.
    is_unanswered: bool,
    passage: Passage,
    /// The names of these steps.
    changed: Vec<String>,
}

/// How the latest commit compares with the others.
struct Answer {
    passage: Passage,
    /// Where it is slower or faster than the last one.
    since_last: Option<Stretch>,
}

/// Carries out `rqps track ...`: 0 not slower, 1 slower than allowed, 2 no answer.
pub(crate) fn run(args: &TrackArgs, around: &Surroundings) -> Result<ExitCode> {
    let Some(track) = Track::of(args, around)? else {
        say(&format!("{} is the pinned commit: nothing is new\n", args.branch))?;
        return Ok(ExitCode::SUCCESS);
    };
    let before = track.before()?;
    if let Some(lost) = &before.lost {
        let lost = lost.get(..12).unwrap_or(lost);
        say(&format!(
            "{} was rewritten: commit {lost}, which was measured last, is no longer on it\n",
            args.branch
        ))?;
    }
    let run = match before.of_head {
        Some(run) if !track.is_unanswered(&run)? => {
            let (head, since) = (commit_line(&track.head), utc(run.started_unix_ms));
            say(&format!(
                "nothing new on {} since {head} (run {}, {since})\n",
                args.branch, run.id
            ))?;
            run
        }
        unanswered => {
            if let Some(run) = unanswered {
                say(&format!("the host was busy in run {} of this commit\n", run.id))?;
            }
            track.measure(before.last.as_ref())?.run
        }
    };
    let Answer { passage, since_last } = track.judge(&run)?;
    if passage != Passage::Error
        && let Err(error) = track.search(&run, since_last)
    {
        // Interrupted, the same command resumes. Else what was judged still holds.
        around.go_on()?;
        complain(&format!("error: {error:#}"));
    }
    Ok(match passage {
        Passage::Slower => ExitCode::from(1),
        Passage::Passed if has_failed(&run) => ExitCode::from(2),
        Passage::Passed => ExitCode::SUCCESS,
        Passage::Error => ExitCode::from(2),
    })
}

impl<'a> Track<'a> {
    /// What is tracked; `None` where the branch is at the pinned commit.
    fn of(args: &'a TrackArgs, around: &'a Surroundings) -> Result<Option<Self>> {
        let bound = report::parse_percent("--max-slowdown", &args.max_slowdown)?;
        bisect::confidence(&args.commits.confidence)?;
        let repository = open_repository(&args.commits.repo)?;
        let (head, pinned) = (repository.commit(&args.branch)?, repository.commit(&args.pin)?);
        let mut plans = CommitPlans::of(&args.run(), "rqps track")?;
        plans.set_source(&repository, &head, args.commits.dbms.as_ref())?;
        let of_plan = plans.name().map_or_else(String::new, |name| format!("-{name}"));
        // A history is relative to one pinned commit.
        let repo = repository.dir().file_name().unwrap_or_default().to_string_lossy();
        let (repo, branch) = (plain(&repo), plain(&args.branch));
        let name_begins = format!("track-{repo}-{branch}{of_plan}-pin-");
        let name = format!("{name_begins}{}", pinned.short());
        plans.set_name(&name);
        let line = repository.first_parents(&head)?.into_iter().enumerate();
        let places = line.map(|(place, hash)| (hash, place)).collect();
        let judging = Judging { bound, allow_busy_host: args.allow_busy_host };
        if head.hash == pinned.hash {
            return Ok(None);
        }
        Ok(Some(Self {
            args,
            around,
            judging,
            repository,
            plans,
            name,
            name_begins,
            head,
            pinned,
            places,
        }))
    }

    /// What is in the store of this branch.
    fn before(&self) -> Result<Before> {
        let store = Store::open(&self.around.results)?;
        let mut before = Before { of_head: None, last: None, lost: None };
        let mut nearest: Option<(usize, &str)> = None;
        let runs = finished_runs_where(&store, |name| name.starts_with(&self.name_begins))?;
        let hash = |system: &'_ RunSystem| system.commit().map(|commit| commit.hash.to_owned());
        let hashes: Vec<Vec<String>> =
            runs.iter().map(|run| run.systems.iter().filter_map(hash).collect()).collect();
        for (run, hashes) in runs.iter().zip(&hashes) {
            // A run's last system is what the branch was then.
            let Some(latest) = hashes.last() else { continue };
            if before.of_head.is_none()
                && *latest == self.head.hash
                && self.is_of_this_plan(run, hashes, &store)?
            {
                before.of_head = Some(run.clone());
            }
            for hash in hashes {
                let Some(&place) = self.places.get(hash) else { continue };
                if place > 0 && nearest.is_none_or(|(known, _)| place < known) {
                    nearest = Some((place, hash));
                }
            }
        }
        let newest = hashes.first().and_then(|hashes| hashes.last());
        // A commit that is not here, as in a shallow clone, may still be on it.
        let is_lost = |hash: &&String| {
            self.repository.commit(hash).is_ok()
                && !self.repository.is_ancestor(hash, &self.head.hash)
        };
        before.lost = newest.filter(is_lost).cloned();
        // What was measured before the pinned commit is no longer of interest.
        let after_pin = |(place, _): &(usize, &str)| {
            self.places.get(&self.pinned.hash).is_none_or(|pin| place < pin)
        };
        let nearest = nearest.filter(after_pin);
        if let Some((_, hash)) = nearest {
            before.last = Some(self.repository.commit(hash)?);
        }
        Ok(before)
    }

    /// Whether a run is of the plan that would be measured now.
    fn is_of_this_plan(&self, run: &Run, hashes: &[String], store: &Store) -> Result<bool> {
        if hashes.len() != run.systems.len() {
            return Ok(false);
        }
        let last = match hashes {
            [pinned, head] if *pinned == self.pinned.hash && *head == self.head.hash => None,
            [pinned, last, head] if *pinned == self.pinned.hash && *head == self.head.hash => {
                let Ok(last) = self.repository.commit(last) else { return Ok(false) };
                Some(last)
            }
            _ => return Ok(false),
        };
        let plan = self.plans.plan(&self.labelled(last.as_ref()), self.around)?;
        is_of(run, plan, store, self.around)
    }

    fn labelled<'c>(&'c self, last: Option<&'c Commit>) -> Vec<Labelled<'c>> {
        let one = |what: &str, commit: &'c Commit| Labelled {
            commit,
            label: format!("{what}-{}", commit.short()),
        };
        let mut all = vec![one("pinned", &self.pinned)];
        all.extend(last.map(|last| one("last", last)));
        all.push(one("new", &self.head));
        all
    }

    /// Measures the branch's latest commit beside the pinned and the last one.
    fn measure(&self, last: Option<&Commit>) -> Result<Ended> {
        let commits = self.labelled(last);
        let plan = self.plans.plan(&commits, self.around)?;
        let mut progress = Progress::new();
        let head = commit_line(&self.head);
        progress.line(&match last.and_then(|last| self.places.get(&last.hash)) {
            Some(n) => {
                format!("measure {head}: {} after the last measured one", count(*n, "commit"))
            }
            None => {
                format!("measure {head}: the first one of {} that is measured", self.args.branch)
            }
        });
        if let Err(failed) = commit_plans::build(&plan, self.around, &mut progress) {
            let commit = commit_line(commits[failed.idx].commit);
            return Err(failed.error).with_context(|| format!("build {commit}"));
        }
        carry_out(plan, &self.args.run(), self.around)
    }

    /// Whether a run has no answer that another run would have.
    fn is_unanswered(&self, run: &Run) -> Result<bool> {
        for base in 0..run.systems.len() - 1 {
            if self.compare(run, base)?.is_unanswered {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How the latest commit, the last system of a run, compares with another one of it.
    fn compare(&self, run: &Run, base: usize) -> Result<Compared> {
        let run = Run { base, ..run.clone() };
        let analysis = Analysis::of(&run, self.judging);
        let new = run.systems.last().map(|system| &system.spec.label);
        let is_new = |system: &RunSystem| Some(&system.spec.label) == new;
        let gate = Gate::of(&analysis, false, |_, system| is_new(system))?;
        let mut compared = Compared {
            text: format!("{}\n", gate::sentence(&gate)),
            errors: gate::errors(&gate),
            is_unanswered: gate.n_host_busy() > 0,
            passage: gate.passage(),
            changed: Vec::new(),
        };
        for (judged, step, cell) in gate.rows() {
            if judged.outcome == Outcome::RateNotHeld {
                compared
                    .text
                    .push_str(&format!("  {}: the rate of inserts was not held\n", step.title));
            }
            let is_changed = matches!(judged.outcome, Outcome::Slower | Outcome::Faster);
            let Some(ratio) = cell.rqps().filter(|_| is_changed) else { continue };
            let (title, ratio) = (&step.title, ratio_with_interval(&ratio));
            compared.text.push_str(&format!("  {title} {ratio} {}\n", judged.outcome.key()));
            if !compared.changed.contains(&step.step.info.name) {
                compared.changed.push(step.step.info.name.clone());
            }
        }
        Ok(compared)
    }

    /// Tells how the latest commit compares with each other one of its run.
    fn judge(&self, run: &Run) -> Result<Answer> {
        let mut answer = Answer { passage: Passage::Passed, since_last: None };
        // The last one before the pinned one, which is the first system.
        for base in (0..run.systems.len() - 1).rev() {
            let Compared { text, errors, passage, changed, .. } = self.compare(run, base)?;
            say(&text)?;
            for error in errors {
                complain(&format!("error: {error}"));
            }
            answer.passage = answer.passage.max(passage);
            let ends =
                run.systems[base].commit().zip(run.systems.last().and_then(RunSystem::commit));
            if let Some((good, bad)) = ends.filter(|_| base > 0 && !changed.is_empty()) {
                answer.since_last = Some(Stretch {
                    good: good.hash.to_owned(),
                    bad: bad.hash.to_owned(),
                    steps: changed,
                });
            }
        }
        say(&format!("history: rqps history {}\n", self.name))?;
        Ok(answer)
    }

    /// Searches the commits between two measured ones where the speed changed.
    fn search(&self, run: &Run, since_last: Option<Stretch>) -> Result<()> {
        let store = Store::open(&self.around.results)?;
        let runs = finished_runs(&store, &self.name)?;
        drop(store);
        let is_of_branch = |hash: &str| self.places.contains_key(hash);
        for stretch in changes::find(runs, run, &is_of_branch, since_last) {
            self.around.go_on()?;
            self.search_stretch(&stretch, run)?;
        }
        Ok(())
    }

    fn search_stretch(&self, stretch: &Stretch, run: &Run) -> Result<()> {
        let Stretch { good, bad, steps } = stretch;
        // One that is gone, or a pinned commit that was merged into the branch, has nothing in between to search.
        let ends = self.repository.commit(good).ok().zip(self.repository.commit(bad).ok());
        let Some((good, bad)) = ends else { return Ok(()) };
        let are_of_branch = [&good, &bad].iter().all(|of| self.places.contains_key(&of.hash));
        let Ok(between) = self.repository.between(&good, &bad) else { return Ok(()) };
        if !are_of_branch {
            return Ok(());
        }
        let of_steps = list_in_short(steps);
        if between.len() == 1 {
            return say(&format!("{} changed the speed of {of_steps}\n", commit_line(&bad)));
        }
        let (n, ends) =
            (count(between.len(), "commit"), format!("{} and {}", good.short(), bad.short()));
        let changed = format!("one of {n} between {ends} changed the speed of {of_steps}");
        let time = self.time_of_search(steps.len(), run)?;
        let search = self.args.search(good.short(), bad.short(), steps.clone(), time);
        let command = self.typed(&search);
        if self.args.no_bisect {
            return say(&format!("{changed}; this finds it:\n  {command}\n"));
        }
        if bisect::was_searched(&good, &bad, self.around)? {
            // An earlier call has told of a change before the newest commit.
            if bad.hash != self.head.hash {
                return Ok(());
            }
            return say(&format!(
                "{changed}; it was searched, and this shows the answer:\n  {command}\n"
            ));
        }
        say(&format!("{changed}: search it\n"))?;
        bisect::run(&search, self.around)?;
        Ok(())
    }

    /// A search as it is typed where this command was.
    fn typed(&self, search: &BisectArgs) -> String {
        let mut words = vec!["rqps".to_owned(), "bisect".to_owned()];
        words.extend(search.words());
        words.extend(["--results".to_owned(), self.around.results.display().to_string()]);
        command::line(&words)
    }

    /// What one probe of so many steps takes, of the time that a run of all steps is given; `None` where steps have
    /// times of their own.
    fn time_of_search(&self, n_steps: usize, run: &Run) -> Result<Option<String>> {
        let Some(text) = self.args.commits.time.as_deref().or(self.plans.time()) else {
            return Ok(None);
        };
        let time = rqps_runner::plan::parse_duration(text)
            .map_err(|(problem, remedy)| anyhow::anyhow!("time {problem}; {remedy}"))?;
        let compared = run.steps.iter().filter(|step| step.info.is_compared());
        let names: BTreeSet<&str> = compared.map(|step| step.info.name.as_str()).collect();
        let share = n_steps as f64 / names.len().max(1) as f64;
        let seconds = (time.as_secs_f64() * share.min(1.0)).max(LEAST_PROBE_S);
        Ok(Some(format!("{seconds:.0}s")))
    }
}

/// Whether a step of a run failed, a warm-up too.
fn has_failed(run: &Run) -> bool {
    let mut systems = run.steps.iter().flat_map(|step| &step.systems);
    systems.any(|system| matches!(system.outcome, StepOutcome::Failed { .. }))
}

/// A part of a run's name: names of runs are parts of names of files.
fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    text.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}
