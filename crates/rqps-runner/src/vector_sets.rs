//! The sets of vectors that a run searches: read or drawn once, with the exact neighbours of their queries.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, bail};
use rqps_model::{Dbms, Family};
use rqps_vector::{DataSet, Truth, TruthFile, Vectors, read};
use rqps_workload::VectorArgs;
use rqps_workload::vector::{Encoded, Source, VectorSchema};

use crate::Plan;
use crate::plan::SuiteWork;

/// The directory of the cache that holds neighbours.
const DIRECTORY: &str = "neighbours";

/// A set that is searched.
pub(crate) struct VectorSet {
    pub(crate) set: DataSet,
    pub(crate) truth: Truth,
    vectors: Encodings,
    queries: Encodings,
}

/// Vectors in the forms of the servers that have asked for them.
#[derive(Default)]
struct Encodings(Mutex<Vec<(Family, Arc<Encoded>)>>);

impl Encodings {
    fn of(&self, dbms: Dbms, vectors: &Vectors) -> Arc<Encoded> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let family = dbms.family();
        if let Some((_, encoded)) = known.iter().find(|(other, _)| *other == family) {
            return Arc::clone(encoded);
        }
        let encoded = Arc::new(Encoded::of(dbms, vectors));
        known.push((family, Arc::clone(&encoded)));
        encoded
    }
}

impl VectorSet {
    /// Reads or draws a set, and computes its neighbours unless an earlier run has.
    fn of(
        args: &VectorArgs,
        cache: &Path,
        interrupt: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Self> {
        let mut set = match &args.source {
            Source::Files(files) => read(files, args.distance)?,
            Source::Generated(drawn) => {
                let mut set = drawn.make()?;
                set.distance = args.distance.unwrap_or(set.distance);
                set
            }
        };
        if matches!(args.source, Source::Files(_)) {
            set.truncate(args.vectors, args.queries);
        }
        set.check()?;
        let k = args.k as usize;
        let file = TruthFile::of(&cache.join(DIRECTORY), &set, k);
        let truth = match file.read(&set) {
            Some(truth) => truth,
            None => {
                note(&format!(
                    "{}: compute the exact {k} nearest neighbours of each query",
                    set.name
                ));
                let Some(truth) = Truth::of(&set, k, interrupt) else { bail!("interrupted") };
                // They are computed again where there is no room for them.
                if let Err(error) = file.write(&truth) {
                    note(&format!("the neighbours are not kept: {error}"));
                }
                truth
            }
        };
        if let Some(given) = &set.given
            && let Some((query, given, exact)) = truth.first_difference(&set, &given.neighbours)
        {
            bail!(
                "{}: the file has vector {given} among the nearest of query {query}, but vector {exact} is nearer; \
                 set distance to that of the file, or take the file without its neighbours",
                set.name
            );
        }
        Ok(Self { set, truth, vectors: Encodings::default(), queries: Encodings::default() })
    }

    pub(crate) fn encoded_vectors(&self, dbms: Dbms) -> Arc<Encoded> {
        self.vectors.of(dbms, &self.set.vectors)
    }

    pub(crate) fn encoded_queries(&self, dbms: Dbms) -> Arc<Encoded> {
        self.queries.of(dbms, &self.set.queries)
    }

    /// Rows of each table.
    pub(crate) fn rows(&self) -> u64 {
        self.set.vectors.len() as u64
    }

    pub(crate) fn schema(&self, dbms: Dbms, args: &VectorArgs) -> VectorSchema {
        VectorSchema::new(dbms, &self.set, args.k)
    }
}

/// The sets of a plan.
#[derive(Default)]
pub(crate) struct VectorSets(Vec<(VectorArgs, Arc<VectorSet>)>);

impl VectorSets {
    /// Those of all suites of a plan: before any server is started.
    pub(crate) fn of(
        plan: &Plan,
        cache: &Path,
        interrupt: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Self> {
        let mut sets = Self::default();
        for suite in &plan.suites {
            if let SuiteWork::Vector(args) = &suite.work
                && sets.find(args).is_none()
            {
                let set = VectorSet::of(args, cache, interrupt, note)?;
                sets.0.push((args.clone(), Arc::new(set)));
            }
        }
        Ok(sets)
    }

    fn find(&self, args: &VectorArgs) -> Option<&Arc<VectorSet>> {
        let is_same = |other: &VectorArgs| {
            let key = |args: &VectorArgs| (args.vectors, args.queries, args.distance, args.k);
            other.source == args.source && key(other) == key(args)
        };
        self.0.iter().find(|(other, _)| is_same(other)).map(|(_, set)| set)
    }

    /// The set of a suite.
    pub(crate) fn get(&self, args: &VectorArgs) -> Result<&Arc<VectorSet>> {
        match self.find(args) {
            Some(set) => Ok(set),
            None => bail!("the vectors of the suite were not read"),
        }
    }
}
