//! The statements that a session has prepared, and how often it ran generic and custom plans of them.

/// A statement that a session has prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedStatement {
    /// Its name in the session.
    pub name: String,
    /// SQL with `$1` and so on for each parameter.
    pub sql: String,
    /// Executions of generic and of custom plans; absent where the server does not count them.
    pub executions: Option<Executions>,
}

/// How often a session executed a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executions {
    /// With a generic plan.
    pub n_generic: u64,
    /// With a custom plan.
    pub n_custom: u64,
}
