//! Ids of runs: the time of the start in UTC and the plan's name, `20261121-203015-demo`.

use jiff::Timestamp;

/// The id of a run that started then. `taken` says whether an id is in use already.
pub(crate) fn make(started_unix_ms: i64, name: &str, taken: impl Fn(&str) -> bool) -> String {
    const MAX_NAME: usize = 40;
    let mut word: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' })
        .take(MAX_NAME)
        .collect();
    word = word.trim_matches(['-', '.']).to_owned();
    let stem = match word.as_str() {
        "" => utc(started_unix_ms),
        word => format!("{}-{word}", utc(started_unix_ms)),
    };
    if !taken(&stem) {
        return stem;
    }
    (2_u32..).map(|n| format!("{stem}-{n}")).find(|id| !taken(id)).unwrap_or(stem)
}

/// `YYYYMMDD-HHMMSS` in UTC; 1970 for a clock beyond the year 9999.
fn utc(unix_ms: i64) -> String {
    let at = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    at.strftime("%Y%m%d-%H%M%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_by_the_calendar() {
        assert_eq!(utc(0), "19700101-000000");
        // 2024-02-29 12:34:56 UTC, a leap day.
        assert_eq!(utc(1_709_210_096_789), "20240229-123456");
        assert_eq!(utc(1_763_757_000_000), "20251121-203000");
    }

    #[test]
    fn names_become_words_and_ids_stay_apart() {
        assert_eq!(make(0, "my plan/../x", |_| false), "19700101-000000-my-plan-..-x");
        assert_eq!(make(0, "", |_| false), "19700101-000000");
        let taken = ["19700101-000000-a", "19700101-000000-a-2"];
        assert_eq!(make(0, "a", |id| taken.contains(&id)), "19700101-000000-a-3");
    }
}
