//! Folders of the field's scripts: tables of QPS with tables of metrics beside them, or the raw files that
//! these are made from.
//!
//! ```text
//!   DIR/qps.abs.GROUP.tsv, .csv   QPS, a row per step and a column per system
//!   DIR/qps.rel.GROUP.tsv         names the base; its ratios are computed again
//!   DIR/o.met.GROUP, met.GROUP.txt   metrics per operation of each step
//! or
//!   DIR/LABEL/sb.o.STEP           the client's output, one directory per system, with sb.met.STEP or
//!                                 sb.vm.STEP and sb.io.STEP beside it
//! ```

pub mod met;
pub mod qps;

mod agree;
mod beside;
mod csv;
mod group;
mod legend;
mod rates;
mod raw;
mod rel;
mod relative;
mod step_met;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rqps_model::Tool;

use crate::folder::{ExcludedFile, Folder, read_text};
use crate::sheet::Sheet;
use crate::{Error, Imports, Options, clients};
use group::Files;
use met::Met;

/// The runs of a folder: one for each group of tables, or one of raw files.
///
/// # Errors
/// A folder in which nothing can be imported, with the problems of its files.
pub fn import(dir: &Path, options: &Options) -> Result<Imports, Error> {
    let folder = Folder::read(dir)?;
    let Groups { groups, unused } = groups(&folder);
    if groups.is_empty() {
        let mut imports = Imports { skipped: unused, ..Imports::default() };
        match raw::read(&folder, options).and_then(|sheet| sheet.into_run(Tool::Mytools, options)) {
            Ok(run) => imports.runs.push(run),
            // What is wrong with the tables says more than that nothing else is there.
            Err(Error::Nothing { .. }) if !imports.skipped.is_empty() => {}
            Err(problem) => imports.skipped.push(problem),
        }
        return imports.or_error(dir);
    }
    let mut imports = Imports { skipped: unused, ..Imports::default() };
    let usual = usual_clients(&folder, &groups);
    for (group, files) in &groups {
        let name = run_name(dir, (groups.len() > 1).then_some(group.as_str()), options);
        let own = clients::of_name(group).or(usual).or_else(|| clients::of_dir(dir));
        let sheet = group::sheet(&folder, files, own, options);
        let run = sheet.and_then(|sheet| Sheet { name, ..sheet }.into_run(Tool::Mytools, options));
        match run {
            Ok(run) => imports.runs.push(run),
            Err(problem) => imports.skipped.push(problem),
        }
    }
    imports.or_error(dir)
}

/// The groups of a folder, and files that look like tables and belong to none.
#[derive(Debug, Default)]
struct Groups {
    groups: BTreeMap<String, Files>,
    unused: Vec<Error>,
}

/// The groups of a folder: those that have a table of QPS or of metrics.
fn groups(folder: &Folder) -> Groups {
    let mut groups: BTreeMap<String, Files> = BTreeMap::new();
    let mut unused = Vec::new();
    for name in folder.names() {
        let between = |begin: &str, end: &str| {
            let group = name.strip_prefix(begin)?.strip_suffix(end)?;
            (!group.is_empty()).then(|| group.to_owned())
        };
        let own = || Some(name.to_owned());
        if let Some(group) = between("qps.abs.", ".tsv") {
            groups.entry(group).or_default().qps_tsv = own();
        } else if let Some(group) = between("qps.abs.", ".csv") {
            groups.entry(group).or_default().qps_csv = own();
        } else if let Some(group) = between("qps.rel.", ".tsv") {
            groups.entry(group).or_default().rel_tsv = own();
        } else if let Some(group) = between("o.met.", ".txt")
            .or_else(|| between("o.met.", ""))
            .or_else(|| between("met.", ".txt"))
        {
            groups.entry(group).or_default().mets.extend(own());
        } else if name == "o.met" {
            groups.entry(String::new()).or_default().mets.extend(own());
        } else if name.starts_with("qps.abs.") {
            let problem = "it is not a known table: name it qps.abs.GROUP.tsv";
            unused.push(Error::file(&folder.dir.join(name), problem));
        }
    }
    for ExcludedFile { name, why } in
        folder.excluded(|name| is_table(name) || name.starts_with("qps.rel."))
    {
        unused.push(Error::file(&folder.dir.join(name), why));
    }
    unused.extend(folder.odd_names());
    join_only_group(&mut groups, folder, &mut unused);
    groups.retain(|_, files| {
        let is_group = files.qps_tsv.is_some() || files.qps_csv.is_some() || !files.mets.is_empty();
        if let Some(rel) = files.rel_tsv.as_ref().filter(|_| !is_group) {
            let wanted = rel.replacen("qps.rel.", "qps.abs.", 1);
            let problem = format!("it has ratios but no QPS: put {wanted} beside it");
            unused.push(Error::file(&folder.dir.join(rel), problem));
        }
        is_group
    });
    Groups { groups, unused }
}

/// Metrics without a group are those of the only group. Of several groups nobody knows whose they are.
fn join_only_group(groups: &mut BTreeMap<String, Files>, folder: &Folder, unused: &mut Vec<Error>) {
    let Some(files) = groups.remove("") else { return };
    let names = groups.keys().cloned().collect::<Vec<_>>().join(", ");
    let mut others = groups.values_mut();
    match (others.next(), others.next()) {
        (None, _) => {
            groups.insert("all".to_owned(), files);
        }
        (Some(only), None) if only.mets.is_empty() => only.mets = files.mets,
        _ => unused.extend(files.mets.iter().map(|name| {
            let problem = format!("its group is not known, one of {names}: name it o.met.GROUP");
            Error::file(&folder.dir.join(name), problem)
        })),
    }
}

/// The clients that the metrics of all groups agree on, for groups without metrics of their own.
fn usual_clients(folder: &Folder, groups: &BTreeMap<String, Files>) -> Option<u32> {
    let mets = groups.values().filter_map(Files::met);
    let mut found = BTreeSet::new();
    for path in mets.filter_map(|name| folder.path(name)) {
        let met = read_text(&path).and_then(|text| Met::parse(&text, &path));
        found.extend(met.iter().flat_map(|met| &met.steps).filter_map(|step| step.clients));
    }
    let first = found.pop_first()?;
    found.is_empty().then_some(first)
}

/// Whether a file looks like a table of these scripts.
fn is_table(name: &str) -> bool {
    ["qps.abs.", "o.met.", "met."].iter().any(|begin| name.starts_with(begin))
}

/// The folder's name and, where it has several groups, the group's.
pub(crate) fn run_name(dir: &Path, group: Option<&str>, options: &Options) -> String {
    let folder = || {
        let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf());
        whole.file_name().map_or("imported".to_owned(), |n| n.to_string_lossy().into_owned())
    };
    let name = options.name.clone().unwrap_or_else(folder);
    group.map_or(name.clone(), |group| format!("{name}.{group}"))
}
