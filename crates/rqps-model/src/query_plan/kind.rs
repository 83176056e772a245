//! Whether the sessions of a step ran generic or custom plans of a prepared statement.

use serde::{Deserialize, Serialize};

/// Custom plans that a session of PostgreSQL runs before it chooses between both kinds (PostgreSQL's manual, PREPARE,
/// "Notes").
pub const TRIAL: u64 = 5;

/// Share of the executions that make a statement's plan one of a kind; below it is mixed.
const MOST: f64 = 0.95;

/// When a prepared statement is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanKind {
    /// Once, for all values.
    Generic,
    /// For each execution, with its values.
    Custom,
    /// Some executions ran a generic plan and others a custom one.
    Mixed,
}

impl PlanKind {
    /// For a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Generic => "generic plan",
            Self::Custom => "custom plan",
            Self::Mixed => "generic and custom plans",
        }
    }
}

/// How often the sessions of a step executed a prepared statement, by the kind of plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanCounts {
    /// Sessions that were asked.
    pub n_sessions: u32,
    /// Executions of generic plans.
    pub n_generic: u64,
    /// Executions of custom plans, without those on trial.
    pub n_custom: u64,
    /// Executions of custom plans before the sessions chose a kind.
    pub n_trial: u64,
}

impl PlanCounts {
    /// Adds what a session has executed. Its first [`TRIAL`] custom plans are on trial, unless custom plans are all
    /// that it ran beyond them.
    pub fn add_session(&mut self, n_generic: u64, n_custom: u64) {
        let is_decided = n_generic == 0 && n_custom > TRIAL;
        let n_trial = if is_decided { 0 } else { n_custom.min(TRIAL) };
        self.n_sessions += 1;
        self.n_generic += n_generic;
        self.n_custom += n_custom - n_trial;
        self.n_trial += n_trial;
    }

    /// What at least 95% of the executions ran; `None` where no session has chosen a kind yet.
    #[must_use]
    pub fn kind(&self) -> Option<PlanKind> {
        let n = self.n_generic.saturating_add(self.n_custom) as f64;
        let is_most = |part: u64| part as f64 >= MOST * n;
        match (n > 0.0, is_most(self.n_generic), is_most(self.n_custom)) {
            (false, ..) => None,
            (true, true, _) => Some(PlanKind::Generic),
            (true, _, true) => Some(PlanKind::Custom),
            (true, false, false) => Some(PlanKind::Mixed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind over sessions with these counts of generic and custom plans.
    fn kind(sessions: &[(u64, u64)]) -> Option<PlanKind> {
        let mut counts = PlanCounts::default();
        sessions.iter().for_each(|(n_generic, n_custom)| counts.add_session(*n_generic, *n_custom));
        counts.kind()
    }

    #[test]
    fn the_first_five_custom_plans_are_a_trial() {
        assert_eq!(kind(&[]), None);
        assert_eq!(kind(&[(0, 0), (0, 5), (0, 3)]), None);
        assert_eq!(kind(&[(1, 5)]), Some(PlanKind::Generic));
        assert_eq!(kind(&[(1, 5), (0, 4)]), Some(PlanKind::Generic));
        assert_eq!(kind(&[(0, 6)]), Some(PlanKind::Custom));
        assert_eq!(kind(&[(6, 0)]), Some(PlanKind::Generic));
    }

    #[test]
    fn a_kind_is_what_95_percent_ran() {
        assert_eq!(kind(&[(95, 10)]), Some(PlanKind::Generic));
        assert_eq!(kind(&[(94, 11)]), Some(PlanKind::Mixed));
        assert_eq!(kind(&[(5, 100)]), Some(PlanKind::Custom));
        // Sessions that differ from each other.
        assert_eq!(kind(&[(500, 5), (0, 500)]), Some(PlanKind::Mixed));
    }
}
