//! Estimates, intervals and verdicts: rates of slices in, values with uncertainty out. No IO.
//!
//! References: B. L. Welch, "The generalization of Student's problem when several different
//! population variances are involved", Biometrika 34 (1947); F. E. Satterthwaite, "An approximate
//! distribution of estimates of variance components", Biometrics Bulletin 2 (1946). Each module
//! names its own.

pub mod bimodal;
pub mod bootstrap;
pub mod change_point;
pub mod correlation;
pub mod difference;
pub mod dip;
pub mod drift;
pub mod fdr;
pub mod interval;
pub mod normal;
pub mod paired;
pub mod precision;
pub mod random;
pub mod ratio;
pub mod resolution;
pub mod starts;
pub mod steady;
pub mod student;
pub mod summary;
pub mod tested;
pub mod totals;

pub use paired::{paired_ratio, paired_test};
pub use ratio::{ratio, ratio_test, verdict};
pub use resolution::{of_counts, of_ratio, resolved};
pub use summary::mean;
pub use tested::{Tested, of_log_ratios};

/// Confidence of every interval: 95%.
pub const CONFIDENCE: f64 = 0.95;

/// The practical bound d of verdicts when the user gives none: 5%, the field's own threshold.
pub const DEFAULT_BOUND: f64 = 0.05;
