//! Pages with flame graphs, one for each step whose stacks were recorded.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use rqps_analysis::{Analysis, Judging};
use rqps_html::stacks_page;
use rqps_store::stack_profile::DIR;
use rqps_store::{Artifact, Store};

use crate::report::Found;

/// Writes a page with all frames for each step whose stacks were recorded; gives the files.
pub(crate) fn write(
    Found { run, base, profiles }: Found<'_>,
    judging: Judging,
    store: &Store,
) -> Result<Vec<PathBuf>> {
    if profiles.is_empty() {
        return Ok(Vec::new());
    }
    let analysis = Analysis::of_base(run, base, judging).with_profiles(profiles);
    let dir = store.artifact_dir(&run.id)?.join(DIR);
    fs::create_dir_all(&dir).with_context(|| format!("create {}", dir.display()))?;
    let mut written = Vec::new();
    for (step_at, step) in analysis.steps.iter().enumerate() {
        let Some(page) = stacks_page::render(&analysis, step_at) else { continue };
        let name = format!("{step_at:02}-{}.html", file_stem(&step.title));
        let path = dir.join(&name);
        fs::write(&path, page).with_context(|| format!("write {}", path.display()))?;
        let what = format!("flame graphs of {}", step.title);
        store.insert_artifact(&run.id, &Artifact { path: format!("{DIR}/{name}"), what })?;
        written.push(path);
    }
    Ok(written)
}

/// A step's title as a part of a file's name.
fn file_stem(title: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.=".contains(c) { c } else { '-' };
    title.chars().take(60).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_names_of_files() {
        assert_eq!(file_stem("point-query"), "point-query");
        assert_eq!(file_stem("a/../b range=10, 4 clients"), "a-..-b-range=10--4-clients");
    }
}
