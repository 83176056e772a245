//! Errors of suites: of suite files, selections of steps and arguments.

/// Why a suite cannot run. Found before anything starts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// The file is not TOML, or has an unknown key or word.
    #[error("{origin}:{line}: {message}")]
    Syntax {
        /// The file's name as it was given.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what is allowed.
        message: String,
    },
    /// A key has an impossible value.
    #[error("{origin}:{line}: {key}: {problem}; {remedy}")]
    Value {
        /// The file's name as it was given.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A pattern selects no step.
    #[error("suite {suite} has no step {pattern:?}; {hint}")]
    NoSuchStep {
        /// The suite's name.
        suite: String,
        /// The pattern or name as it was given.
        pattern: String,
        /// Names that were probably meant, or the command that lists the steps.
        hint: String,
    },
    /// No step of the suite has `short = "figure"`.
    #[error("the short form of {suite} reports no step; write form = \"full\" or --form full")]
    NoShortForm {
        /// The suite's name.
        suite: String,
    },
    /// An argument of the suite is out of range.
    #[error("{key} = {value}: {remedy}")]
    Argument {
        /// The argument: `tables`, `rows`, `clients`.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        remedy: String,
    },
    /// The step has no events: it fills or indexes tables.
    #[error("step {step} has no events: it fills or indexes tables")]
    NoEvents {
        /// The step's name.
        step: String,
    },
}
