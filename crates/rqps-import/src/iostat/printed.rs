//! Reports as iostat prints them.

use super::request_size::{self, Moved};
use super::{Iostat, NO_COLUMNS, READ, Report, Reports, Unit, WRITTEN, add};
use crate::derived::Printed;
use crate::error::TextProblem;
use crate::number::parse_number;

/// Where a quantity stands in a line, and how many KB one of it is.
#[derive(Debug, Clone, Copy)]
struct Column {
    at: usize,
    kb: f64,
}

/// The columns of a table of devices.
#[derive(Debug, Clone, Copy)]
struct Columns {
    /// How many there are.
    n: usize,
    /// That of the device: the first, or the last with `-h` of sysstat 12.
    device: usize,
    reads: Option<usize>,
    read: Column,
    written: Column,
    writes: Option<usize>,
    read_size: Option<usize>,
    written_size: Option<usize>,
}

impl Columns {
    fn of_heads(heads: &[&str]) -> Option<Self> {
        let at = |head: &str| heads.iter().position(|word| *word == head);
        let find = |units: &[Unit]| {
            units.iter().find_map(|(head, kb)| Some(Column { at: at(head)?, kb: *kb }))
        };
        Some(Self {
            n: heads.len(),
            device: heads.iter().position(|word| is_device_heading(word))?,
            reads: at("r/s"),
            read: find(&READ)?,
            written: find(&WRITTEN)?,
            writes: at("w/s"),
            read_size: at("rareq-sz"),
            written_size: at("wareq-sz"),
        })
    }

    /// A whole line.
    fn values(self, words: &[&str]) -> Result<Iostat, String> {
        let kb = |column: Column| Ok::<f64, String>(scaled(words[column.at])? * column.kb);
        let mut found = Iostat {
            reads_per_s: self.reads.map(|at| plain(words[at])).transpose()?,
            read_kb_per_s: Some(kb(self.read)?),
            written_kb_per_s: Some(kb(self.written)?),
            ..Iostat::default()
        };
        // Numbers with a unit behind them are none, and are not held against each other.
        let printed = |at: usize| Printed::parse(&words[at].replace(',', "."));
        let moved = |column: Column| Moved { printed: printed(column.at), kb: column.kb };
        let value = |head: &str| match head {
            "r/s" => self.reads.and_then(printed),
            "w/s" => self.writes.and_then(printed),
            "rareq-sz" => self.read_size.and_then(printed),
            _ => self.written_size.and_then(printed),
        };
        request_size::check(&mut found, moved(self.read), moved(self.written), value);
        Ok(found)
    }
}

/// Reports as far as they were read.
#[derive(Debug, Default)]
struct Reader<'t> {
    reports: Reports,
    columns: Option<Columns>,
    /// Whether a report was begun, and whether it is one of the step.
    begun: Option<Begun>,
    /// Whether the next report is the mean since the boot.
    is_booting: bool,
    /// Whether a line told that a recording begins.
    has_banner: bool,
    /// A device that stood alone on its line: `-h` of sysstat 10 and 11 has its values on the next.
    alone: Option<&'t str>,
    /// The line with which a recording was cut off.
    cut: Option<TextProblem>,
}

/// A report that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// The mean since the boot.
    Boot,
    /// One of the step.
    Measured,
}

/// The reports of the printed form. The last of a recording is excluded where it was cut off.
pub(super) fn reports(text: &str) -> Result<Reports, TextProblem> {
    let mut reader = Reader { is_booting: true, ..Reader::default() };
    for (idx, line) in text.split_inclusive('\n').enumerate() {
        reader.take(idx, line)?;
    }
    reader.end_line(text.lines().count().saturating_sub(1));
    reader.end_recording();
    let Reader { reports, begun, .. } = reader;
    // It prints the host and the CPUs first.
    let is_begun = text.lines().any(|line| is_banner(line) || line.starts_with("avg-cpu"));
    if begun.is_none() && !is_begun {
        let problem = if text.trim().is_empty() {
            "it is empty"
        } else {
            "it is not output of iostat -kx: no line has the heading Device"
        };
        return Err(problem.into());
    }
    Ok(reports)
}

impl<'t> Reader<'t> {
    fn take(&mut self, idx: usize, line: &'t str) -> Result<(), TextProblem> {
        let words: Vec<&str> = line.split_whitespace().collect();
        // FreeBSD and illumos begin each report so.
        if words.is_empty() || words == ["extended", "device", "statistics"] {
            self.end_line(idx);
            self.columns = None;
            return Ok(());
        }
        if is_banner(line) {
            self.end_line(idx);
            self.end_recording();
            (self.columns, self.is_booting, self.has_banner) = (None, true, true);
            return Ok(());
        }
        // What was cut off is the last of its recording.
        if let Some(cut) = self.cut.take() {
            return Err(cut);
        }
        if is_heads(&words) {
            self.end_line(idx);
            let columns = Columns::of_heads(&words);
            self.columns = Some(columns.ok_or_else(|| TextProblem::at(idx, NO_COLUMNS))?);
            self.begin_report();
            return Ok(());
        }
        let Some(columns) = self.columns else { return Ok(()) };
        self.take_device(idx, words, columns, line.ends_with('\n'))
            .map_err(|problem| TextProblem::at(idx, problem))
    }

    fn begin_report(&mut self) {
        if std::mem::take(&mut self.is_booting) {
            self.reports.boot = (!self.has_banner).then(Report::new);
            self.begun = Some(Begun::Boot);
            self.reports.has_boot = true;
        } else {
            self.begun = Some(Begun::Measured);
            self.reports.measured.push(Report::new());
        }
    }

    fn take_device(
        &mut self,
        idx: usize,
        mut words: Vec<&'t str>,
        columns: Columns,
        is_ended: bool,
    ) -> Result<(), String> {
        if let [device] = words.as_slice()
            && !is_number(device)
        {
            self.end_line(idx);
            self.alone = Some(device);
            return Ok(());
        }
        if let Some(device) = self.alone.take() {
            words.insert(columns.device.min(words.len()), device);
        }
        let device = words.get(columns.device).copied();
        if let Some(number) = device.filter(|word| is_number(word)) {
            return Err(format!(
                "a line of values has {number} where its device should be: record it with iostat -kx and \
                 an interval, without -h"
            ));
        }
        if words.len() > columns.n {
            let (n, heads) = (words.len(), columns.n);
            return Err(format!(
                "a line has {n} fields below {heads} headings ({}): record it again",
                words.join(" ")
            ));
        }
        // Without its end a line may lack digits.
        if words.len() < columns.n || !is_ended {
            self.cut_at(idx, words.len());
            return Ok(());
        }
        let mut found = columns.values(&words)?;
        let contradictions = [&mut found.reads_contradiction, &mut found.writes_contradiction];
        for contradiction in contradictions.into_iter().flatten() {
            contradiction.line_idx = Some(idx);
        }
        if let (Some(device), Some(Begun::Boot), Some(boot)) =
            (device, self.begun, &mut self.reports.boot)
        {
            boot.insert(device.to_owned(), found);
        }
        match (device, self.begun, self.reports.measured.last_mut()) {
            (Some(device), Some(Begun::Measured), Some(report)) => add(report, device, found),
            _ => Ok(()),
        }
    }

    fn cut_at(&mut self, idx: usize, n: usize) {
        let heads = self.columns.map_or(0, |columns| columns.n);
        let problem = format!("a line has {n} fields below {heads} headings: record it again");
        self.cut = Some(TextProblem::at(idx, problem));
    }

    /// Ends what the lines so far had: a device without its values was cut off.
    fn end_line(&mut self, idx: usize) {
        if self.alone.take().is_some() {
            self.cut_at(idx.saturating_sub(1), 1);
        }
    }

    /// Ends a recording, whose last report may have been cut off.
    fn end_recording(&mut self) {
        self.reports.is_cut = self.cut.take().is_some();
        if self.reports.is_cut {
            match self.begun {
                Some(Begun::Measured) => drop(self.reports.measured.pop()),
                _ => self.reports.has_boot = false,
            }
        }
    }
}

/// Whether a line is the one with which a recording begins: `Linux 6.1.0 (host) 11/27/25 _x86_64_ (8 CPU)`.
fn is_banner(line: &str) -> bool {
    line.trim_end().ends_with(" CPU)")
}

/// Whether a line has the headings of devices. FreeBSD prints `extended device statistics` above them.
fn is_heads(words: &[&str]) -> bool {
    let is_first = words.first().is_some_and(|word| is_device_heading(word));
    is_first
        || (words.iter().any(|word| is_device_heading(word))
            && words.iter().any(|word| word.ends_with("/s")))
}

/// `Device`, `Device:` of versions before 12, `device` of FreeBSD.
fn is_device_heading(word: &str) -> bool {
    word.trim_end_matches(':').eq_ignore_ascii_case("device")
}

/// Whether a word can stand for a number, be it a wrong one.
fn is_number(word: &str) -> bool {
    word.replace(',', ".").parse::<f64>().is_ok_and(f64::is_finite)
}

/// A number. A decimal comma is that of the host's language; what has three digits behind it may be thousands.
fn plain(word: &str) -> Result<f64, String> {
    let decimal = word.replace(',', ".");
    let is_thousands = decimal.rsplit_once('.').is_some_and(|(_, digits)| digits.len() == 3);
    let number = parse_number(&decimal).ok().filter(|_| !is_thousands);
    number.ok_or_else(|| unreadable(word))
}

fn unreadable(word: &str) -> String {
    format!("{word:?} is not a number that iostat prints: record it again with LC_ALL=C")
}

/// A number, with the unit that `--human` puts behind it: 1.5 MB of `1.5M` is 1536.
fn scaled(word: &str) -> Result<f64, String> {
    let (k, m) = (1.0, 1024.0);
    let units = [('B', 1.0 / 1024.0), ('k', k), ('M', m), ('G', m * m), ('T', m * m * m)];
    let unit = units.iter().find_map(|(letter, kb)| Some((word.strip_suffix(*letter)?, kb)));
    match unit {
        Some((number, kb)) => Ok(plain(number).map_err(|_| unreadable(word))? * kb),
        None => plain(word),
    }
}
