//! The measuring that would settle an unclear verdict, in words.

use rqps_analysis::Settle;
use rqps_analysis::settle::MOST_S;
use rqps_stats::precision::More;
use rqps_text::number;

/// Times are told in steps of so many seconds: they are projections.
const STEP_S: f64 = 10.0;

/// `about 4 min more`, `about 3 more starts of the servers`.
#[must_use]
pub fn words(settle: &Settle) -> String {
    match settle {
        Settle::Time { .. } => match settle.seconds() {
            Some(_) => format!("about {} more", amount(settle)),
            None => format!("more than {} more", amount(settle)),
        },
        Settle::Starts { more: More::Blocks(1) } => "another start of the servers".to_owned(),
        Settle::Starts { more: More::Blocks(n) } => format!("about {n} more starts of the servers"),
        Settle::Starts { more: More::MoreThan(n) } => {
            format!("more than {n} more starts of the servers")
        }
    }
}

/// The same for a table: `+4 min`, `+3 starts`, `>+1 h`.
#[must_use]
pub fn short(settle: &Settle) -> String {
    let is_beyond = match settle {
        Settle::Time { .. } => settle.seconds().is_none(),
        Settle::Starts { more } => matches!(more, More::MoreThan(_)),
    };
    format!("{}+{}", if is_beyond { ">" } else { "" }, amount(settle))
}

fn amount(settle: &Settle) -> String {
    match settle {
        Settle::Time { .. } => match settle.seconds() {
            Some(s) => number::about((s / STEP_S).ceil().max(1.0) * STEP_S),
            None => number::about(MOST_S),
        },
        Settle::Starts { more: More::Blocks(n) | More::MoreThan(n) } => {
            number::count(usize::try_from(*n).unwrap_or(usize::MAX), "start")
        }
    }
}

/// `: about 40 s to 4 min more, depending on the step`, over several verdicts; nothing where none can be told.
pub(crate) fn amounts(all: &[Settle]) -> String {
    let size = |settle: &Settle| match settle {
        Settle::Time { .. } => settle.seconds().unwrap_or(f64::INFINITY),
        Settle::Starts { more: More::Blocks(n) } => f64::from(*n),
        Settle::Starts { more: More::MoreThan(_) } => f64::INFINITY,
    };
    let mut all = all.to_vec();
    all.sort_by(|a, b| size(a).total_cmp(&size(b)));
    let (Some(least), Some(most)) = (all.first(), all.last()) else { return String::new() };
    let beyond = |settle: &Settle| if size(settle).is_infinite() { "more than " } else { "" };
    if short(least) == short(most) {
        let about = if size(least).is_infinite() { "more than" } else { "about" };
        return format!(": {about} {} more", amount(least));
    }
    let from = match least {
        Settle::Starts { more: More::Blocks(n) } => n.to_string(),
        _ => amount(least),
    };
    format!(": {from} to {}{} more, depending on the step", beyond(most), amount(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words_and_in_short() {
        let time = |more| Settle::Time { more, block_s: 4.0 };
        assert_eq!(words(&time(More::Blocks(8))), "about 40 s more");
        assert_eq!(short(&time(More::Blocks(61))), "+4 min");
        assert_eq!(short(&time(More::Blocks(1000))), ">+60 min");
        assert_eq!(words(&time(More::MoreThan(1024))), "more than 60 min more");
        let starts = |more| Settle::Starts { more };
        assert_eq!(words(&starts(More::Blocks(1))), "another start of the servers");
        assert_eq!(short(&starts(More::Blocks(3))), "+3 starts");
        assert_eq!(short(&starts(More::MoreThan(100))), ">+100 starts");
        let several = [time(More::MoreThan(9)), time(More::Blocks(8)), time(More::Blocks(61))];
        assert_eq!(amounts(&several), ": 40 s to more than 60 min more, depending on the step");
        let of_starts = [starts(More::Blocks(21)), starts(More::Blocks(2))];
        assert_eq!(amounts(&of_starts), ": 2 to 21 starts more, depending on the step");
        assert_eq!(amounts(&[time(More::Blocks(8)); 2]), ": about 40 s more");
        assert_eq!(amounts(&[]), "");
    }
}
