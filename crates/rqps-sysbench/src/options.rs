//! Options: what can be given, on the command line and in a file, and what was.

pub(crate) mod cmdline;
pub(crate) mod definitions;
mod file;
pub(crate) mod help;
pub(crate) mod value;

use std::collections::BTreeMap;

use crate::Error;
pub(crate) use definitions::{Definition, known};
pub(crate) use value::{Kind, Value};

/// What was given, by names with underscores, each checked against its definition where it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    given: BTreeMap<String, Given>,
}

/// One option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The value; `None` for a name alone.
    pub(crate) value: Option<String>,
    /// The argument as typed, for messages.
    pub(crate) typed: String,
    /// Whether it stood on the command line rather than in a file.
    pub(crate) on_command_line: bool,
}

impl Options {
    /// Takes note of an option; the last one of a name counts.
    pub(crate) fn set(&mut self, name: &str, given: Given) {
        self.given.insert(canonical(name), given);
    }

    /// An option as it was given.
    fn get(&self, name: &str) -> Option<&Given> {
        self.given.get(&canonical(name))
    }

    /// Gives an option a value unless it has one.
    fn set_default(&mut self, name: &str, given: Given) {
        self.given.entry(canonical(name)).or_insert(given);
    }

    /// What was given, in the order of names.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&str, &Given)> {
        self.given.iter().map(|(name, given)| (name.as_str(), given))
    }

    /// The value of an option by its definition: given or by default.
    ///
    /// # Errors
    /// What was given is not of the option's kind.
    pub(crate) fn value(&self, definition: &Definition) -> Result<Value, Error> {
        let Some(given) = self.given.get(&canonical(&definition.name)) else {
            return Ok(definition.default_value());
        };
        match (&given.value, definition.kind) {
            (None, Kind::Bool) => Ok(Value::Bool(true)),
            (None, kind) => Ok(Value::parse(kind, "").unwrap_or(Value::Nothing)),
            (Some(text), kind) => Value::parse(kind, text).ok_or_else(|| match kind {
                Kind::Bool => Error::UnknownOption { typed: given.typed.clone() },
                _ => Error::BadValue { name: definition.name.clone(), value: text.clone() },
            }),
        }
    }

    fn built_in(&self, name: &str) -> Result<Value, Error> {
        known(name).map_or(Ok(Value::Nothing), |definition| self.value(&definition))
    }

    /// A built-in option that is a whole number. As in sysbench 1.0.20, scripts' own options alone may be `1e6`.
    ///
    /// # Errors
    /// What was given is none.
    pub(crate) fn int(&self, name: &str) -> Result<i64, Error> {
        let given = self.given.get(&canonical(name)).and_then(|given| given.value.as_ref());
        if let Some(value) = given.filter(|text| !text.is_empty() && text.parse::<i64>().is_err()) {
            return Err(Error::BadValue { name: name.to_owned(), value: value.clone() });
        }
        Ok(match self.built_in(name)? {
            Value::Int(value) => value,
            _ => 0,
        })
    }

    /// A built-in option that is a number.
    ///
    /// # Errors
    /// What was given is none.
    pub(crate) fn number(&self, name: &str) -> Result<f64, Error> {
        Ok(match self.built_in(name)? {
            Value::Int(value) => value as f64,
            Value::Number(value) => value,
            _ => 0.0,
        })
    }

    /// A built-in switch.
    ///
    /// # Errors
    /// What was given is neither on nor off.
    pub(crate) fn switch(&self, name: &str) -> Result<bool, Error> {
        Ok(self.built_in(name)? == Value::Bool(true))
    }

    /// A built-in option that is text.
    ///
    /// # Errors
    /// None: any text is one.
    pub(crate) fn text(&self, name: &str) -> Result<String, Error> {
        Ok(match self.built_in(name)? {
            Value::Text(value) => value,
            _ => String::new(),
        })
    }

    /// A built-in option that is a list.
    ///
    /// # Errors
    /// None: any text is one.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<String>, Error> {
        Ok(match self.built_in(name)? {
            Value::List(values) => values,
            _ => Vec::new(),
        })
    }

    /// Checks every built-in option that was given.
    ///
    /// # Errors
    /// The first one whose value is not of its kind.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (name, _) in self.given() {
            self.built_in(name)?;
        }
        Ok(())
    }
}

/// A name as scripts see it: dashes and underscores are the same.
pub(crate) fn canonical(name: &str) -> String {
    name.replace('-', "_")
}
