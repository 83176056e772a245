//! Errors of suites: what is wrong in a suite file, in a selection of steps, or in a suite's arguments.

/// Why a suite cannot be used as asked. Found before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// The file is no TOML, or a key or a word in it is not known.
    #[error("{origin}:{line}: {message}")]
    Syntax {
        /// The file's name as it was given.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what would do.
        message: String,
    },
    /// A key has a value that cannot be.
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
    #[error("no step of suite {suite} is named {pattern:?} ({hint})")]
    NoSuchStep {
        /// The suite's name.
        suite: String,
        /// The pattern or name as it was given.
        pattern: String,
        /// Names that are near, or where the step is to be found.
        hint: String,
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
    /// The step has no events to run: the load is done by populating.
    #[error("step {step} runs no events: tables are filled by populating them")]
    NoEvents {
        /// The step's name.
        step: String,
    },
}
