//! The summary that the scripts write of a step, `o.res.dopN`: rates over the whole time of the step, and
//! averages of iostat and vmstat, by insert and by query.
//!
//! ```text
//! 2 processes, 1000 rows-per-process, 20 seconds, 100.0 rows-per-second, 50.0 rows-per-second-per-user, 9000 queries, 450.0 queries-per-second, 1 deletes
//!
//! iostat, vmstat normalized by insert rate
//! nsamp  r/s  rMB/s  w/s  wMB/s  r/i  rKB/i  w/i  wKB/i  ips
//! 4      0.0  0.0    12.3 0.1    0    0      0.1  1.2    100.0
//!
//! nsamp  cs/s  cpu/s  cs/q  cpu/q
//! 4      2536  40.3   25.36 0.403
//! ```

use std::collections::BTreeMap;

use super::digits::rounded;
use crate::derived::{MAX_CPU_PCT, Pair, Printed, hold};
use crate::number::{MAX_GB, MAX_SECONDS, check_range, parse_number, parse_quantity, whole};

/// Values by insert and what they are made from.
const BY_INSERT: [Pair; 6] = [
    Pair::new("cs/s", "cs/q"),
    Pair::new("cpu/s", "cpu/q"),
    Pair::new("r/s", "r/i"),
    Pair::of_mb("rMB/s", "rKB/i"),
    Pair::new("w/s", "w/i"),
    Pair::of_mb("wMB/s", "wKB/i"),
];

/// The same by query.
const BY_QUERY: [Pair; 6] = [
    Pair::new("cs/s", "cs/q"),
    Pair::new("cpu/s", "cpu/q"),
    Pair::new("r/s", "r/q"),
    Pair::of_mb("rMB/s", "rKB/q"),
    Pair::new("w/s", "w/q"),
    Pair::of_mb("wMB/s", "wKB/q"),
];

/// What a summary has.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Summary {
    /// Clients whose logs it rests on.
    pub(super) n_processes: u64,
    pub(super) seconds: f64,
    /// Rows of all clients.
    pub(super) rows: Option<f64>,
    pub(super) rows_per_s: f64,
    pub(super) n_queries: f64,
    pub(super) queries_per_s: f64,
    /// By heading what stands below `normalized by insert rate`.
    by_insert: BTreeMap<String, Printed>,
    /// By heading what stands below `normalized by query rate`.
    by_query: BTreeMap<String, Printed>,
    /// Most samples of vmstat or iostat that its means rest on; 0 where it does not tell them.
    pub(super) n_samples: u32,
    /// Tables and indexes, and the data directory, GB.
    database_gb: Option<Printed>,
    data_dir_gb: Option<Printed>,
    /// Resident memory of the server, GB.
    pub(super) rss_gb: Option<f64>,
    max_insert_s: Option<f64>,
    max_query_s: Option<f64>,
    /// The first client's rates that a share of its seconds reached, of inserts and of queries.
    reached: BTreeMap<&'static str, [Option<f64>; 2]>,
}

/// The part of a summary that a line is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SummarySection {
    None,
    ByInsert,
    ByQuery,
    MaxInsert,
    MaxQuery,
}

impl Summary {
    /// Reads a summary; what is wrong with its first line, in words.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut summary = Self::default();
        let first = text.lines().next().unwrap_or_default();
        summary.take_rates(first).ok_or(
            "its first line is not 1 processes, N rows-per-process, S seconds, R rows-per-second",
        )?;
        let mut part = SummarySection::None;
        let mut heads: Vec<&str> = Vec::new();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some(new) = SummarySection::of_heading(line) {
                (part, heads) = (new, Vec::new());
            } else if words.first() == Some(&"nsamp") {
                heads = words;
            } else {
                summary.take(part, &std::mem::take(&mut heads), &words);
                // The longest times stand first below their heading.
                if !words.is_empty()
                    && matches!(part, SummarySection::MaxInsert | SummarySection::MaxQuery)
                {
                    part = SummarySection::None;
                }
            }
        }
        Ok(summary)
    }

    fn take_rates(&mut self, line: &str) -> Option<()> {
        let value = |name: &str| -> Option<f64> {
            let fields = line.split(", ").filter_map(|field| field.trim().split_once(' '));
            let (number, _) = fields.into_iter().find(|(_, known)| *known == name)?;
            parse_quantity(number).ok()?
        };
        self.n_processes = crate::number::whole(value("processes")?);
        self.seconds = value("seconds").filter(|s| *s > 0.0 && *s <= MAX_SECONDS)?;
        self.rows = value("rows-per-process").map(|rows| rows * self.n_processes as f64);
        self.rows_per_s =
            value("rows-per-second").filter(|per_s| check_range(per_s * self.seconds))?;
        self.n_queries = value("queries").unwrap_or_default();
        self.queries_per_s = value("queries-per-second").unwrap_or_default();
        Some(())
    }

    fn take(&mut self, part: SummarySection, heads: &[&str], words: &[&str]) {
        let number = |at: usize| parse_number(words.get(at)?).ok();
        match part {
            // Without a value below each heading nobody knows whose a value is.
            SummarySection::ByInsert | SummarySection::ByQuery
                if !heads.is_empty() && heads.len() != words.len() => {}
            SummarySection::ByInsert | SummarySection::ByQuery if !heads.is_empty() => {
                let values = if part == SummarySection::ByInsert {
                    &mut self.by_insert
                } else {
                    &mut self.by_query
                };
                let pairs = heads.iter().enumerate();
                let printed = |at: usize| Printed::parse(words.get(at)?);
                let n = printed(0).map_or(0, |n| u32::try_from(whole(n.value)).unwrap_or(u32::MAX));
                self.n_samples = self.n_samples.max(n);
                values.extend(pairs.filter_map(|(at, h)| Some(((*h).to_owned(), printed(at)?))));
            }
            SummarySection::MaxInsert => self.max_insert_s = self.max_insert_s.or(number(0)),
            SummarySection::MaxQuery => self.max_query_s = self.max_query_s.or(number(0)),
            _ => self.take_other(words, number),
        }
    }

    fn take_other(&mut self, words: &[&str], number: impl Fn(usize) -> Option<f64>) {
        let size = || Printed::parse(words.get(1)?).filter(|gb| gb.value <= MAX_GB);
        match words.first() {
            Some(&"dbGB") => self.database_gb = size(),
            Some(&"dbdirGB") => self.data_dir_gb = size(),
            // `50th, 5 / 10 = 4349 insert, 4299 delete, 0 query`
            Some(&"50th,") => self.take_reached("p50", number),
            Some(&"99th,") => self.take_reached("p99", number),
            // A line of `ps aux`: user, PID, %CPU, %MEM, VSZ and RSS in KB, and eleven fields at least.
            Some(_)
                if words.len() >= 11
                    && number(0).is_none()
                    && [1, 2, 3, 4].iter().all(|at| number(*at).is_some()) =>
            {
                self.rss_gb = number(5).map(|kb| rounded("rss", kb / 1_048_576.0));
            }
            _ => {}
        }
    }

    fn take_reached(&mut self, name: &'static str, number: impl Fn(usize) -> Option<f64>) {
        self.reached.entry(name).or_insert_with(|| [number(5), number(9)]);
    }

    /// Whether it has means of vmstat and iostat.
    pub(super) fn has_means(&self) -> bool {
        !self.by_insert.is_empty() || !self.by_query.is_empty()
    }

    /// Leaves out the means of vmstat and iostat.
    pub(super) fn leave_out_means(&mut self) {
        self.by_insert.clear();
        self.by_query.clear();
    }

    /// Leaves out what contradicts itself; what that is, in words.
    pub(super) fn leave_out_contradictions(&mut self) -> Vec<String> {
        let mut problems = Vec::new();
        for (means, rate_head, pairs) in
            [(&self.by_insert, "ips", &BY_INSERT[..]), (&self.by_query, "qps", &BY_QUERY[..])]
        {
            if let Some(cpu) = means.get("cpu/s").filter(|cpu| cpu.range().least > MAX_CPU_PCT) {
                problems.push(format!(
                    "cpu/s {} is more than 100 percent of all CPUs: the means of vmstat and iostat \
                     are excluded; make it again",
                    cpu.value
                ));
                break;
            }
            let Some(rate) = means.get(rate_head) else { continue };
            let held = hold(pairs, *rate, |head| means.get(head).copied());
            if !held.contradictions.is_empty() {
                problems.push(format!(
                    "{} contradict {rate_head} {}: the means of vmstat and iostat are excluded; \
                     make it again",
                    held.told(),
                    rate.value
                ));
            }
        }
        if !problems.is_empty() {
            self.leave_out_means();
        }
        if let (Some(tables), Some(dir)) = (self.database_gb, self.data_dir_gb)
            && tables.is_above(dir)
        {
            problems.push(format!(
                "dbGB {} are more than dbdirGB {}, the directory that holds them: both are excluded",
                tables.value, dir.value
            ));
            (self.database_gb, self.data_dir_gb) = (None, None);
        }
        problems
    }

    /// The first client's rate that a share of its seconds reached, of inserts or of queries.
    pub(super) fn reached(&self, name: &str, is_query: bool) -> Option<f64> {
        self.reached.get(name).and_then(|r| r[usize::from(is_query)])
    }

    /// Leaves out the rates that a share of the seconds reached.
    pub(super) fn leave_out_reached(&mut self) {
        self.reached.clear();
    }

    /// The columns of merged tables, by their headings, as far as they are there. `n_cpus` is of the host.
    pub(super) fn columns(&self, is_query: bool, n_cpus: Option<u32>) -> Vec<(&'static str, f64)> {
        let (own, rate) = if is_query {
            (&self.by_query, self.queries_per_s)
        } else {
            (&self.by_insert, self.rows_per_s)
        };
        let own = |head: &str| own.get(head).map(|printed| printed.value);
        let per = |what: &str| own(&format!("{what}/{}", if is_query { 'q' } else { 'i' }));
        let by_insert = |head: &str| self.by_insert.get(head).map(|printed| printed.value);
        let max = if is_query { self.max_query_s } else { self.max_insert_s };
        let cpu_us = own("cpu/s").zip(n_cpus).filter(|_| rate > 0.0);
        // The scripts round the CPU seconds of the step to tenths.
        let cpu_us = cpu_us.map(|(pct, n)| {
            let cpu_s = (pct / 100.0 * self.seconds * f64::from(n) * 10.0).round() / 10.0;
            cpu_s * 1e6 / (rate * self.seconds)
        });
        let all = [
            ("ips", Some(self.rows_per_s)),
            ("qps", Some(if is_query { self.queries_per_s } else { 0.0 })),
            ("rps", own("r/s")),
            ("rmbps", own("rMB/s")),
            ("wps", own("w/s")),
            ("wmbps", own("wMB/s")),
            ("rpq", per("r")),
            ("rkbpq", per("rKB")),
            ("wpi", by_insert("w/i")),
            ("wkbpi", by_insert("wKB/i")),
            ("csps", own("cs/s")),
            ("cpups", own("cpu/s")),
            ("cspq", own("cs/q")),
            ("cpupq", cpu_us.map(|us| rounded("cpupq", us))),
            ("dbgb1", self.database_gb.map(|gb| gb.value)),
            ("dbgb2", self.data_dir_gb.map(|gb| gb.value)),
            ("rss", self.rss_gb),
            ("maxop", max),
            ("p50", self.reached("p50", is_query)),
            ("p99", self.reached("p99", is_query)),
        ];
        all.into_iter().filter_map(|(head, value)| Some((head, value?))).collect()
    }
}

impl SummarySection {
    /// The part that begins with a line; other headings end one.
    fn of_heading(line: &str) -> Option<Self> {
        match line.trim() {
            "iostat, vmstat normalized by insert rate" => Some(Self::ByInsert),
            "iostat, vmstat normalized by query rate" => Some(Self::ByQuery),
            "Max insert" => Some(Self::MaxInsert),
            "Max query" => Some(Self::MaxQuery),
            "Max delete" | "CPU seconds" | "insert, delete and query rate at nth percentile" => {
                Some(Self::None)
            }
            line => line.starts_with("average values from iostat").then_some(Self::None),
        }
    }
}
