//! `rqps bisect`: finds the commit that changed the speed of a step.
//!
//! Each probe is a run: the good end and one commit, interleaved, and now and then the bad end beside them. What earlier
//! runs of the same plans measured is taken from the store, so that the same command resumes a search.

mod comparison;
mod page;
mod range;
mod told;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use rqps_analysis::{Analysis, Bar, CellState, Judging};
use rqps_bisect::{Commit, Culprits, Next, Probe, Search, Suspects};
use rqps_build::{Commit as BuiltCommit, Record};
use rqps_model::{Estimate, Run};
use rqps_runner::Plan;
use rqps_store::{RunRef, Store, Tag};
use rqps_text::words::list;

use self::page::Page;
use self::range::Range;
use crate::args::BisectArgs;
use crate::commit_plans::{self, commit_line, finished_runs, is_of};
use crate::output::say;
use crate::patterns::Patterns;
use crate::progress::Progress;
use crate::run::{measured, shown};
use crate::{Surroundings, report};

/// The bad end is measured again beside every probe of this number.
const BAD_EVERY: usize = 4;

/// Times of a probe and a build before there is one, s.
const USUAL_PROBE_S: f64 = 120.0;
const USUAL_BUILD_S: f64 = 300.0;

/// Probes of a search at most.
const MOST_PROBES: usize = 60;

/// The tag of a run of a search that came to its end.
const SEARCHED: &str = "searched";

/// What a search has come to.
enum State {
    /// The culprits are known. Where a second one is still open, why it is.
    Found(Culprits, Option<Why>),
    /// The ends do not differ.
    NoDifference,
    /// These remain, beside the probability that no commit changed the speed.
    Open { suspects: Suspects, none: f64, why: Why },
}

/// Why a search has no answer.
enum Why {
    /// It is under way.
    UnderWay,
    /// More probes would tell little.
    Stuck,
    /// It has measured as much as a search does.
    MostProbes,
}

/// A commit that was measured beside the good end.
struct Measured {
    place: usize,
    run_id: String,
    /// Its rQPS by step: the step's title, and the ratio.
    ratios: BTreeMap<String, Estimate>,
}

/// A search and what it has found so far.
struct Hunt<'a> {
    args: &'a BisectArgs,
    around: &'a Surroundings,
    judging: Judging,
    range: Range,
    confidence: f64,
    /// The smallest change that is searched for, as a share.
    min_change: f64,
    probes: Vec<Measured>,
    /// Why commits cannot be measured.
    broken: BTreeMap<usize, String>,
    /// What a run takes, s.
    probe_s: Vec<f64>,
    began: Instant,
}

/// Whether a search between two commits came to its end, whatever its steps were.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn was_searched(
    good: &BuiltCommit,
    bad: &BuiltCommit,
    around: &Surroundings,
) -> Result<bool> {
    let (store, name) = (Store::open(&around.results)?, range::name(good, bad));
    for run in store.list_runs()?.iter().filter(|run| run.name == name) {
        if store.list_tags(&run.id)?.iter().any(|tag| tag == SEARCHED) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Carries out `rqps bisect ...`: 0 found, 1 no difference between the ends, 2 no answer.
pub(crate) fn run(args: &BisectArgs, around: &Surroundings) -> Result<ExitCode> {
    let mut hunt = Hunt::of(args, around)?;
    hunt.note(&told::beginning(&hunt.range, &args.steps));
    if !args.new {
        hunt.take_stored()?;
    }
    let code = hunt.run()?;
    hunt.mark_searched()?;
    Ok(code)
}

/// The share that was typed as a percentage.
///
/// # Errors
/// When it is none, or one that a search cannot use.
pub(crate) fn confidence(text: &str) -> Result<f64> {
    let share = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    match share.map(|percent| percent / 100.0) {
        Some(share) if (0.5..=0.999).contains(&share) => Ok(share),
        _ => bail!("--confidence {text:?} is not a percentage from 50% to 99.9%"),
    }
}

impl<'a> Hunt<'a> {
    fn of(args: &'a BisectArgs, around: &'a Surroundings) -> Result<Self> {
        let judging = report::judging_of(&args.judging)?;
        let confidence = confidence(&args.commits.confidence)?;
        let min_change = report::parse_percent("--min-change", &args.min_change)?;
        Ok(Self {
            args,
            around,
            judging,
            range: Range::of(args)?,
            confidence,
            min_change,
            probes: Vec::new(),
            broken: BTreeMap::new(),
            probe_s: Vec::new(),
            began: Instant::now(),
        })
    }

    /// Measures until there is an answer, and tells it.
    fn run(&mut self) -> Result<ExitCode> {
        let state = self.measure()?;
        say(&format!("\n{}\n\n{}", told::answer(self, &state).join("\n"), told::probes(self)?))?;
        let mut page = Page::of(self, &state)?;
        page.write();
        let mut code = match &state {
            State::Found(known, _) => comparison::measure_all(self, known, &mut page)?,
            State::NoDifference => ExitCode::from(1),
            State::Open { .. } => ExitCode::from(2),
        };
        if let Some(path) = page.path() {
            say(&format!("search: {}\n", shown(path)))?;
        }
        if page.has_failed() {
            code = ExitCode::from(2);
        }
        Ok(code)
    }

    /// Measures until there is an answer. The page shows each probe.
    fn measure(&mut self) -> Result<State> {
        loop {
            self.around.go_on()?;
            let search = self.search()?;
            match search.next() {
                Next::Measure(place) if self.probes.len() < MOST_PROBES => self.probe(place)?,
                Next::Measure(_) => return Ok(self.state_of(&search, Why::MostProbes)),
                Next::Found(known) => return Ok(State::Found(known, None)),
                Next::Stuck => return Ok(self.state_of(&search, Why::Stuck)),
                Next::NoDifference => return Ok(State::NoDifference),
            }
            if !self.probes.is_empty() {
                let state = self.state_of(&self.search()?, Why::UnderWay);
                Page::of(self, &state)?.write();
            }
        }
    }

    /// What is known where there is no whole answer.
    fn state_of(&self, search: &Search, why: Why) -> State {
        match search.known() {
            Some(known) => State::Found(known, Some(why)),
            None => {
                let posterior = search.posterior();
                let suspects = posterior.suspects(self.confidence);
                State::Open { suspects, none: posterior.none, why }
            }
        }
    }

    /// Tags a run of the search: it came to its end.
    fn mark_searched(&self) -> Result<()> {
        let store = Store::open(&self.around.results)?;
        let runs = store.list_runs()?;
        let of_search = runs.iter().find(|run| run.name == self.range.name());
        if let (Some(run), Ok(tag)) = (of_search, SEARCHED.parse::<Tag>()) {
            store.add_tag(&run.id, &tag)?;
        }
        Ok(())
    }

    fn note(&self, line: &str) {
        Progress::since(self.began).line(line);
    }

    /// The steps that were measured, in order.
    fn steps(&self) -> Vec<&str> {
        let mut steps: Vec<&str> = Vec::new();
        for title in self.probes.iter().flat_map(|probe| probe.ratios.keys()) {
            if !steps.contains(&title.as_str()) {
                steps.push(title);
            }
        }
        steps
    }

    /// The steps that were measured, as words of a sentence.
    fn steps_listed(&self) -> String {
        list(&self.steps().into_iter().map(str::to_owned).collect::<Vec<_>>())
    }

    /// The search with all that is known.
    fn search(&self) -> Result<Search> {
        let steps = self.steps();
        let cache = rqps_runner::places(&self.around.environment())?.cache;
        let builds = rqps_build::list(&cache);
        let records: Vec<&Record> =
            builds.iter().filter_map(|build| build.record.as_ref()).collect();
        // Commits of equal files share a build.
        let is_built = |place: usize| {
            records.iter().any(|record| record.tree == self.range.commits[place].tree)
        };
        let states = (1..=self.range.last()).map(|place| match place {
            _ if self.broken.contains_key(&place) => Commit::Broken,
            _ if is_built(place) => Commit::Built,
            _ => Commit::New,
        });
        let mut search = Search::new(states.collect(), steps.len().max(1), self.confidence);
        for probe in &self.probes {
            for (idx, step) in steps.iter().enumerate() {
                if let Some(ratio) = probe.ratios.get(*step)
                    && let Some((low, high)) = ratio.interval
                {
                    search.add(idx, Probe::of_interval(probe.place, ratio.point, low, high));
                }
            }
        }
        let is_of_range =
            |record: &&&Record| self.range.commits.iter().any(|commit| commit.tree == record.tree);
        let build_s: Vec<f64> =
            records.iter().filter(is_of_range).map(|record| record.seconds).collect();
        search.set_min_change(self.min_change);
        let mean = |of: &[f64], usual: f64| match of.len() {
            0 => usual,
            n => of.iter().sum::<f64>() / n as f64,
        };
        search.set_times(mean(&self.probe_s, USUAL_PROBE_S), mean(&build_s, USUAL_BUILD_S));
        Ok(search)
    }

    /// Takes what runs of the same plans have measured before.
    fn take_stored(&mut self) -> Result<()> {
        let store = Store::open(&self.around.results)?;
        for run in finished_runs(&store, self.range.name())? {
            // All ratios are to the good end.
            let places = self.range.places_of(&run).filter(|places| places.first() == Some(&0));
            let Some(places) = places else { continue };
            if is_of(&run, self.range.plan(&places, self.around)?, &store, self.around)? {
                self.take(&places, &run)?;
            }
        }
        if !self.probes.is_empty() {
            let n = rqps_text::number::count(self.probes.len(), "probe");
            self.note(&format!("{n} of an earlier search of these commits"));
        }
        Ok(())
    }

    /// Builds and measures a commit beside the good end, and now and then beside the bad end too.
    fn probe(&mut self, place: usize) -> Result<()> {
        let (last, n) = (self.range.last(), self.probes.len() + 1);
        let with_bad = place != last && n % BAD_EVERY == 0;
        let places = if with_bad { vec![0, place, last] } else { vec![0, place] };
        self.note(&format!("probe {n}: {}", commit_line(&self.range.commits[place])));
        let plan = self.range.plan(&places, self.around)?;
        if let Some(why) = self.build(&plan, &places)? {
            self.skip(place, why);
            return Ok(());
        }
        let again = self.probes.iter().any(|probe| probe.place == place);
        let measured = measured(
            plan,
            &self.args.run(),
            again || self.args.new,
            self.around,
            &mut Progress::since(self.began),
        )?;
        let of = measured.id.parse::<RunRef>().unwrap_or_default();
        let run = Store::open(&self.around.results)?.select_run(&of)?;
        let n_before = self.probes.len();
        self.take(&places, &run)?;
        for probe in &self.probes[n_before..] {
            self.note(&told::probe_line(&self.range.commits[probe.place], &probe.ratios));
        }
        if self.probes.len() == n_before && !self.broken.contains_key(&place) {
            bail!(
                "run {} has no ratio with an interval on {}; `rqps report {}` says why",
                run.id,
                list(&self.args.steps),
                run.id
            );
        }
        Ok(())
    }

    /// Goes on without a commit. It may still be the culprit.
    fn skip(&mut self, place: usize, why: String) {
        self.note(&format!("{} is skipped: {why}", self.range.commits[place].short()));
        self.broken.insert(place, why);
    }

    /// Builds the systems of a plan; gives why a commit between the ends cannot be built.
    fn build(&self, plan: &Plan, places: &[usize]) -> Result<Option<String>> {
        let mut progress = Progress::since(self.began);
        let Err(failed) = commit_plans::build(plan, self.around, &mut progress) else {
            return Ok(None);
        };
        let place = places[failed.idx];
        // Neither end can be left out.
        if !failed.is_of_commit() || place == 0 || place == self.range.last() {
            let commit = commit_line(&self.range.commits[place]);
            return Err(failed.error).with_context(|| format!("build {commit}"));
        }
        Ok(Some(format!("{:#}", failed.error)))
    }

    /// Takes the ratios of a run.
    fn take(&mut self, places: &[usize], run: &Run) -> Result<()> {
        let analysis = Analysis::of(run, self.judging);
        let wanted = Patterns::new(&self.args.steps);
        wanted.check_steps("--step", [run])?;
        for (system_idx, &place) in places.iter().enumerate().skip(1) {
            let mut ratios = BTreeMap::new();
            let mut failure = None;
            for step in analysis
                .steps
                .iter()
                .filter(|step| wanted.takes_step(&step.step.info) && step.is_compared())
            {
                let Some(cell) = step.cells.get(system_idx) else { continue };
                if let CellState::Failed { reason } = &cell.state {
                    failure = Some(format!("{}: {reason}", step.title));
                }
                let Some(against) = &cell.against else { continue };
                match (&against.comparison, against.bar) {
                    // On a busy host the interval is wider; nothing is claimed of one commit alone.
                    (Some(comparison), None | Some(Bar::HostBusy)) => {
                        let ratio = comparison.rqps.estimate();
                        if ratio.interval.is_some() {
                            ratios.insert(step.title.clone(), ratio);
                        }
                    }
                    (_, Some(bar)) => failure = Some(format!("{}: {}", step.title, told::bar(bar))),
                    (None, None) => {}
                }
            }
            match failure {
                Some(why) if ratios.is_empty() && place != self.range.last() => {
                    self.skip(place, why);
                }
                _ if ratios.is_empty() => {}
                _ => {
                    let run_id = run.id.clone();
                    self.probes.push(Measured { place, run_id, ratios });
                }
            }
        }
        if let Some(end) = run.finished_unix_ms {
            self.probe_s.push((end - run.started_unix_ms) as f64 / 1000.0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_is_a_percentage() {
        assert!((confidence("95%").unwrap() - 0.95).abs() < 1e-12);
        for text in ["95", "49%", "100%", "high", "-1%", "NaN%"] {
            let error = confidence(text).unwrap_err().to_string();
            assert!(error.contains("from 50% to 99.9%"), "{text}: {error}");
        }
    }
}
