//! What warnings mean and what to do about them: the rows of the page that documents them.

/// The page, whose tables have a row for each kind.
const PAGE: &str = include_str!("../../../../docs/reference/warnings.md");

/// A kind of warning as documented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name in reports.
    pub name: &'static str,
    /// What it means.
    pub meaning: String,
    /// What to do about it, in sentences.
    pub what_to_do: String,
}

/// All kinds, in the order of the page.
#[must_use]
pub fn entries() -> Vec<Entry> {
    PAGE.lines().filter_map(parse).collect()
}

/// What to do about a warning of this name; `None` where there is nothing to do.
#[must_use]
pub fn what_to_do(name: &str) -> Option<String> {
    let entry = entries().into_iter().find(|entry| entry.name == name)?;
    (!entry.what_to_do.starts_with("Nothing")).then_some(entry.what_to_do)
}

/// The same with names in backticks, and with what says when there is nothing to do.
#[must_use]
pub fn advice(name: &str) -> Option<&'static str> {
    PAGE.lines().filter_map(cells).find(|own| own[0] == name).map(|own| own[2])
}

fn parse(line: &'static str) -> Option<Entry> {
    let [name, meaning, what_to_do] = cells(line)?;
    let plain = |text: &str| text.replace('`', "");
    Some(Entry { name, meaning: plain(meaning), what_to_do: plain(what_to_do) })
}

/// Name, meaning and what to do, as the page has them.
fn cells(line: &'static str) -> Option<[&'static str; 3]> {
    let (name, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
    let (meaning, what_to_do) = rest.strip_suffix(" |")?.split_once(" | ")?;
    Some([name, meaning, what_to_do])
}

#[cfg(test)]
mod tests {
    use rqps_model::WarningKind;

    use super::*;

    #[test]
    fn every_kind_says_what_it_means_and_what_to_do() {
        let entries = entries();
        for key in WarningKind::keys() {
            let entry = entries.iter().find(|entry| entry.name == *key).unwrap();
            assert!(entry.meaning.ends_with('.') && entry.what_to_do.ends_with('.'), "{key}");
        }
        assert_eq!(entries.len(), WarningKind::keys().len());
        assert_eq!(what_to_do("measured-again"), None);
        assert!(what_to_do("steal").unwrap().starts_with("Repeat"));
        assert_eq!(advice("host-levels"), Some("Nothing: the ratio holds."));
        assert!(advice("other-processes").unwrap().contains("`top`"));
    }
}
