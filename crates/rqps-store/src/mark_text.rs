//! How a mark stands in its three columns: a word, an amount where it has one, a sentence likewise.

use rqps_model::Mark;
use rusqlite::types::Type;

/// The columns `mark`, `amount` and `sentence`.
pub(crate) type MarkColumns<'a> = (&'static str, Option<u64>, Option<&'a str>);

/// The columns of a mark.
pub(crate) fn columns(mark: &Mark) -> MarkColumns<'_> {
    match mark {
        Mark::Errors { n } => ("errors", Some(*n), None),
        Mark::Failed { reason } => ("failed", None, Some(reason)),
        Mark::ClientBound { pct } => ("client-bound", Some(u64::from(*pct)), None),
        Mark::NotSettled { left } => ("not-settled", None, Some(left)),
        Mark::RateMissed { n_missed } => ("rate-missed", Some(*n_missed), None),
        Mark::Steal { pct } => ("steal", Some(u64::from(*pct)), None),
        Mark::OtherProcesses { pct } => ("other-processes", Some(u64::from(*pct)), None),
        Mark::Swapped { pages } => ("swapped", Some(*pages), None),
        Mark::Throttled { n } => ("throttled", Some(*n), None),
        Mark::FrequencyChanged { pct } => ("frequency-changed", Some(u64::from(*pct)), None),
        Mark::Colder { bytes } => ("colder", Some(*bytes), None),
        Mark::Paused { seconds } => ("paused", Some(u64::from(*seconds)), None),
        Mark::Handicapped { share_bp, way } => {
            ("handicapped", Some(u64::from(*share_bp)), Some(way))
        }
        Mark::Resumed => ("resumed", None, None),
        Mark::Note { text } => ("note", None, Some(text)),
    }
}

/// The mark of a row whose first columns are `mark`, `amount` and `sentence`.
pub(crate) fn of_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Mark> {
    let word: String = row.get(0)?;
    let amount = || row.get::<_, u64>(1);
    let small = || row.get::<_, u32>(1);
    let sentence = || row.get::<_, String>(2);
    Ok(match word.as_str() {
        "errors" => Mark::Errors { n: amount()? },
        "failed" => Mark::Failed { reason: sentence()? },
        "client-bound" => Mark::ClientBound { pct: small()? },
        "not-settled" => Mark::NotSettled { left: sentence()? },
        "rate-missed" => Mark::RateMissed { n_missed: amount()? },
        "steal" => Mark::Steal { pct: small()? },
        "other-processes" => Mark::OtherProcesses { pct: small()? },
        "swapped" => Mark::Swapped { pages: amount()? },
        "throttled" => Mark::Throttled { n: amount()? },
        "frequency-changed" => Mark::FrequencyChanged { pct: small()? },
        "colder" => Mark::Colder { bytes: amount()? },
        "paused" => Mark::Paused { seconds: small()? },
        "handicapped" => Mark::Handicapped { share_bp: small()?, way: sentence()? },
        "resumed" => Mark::Resumed,
        "note" => Mark::Note { text: sentence()? },
        _ => return Err(unknown_word("mark", &word)),
    })
}

/// A word in the first column that this version does not know.
pub(crate) fn unknown_word(what: &str, word: &str) -> rusqlite::Error {
    let problem = format!("unknown {what} {word:?}");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, problem.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The others are drawn at random in the tests of whole runs.
    #[test]
    fn a_pause_is_read_as_it_was_written() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let mark = Mark::Paused { seconds: 40 };
        let read = connection.query_row("SELECT ?, ?, ?", columns(&mark), of_row).unwrap();
        assert_eq!(read, mark);
    }
}
