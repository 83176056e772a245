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

use super::totals::{Held, Totals};
use crate::error::TextProblem;
use crate::number::{MAX_SECONDS, parse_number, whole};

/// The first heading of the seconds.
const FIRST_HEADING: &str = "i_sec";

/// Most that a log may count.
const MAX_COUNT: u64 = 1_000_000_000_000_000;

/// Why lines come twice that each client has once.
const TWO_CLIENTS: &str =
    "such a line occurs twice: two clients wrote it; give each client its own log";

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
    /// Whether its seconds have the queries.
    pub(super) counts_queries: bool,
}

/// A log as far as it was read.
#[derive(Debug, Default)]
struct Reader<'t> {
    log: Log,
    heads: Vec<&'t str>,
    /// Its last line.
    totals: Option<Totals>,
    /// Seconds since the start by its last line of a second.
    last_s: Option<f64>,
    /// The kind of response times whose headings were read last.
    heading_of: Option<Role>,
}

impl Log {
    /// Reads a log. A log without its totals has no figure.
    pub(super) fn parse(text: &str) -> Result<Self, TextProblem> {
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
    fn take(&mut self, idx: usize, line: &'t str) -> Result<(), TextProblem> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { return Ok(()) };
        if *first == FIRST_HEADING {
            if !self.heads.is_empty() {
                let problem = "a second run of iibench.py begins: give each run its own log";
                return Err(TextProblem::at(idx, problem));
            }
            check_heads(&words).map_err(|problem| TextProblem::at(idx, problem))?;
            self.log.counts_queries = words.contains(&"t_query");
            self.heads = words;
        } else if self.heads.is_empty() && line.contains("iibench.py") {
            self.log.flags = flags(&words);
        } else if line.starts_with("Totals:") {
            self.take_totals(idx, line)?;
        } else if let Some((role, times)) = role_of_times(line) {
            let times: Vec<&str> = times.split_whitespace().collect();
            self.take_times(idx, role, &times)?;
        } else if !self.heads.is_empty() && is_number(first) && self.totals.is_none() {
            self.take_second(idx, &words)?;
        } else if self.log.error.is_none() && is_error(line) {
            self.log.error = Some((idx, line.trim().to_owned()));
        }
        Ok(())
    }

    fn take_second(&mut self, idx: usize, words: &[&str]) -> Result<(), TextProblem> {
        let heads = self.heads.len();
        if words.len() != heads {
            let problem = format!(
                "{} fields below {heads} headings: the line was cut or two clients wrote it; copy the \
                 log again, or run the step again",
                words.len()
            );
            return Err(TextProblem::at(idx, problem));
        }
        let value = |head: &str| -> Result<f64, TextProblem> {
            let Some(at) = self.heads.iter().position(|known| *known == head) else {
                return Ok(0.0);
            };
            parse_number(words[at]).map_err(|problem| {
                TextProblem::at(idx, format!("{head}: {problem}: run the step again"))
            })
        };
        let second = Second {
            length_s: value(FIRST_HEADING)?,
            inserted: whole(value("t_ins")?),
            deleted: whole(value("t_del")?),
            queries: whole(value("t_query")?),
        };
        self.last_s = self.heads.contains(&"t_sec").then(|| value("t_sec")).transpose()?;
        let before = self.log.end();
        if second.inserted < before.inserted || second.queries < before.queries {
            let problem = "its counts fall: two clients wrote it; give each client its own log";
            return Err(TextProblem::at(idx, problem));
        }
        self.log.seconds.push(second);
        Ok(())
    }

    fn take_times(&mut self, idx: usize, role: Role, words: &[&str]) -> Result<(), TextProblem> {
        if words.first() == Some(&"256us") {
            self.heading_of = Some(role);
            return Ok(());
        }
        let wrong = || TextProblem::at(idx, "these are not ten counts and a longest time");
        let (Some((max, counts)), true) = (words.split_last(), self.heading_of == Some(role))
        else {
            return Err(wrong());
        };
        let count = |word: &&str| word.parse().ok().filter(|n| *n <= MAX_COUNT);
        let counts: Option<Vec<u64>> = counts.iter().map(count).collect();
        let buckets: [u64; 10] = counts.and_then(|c| c.try_into().ok()).ok_or_else(wrong)?;
        let max = parse_number(max).ok().filter(|s| *s <= MAX_SECONDS).ok_or_else(wrong)?;
        // Each query thread has such a line; of inserts and deletes there is one.
        if role != Role::Query && self.log.responses.contains_key(&role) {
            return Err(TextProblem::at(idx, TWO_CLIENTS));
        }
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

    fn take_totals(&mut self, idx: usize, line: &str) -> Result<(), TextProblem> {
        if self.totals.is_some() {
            return Err(TextProblem::at(idx, TWO_CLIENTS));
        }
        let wrong = |problem: String| TextProblem::at(idx, problem);
        let totals = Totals::parse(line).map_err(wrong)?;
        let held = Held {
            inserted: self.log.end().inserted,
            n_lines: self.log.seconds.len(),
            all_s: self.log.seconds.iter().map(|second| second.length_s).sum(),
            last_s: self.last_s,
        };
        totals.check(held).map_err(wrong)?;
        self.log.total_s = totals.seconds;
        self.log.n_retries = totals.n_retries;
        self.totals = Some(totals);
        Ok(())
    }

    fn finish(self, text: &str) -> Result<Log, TextProblem> {
        if self.heads.is_empty() && self.log.error.is_none() {
            let problem = "this is not a log of iibench.py: it has no line i_sec t_sec i_ips";
            return Err(TextProblem { line_idx: None, problem: problem.to_owned() });
        }
        if self.totals.is_some() {
            return Ok(self.log);
        }
        Err(match self.log.error {
            Some((idx, error)) => {
                TextProblem::at(idx, format!("the client died ({error}): run the step again"))
            }
            None => TextProblem::at(
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

/// Whether a word begins a line of a second, with a decimal comma, too.
fn is_number(word: &str) -> bool {
    word.replace(',', ".").parse::<f64>().is_ok()
}

/// Headings: each is there once, and that of the rows is among them.
fn check_heads(heads: &[&str]) -> Result<(), String> {
    let repeated = heads.iter().enumerate().find(|(at, head)| heads[..*at].contains(head));
    if let Some((_, head)) = repeated {
        return Err(format!("heading {head} occurs twice: run the step again"));
    }
    if heads.contains(&"t_ins") {
        return Ok(());
    }
    Err("no heading t_ins, whose column has the rows: run the step again".to_owned())
}

/// Whose response times a line has, and what stands behind it. With `Query thread #0 rt:` newer versions name
/// the thread.
fn role_of_times(line: &str) -> Option<(Role, &str)> {
    let roles = [("Insert", Role::Insert), ("Delete", Role::Delete), ("Query", Role::Query)];
    // Headings are padded: a space stands before `Query rt:`.
    let (name, times) = line.trim_start().split_once(" rt:")?;
    let is_role = |word: &str| {
        let thread = name.strip_prefix(word).and_then(|rest| rest.strip_prefix(" thread #"));
        name == word || thread.is_some_and(|n| n.parse::<u32>().is_ok())
    };
    let (_, role) = roles.into_iter().find(|(word, _)| is_role(word))?;
    Some((role, times))
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
        let rest = "Query thread #0 rt: 256us 1ms\nTotals: 1.5 secs, 13.3 rows/sec, 20 rows, 1 0 2 insert-delete-query retry\nDone\n";
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
            flaw("Totals: 1e300 secs\n"),
            flaw("Totals: 1,5 secs, 13,3 rows/sec, 20 rows\n"),
            flaw("Totals: 1.5 secs, 13.3 rows/sec, 40 rows\n"),
            flaw("Totals: 1.5 secs, 99.9 rows/sec, 20 rows\n"),
            flaw("Totals: 1.5 secs, 13.3 rows/sec\nTotals: 1.5 secs, 13.3 rows/sec\n"),
            flaw("1,0\t2,0\t20\t20\t20\t20\t80\t80\t500\t400\t300\t40\t40\t160\t0\t0\t0\n"),
            flaw("1.0\t2.0\t20\t20\t20\t20\t80\t80\t500\t400\t300\t1e300\t40\t160\t0\t0\t0\n"),
            flaw(
                "1.0\t4.0\t20\t20\t20\t20\t80\t80\t500\t400\t300\t80\t40\t160\t0\t0\t0\nTotals: 4.0 secs, 20.0 rows/sec, 80 rows\n",
            ),
            flaw("Insert rt: 256us\nInsert rt: 0 1 0 0 0 0 0 0 0 0 1e300\n"),
            flaw(
                "Insert rt: 256us\nInsert rt: 0 1 0 0 0 0 0 0 0 0 0.1\nInsert rt: 0 1 0 0 0 0 0 0 0 0 0.1\n",
            ),
        ];
        expect_test::expect![[r#"
            Some(3): the log ends here, before its line Totals: copy the whole log, or run the step again
            Some(4): the client died (SQL error: server closed the connection): run the step again
            Some(4): 3 fields below 17 headings: the line was cut or two clients wrote it; copy the log again, or run the step again
            Some(4): its counts fall: two clients wrote it; give each client its own log
            Some(4): a second run of iibench.py begins: give each run its own log
            Some(4): these are not ten counts and a longest time
            Some(4): it has no seconds above 0
            Some(4): secs: "1e300" is not a number from 1e-12 to 1e15; copy the log again, or run the step again
            Some(4): secs: "1,5" is not a number from 0 on; copy the log again, or run the step again
            Some(4): 40 rows, but the last line of a second has 20 (t_ins): lines are missing; copy the log again, or run the step again
            Some(4): 20 rows in 1.5 seconds are not 99.9 rows per second; copy the log again, or run the step again
            Some(5): such a line occurs twice: two clients wrote it; give each client its own log
            Some(4): i_sec: "1,0" is not a number from 0 on: run the step again
            Some(4): t_ins: "1e300" is not a number from 1e-12 to 1e15: run the step again
            Some(5): the lines of seconds cover 2.0 seconds (i_sec), but the last says 4 (t_sec): lines are missing; copy the log again, or run the step again
            Some(5): these are not ten counts and a longest time
            Some(6): such a line occurs twice: two clients wrote it; give each client its own log"#]]
        .assert_eq(&all.join("\n"));
        assert!(Log::parse("vacuum\n").is_err());
        let without = |head: &str| Log::parse(&HEAD.replace(head, "x")).unwrap_err().problem;
        assert!(without("t_ins").starts_with("no heading t_ins"));
    }
}
