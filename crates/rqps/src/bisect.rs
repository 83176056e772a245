//! `rqps bisect`: finds the commit that changed the speed of a step.
//!
//! Each probe is a run: the good end and one commit, interleaved, and now and then the bad end beside them. What earlier
//! runs of the same plans measured is taken from the store, so that the same command resumes a search.

mod range;
mod told;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use rqps_analysis::{Analysis, CellState, Judging};
use rqps_bisect::{Commit, Next, Probe, Search, Suspects};
use rqps_build::Error as BuildError;
use rqps_model::{Estimate, Run, RunStatus};
use rqps_store::{RunRef, Store};

use self::range::Range;
use crate::args::BisectArgs;
use crate::patterns::Patterns;
use crate::progress::Progress;
use crate::run::{carry_out, measured};
use crate::{Surroundings, report};

/// Half of the width of a 95% interval in standard errors, by the normal distribution: the search assumes it. An
/// interval by Student's t then counts as the wider normal one.
const HALF_WIDTH: f64 = 1.96;

/// The bad end is measured again beside every probe of this number.
const BAD_EVERY: usize = 4;

/// Times of a probe and a build before there is one, s.
const USUAL_PROBE_S: f64 = 120.0;
const USUAL_BUILD_S: f64 = 300.0;

/// Probes of a search at most.
const MOST_PROBES: usize = 60;

/// How often one commit is measured at most.
const MOST_OF_ONE: usize = 6;

/// A commit that was measured beside the good end.
struct Measured {
    place: usize,
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

/// Carries out `rqps bisect ...`: 0 found, 1 no difference between the ends, 2 no answer.
pub(crate) fn run(args: &BisectArgs, around: &Surroundings) -> Result<ExitCode> {
    let judging = report::judging_of(&args.judging)?;
    let confidence = confidence(&args.confidence)?;
    let range = Range::of(args)?;
    let mut hunt = Hunt {
        args,
        around,
        judging,
        range,
        confidence,
        min_change: report::parse_percent("--min-change", &args.min_change)?,
        probes: Vec::new(),
        broken: BTreeMap::new(),
        probe_s: Vec::new(),
        began: Instant::now(),
    };
    hunt.note(&told::beginning(&hunt.range, &args.steps));
    if !args.new {
        hunt.take_stored()?;
    }
    loop {
        around.go_on()?;
        match hunt.search()?.next() {
            Next::Measure(place) => {
                let n = hunt.probes.iter().filter(|probe| probe.place == place).count();
                if n >= MOST_OF_ONE || hunt.probes.len() >= MOST_PROBES {
                    let posterior = hunt.search()?.posterior();
                    return hunt.undecided(&posterior.suspects(confidence));
                }
                hunt.probe(place)?;
            }
            Next::Found(suspects) => return hunt.found(&suspects),
            Next::Stuck(suspects) => return hunt.undecided(&suspects),
            Next::NoDifference => {
                told::no_difference(&hunt)?;
                return Ok(ExitCode::from(1));
            }
        }
    }
}

fn confidence(text: &str) -> Result<f64> {
    let share = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    match share.map(|percent| percent / 100.0) {
        Some(share) if (0.5..=0.999).contains(&share) => Ok(share),
        _ => bail!("--confidence {text:?} is not a percentage from 50% to 99.9%"),
    }
}

impl Hunt<'_> {
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

    /// The search with all that is known.
    fn search(&self) -> Result<Search> {
        let steps = self.steps();
        let cache = rqps_runner::places(&self.around.environment())?.cache;
        let builds = rqps_build::list(&cache);
        let built = |hash: &str| {
            builds
                .iter()
                .filter_map(|build| build.record.as_ref())
                .any(|record| record.commit.as_ref().is_some_and(|commit| commit.hash == hash))
        };
        let states = (1..=self.range.last()).map(|place| match &self.range.commits[place] {
            _ if self.broken.contains_key(&place) => Commit::Broken,
            commit if built(&commit.hash) => Commit::Built,
            _ => Commit::New,
        });
        let mut search = Search::new(states.collect(), steps.len().max(1), self.confidence);
        for probe in &self.probes {
            for (idx, step) in steps.iter().enumerate() {
                if let Some(found) =
                    probe.ratios.get(*step).and_then(|ratio| log_ratio(probe.place, ratio))
                {
                    search.add(idx, found);
                }
            }
        }
        let of_range = |hash: &str| self.range.commits.iter().any(|commit| commit.hash == hash);
        let build_s: Vec<f64> = builds
            .iter()
            .filter_map(|build| build.record.as_ref())
            .filter(|record| record.commit.as_ref().is_some_and(|commit| of_range(&commit.hash)))
            .map(|record| record.seconds)
            .collect();
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
        let context = self.around.environment();
        for summary in store.list_runs()? {
            if summary.status != RunStatus::Finished || summary.name != self.range.name() {
                continue;
            }
            let run = store.select_run(&summary.id.parse::<RunRef>().unwrap_or_default())?;
            let Some(places) = self.range.places_of(&run) else { continue };
            let plan = self.range.plan(&places, self.around)?;
            let listen = &mut |_: rqps_runner::Event<'_>| {};
            let (plan, _) = rqps_runner::on_this_host(plan, &store, &context, listen)?;
            if plan.to_toml() == run.plan {
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
        let commit = &self.range.commits[place];
        self.note(&format!("probe {n}: {}", told::commit_line(commit)));
        let plan = self.range.plan(&places, self.around)?;
        let commit = commit.clone();
        if let Err(why) = self.build(&plan, &places)? {
            if place == last {
                bail!("the bad end cannot be built: {why}");
            }
            self.note(&format!("{} is skipped: {why}", commit.short()));
            self.broken.insert(place, why);
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
                "run {} has no ratio of {}; `rqps report {}` says why",
                run.id,
                told::names(&self.args.steps),
                run.id
            );
        }
        Ok(())
    }

    /// Builds the systems of a plan; inside is why the last named commit cannot be built.
    fn build(&self, plan: &rqps_runner::Plan, places: &[usize]) -> Result<Result<(), String>> {
        let context = self.around.environment();
        let mut progress = Progress::since(self.began);
        let mut listen = |event: rqps_runner::Event<'_>| progress.show(&event);
        for (idx, &place) in places.iter().enumerate() {
            let Err(error) = rqps_runner::fetch(plan, idx, &context, &mut listen) else { continue };
            let of_commit =
                error.chain().filter_map(|cause| cause.downcast_ref::<BuildError>()).any(|cause| {
                    use BuildError::{Failed, NoRecipe, NoServer, NoSubmodule, Patch};
                    matches!(
                        cause,
                        Failed { .. }
                            | NoRecipe { .. }
                            | NoServer { .. }
                            | NoSubmodule { .. }
                            | Patch { .. }
                    )
                });
            // Neither end can be left out.
            if !of_commit || place == 0 || place == self.range.last() {
                let commit = told::commit_line(&self.range.commits[place]);
                return Err(error).with_context(|| format!("build {commit}"));
            }
            return Ok(Err(format!("{error:#}")));
        }
        Ok(Ok(()))
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
                let comparison =
                    cell.against.as_ref().and_then(|against| against.comparison.as_ref());
                if let Some(comparison) = comparison {
                    ratios.insert(step.title.clone(), comparison.rqps.estimate());
                }
            }
            match failure {
                Some(why) if ratios.is_empty() && place != self.range.last() => {
                    self.broken.insert(place, why);
                }
                _ if ratios.is_empty() => {}
                _ => self.probes.push(Measured { place, ratios }),
            }
        }
        if let Some(end) = run.finished_unix_ms {
            self.probe_s.push((end - run.started_unix_ms) as f64 / 1000.0);
        }
        Ok(())
    }

    /// Tells the commit, and measures it beside the one before it for cause and stacks.
    fn found(&self, suspects: &Suspects) -> Result<ExitCode> {
        told::found(self, suspects)?;
        let Some((gap, _)) = suspects.gaps.first() else { return Ok(ExitCode::from(2)) };
        let plan = self.range.profiled(&[gap.first - 1, gap.last], self.around)?;
        self.note("measure the commit beside the one before it, with stacks");
        let args = crate::args::RunArgs { new: false, ..self.args.run() };
        carry_out(plan, &args, self.around)
    }

    fn undecided(&self, suspects: &Suspects) -> Result<ExitCode> {
        told::undecided(self, suspects)?;
        Ok(ExitCode::from(2))
    }
}

/// A ratio as the search takes it.
fn log_ratio(place: usize, ratio: &Estimate) -> Option<Probe> {
    let (low, high) = ratio.interval?;
    let sd = (high.ln() - low.ln()) / (2.0 * HALF_WIDTH);
    Some(Probe { commit: place, log_ratio: ratio.point.ln(), sd })
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
