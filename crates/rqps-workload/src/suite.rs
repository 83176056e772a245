//! A suite: an ordered list of steps, read from a TOML file that users can copy and change.

use crate::SuiteError;
use crate::step::Step;

mod file;
pub(crate) mod select;

pub use select::Form;

/// An ordered list of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// Its name: `sysbench`.
    pub name: String,
    /// Its steps in the order in which they run; the first is the load.
    pub steps: Vec<Step>,
}

impl Suite {
    /// The sysbench suite as a file, which `suites show` prints.
    pub const SYSBENCH_TOML: &'static str = include_str!("../suites/sysbench.toml");

    /// The sysbench microbenchmarks, all steps.
    ///
    /// # Errors
    /// When the built-in file is wrong, which a test excludes.
    pub fn sysbench() -> Result<Self, SuiteError> {
        Self::parse(Self::SYSBENCH_TOML, "suites/sysbench.toml")
    }

    /// Reads a suite file; `origin` is its name in messages.
    ///
    /// # Errors
    /// Unknown keys and words, and impossible values, each with its line and a remedy.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SuiteError> {
        file::parse(text, origin)
    }

    /// The step of this name.
    ///
    /// # Errors
    /// When there is none; with the nearest names.
    pub fn step(&self, name: &str) -> Result<&Step, SuiteError> {
        self.steps
            .iter()
            .find(|step| step.name == name)
            .ok_or_else(|| select::no_such_step(self, name))
    }
}

#[cfg(test)]
mod tests;
