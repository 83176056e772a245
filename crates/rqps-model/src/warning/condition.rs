//! What runs are made under, as far as they can differ in it.

use serde::{Deserialize, Serialize};

use crate::{MemorySize, Placement};

/// What a condition is about.
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
    /// Whether a difference can move figures by itself.
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
    /// How far the kernel reads ahead on the storage.
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
    /// A value of a suite of the plan that is not its first.
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

    /// Whether a value may make a difference. That rqps did not record it yet is none by itself: it would stand
    /// between every run of before and of today.
    #[must_use]
    pub fn counts(&self, value: Option<&ConditionValue>) -> bool {
        *self != Self::ReadAhead || value != Some(&ConditionValue::Unknown)
    }
}

/// One condition that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferentCondition {
    /// Which one.
    pub condition: Condition,
    /// Its value per run; absent where the run's plan does not say.
    pub values: Vec<Option<ConditionValue>>,
}

impl DifferentCondition {
    /// Whether two of the runs differ in it, for all that is known of them.
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

/// In what a step on a system differs from the same step on a system of another run.
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
