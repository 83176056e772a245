//! How a run came out, in a small file beside its artifacts, so that a list of runs needs no analysis.
//!
//! ```text
//!   artifacts/RUN/verdicts.json
//! ```
//!
//! `rqps run`, `rqps report` and `rqps runs import` write the file. It is read only while the run and the version of rqps are those of the
//! analysis. Losing the file loses nothing.

use std::fs::{self, File};
use std::io::Read as _;

use rqps_model::Label;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::outline::Brief;
use crate::store::Store;

const NAME: &str = "verdicts.json";

/// The most that is read, bytes: some hundred systems.
const MAX_BYTES: u64 = 64 << 10;

/// Summary of a run's verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdicts {
    /// The version of rqps that analysed the run.
    pub rqps_version: String,
    /// End of the run that was analysed, milliseconds since 1970.
    pub finished_unix_ms: Option<i64>,
    /// Steps on systems that were done.
    pub n_done: u64,
    /// Severe warnings of its report.
    pub n_severe: usize,
    /// Each candidate, in the order of the systems.
    pub candidates: Vec<CandidateVerdicts>,
}

/// A candidate's verdicts, as numbers of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateVerdicts {
    /// The candidate.
    pub label: Label,
    /// Slower by the bound or more.
    pub n_slower: usize,
    /// Faster by the bound or more.
    pub n_faster: usize,
    /// The same within the bound.
    pub n_same: usize,
    /// Unclear.
    pub n_unclear: usize,
    /// Without a verdict for another reason: failed, host busy and so on.
    pub n_without: usize,
    /// The step with the lowest ratio, whatever its verdict.
    pub worst: Option<StepRatio>,
}

/// A step's ratio to the base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRatio {
    /// The step, with its number of clients where a run has several.
    pub step: String,
    /// Relative QPS.
    pub rqps: f64,
}

impl Verdicts {
    /// Whether this is what `rqps_version` would say of the run today.
    fn holds(&self, brief: &Brief, rqps_version: &str) -> bool {
        self.rqps_version == rqps_version
            && self.finished_unix_ms == brief.finished_unix_ms
            && self.n_done == brief.n_done
    }
}

impl Store {
    /// Stores the summary of a run's verdicts.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_verdicts(&self, run_id: &str, verdicts: &Verdicts) -> Result<(), Error> {
        let path = self.artifact_dir(run_id)?.join(NAME);
        let text = serde_json::to_string(verdicts).unwrap_or_default();
        fs::write(&path, text).map_err(|source| Error::File { action: "write", path, source })
    }

    /// The summary of a run's verdicts; `None` if there is none for this state of the run and this version.
    #[must_use]
    pub fn read_verdicts(&self, brief: &Brief, rqps_version: &str) -> Option<Verdicts> {
        let path = self.artifact_path(&brief.id).ok()?.join(NAME);
        let mut text = String::new();
        File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        let verdicts: Verdicts = serde_json::from_str(&text).ok()?;
        verdicts.holds(brief, rqps_version).then_some(verdicts)
    }
}
