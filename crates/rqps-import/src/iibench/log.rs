//! The log of one client of iibench.py: a line per second, response times in ten buckets, totals.
//!
//! ```text
//! python3 iibench.py --dbms=mysql --rows_per_commit=50 --inserts_per_second=100 --query_threads=1 ...
//! i_sec t_sec i_ips t_ips i_dps t_dps i_qps t_qps max_i max_d max_q t_ins t_del t_query retry_i retry_d retry_q
//! 1.0   1.0   100   100   100   100   812   812   4510  3120  9034  100   100   816     0       0       0
//! Insert rt:     256us       1ms       4ms      16ms      64ms     256ms        1s        4s       16s        gt         max
//! Insert rt:         0         9      1111       357        15         7         1         0         0         0    0.389149
//! Totals: 8.0 secs, 18727.8 rows/sec, 150000 rows, 0 0 0 insert-delete-query retry
//! Done
//! ```
//!
//! Columns of the seconds are found by their headings: older versions have fewer.

use std::collections::BTreeMap;

use rqps_model::{Dbms, Role, StatedResponse};

use crate::number::{parse_quantity, whole};

/// The first heading of the seconds.
const FIRST_HEADING: &str = "i_sec";

/// The roles that the totals count retries of, in their order.
const RETRIES: [Role; 3] = [Role::Insert, Role::Delete, Role::Query];

/// What is wrong with a log, and in which line (from 0) where one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) line_idx: Option<usize>,
    pub(super) problem: String,
}

impl Flaw {
    fn at(line_idx: usize, problem: impl Into<String>) -> Self {
        Self { line_idx: Some(line_idx), problem: problem.into() }
    }
}

/// The options of iibench.py that tell what a figure is of.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Flags {
    pub(super) dbms: Option<Dbms>,
    pub(super) rows_per_commit: Option<u64>,
    /// Inserts per second; absent for as fast as it goes.
    pub(super) inserts_per_s: Option<u32>,
    /// Whether queries are by the primary key alone.
    pub(super) is_point: bool,
    /// Whether it creates the indexes when it has inserted.
    pub(super) creates_indexes: bool,
}

/// One line of a second, counts since the start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Second {
    /// Seconds since the line before.
    pub(super) length_s: f64,
    pub(super) inserted: u64,
    pub(super) deleted: u64,
    pub(super) queries: u64,
}

/// What a log has.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Log {
    pub(super) flags: Flags,
    pub(super) seconds: Vec<Second>,
    /// Response times by what clients did.
    pub(super) responses: BTreeMap<Role, StatedResponse>,
    /// Measured time, seconds.
    pub(super) total_s: f64,
    /// Statements that were repeated, of all roles.
    pub(super) n_retries: u64,
    /// The first error that it printed, with its line from 0.
    pub(super) error: Option<(usize, String)>,
}

/// A log as far as it was read.
#[derive(Debug, Default)]
struct Reader<'t> {
    log: Log,
    heads: Vec<&'t str>,
    /// Whether a line with totals came.
    is_whole: bool,
    /// The kind of response times whose headings were read last.
    heading_of: Option<Role>,
}

impl Log {
    /// Reads a log. A log without its totals has no figure.
    pub(super) fn parse(text: &str) -> Result<Self, Flaw> {
        let mut reader = Reader::default();
        for (idx, line) in text.lines().enumerate() {
            reader.take(idx, line)?;
        }
        reader.finish(text)
    }

    /// The counts when it ended.
    pub(super) fn end(&self) -> Second {
        self.seconds.last().copied().unwrap_or_default()
    }
}

impl<'t> Reader<'t> {
    fn take(&mut self, idx: usize, line: &'t str) -> Result<(), Flaw> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { return Ok(()) };
        if *first == FIRST_HEADING {
            if !self.heads.is_empty() {
                let problem = "a second run of iibench.py begins: give each run a log of its own";
                return Err(Flaw::at(idx, problem));
            }
            self.heads = words;
        } else if self.heads.is_empty() && line.contains("iibench.py") {
            self.log.flags = flags(&words);
        } else if line.starts_with("Totals:") {
            self.take_totals(idx, line)?;
        } else if let Some(role) = role_of_times(line) {
            self.take_times(idx, role, &words[2..])?;
        } else if !self.heads.is_empty() && first.parse::<f64>().is_ok() && !self.is_whole {
            self.take_second(idx, &words)?;
        } else if self.log.error.is_none() && is_error(line) {
            self.log.error = Some((idx, line.trim().to_owned()));
        }
        Ok(())
    }

    fn take_second(&mut self, idx: usize, words: &[&str]) -> Result<(), Flaw> {
        let heads = self.heads.len();
        if words.len() != heads {
            let problem = format!(
                "{} fields below {heads} headings: the line was cut or two clients wrote it; copy the \
                 log again, or run the step again",
                words.len()
            );
            return Err(Flaw::at(idx, problem));
        }
        let value = |head: &str| -> Result<f64, Flaw> {
            let Some(at) = self.heads.iter().position(|known| *known == head) else {
                return Ok(0.0);
            };
            let value = parse_quantity(words[at]);
            let value = value.map_err(|problem| Flaw::at(idx, format!("{head}: {problem}")))?;
            Ok(value.unwrap_or_default())
        };
        let second = Second {
            length_s: value(FIRST_HEADING)?,
            inserted: whole(value("t_ins")?),
            deleted: whole(value("t_del")?),
            queries: whole(value("t_query")?),
        };
        let before = self.log.end();
        if second.inserted < before.inserted || second.queries < before.queries {
            let problem = "its counts fall: two clients wrote it; give each a log of its own";
            return Err(Flaw::at(idx, problem));
        }
        self.log.seconds.push(second);
        Ok(())
    }

    fn take_times(&mut self, idx: usize, role: Role, words: &[&str]) -> Result<(), Flaw> {
        if words.first() == Some(&"256us") {
            self.heading_of = Some(role);
            return Ok(());
        }
        let wrong = || Flaw::at(idx, "these are not ten counts and a longest time");
        let (Some((max, counts)), true) = (words.split_last(), self.heading_of == Some(role))
        else {
            return Err(wrong());
        };
        let counts: Option<Vec<u64>> = counts.iter().map(|word| word.parse().ok()).collect();
        let buckets: [u64; 10] = counts.and_then(|c| c.try_into().ok()).ok_or_else(wrong)?;
        let max: f64 = max.parse().map_err(|_| wrong())?;
        let response = StatedResponse {
            n: buckets.iter().fold(0, |sum, n| sum.saturating_add(*n)),
            min_ns: None,
            mean_ns: None,
            max_ns: whole(max * 1e9),
            percentiles_ns: Vec::new(),
            buckets: Some(buckets),
        };
        self.log.responses.insert(role, response);
        Ok(())
    }

    fn take_totals(&mut self, idx: usize, line: &str) -> Result<(), Flaw> {
        let fields: Vec<&str> = line.trim_start_matches("Totals:").split(',').collect();
        let number = |field: Option<&&str>| field?.split_whitespace().next()?.parse::<f64>().ok();
        let total_s = number(fields.first()).filter(|s| s.is_finite() && *s > 0.0);
        self.log.total_s = total_s.ok_or_else(|| Flaw::at(idx, "it has no seconds above 0"))?;
        // Older versions do not count retries.
        let retries = fields.get(3).map_or("", |field| field);
        let words = retries.split_whitespace().take(RETRIES.len());
        let retries = words.filter_map(|word| word.parse::<u64>().ok());
        self.log.n_retries = retries.fold(0, u64::saturating_add);
        self.is_whole = true;
        Ok(())
    }

    fn finish(self, text: &str) -> Result<Log, Flaw> {
        if self.heads.is_empty() && self.log.error.is_none() {
            let problem = "this is no log of iibench.py: it has no line i_sec t_sec i_ips";
            return Err(Flaw { line_idx: None, problem: problem.to_owned() });
        }
        if self.is_whole {
            return Ok(self.log);
        }
        Err(match self.log.error {
            Some((idx, error)) => {
                Flaw::at(idx, format!("the client died ({error}): run the step again"))
            }
            None => Flaw::at(
                text.lines().count().saturating_sub(1),
                "the log ends here, before its line Totals: copy the whole log, or run the step again",
            ),
        })
    }
}

/// The options of a command line.
fn flags(words: &[&str]) -> Flags {
    let value = |name: &str| {
        let words = words.iter().filter_map(|word| word.strip_prefix("--"));
        words.filter_map(|word| word.split_once('=')).find(|(known, _)| *known == name)
    };
    let number = |name: &str| value(name).and_then(|(_, n)| n.parse::<u64>().ok());
    let rate = number("inserts_per_second").filter(|n| *n > 0);
    // A commit is never more than a second's inserts.
    let rows = number("rows_per_commit").map(|n| n.min(rate.unwrap_or(u64::MAX)));
    Flags {
        dbms: match value("dbms").map(|(_, name)| name) {
            Some("mysql") => Some(Dbms::Mysql),
            Some("postgres") => Some(Dbms::Postgres),
            _ => None,
        },
        rows_per_commit: rows.filter(|n| *n > 0),
        inserts_per_s: rate.and_then(|n| u32::try_from(n).ok()),
        is_point: words.contains(&"--query_pk_only"),
        creates_indexes: words.contains(&"--secondary_at_end"),
    }
}

fn role_of_times(line: &str) -> Option<Role> {
    let roles = [("Insert", Role::Insert), ("Delete", Role::Delete), ("Query", Role::Query)];
    // Headings are padded: a space stands before `Query rt:`.
    let line = line.trim_start();
    let of = |(word, role)| line.strip_prefix(word)?.starts_with(" rt:").then_some(role);
    roles.into_iter().find_map(of)
}

/// Whether a line is the message of an error; what stands indented is Python's code.
fn is_error(line: &str) -> bool {
    !line.starts_with(char::is_whitespace)
        && (line.contains("rror:") || line.contains("rror (") || line.starts_with("Killed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "python3 iibench.py --dbms=postgres --rows_per_commit=50 --inserts_per_second=20 --x\n\
        i_sec\tt_sec\ti_ips\tt_ips\ti_dps\tt_dps\ti_qps\tt_qps\tmax_i\tmax_d\tmax_q\tt_ins\tt_del\tt_query\tretry_i\tretry_d\tretry_q\n\
        1.0\t1.0\t20\t20\t20\t20\t80\t80\t500\t400\t300\t20\t20\t80\t0\t0\t0\n";

    fn flaw(rest: &str) -> String {
        let flaw = Log::parse(&format!("{HEAD}{rest}")).unwrap_err();
        format!("{:?}: {}", flaw.line_idx.map(|idx| idx + 1), flaw.problem)
    }

    #[test]
    fn a_whole_log() {
        let rest = "Query rt: 256us 1ms\nTotals: 1.5 secs, 13.3 rows/sec, 20 rows, 1 0 2 insert-delete-query retry\nDone\n";
        let log = Log::parse(&format!("{HEAD}{rest}")).unwrap();
        let flags = &log.flags;
        assert_eq!((flags.dbms, flags.inserts_per_s), (Some(Dbms::Postgres), Some(20)));
        assert_eq!(flags.rows_per_commit, Some(20), "a second has no more");
        assert_eq!((log.end().queries, log.total_s, log.n_retries), (80, 1.5, 3));
    }

    #[test]
    fn logs_without_a_figure() {
        let all = [
            flaw(""),
            flaw("SQL error: server closed the connection\n"),
            flaw("1.0\t2.0\t20\n"),
            flaw("1.0\t2.0\t20\t20\t20\t20\t80\t80\t500\t400\t300\t19\t20\t80\t0\t0\t0\n"),
            flaw("i_sec\tt_sec\n"),
            flaw("Insert rt: 1 2 3\n"),
            flaw("Totals: 0.0 secs\n"),
        ];
        expect_test::expect![[r#"
            Some(3): the log ends here, before its line Totals: copy the whole log, or run the step again
            Some(4): the client died (SQL error: server closed the connection): run the step again
            Some(4): 3 fields below 17 headings: the line was cut or two clients wrote it; copy the log again, or run the step again
            Some(4): its counts fall: two clients wrote it; give each a log of its own
            Some(4): a second run of iibench.py begins: give each run a log of its own
            Some(4): these are not ten counts and a longest time
            Some(4): it has no seconds above 0"#]]
        .assert_eq(&all.join("\n"));
        assert!(Log::parse("vacuum\n").is_err());
    }
}
