//! A fact about the systems that matters when their QPS are compared.

use super::Severity;

/// A fact about the systems that matters when their QPS are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its severity.
    pub severity: Severity,
    /// What it is about: the setting, `tls`, `build`.
    pub name: String,
    /// The values per system and their effect, in sentences.
    pub text: String,
    /// What to do about it, without a full stop.
    pub remedy: String,
}

impl Finding {
    /// The sentences for a report or a terminal; a severe finding begins with its severity.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.severity {
            Severity::Severe => format!("Severe: {}", self.text),
            Severity::Notable | Severity::Minor => self.text.clone(),
        }
    }
}
