//! Something of the systems that has to be known before their QPS are compared.

use super::Severity;

/// Something of the systems that has to be known before their QPS are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it weighs.
    pub severity: Severity,
    /// What it is about: the setting, `tls`, `build`.
    pub name: String,
    /// The values, whose they are, and what they can do to the result, in sentences.
    pub text: String,
    /// What would make the systems alike, in words without a full stop.
    pub remedy: String,
}

impl Finding {
    /// For a report or a terminal: a severe one says so first.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.severity {
            Severity::Severe => format!("Severe: {}", self.text),
            Severity::Notable | Severity::Minor => self.text.clone(),
        }
    }
}
