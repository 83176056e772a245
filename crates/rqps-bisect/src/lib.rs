//! Which commit made a step slower: a posterior over commits from noisy ratios, and which commit to measure next.
//!
//! Between a good and a bad commit lie others, in their order. A probe measures one of them beside the good end and
//! gives a log ratio per step. Builds of commits differ by chance, too: code and data lie elsewhere. No IO, no clock.
//!
//! - **Hypotheses**: no change, one change, or two changes, each at any commit. The size of a change is unknown: a
//!   normal prior, integrated out exactly (C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine
//!   Learning", 2006, section 2.7: explicit basis functions).
//! - **Noise**: the standard error of the probe's ratio, and what builds differ by. A few values of the latter are
//!   averaged, weighted by their likelihood.
//! - **Next probe**: the one whose result tells most about the commit, per time that it takes (D. V. Lindley, "On a
//!   measure of the information provided by an experiment", Annals of Mathematical Statistics 27, 1956).
//! - **Culprit**: of two changes both, unless one is more than twice as large. Telling which of two similar changes is
//!   larger would take most of the probes.
//! - **End**: when the culprits are known with the confidence, and cannot be divided any more.

mod choice;
mod evidence;
mod gaps;
mod inverse;
mod posterior;
mod probe;
mod search;

pub use gaps::Gap;
pub use posterior::{GapProbability, Posterior, Suspects};
pub use probe::Probe;
pub use search::{Commit, Culprits, Next, Search};
