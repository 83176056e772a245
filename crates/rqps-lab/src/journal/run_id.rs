//! Ids of runs: the time of the start in UTC and the plan's name, `20261121-203015-demo`.

/// The id of a run that started then. `taken` says whether an id is in use already.
pub(crate) fn of(started_unix_ms: i64, name: &str, taken: impl Fn(&str) -> bool) -> String {
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

/// `YYYYMMDD-HHMMSS` in UTC. The civil date from days since 1970 is Howard Hinnant's
/// `civil_from_days` (chrono-Compatible Low-Level Date Algorithms, 2013).
fn utc(unix_ms: i64) -> String {
    let seconds = unix_ms.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
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
        assert_eq!(of(0, "my plan/../x", |_| false), "19700101-000000-my-plan-..-x");
        assert_eq!(of(0, "", |_| false), "19700101-000000");
        let taken = ["19700101-000000-a", "19700101-000000-a-2"];
        assert_eq!(of(0, "a", |id| taken.contains(&id)), "19700101-000000-a-3");
    }
}
