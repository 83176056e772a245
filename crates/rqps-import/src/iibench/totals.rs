//! The last line of a log of iibench.py, and whether it is that of the lines above it.

use crate::number::{MAX_SECONDS, parse_number, whole};

/// What to do about it.
const REMEDY: &str = "copy the log again, or run the step again";

/// Half of the last digit of what is printed with one, and a little.
const ROUNDING: f64 = 0.06;

/// `Totals: 8.0 secs, 18727.8 rows/sec, 150000 rows, 0 0 0 insert-delete-query retry`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Totals {
    pub(super) seconds: f64,
    rows_per_s: Option<f64>,
    rows: Option<u64>,
    /// Statements that were repeated; older versions do not count them.
    pub(super) n_retries: u64,
}

/// What the totals are held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Rows by the last line of a second.
    pub(super) inserted: u64,
    /// Lines of seconds.
    pub(super) n_lines: usize,
    /// The sum of their lengths.
    pub(super) all_s: f64,
    /// Seconds since the start by the last of them.
    pub(super) last_s: Option<f64>,
}

impl Totals {
    /// Reads the line; what is wrong with it, in words.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let fields: Vec<&str> = line.trim_start_matches("Totals:").trim().split(", ").collect();
        let number = |unit: &str| -> Result<Option<f64>, String> {
            let of = |field: &&str| field.strip_suffix(unit)?.strip_suffix(' ').map(str::to_owned);
            let Some(word) = fields.iter().find_map(of) else { return Ok(None) };
            let value = parse_number(word.trim());
            value.map(Some).map_err(|problem| format!("{unit}: {problem}; {REMEDY}"))
        };
        let seconds = number("secs")?.filter(|s| *s > 0.0 && *s <= MAX_SECONDS);
        let retries =
            fields.iter().find_map(|field| field.strip_suffix(" insert-delete-query retry"));
        let retries = retries.unwrap_or_default().split_whitespace();
        let retries = retries.map(parse_number).collect::<Result<Vec<f64>, String>>();
        Ok(Self {
            seconds: seconds.ok_or("it has no seconds above 0")?,
            rows_per_s: number("rows/sec")?,
            rows: number("rows")?.map(whole),
            n_retries: whole(retries?.into_iter().sum()),
        })
    }

    /// Whether the totals are those of a log.
    pub(super) fn check(self, held: Held) -> Result<(), String> {
        let Self { seconds, rows_per_s, rows, .. } = self;
        let Held { inserted: logged, n_lines, all_s, last_s } = held;
        if let Some(rows) = rows.filter(|rows| *rows != logged) {
            return Err(format!(
                "{rows} rows, but the last line of a second has {logged} (t_ins): lines are \
                 missing; {REMEDY}"
            ));
        }
        if let Some((rows, per_s)) = rows.zip(rows_per_s) {
            let least = rows as f64 / (seconds + ROUNDING) - ROUNDING;
            let most = rows as f64 / (seconds - ROUNDING).max(0.001) + ROUNDING;
            if per_s < least || per_s > most {
                return Err(format!(
                    "{rows} rows in {seconds} seconds are not {per_s} rows per second; {REMEDY}"
                ));
            }
        }
        let slack_s = ROUNDING * (n_lines + 1) as f64;
        match last_s {
            Some(last_s) if (all_s - last_s).abs() > slack_s => Err(format!(
                "the lines of seconds cover {all_s:.1} seconds (i_sec), but the last says {last_s} \
                 (t_sec): lines are missing; {REMEDY}"
            )),
            _ => Ok(()),
        }
    }
}
