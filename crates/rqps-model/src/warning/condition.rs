//! Conditions of runs.

use serde::{Deserialize, Serialize};

use crate::{MemorySize, Placement};

/// The topic of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The machine.
    Host,
    /// Kernel and distribution.
    Kernel,
    /// Order and length of the slices.
    Schedule,
    /// Sizes of tables and arguments of steps.
    Work,
    /// The version of rqps.
    Tool,
}

impl Topic {
    /// Whether a difference alone can change QPS.
    #[must_use]
    pub fn moves_figures(self) -> bool {
        !matches!(self, Self::Tool)
    }

    /// For programs.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Kernel => "kernel",
            Self::Schedule => "schedule",
            Self::Work => "work",
            Self::Tool => "tool",
        }
    }
}

/// A condition of a run. The order is that of reports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Number and model of the CPUs.
    Cpus,
    /// The host's name.
    Host,
    /// The host's memory.
    Memory,
    /// Read-ahead of the storage.
    ReadAhead,
    /// File system and device of the data directories.
    Storage,
    /// The distribution.
    Distribution,
    /// Release of the kernel.
    Kernel,
    /// A value of the plan's schedule.
    Schedule {
        /// Its keys, from the outermost on.
        keys: Vec<String>,
    },
    /// A value of a suite of the plan other than the first.
    FurtherSuite {
        /// The suite's number; the first has 1.
        number: usize,
        /// The value's keys, from the outermost on.
        keys: Vec<String>,
    },
    /// A value of the plan's first suite.
    Suite {
        /// Its keys, from the outermost on.
        keys: Vec<String>,
    },
    /// The version of rqps.
    Version,
}

impl Condition {
    /// What it is about.
    #[must_use]
    pub fn topic(&self) -> Topic {
        match self {
            Self::Cpus | Self::Host | Self::Memory | Self::ReadAhead | Self::Storage => Topic::Host,
            Self::Distribution | Self::Kernel => Topic::Kernel,
            Self::Schedule { .. } => Topic::Schedule,
            Self::FurtherSuite { .. } | Self::Suite { .. } => Topic::Work,
            Self::Version => Topic::Tool,
        }
    }

    /// Whether it says how many tables a suite has, or rows in each.
    #[must_use]
    pub fn is_table_size(&self) -> bool {
        let (Self::FurtherSuite { keys, .. } | Self::Suite { keys }) = self else { return false };
        keys.last().is_some_and(|key| key == "rows" || key == "tables")
    }

    /// Whether a value counts as a difference. A read-ahead that was not recorded does not: every
    /// older run lacks it.
    #[must_use]
    pub fn counts(&self, value: Option<&ConditionValue>) -> bool {
        *self != Self::ReadAhead || value != Some(&ConditionValue::Unknown)
    }
}

/// A condition that differs between runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferentCondition {
    /// Which one.
    pub condition: Condition,
    /// Its value per run; absent where the run's plan does not say.
    pub values: Vec<Option<ConditionValue>>,
}

impl DifferentCondition {
    /// Whether two of the runs differ in it, as far as is known.
    #[must_use]
    pub fn differs(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.values.get(a), self.values.get(b));
        a != b && [a, b].into_iter().flatten().all(|value| self.condition.counts(value.as_ref()))
    }
}

/// The value of a condition in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionValue {
    /// The run does not know it.
    Unknown,
    /// As the host or the plan has it.
    Text(String),
    /// Number and model of CPUs.
    Cpus {
        /// How many.
        n: u32,
        /// Their model.
        model: String,
    },
    /// Memory.
    Memory(MemorySize),
    /// KB of 1024 bytes.
    Kb(u32),
}

impl ConditionValue {
    /// A text, unless it is empty: the run does not know it then.
    #[must_use]
    pub fn text(text: &str) -> Self {
        if text.is_empty() { Self::Unknown } else { Self::Text(text.to_owned()) }
    }
}

/// A difference between a step on a system and the same step on a system of another run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepDifference {
    /// A condition of the runs.
    Condition(Condition),
    /// The placement of the threads.
    Placement {
        /// The base's.
        base: Placement,
        /// The system's own.
        own: Placement,
    },
    /// What the step does, where no condition says it.
    Work,
}
