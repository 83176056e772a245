//! The page of a search: what it tells on the terminal, with charts and links to the reports of its comparisons.

use std::fs;
use std::path::{Path, PathBuf};

use rqps_html::search::{Commit, Comparison, Gap, Probe, Search, render};
use rqps_text::number::{count, utc};

use anyhow::Result;

use super::{Hunt, State, told};
use crate::complain;

/// Letters of the steps in the name of a page.
const STEPS_IN_NAME: usize = 40;

/// The page of a search. It is written after each probe.
pub(super) struct Page {
    /// Where it is; `None` where no pages are wanted.
    path: Option<PathBuf>,
    search: Search,
    is_written: bool,
}

impl Page {
    pub(super) fn of(hunt: &Hunt<'_>, state: &State) -> Result<Self> {
        let name = format!("{}-{}.html", hunt.range.name(), slug(&hunt.args.steps.join("-")));
        let path = (!hunt.args.commits.no_html).then(|| hunt.around.results.join(name));
        Ok(Self { path, search: search(hunt, state)?, is_written: false })
    }

    /// Writes it. What cannot be written does not end what is measured.
    pub(super) fn write(&mut self) {
        let Some(path) = &self.path else { return };
        let partial = path.with_extension("html.partial");
        let written =
            fs::write(&partial, render(&self.search)).and_then(|()| fs::rename(&partial, path));
        self.is_written = written.is_ok();
        if let Err(error) = written {
            // What is there of it is of no use.
            let _ = fs::remove_file(&partial);
            complain(&format!("error: write {}: {error}", path.display()));
        }
    }

    /// Adds a culprit beside the commit before it.
    pub(super) fn add(&mut self, comparison: Comparison) {
        self.search.comparisons.push(comparison);
        self.write();
    }

    /// Where it was written.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref().filter(|_| self.is_written)
    }

    /// Whether it could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.path.is_some() && !self.is_written
    }
}

/// Steps as a part of a file's name.
fn slug(steps: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '_' };
    steps.chars().take(STEPS_IN_NAME).map(letter).collect()
}

fn search(hunt: &Hunt<'_>, state: &State) -> Result<Search> {
    let posterior = hunt.search()?.posterior();
    let steps = hunt.steps();
    let commit = |place: usize, commit: &rqps_build::Commit| Commit {
        short: commit.short().to_owned(),
        subject: commit.subject.clone(),
        day: utc(commit.unix_s * 1000).get(..10).unwrap_or_default().to_owned(),
        chance: told::probability(&posterior, place),
        failure: hunt.broken.get(&place).cloned(),
    };
    let probe = |probe: &super::Measured| Probe {
        place: probe.place,
        run_id: probe.run_id.clone(),
        ratios: steps.iter().map(|step| probe.ratios.get(*step).copied()).collect(),
    };
    let culprits = match state {
        State::Found(known, _) => known.named.as_slice(),
        State::NoDifference | State::Open { .. } => &[],
    };
    let culprits = culprits.iter().map(|own| Gap { first: own.gap.first, last: own.gap.last });
    Ok(Search {
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        title: format!("{} of {}", count(hunt.range.last(), "commit"), hunt.range.repository()),
        answer: told::answer(hunt, state),
        confidence: hunt.args.commits.confidence.clone(),
        min_change: hunt.args.min_change.clone(),
        steps: steps.iter().map(|step| (*step).to_owned()).collect(),
        commits: (0..).zip(&hunt.range.commits).map(|(place, own)| commit(place, own)).collect(),
        probes: hunt.probes.iter().map(probe).collect(),
        culprits: culprits.collect(),
        comparisons: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn steps_are_parts_of_names() {
        assert_eq!(slug("point-query"), "point-query");
        assert_eq!(slug("../*"), "..__");
        assert_eq!(slug(&"a".repeat(100)).len(), 40);
    }
}
