//! The author's own tables, cell by cell as they are written.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Step, label, text.
type Cell = (String, String, String);

/// The tables of one group.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// Step, label, text of `qps.abs.*`.
    pub(super) qps: Vec<Cell>,
    /// Step, label, text of `qps.rel.*`.
    pub(super) relative: Vec<Cell>,
    /// Step, label, column, text of the absolute part of `o.met.*`.
    pub(super) met: Vec<(String, String, String, String)>,
    /// The same of the relative part.
    pub(super) met_relative: Vec<(String, String, String, String)>,
}

impl Tables {
    /// Those of the group in `folder` whose name stands behind the folder's in the run's, or of the only one.
    pub(super) fn read(folder: &Path, run_name: &str) -> Result<Self> {
        let mut groups: BTreeSet<String> = BTreeSet::new();
        for entry in std::fs::read_dir(folder).context("list the folder")? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let between = |begin: &str, end: &str| -> Option<String> {
                Some(name.strip_prefix(begin)?.strip_suffix(end)?.to_owned())
            };
            let group = between("qps.abs.", ".tsv").or_else(|| between("met.", ".txt"));
            groups.extend(group.or_else(|| between("o.met.", "")));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let is_own = |group: &&String| run_name == format!("{name}.{group}");
        let own = groups.iter().find(is_own);
        let group = if groups.len() == 1 { groups.first() } else { own };
        let group = group.with_context(|| format!("find the tables of {run_name}"))?;
        let read = |name: &str| -> Result<Option<String>> {
            let path = folder.join(name);
            path.exists()
                .then(|| std::fs::read_to_string(path).with_context(|| format!("read {name}")))
                .transpose()
        };
        // With commas there is the same as with tabs, and may be more steps.
        let table = |name: &str| -> Result<Vec<Cell>> {
            let Some(text) = read(&format!("{name}.tsv"))? else { return Ok(Vec::new()) };
            let cells = tsv(&text)?;
            match read(&format!("{name}.csv"))? {
                Some(other) => with_steps_of(cells, csv(&other, &labels(&text))?)
                    .with_context(|| format!("compare {name}.csv with {name}.tsv")),
                None => Ok(cells),
            }
        };
        let mut tables = Self {
            qps: table(&format!("qps.abs.{group}"))?,
            relative: table(&format!("qps.rel.{group}"))?,
            ..Self::default()
        };
        for name in [format!("o.met.{group}"), format!("met.{group}.txt"), "o.met".to_owned()] {
            if let Some(text) = read(&name)? {
                tables.read_met(&text)?;
                break;
            }
        }
        Ok(tables)
    }

    /// Gives a system another label.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let of_qps = self.qps.iter_mut().chain(&mut self.relative).map(|(_, label, _)| label);
        let of_met = self.met.iter_mut().chain(&mut self.met_relative).map(|(_, label, ..)| label);
        for label in of_qps.chain(of_met).filter(|label| *label == from) {
            to.clone_into(label);
        }
    }

    fn read_met(&mut self, text: &str) -> Result<()> {
        let (mut step, mut heads, mut is_relative) = (String::new(), Vec::new(), false);
        for line in text.lines().filter(|line| !line.is_empty()) {
            if line.starts_with("sb.") {
                step = step_name(line);
            } else if line.starts_with("---") {
                is_relative = line.contains("relative");
            } else if line.starts_with("cpu/o") {
                heads = line.split_whitespace().map(str::to_owned).collect();
            } else {
                let cells: Vec<&str> = line.split_whitespace().collect();
                if cells.len() != heads.len() {
                    bail!("{step}: {line:?} has not the columns {heads:?}");
                }
                let label = cells[cells.len() - 1].to_owned();
                let all = if is_relative { &mut self.met_relative } else { &mut self.met };
                for (head, cell) in heads.iter().zip(&cells).take(cells.len() - 1) {
                    all.push((step.clone(), label.clone(), head.clone(), (*cell).to_owned()));
                }
            }
        }
        Ok(())
    }
}

/// `sb.met.point-query.pre.range100.pk1.dop1` as tables of QPS name it; `load` for `sb.prepare.met.*`.
fn step_name(line: &str) -> String {
    if line.starts_with("sb.prepare.") {
        return "load".to_owned();
    }
    let name = line.trim_start_matches("sb.met.");
    let (family, rest) = name.split_once(".range").unwrap_or((name, ""));
    format!("{family}_range={}", rest.split('.').next().unwrap_or_default())
}

/// The cells of a table with tabs, and those of the steps that only the one with commas has.
fn with_steps_of(mut cells: Vec<Cell>, other: Vec<Cell>) -> Result<Vec<Cell>> {
    let steps: BTreeSet<String> = cells.iter().map(|cell| cell.0.clone()).collect();
    if let Some((step, label, value)) = cells.iter().find(|cell| !other.contains(cell)) {
        bail!("{step} of {label} is {value} with tabs and not with commas");
    }
    cells.extend(other.into_iter().filter(|cell| !steps.contains(&cell.0)));
    Ok(cells)
}

fn labels(text: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let (column, label) = line.split_once(" : ")?;
        column.starts_with("col-").then(|| label.trim().to_owned())
    };
    text.lines().filter_map(of_line).collect()
}

fn tsv(text: &str) -> Result<Vec<Cell>> {
    let labels = labels(text);
    let mut cells = Vec::new();
    for line in text.lines().filter(|line| line.contains("_range=")) {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.len() != labels.len() + 1 {
            bail!("{line:?} has not one value for each of {} labels", labels.len());
        }
        let step = fields[fields.len() - 1];
        for (label, value) in labels.iter().zip(&fields) {
            cells.push((step.to_owned(), label.clone(), (*value).to_owned()));
        }
    }
    Ok(cells)
}

fn csv(text: &str, labels: &[String]) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != labels.len() + 1 {
            bail!("{line:?} has not one value for each of {} labels", labels.len());
        }
        for (label, value) in labels.iter().zip(&fields[1..]) {
            cells.push((fields[0].to_owned(), label.clone(), (*value).to_owned()));
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TSV: &str = "col-1 : a\ncol-2 : b\ncol-1\tcol-2\n10\t11\tx_range=100\n";

    #[test]
    fn a_table_with_commas_may_have_more_steps() {
        let dir = tempfile::tempdir().unwrap();
        let read = |csv: &str| {
            std::fs::write(dir.path().join("qps.abs.g.tsv"), TSV).unwrap();
            std::fs::write(dir.path().join("qps.abs.g.csv"), csv).unwrap();
            Tables::read(dir.path(), "any").map(|tables| tables.qps)
        };
        let all = read("x_range=100,10,11\ny_range=100,20,21\n").unwrap();
        let all: Vec<&str> = all.iter().map(|(_, _, value)| value.as_str()).collect();
        assert_eq!(all, ["10", "11", "20", "21"]);
        let error = format!("{:#}", read("x_range=100,10,12\n").unwrap_err());
        assert!(error.contains("x_range=100 of b is 11 with tabs"), "{error}");
        assert!(read("y_range=100,20,21\n").is_err());
    }
}
