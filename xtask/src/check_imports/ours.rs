//! Our reports read back: cells by step as the imported files name it, label and column.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

/// Cells of a report on a terminal, by the imported files' names of steps; of the tables for a post, by their
/// titles.
#[derive(Debug, Default)]
pub(super) struct Text {
    cells: BTreeMap<(String, String, String), String>,
}

impl Text {
    pub(super) fn get(&self, step: &str, label: &str, column: &str) -> Option<&str> {
        let key = (step.to_owned(), label.to_owned(), column.to_owned());
        self.cells.get(&key).map(String::as_str)
    }
}

/// Reads the details of all steps: the lines below each step's title, of which the second says what the
/// files call it.
pub(super) fn of_text(text: &str) -> Result<Text> {
    let (_, details) = text.split_once("\nSteps\n").context("find the steps in the text")?;
    let mut out = Text::default();
    let (mut step, mut heads, mut part) = (String::new(), Vec::new(), "");
    for line in details.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(name) = line.strip_suffix(" in the imported files.") {
            (step, part) = (name.to_owned(), "");
        } else if line.starts_with("Creates and fills the tables") {
            (step, part) = ("load".to_owned(), "");
        } else if line.starts_with("--- absolute") {
            part = "absolute ";
        } else if line.starts_with("--- relative") {
            part = "relative ";
        } else if line.starts_with("How sure this is") {
            break;
        } else if words.contains(&"dbms") || words.contains(&"system") && words.contains(&"ratio") {
            // `as stated` is one heading of two words.
            let line = line.replace("as stated", "as-stated");
            heads = line.split_whitespace().map(str::to_owned).collect();
        } else if !heads.is_empty() && words.first().is_some_and(|w| w.parse::<f64>().is_ok()) {
            let place = heads.iter().position(|head| head == "dbms" || head == "system");
            let label = place.and_then(|at| words.get(at)).context("a row without a label")?;
            for (head, word) in heads.iter().zip(&words) {
                let key = (step.clone(), (*label).to_owned(), format!("{part}{head}"));
                out.cells.insert(key, (*word).to_owned());
            }
        }
    }
    Ok(out)
}

/// Reads the tables for a post of one run: a title, the headings, a line per system. Columns begin where their
/// headings do, as a figure may be two words (`not run`).
pub(super) fn of_post(text: &str) -> Text {
    let mut out = Text::default();
    for table in text.split("\n\n") {
        let mut lines = table.lines();
        let (Some(title), Some(heads)) = (lines.next(), lines.next()) else { continue };
        let words: Vec<&str> = heads.split_whitespace().collect();
        // What follows behind the tables has no headings.
        let (["ratio", "system"], Some(ratio_at), Some(system_at)) =
            (words.get(1..).unwrap_or_default(), heads.find("ratio"), heads.find("system"))
        else {
            continue;
        };
        for line in lines {
            // A lone `-` between groups of systems is shorter.
            let cell = line.get(ratio_at..system_at).map(str::trim);
            let label = line.get(system_at..).and_then(|rest| rest.split_whitespace().next());
            if let (Some(cell), Some(label)) = (cell, label) {
                let key = (title.to_owned(), label.to_owned(), "ratio".to_owned());
                out.cells.insert(key, cell.to_owned());
            }
        }
    }
    out
}

/// The rows of a CSV report. None of its fields that are read here has a comma.
#[derive(Debug)]
pub(super) struct Csv {
    cells: BTreeMap<(String, String, String), f64>,
}

impl Csv {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let heads: Vec<&str> = lines.next().context("a header")?.split(',').collect();
        let at = |name: &str| {
            let found = heads.iter().position(|head| *head == name);
            found.with_context(|| format!("find column {name}"))
        };
        let (step, family, n, label) = (at("step")?, at("family")?, at("n")?, at("system")?);
        let group = at("group")?;
        let mut cells = BTreeMap::new();
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            for (head, field) in heads.iter().zip(&fields) {
                let Ok(value) = field.parse::<f64>() else { continue };
                // A step that the suite has without a range has one in the files all the same, which is
                // why all are tried below.
                for name in names(fields[step], fields[family], fields[n], fields[group]) {
                    let key = (name, fields[label].to_owned(), (*head).to_owned());
                    cells.insert(key, value);
                }
            }
        }
        Ok(Self { cells })
    }

    /// A value by the column's name; that of a metric's ratio as `NAME ratio`.
    pub(super) fn value(&self, step: &str, label: &str, column: &str) -> Option<f64> {
        let column = match column.strip_suffix(" ratio") {
            Some(metric) => ratio_column(metric),
            None => column.to_owned(),
        };
        self.cells.get(&(step.to_owned(), label.to_owned(), column)).copied()
    }
}

/// What the files may call a step of the report.
fn names(step: &str, family: &str, n: &str, group: &str) -> Vec<String> {
    if family == "load" && group == "Loading and warming" {
        return vec!["load".to_owned()];
    }
    let mut names = vec![step.to_owned(), format!("{family}_range={n}")];
    if n.is_empty() {
        names.push(format!("{family}_range=100"));
    }
    names
}

/// The column of a heading of the field.
pub(super) fn column(head: &str) -> &'static str {
    match head {
        "cpu/o" => "host_cpu_pct_per_operation",
        "cs/o" => "context_switches_per_operation",
        "r/o" => "reads_per_operation",
        "rKB/o" => "read_kb_per_operation",
        "wKB/o" => "written_kb_per_operation",
        _ => "metrics_per_s",
    }
}

fn ratio_column(column: &str) -> String {
    match column {
        "read_kb_per_operation" => "read_per_operation_ratio".to_owned(),
        "written_kb_per_operation" => "written_per_operation_ratio".to_owned(),
        column => format!("{column}_ratio"),
    }
}

/// A number without the zeros that it may be written with.
pub(super) fn plain(value: f64) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_a_post() {
        let text = "scan\nstated  ratio   system\n2.50    1.00    my56\n-\nnot run -       pg17  a\n\n\
                    ratio: relative to my56; n=1\na errors: scan\n";
        let post = of_post(text);
        assert_eq!(post.get("scan", "my56", "ratio"), Some("1.00"));
        assert_eq!(post.get("scan", "pg17", "ratio"), Some("-"));
        assert_eq!(post.cells.len(), 2);
    }
}
