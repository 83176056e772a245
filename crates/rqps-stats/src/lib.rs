//! Estimates, intervals and verdicts: figures of slices in, values with uncertainty out. No IO.
//!
//! References: B. L. Welch, "The generalization of Student's problem when several different
//! population variances are involved", Biometrika 34 (1947); F. E. Satterthwaite, "An approximate
//! distribution of estimates of variance components", Biometrics Bulletin 2 (1946).

pub mod paired;
pub mod ratio;
pub mod resolution;
pub mod student;
pub mod summary;
pub mod totals;

pub use paired::paired_ratio;
pub use ratio::{ratio, verdict};
pub use resolution::resolved;
pub use summary::mean;

/// Confidence of every interval: 95%.
pub const CONFIDENCE: f64 = 0.95;

/// The practical bound d of verdicts when the user gives none: 5%, the field's own threshold.
pub const DEFAULT_BOUND: f64 = 0.05;
