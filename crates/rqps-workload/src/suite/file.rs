//! Suite files: TOML to steps. Whatever cannot run is refused, with line, key and remedy.

use std::collections::BTreeMap;
use std::sync::Arc;

use rqps_model::serde_in_words;
use serde::Deserialize;
use toml::Spanned;

use crate::statement::Statement;
use crate::{Suite, SuiteError};

mod statements;
mod steps;

use statements::{StatementEntry, read_statement};
use steps::{Kind, StepEntry, read_steps};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    name: String,
    #[serde(default)]
    statement: Vec<StatementEntry>,
    #[serde(default)]
    step: Vec<StepEntry>,
}

/// The file under reading: turns places into lines.
struct File<'a> {
    text: &'a str,
    origin: &'a str,
}

impl File<'_> {
    fn line(&self, offset: usize) -> usize {
        let end = offset.min(self.text.len());
        1 + self.text.as_bytes()[..end].iter().filter(|&&byte| byte == b'\n').count()
    }

    fn wrong<T>(
        &self,
        at: &Spanned<T>,
        key: &'static str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> SuiteError {
        SuiteError::Value {
            origin: self.origin.to_owned(),
            line: self.line(at.span().start),
            key,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

/// Reads a suite file.
pub(super) fn parse(text: &str, origin: &str) -> Result<Suite, SuiteError> {
    let file = File { text, origin };
    let raw: SuiteFile = toml::from_str(text).map_err(|error| {
        let message = error.message();
        SuiteError::Syntax {
            origin: origin.to_owned(),
            line: file.line(error.span().map_or(0, |span| span.start)),
            message: serde_in_words(&message.replace('\n', "; ")),
        }
    })?;
    let mut statements: BTreeMap<String, Arc<Statement>> = BTreeMap::new();
    for entry in raw.statement {
        let name = entry.name.clone();
        let statement = Arc::new(read_statement(&file, entry)?);
        if statements.insert(statement.name.clone(), statement).is_some() {
            let problem = format!("statement {:?} is defined twice", name.get_ref());
            return Err(file.wrong(&name, "name", problem, "give each statement its own name"));
        }
    }
    if raw.step.first().is_none_or(|step| *step.kind.get_ref() != Kind::Load) {
        let start = raw.step.first().map_or(0..0, |step| step.family.span());
        return Err(file.wrong(
            &Spanned::new(start, ()),
            "step",
            "the first step does not load the tables",
            "begin with a [[step]] of kind = \"load\"",
        ));
    }
    let steps = read_steps(&file, &statements, raw.step)?;
    Ok(Suite { name: raw.name, steps })
}
