//! A profile's file, read: which options a version gets, and sizes computed from memory.

use std::collections::BTreeMap;

use rqps_model::{Dbms, Version};
use serde::Deserialize;

use super::Sizing;
use super::range::holds;
use crate::Error;

/// A profile.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    #[serde(skip)]
    name: String,
    #[serde(rename = "size")]
    sizes: BTreeMap<String, Size>,
    #[serde(rename = "option")]
    options: Vec<Line>,
    #[serde(rename = "initdb", default)]
    initdb: Vec<Argument>,
}

/// Memory / (divide x systems), within bounds, a multiple of something.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Size {
    divide: u64,
    min: String,
    max: String,
    multiple: String,
}

/// Ranges of versions per DBMS; absent: not for it.
#[derive(Debug, Deserialize)]
struct Ranges {
    mysql: Option<String>,
    mariadb: Option<String>,
    postgres: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Line {
    name: String,
    value: String,
    #[serde(flatten)]
    ranges: Ranges,
    why: String,
}

#[derive(Debug, Deserialize)]
struct Argument {
    argument: String,
    #[serde(flatten)]
    ranges: Ranges,
    why: String,
}

impl Profile {
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let bad = |detail: String| Error::Data { what: format!("profile {name}"), detail };
        let mut profile: Self = toml::from_str(text).map_err(|e| bad(e.to_string()))?;
        name.clone_into(&mut profile.name);
        let unexplained = profile
            .options
            .iter()
            .map(|line| (&line.name, &line.why))
            .chain(profile.initdb.iter().map(|argument| (&argument.argument, &argument.why)))
            .find(|(_, why)| why.trim().is_empty());
        match unexplained {
            Some((option, _)) => Err(bad(format!("{option} has no reason"))),
            None => Ok(profile),
        }
    }

    /// The options of a version in the file's order, sizes filled in.
    pub(super) fn options(
        &self,
        dbms: Dbms,
        version: &Version,
        sizing: Sizing,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut options = Vec::new();
        for line in &self.options {
            if self.applies(&line.name, &line.ranges, dbms, version)? {
                options.push((line.name.clone(), self.fill(&line.value, sizing)?));
            }
        }
        Ok(options)
    }

    /// The options of a version whose values are sizes, and the least that each can get, bytes.
    pub(super) fn smallest_sizes(
        &self,
        dbms: Dbms,
        version: &Version,
    ) -> Result<Vec<(String, u64)>, Error> {
        let mut sizes = Vec::new();
        for line in &self.options {
            let named = line.value.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
            let Some((name, _)) = named else { continue };
            let size = self.sizes.get(name.split(':').next().unwrap_or_default());
            let min = size.and_then(|size| parse_size(&size.min));
            let min =
                min.ok_or_else(|| self.bad(format!("value {:?} is malformed", line.value)))?;
            if self.applies(&line.name, &line.ranges, dbms, version)? {
                sizes.push((line.name.clone(), min));
            }
        }
        Ok(sizes)
    }

    /// More arguments for initdb.
    pub(super) fn initdb_arguments(
        &self,
        dbms: Dbms,
        version: &Version,
    ) -> Result<Vec<String>, Error> {
        let mut arguments = Vec::new();
        for argument in &self.initdb {
            if self.applies(&argument.argument, &argument.ranges, dbms, version)? {
                arguments.push(argument.argument.clone());
            }
        }
        Ok(arguments)
    }

    fn bad(&self, detail: String) -> Error {
        Error::Data { what: format!("profile {}", self.name), detail }
    }

    fn applies(
        &self,
        what: &str,
        ranges: &Ranges,
        dbms: Dbms,
        version: &Version,
    ) -> Result<bool, Error> {
        let range = match dbms {
            Dbms::Mysql => &ranges.mysql,
            Dbms::Mariadb => &ranges.mariadb,
            Dbms::Postgres => &ranges.postgres,
            Dbms::Null => &None,
        };
        let Some(range) = range else { return Ok(false) };
        holds(range, version).ok_or_else(|| self.bad(format!("{what}: {range:?} is no range")))
    }

    /// Replaces `{pool}` and `{pool:M}`.
    fn fill(&self, value: &str, sizing: Sizing) -> Result<String, Error> {
        let Some((before, rest)) = value.split_once('{') else { return Ok(value.to_owned()) };
        let bad = || self.bad(format!("value {value:?} is malformed"));
        let (name, after) = rest.split_once('}').ok_or_else(bad)?;
        let (name, unit) = name.split_once(':').unwrap_or((name, ""));
        let bytes = self.sizes.get(name).ok_or_else(bad)?.bytes(sizing).ok_or_else(bad)?;
        let number = match unit {
            "" => bytes,
            "M" => bytes >> 20,
            _ => return Err(bad()),
        };
        Ok(format!("{before}{number}{}", self.fill(after, sizing)?))
    }
}

impl Size {
    fn bytes(&self, sizing: Sizing) -> Option<u64> {
        let share = self.divide.checked_mul(u64::from(sizing.systems_up.max(1)))?;
        let wanted = sizing.memory_bytes.checked_div(share)?;
        let (min, max) = (parse_size(&self.min)?, parse_size(&self.max)?);
        let multiple = parse_size(&self.multiple)?;
        let bounded = wanted.max(min).min(max);
        Some((bounded.checked_div(multiple)? * multiple).max(multiple))
    }
}

/// `256M`, `4G`: binary units.
fn parse_size(text: &str) -> Option<u64> {
    let (number, shift) = match text.strip_suffix('G') {
        Some(number) => (number, 30),
        None => (text.strip_suffix('M')?, 20),
    };
    Some(number.parse::<u64>().ok()? << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_memory_within_bounds() {
        let text =
            "option = []\n[size.pool]\ndivide = 4\nmin = '256M'\nmax = '4G'\nmultiple = '128M'";
        let profile = Profile::parse("x", text).unwrap();
        let pool = |gib: u64, systems_up| {
            let sizing = Sizing { memory_bytes: gib << 30, systems_up };
            profile.fill("a{pool:M}b", sizing).unwrap()
        };
        assert_eq!(pool(24, 2), "a3072b");
        assert_eq!(pool(24, 0), "a4096b");
        assert_eq!(pool(1, 2), "a256b");
        assert_eq!(pool(512, 2), "a4096b");
        assert_eq!(pool(7, 3), "a512b");
        let sizing = Sizing { memory_bytes: 8 << 30, systems_up: 1 };
        assert_eq!(profile.fill("{pool}", sizing).unwrap(), (2_u64 << 30).to_string());
        for bad in ["{pool", "{x}", "{pool:K}"] {
            assert!(profile.fill(bad, sizing).is_err());
        }
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        let text = "size = {}\n[[option]]\nname = 'a'\nvalue = '1'\nwhy = ' '";
        assert!(Profile::parse("x", text).unwrap_err().to_string().contains("a has no reason"));
    }
}
