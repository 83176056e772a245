//! The steps of the vector suite in their order.

use rqps_client::{ParamType, Protocol};
use rqps_model::{Figure, Group, StepInfo, StepKind};
use rqps_vector::DataSet;

use super::encode::literal;
use super::{Index, VectorArgs, VectorSchema};
use crate::probe::{N_DRAWS, Probe};
use crate::suite::select::none_matches;
use crate::{Pattern, SuiteError};

/// What the clients of a step do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VectorWork {
    /// They fill the tables, one for each index.
    Load,
    /// They create an index, by its place in the arguments.
    Index(usize),
    /// They search.
    Search {
        /// The index by its place, and the effort; none for a search of the whole table.
        index: Option<(usize, u32)>,
    },
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorStep {
    /// `search.m=16.ef=40`.
    pub name: String,
    /// What its clients do.
    pub work: VectorWork,
}

/// The steps in their order.
#[must_use]
pub fn steps(args: &VectorArgs) -> Vec<VectorStep> {
    let step = |name: String, work| VectorStep { name, work };
    let mut all = vec![step("load".to_owned(), VectorWork::Load)];
    for (at, index) in args.indexes.iter().enumerate() {
        all.push(step(format!("index.{}", index.name()), VectorWork::Index(at)));
    }
    all.push(step("search.exact".to_owned(), VectorWork::Search { index: None }));
    for (at, index) in args.indexes.iter().enumerate() {
        let name = index.name();
        all.extend(index.efforts().into_iter().map(|(effort, word)| {
            let work = VectorWork::Search { index: Some((at, effort)) };
            step(format!("search.{name}.{word}"), work)
        }));
    }
    all
}

/// The steps that match one of the patterns (all, when there are none), in order, with the load and the indexes that they
/// need. A pattern is a step's name or a glob.
///
/// # Errors
/// A pattern that matches no step, with the nearest names.
pub fn select<S: AsRef<str>>(
    args: &VectorArgs,
    patterns: &[S],
) -> Result<Vec<VectorStep>, SuiteError> {
    let all = steps(args);
    let patterns: Vec<Pattern> = patterns.iter().map(|text| Pattern::new(text.as_ref())).collect();
    for pattern in &patterns {
        if !all.iter().any(|step| pattern.matches(&step.name)) {
            let names = all.iter().map(|step| step.name.as_str());
            return Err(none_matches("vector", names, pattern.text()));
        }
    }
    let is_chosen = |step: &VectorStep| {
        patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(&step.name))
    };
    let searched: Vec<usize> = all
        .iter()
        .filter(|step| is_chosen(step))
        .filter_map(|step| match step.work {
            VectorWork::Search { index: Some((at, _)) } => Some(at),
            // It searches the first table.
            VectorWork::Search { index: None } => Some(0),
            _ => None,
        })
        .collect();
    let keep = |step: &VectorStep| match step.work {
        VectorWork::Load => true,
        VectorWork::Index(at) => searched.contains(&at) || is_chosen(step),
        VectorWork::Search { .. } => is_chosen(step),
    };
    Ok(all.iter().filter(|step| keep(step)).cloned().collect())
}

impl VectorStep {
    /// The index that it searches, with the effort; none of a load, of an index, and of a search of the whole table.
    #[must_use]
    pub fn searched<'a>(&self, args: &'a VectorArgs) -> Option<(&'a Index, u32)> {
        match self.work {
            VectorWork::Search { index: Some((at, effort)) } => {
                Some((args.indexes.get(at)?, effort))
            }
            _ => None,
        }
    }

    /// The index that it creates.
    #[must_use]
    pub fn index<'a>(&self, args: &'a VectorArgs) -> Option<&'a Index> {
        match self.work {
            VectorWork::Index(at) => args.indexes.get(at),
            _ => None,
        }
    }

    /// The statements of a search, for the plans of servers.
    #[must_use]
    pub fn probes(&self, args: &VectorArgs, schema: &VectorSchema, set: &DataSet) -> Vec<Probe> {
        if !matches!(self.work, VectorWork::Search { .. }) {
            return Vec::new();
        }
        let values = (0..N_DRAWS.min(set.queries.len()))
            .map(|query| vec![literal(schema.dbms, set.queries.get(query))])
            .collect();
        vec![Probe {
            sql: schema.search_sql(self.table(), self.searched(args).is_none()),
            protocol: Protocol::Prepared,
            types: vec![ParamType::Binary],
            values,
        }]
    }

    /// The table that it searches, or whose index it creates (from 1).
    #[must_use]
    pub fn table(&self) -> u32 {
        let at = match self.work {
            VectorWork::Index(at) | VectorWork::Search { index: Some((at, _)) } => at,
            VectorWork::Load | VectorWork::Search { index: None } => 0,
        };
        u32::try_from(at + 1).unwrap_or(1)
    }

    /// The numbers of clients with which it runs.
    #[must_use]
    pub fn clients(&self, args: &VectorArgs) -> Vec<u32> {
        match self.work {
            // As many as search at once, and at least one for each table.
            VectorWork::Load => {
                let most = args.clients.iter().copied().max().unwrap_or(1);
                vec![most.max(args.tables())]
            }
            VectorWork::Index(_) => vec![1],
            VectorWork::Search { .. } => args.clients.clone(),
        }
    }

    /// The step's facts for reports.
    #[must_use]
    pub fn info(&self, args: &VectorArgs) -> StepInfo {
        let (kind, group, figure) = match self.work {
            VectorWork::Load => (StepKind::Load, Group::Other, Figure::RowsInserted),
            VectorWork::Index(_) => (StepKind::Index, Group::Vector, Figure::RowsIndexed),
            VectorWork::Search { .. } => (StepKind::Read, Group::Vector, Figure::Queries),
        };
        StepInfo {
            name: self.name.clone(),
            family: self.name.split('.').next().unwrap_or_default().to_owned(),
            n: None,
            kind,
            group,
            figure,
            what: self.what(args),
        }
    }

    fn what(&self, args: &VectorArgs) -> String {
        let k = args.k;
        match &self.work {
            VectorWork::Load => {
                "Fills a table for each index with the vectors, by prepared statements of several rows.".to_owned()
            }
            VectorWork::Index(at) => match args.indexes.get(*at) {
                Some(Index::Hnsw { m, ef_construction, .. }) => format!(
                    "Creates an index of {m} links per node, with {ef_construction} candidates per insert \
                     where the server takes them; the rate counts the rows of the table."
                ),
                Some(Index::Ivfflat { lists, .. }) => {
                    format!("Creates an index of {lists} lists; the rate counts the rows of the table.")
                }
                None => String::new(),
            },
            VectorWork::Search { index: None } => {
                format!("Queries for the {k} nearest vectors, without an index: all distances are computed.")
            }
            VectorWork::Search { .. } => match self.searched(args) {
                Some((Index::Ivfflat { .. }, n)) => {
                    format!("Queries for the {k} nearest vectors; each searches {n} lists.")
                }
                Some((_, n)) => {
                    format!("Queries for the {k} nearest vectors; each keeps {n} candidates.")
                }
                None => String::new(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;
    use crate::vector::VectorSize;

    fn args() -> VectorArgs {
        let indexes = vec![
            Index::Hnsw { m: 8, ef_construction: 64, ef_search: vec![10, 20] },
            Index::Ivfflat { lists: 50, probes: vec![2] },
        ];
        VectorArgs { indexes, ..Size::Tiny.vector_args() }
    }

    fn names(patterns: &[&str]) -> Vec<String> {
        select(&args(), patterns).unwrap().into_iter().map(|step| step.name).collect()
    }

    #[test]
    fn all_indexes_are_there_before_they_are_searched() {
        let wanted = [
            "load",
            "index.m=8",
            "index.lists=50",
            "search.exact",
            "search.m=8.ef=10",
            "search.m=8.ef=20",
            "search.lists=50.probes=2",
        ];
        assert_eq!(names(&[]), wanted);
    }

    #[test]
    fn a_search_brings_its_index() {
        assert_eq!(names(&["*.probes=2"]), ["load", "index.lists=50", "search.lists=50.probes=2"]);
        assert_eq!(names(&["search.exact"]), ["load", "index.m=8", "search.exact"]);
        let error = select(&args(), &["search.m=9"]).unwrap_err().to_string();
        assert!(error.contains("suite vector has no step"), "{error}");
    }
}
