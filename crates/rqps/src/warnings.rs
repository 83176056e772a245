//! `rqps warnings`: what warnings mean, and what to do about them, from the page that documents them.

use anyhow::{Result, bail};
use rqps_report::warning::{Entry, entries};
use rqps_text::words::wrap;

use crate::output::{say, text_width};

/// The likeness from which on a name is offered in place of one that is not known.
const LIKE: f64 = 0.8;

/// Prints the kinds that are named, else all.
pub(crate) fn run(names: &[String]) -> Result<()> {
    let entries = entries();
    let found = names.iter().map(|name| find(&entries, name)).collect::<Result<Vec<_>>>()?;
    let told: Vec<&Entry> = if names.is_empty() { entries.iter().collect() } else { found };
    let width = text_width();
    let mut out = String::new();
    for Entry { name, meaning, what_to_do } in told {
        out.push_str(&format!("{name}\n"));
        out.push_str(&format!("{}\n", wrap("  ", meaning, width)));
        out.push_str(&format!("{}\n", wrap("  What to do: ", what_to_do, width)));
    }
    say(&out)
}

fn find<'e>(entries: &'e [Entry], name: &str) -> Result<&'e Entry> {
    // A history names the warnings of the base with `-on-base` behind them.
    let bare = name.strip_suffix("-on-base").unwrap_or(name);
    for wanted in [name, bare] {
        if let Some(entry) = entries.iter().find(|entry| entry.name == wanted) {
            return Ok(entry);
        }
    }
    let likeness = |entry: &&Entry| strsim::jaro_winkler(entry.name, name);
    let nearest = entries.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest.filter(|entry| likeness(entry) >= LIKE) {
        Some(entry) => bail!("no warning has the name {name:?}; did you mean {}?", entry.name),
        None => bail!("no warning has the name {name:?}; `rqps warnings` lists them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_one_gets_it_offered() {
        let entries = entries();
        let error = |name: &str| find(&entries, name).map(|_| ()).unwrap_err().to_string();
        assert!(error("client-bond").ends_with("did you mean client-bound?"));
        assert!(error("xyzzy").ends_with("`rqps warnings` lists them"));
        assert_eq!(find(&entries, "steal-on-base").unwrap().name, "steal");
        assert_eq!(find(&entries, "sla-failed-on-base").unwrap().name, "sla-failed-on-base");
    }
}
