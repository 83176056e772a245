//! The page of a search: what it tells on the terminal, with charts and links to the reports of its runs.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use rqps_html::search::{Commit, Comparison, Probe, Search, render};
use rqps_text::number::{count, utc};

use super::{End, Hunt, told};

/// Writes the page beside the reports of the runs, and gives its path; `None` where no pages are wanted.
pub(super) fn write(
    hunt: &Hunt<'_>,
    answer: Vec<String>,
    end: &End,
    comparisons: Vec<Comparison>,
) -> Result<Option<PathBuf>> {
    if hunt.args.commits.no_html {
        return Ok(None);
    }
    let path = hunt.around.results.join(format!("{}.html", hunt.range.name()));
    let page = render(&search(hunt, answer, end, comparisons)?);
    fs::write(&path, page).with_context(|| format!("write {}", path.display()))?;
    Ok(Some(path))
}

fn search(
    hunt: &Hunt<'_>,
    answer: Vec<String>,
    end: &End,
    comparisons: Vec<Comparison>,
) -> Result<Search> {
    let posterior = hunt.search()?.posterior();
    let steps = hunt.steps();
    let commit = |(place, commit): (usize, &rqps_build::Commit)| Commit {
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
    let culprits = match end {
        End::Found(culprits) => culprits.iter().map(|own| (own.gap.first, own.gap.last)).collect(),
        End::NoDifference | End::Undecided(_) => Vec::new(),
    };
    Ok(Search {
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        title: format!("{} of {}", count(hunt.range.last(), "commit"), hunt.range.repository()),
        answer,
        steps: steps.iter().map(|step| (*step).to_owned()).collect(),
        commits: hunt.range.commits.iter().enumerate().map(commit).collect(),
        probes: hunt.probes.iter().map(probe).collect(),
        culprits,
        comparisons,
    })
}
