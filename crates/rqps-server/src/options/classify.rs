//! Applies the table of options to what a user wrote: the lines for the server, and what changed.

use std::collections::BTreeSet;

use rqps_model::Dbms;

use super::looks::looks_like;
use super::table::{Found, OffValue, Resolved, Rule, Treatment, part_of, table};
use super::{Change, Outcome, Setting, Written};
use crate::Error;
use crate::dbms::server_files::{ConfigFormat, LibraryList, config_format};

/// Options that a server may be given.
#[derive(Debug, Default)]
pub(crate) struct Clean {
    /// Names as servers take them, and values; `None` for an option without a value.
    pub(crate) settings: Vec<(String, Option<String>)>,
    /// What did not go through as written.
    pub(crate) changes: Vec<Change>,
}

/// What becomes of one option.
enum Verdict {
    /// It goes through as written.
    Keep,
    /// It goes through where the server has it.
    KeepLoose,
    /// It goes through with another value.
    Replace(String, Outcome),
    /// It does not go through.
    LeaveOut(Outcome),
    /// It does not go through, and its value, which may be a secret, is not told.
    LeaveOutUntold(&'static str),
    /// It does not go through, and nobody needs to hear of it: it is off.
    LeaveOutSilently,
}

/// Classifies all options of a user.
///
/// # Errors
/// [`Error::RefusedOption`] with file and line; [`Error::Unsupported`] for a DBMS that rqps does not start.
pub(crate) fn classify(dbms: Dbms, settings: &[Setting]) -> Result<Clean, Error> {
    let (table, format) = (table(dbms)?, config_format(dbms)?);
    let (mut clean, mut files) = (Clean::default(), BTreeSet::new());
    for setting in settings {
        let resolved = table.resolve(format, &setting.name);
        let mut name = setting.name.to_ascii_lowercase();
        if format.has_name_modifiers {
            name = name.replace('-', "_");
        }
        let mut change = |outcome| clean.changes.push(Change::of(setting, outcome));
        match judge(format, setting, &resolved, &mut files)? {
            Verdict::Keep => clean.settings.push((name, setting.value.clone())),
            Verdict::KeepLoose => {
                let name = format!("loose_{}", name.strip_prefix("loose_").unwrap_or(&name));
                // A value behind a negated name means nothing unless it is 0.
                let value = setting.value.clone().filter(|_| !resolved.is_negated);
                clean.settings.push((name, value));
            }
            Verdict::Replace(value, outcome) => {
                change(outcome);
                clean.settings.push((name, Some(value)));
            }
            Verdict::LeaveOut(outcome) => change(outcome),
            Verdict::LeaveOutUntold(why) => {
                let outcome = Outcome::Dropped { why: why.to_owned() };
                let change = Change { value: String::new(), ..Change::of(setting, outcome) };
                clean.changes.push(change);
            }
            Verdict::LeaveOutSilently => {}
        }
    }
    Ok(clean)
}

fn judge(
    format: &ConfigFormat,
    setting: &Setting,
    resolved: &Resolved<'_>,
    files: &mut BTreeSet<String>,
) -> Result<Verdict, Error> {
    let value = setting.value.as_deref().unwrap_or_default().trim();
    let rule = match &resolved.found {
        Found::Rule(rule) => rule,
        Found::Abbreviation(option) => {
            let detail = format!("a server may take it for {option}");
            return Err(refusal(setting, detail, "write the whole name of the option"));
        }
        Found::BehindPoint(_) | Found::Foreign if is_part(setting) => {
            return require_plain(setting, value);
        }
        Found::BehindPoint(option) => {
            let detail = format!("a server takes it for {option}");
            let remedy = "write the option without the prefix before the point";
            return Err(refusal(setting, detail, remedy));
        }
        Found::Foreign if !format.takes_foreign_options => {
            return Ok(Verdict::LeaveOutUntold("no component that rqps loads has such a variable"));
        }
        Found::Foreign if looks_like(value).is_none() => return Ok(Verdict::Keep),
        Found::Foreign => {
            return Ok(Verdict::LeaveOutUntold(
                "no extension that rqps loads has it, and the value may lead out of the server",
            ));
        }
        Found::Known => {
            let Some(looks) = looks_like(value) else { return Ok(Verdict::Keep) };
            let detail = format!("the value looks like {looks}, which the option does not take");
            return Err(refusal(setting, detail, "write another value, or leave it out"));
        }
        Found::Unknown => return require_plain(setting, value),
    };
    let is_off = is_off(resolved.is_negated, setting.value.as_deref());
    let why = || rule.why.to_owned();
    Ok(match rule.treatment {
        Treatment::Keep => Verdict::Keep,
        Treatment::Ours => Verdict::LeaveOut(Outcome::SetByRqps),
        Treatment::File if value.is_empty() => Verdict::Keep,
        Treatment::File => {
            let to = own_file(setting, &resolved.name, value, files)?;
            if to == value {
                Verdict::Keep
            } else {
                Verdict::Replace(to.clone(), Outcome::Moved { to })
            }
        }
        Treatment::Directory if is_in_data_directory(value) => Verdict::LeaveOutSilently,
        Treatment::Directory => Verdict::LeaveOut(Outcome::InDataDirectory),
        Treatment::DataFiles => data_files(setting, &resolved.name, value, files)?,
        Treatment::Libraries => libraries(&format.libraries, rule, value),
        Treatment::Drop | Treatment::Refuse if is_off && rule.off == OffValue::LeaveOut => {
            Verdict::LeaveOutSilently
        }
        Treatment::Drop | Treatment::Refuse if is_off && rule.off == OffValue::Keep => {
            Verdict::KeepLoose
        }
        Treatment::Drop => Verdict::LeaveOut(Outcome::Dropped { why: why() }),
        Treatment::Refuse => return Err(refusal(setting, why(), "leave it out")),
    })
}

fn refusal(setting: &Setting, detail: String, remedy: &str) -> Error {
    let place = match &setting.written {
        Written::File { path, line } => format!("{}:{line}", path.display()),
        Written::Plan => "options".to_owned(),
    };
    let written = match &setting.value {
        Some(value) => format!("{} = {value}", setting.name),
        None => setting.name.clone(),
    };
    Error::RefusedOption { place, written, detail, remedy: remedy.to_owned() }
}

/// Whether a plan sets a part of an option, which profiles join to a whole before servers see it.
fn is_part(setting: &Setting) -> bool {
    setting.written == Written::Plan && part_of(&setting.name).is_some()
}

/// Keeps an option that nobody knows unless its value may lead out of the server.
fn require_plain(setting: &Setting, value: &str) -> Result<Verdict, Error> {
    let Some(looks) = looks_like(value) else { return Ok(Verdict::Keep) };
    let detail = format!("rqps does not know what it does, and the value looks like {looks}");
    Err(refusal(setting, detail, "leave it out"))
}

/// Whether an option is off or names nothing. An option without a value is on, and so is a negated one that is 0.
fn is_off(is_negated: bool, value: Option<&str>) -> bool {
    let Some(value) = value else { return is_negated };
    let value = value.trim().to_ascii_lowercase();
    if is_negated {
        return value != "0";
    }
    matches!(value.as_str(), "" | "0" | "off" | "no" | "false" | "none" | "disabled")
}

fn is_in_data_directory(value: &str) -> bool {
    value.is_empty() || value.trim_end_matches('/') == "."
}

/// The name of a file in the data directory that stands for a path. Two options never share one.
fn own_file(
    setting: &Setting,
    option: &str,
    value: &str,
    files: &mut BTreeSet<String>,
) -> Result<String, Error> {
    let name = value.rsplit('/').next().unwrap_or(value).trim();
    if name.is_empty() || name == "." || name == ".." || name.chars().any(char::is_control) {
        let detail = "the path does not end in a file's name".to_owned();
        return Err(refusal(setting, detail, "write the path of a file"));
    }
    let own = |name: &str| format!("{option} {name}");
    let is_taken = files.iter().any(|file| {
        let (by, taken) = file.split_once(' ').unwrap_or(("", file));
        taken == name && by != option
    });
    let name = if is_taken { format!("{option}-{name}") } else { name.to_owned() };
    files.insert(own(&name));
    Ok(name)
}

/// `ibdata1:12M;/data/ibdata2:50M:autoextend`: the files' names alone.
fn data_files(
    setting: &Setting,
    option: &str,
    value: &str,
    files: &mut BTreeSet<String>,
) -> Result<Verdict, Error> {
    let mut entries = Vec::new();
    for (idx, entry) in value.split(';').filter(|entry| !entry.trim().is_empty()).enumerate() {
        let (path, sizes) = entry.trim().split_once(':').unwrap_or((entry.trim(), ""));
        if sizes.ends_with("raw") || path.starts_with("/dev/") {
            let detail = "it names a raw device, which the server would write to".to_owned();
            return Err(refusal(setting, detail, "name files, or leave it out"));
        }
        if !are_sizes(sizes) {
            let detail = format!("{entry} has no size such as 12M or 12M:autoextend:max:1G");
            return Err(refusal(setting, detail, "write name:size, or leave it out"));
        }
        let own = own_file(setting, &format!("{option}-{}", idx + 1), path, files)?;
        entries.push(if sizes.is_empty() { own } else { format!("{own}:{sizes}") });
    }
    let to = entries.join(";");
    Ok(if to == value {
        Verdict::Keep
    } else {
        Verdict::Replace(to.clone(), Outcome::Moved { to })
    })
}

/// `12M`, `12M:autoextend`, `12M:autoextend:max:1G`; nothing as well.
fn are_sizes(text: &str) -> bool {
    let is_size = |part: &str| {
        let digits = part.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
        digits.len() + 1 >= part.len()
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
    };
    match text.split(':').collect::<Vec<_>>().as_slice() {
        [""] => true,
        [size] | [size, "autoextend"] => is_size(size),
        [size, "autoextend", "max", most] => is_size(size) && is_size(most),
        _ => false,
    }
}

/// Lists of libraries: `name=library.so;library` of MySQL's family, `library, '$libdir/library'` of PostgreSQL.
fn libraries(list: &LibraryList, rule: &Rule<'_>, value: &str) -> Verdict {
    let trim = |c: char| c.is_whitespace() || c == '"' || c == '\'';
    let entries = value.split(list.separators).map(|entry| entry.trim_matches(trim));
    let (mut kept, mut excluded) = (Vec::new(), Vec::new());
    for entry in entries.filter(|entry| !entry.is_empty()) {
        let named = if list.has_names { entry.split_once('=') } else { None };
        let file = named.map_or(entry, |(_, file)| file.trim_matches(trim));
        let file = file.strip_prefix("$libdir/").unwrap_or(file);
        let name = file.strip_suffix(".so").unwrap_or(file);
        if rule.allowed.iter().any(|allowed| allowed == name) {
            kept.push(entry);
        } else {
            excluded.push(entry.to_owned());
        }
    }
    if excluded.is_empty() {
        return if kept.is_empty() { Verdict::LeaveOutSilently } else { Verdict::Keep };
    }
    let outcome = Outcome::NotLoaded { libraries: excluded, why: rule.why.to_owned() };
    if kept.is_empty() {
        return Verdict::LeaveOut(outcome);
    }
    Verdict::Replace(kept.join(list.joined_by), outcome)
}

#[cfg(test)]
mod tests;
