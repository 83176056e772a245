//! A half-open range of versions as profiles write it: `5.6..8.0`, `..10.5`, `13..`, `..`.

use rqps_model::Version;

/// Whether `range` holds `version`; `None` when the text is no range.
pub(super) fn holds(range: &str, version: &Version) -> Option<bool> {
    let (from, until) = range.split_once("..")?;
    let bound = |text: &str| -> Option<Option<Version>> {
        let text = text.trim();
        if text.is_empty() { Some(None) } else { Some(Some(text.parse().ok()?)) }
    };
    let (from, until) = (bound(from)?, bound(until)?);
    let above = from.is_none_or(|from| version.at_least(&from.numbers));
    let below = until.is_none_or(|until| !version.at_least(&until.numbers));
    Some(above && below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_half_open() {
        let holds = |range: &str, version: &str| holds(range, &version.parse().unwrap());
        assert_eq!(holds("5.6..8.0", "5.6.14"), Some(true));
        assert_eq!(holds("5.6..8.0", "8.0.33"), Some(false));
        assert_eq!(holds("5.6..8.0", "5.5.34"), Some(false));
        assert_eq!(holds("8.0.30..", "8.0.33"), Some(true));
        assert_eq!(holds("..8.0.30", "8.0.33"), Some(false));
        assert_eq!(holds("..", "1"), Some(true));
        assert_eq!(holds("18..", "18.0"), Some(true));
        assert_eq!(holds("18..", "17.11"), Some(false));
        assert_eq!(holds("8.0", "8.0"), None);
        assert_eq!(holds("x..", "8.0"), None);
    }
}
