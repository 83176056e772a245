//! Reports as iostat prints them.

use super::{Iostat, NO_COLUMNS, READ, Report, Reports, Unit, WRITTEN};

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
        })
    }

    /// A whole line.
    fn values(self, words: &[&str]) -> Option<Iostat> {
        let kb = |column: Column| Some(scaled(words.get(column.at)?)? * column.kb);
        Some(Iostat {
            reads_per_s: match self.reads {
                Some(at) => Some(plain(words.get(at)?)?),
                None => None,
            },
            read_kb_per_s: Some(kb(self.read)?),
            written_kb_per_s: Some(kb(self.written)?),
        })
    }
}

/// Reports as far as they were read.
#[derive(Debug, Default)]
struct Reader<'t> {
    reports: Vec<Report>,
    columns: Option<Columns>,
    /// A device that stood alone on its line: `-h` of sysstat 10 and 11 has its values on the next.
    alone: Option<&'t str>,
    /// How many reports there were when a line was cut off.
    cut_at: Option<usize>,
}

/// The reports of the printed form. One that was cut off at the end is left out.
pub(super) fn reports(text: &str) -> Result<Reports, String> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.take(line)?;
    }
    reader.end_line();
    let Reader { reports: mut whole, cut_at, .. } = reader;
    // It prints the host and the CPUs first.
    let is_begun = text.lines().any(|line| line.ends_with(" CPU)") || line.starts_with("avg-cpu"));
    if whole.is_empty() && !is_begun {
        return Err(if text.trim().is_empty() {
            "it is empty".to_owned()
        } else {
            "it is no output of iostat -kx: no line has the heading Device".to_owned()
        });
    }
    let is_cut = cut_at == Some(whole.len());
    if is_cut {
        whole.pop();
    }
    Ok(Reports { whole, is_cut })
}

impl<'t> Reader<'t> {
    fn take(&mut self, line: &'t str) -> Result<(), String> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        if words.is_empty() {
            self.end_line();
            self.columns = None;
            return Ok(());
        }
        if is_heads(&words) {
            self.end_line();
            self.columns = Some(Columns::of_heads(&words).ok_or(NO_COLUMNS)?);
            self.reports.push(Report::new());
            return Ok(());
        }
        let Some(columns) = self.columns else { return Ok(()) };
        if let [device] = words.as_slice()
            && plain(device).is_none()
        {
            self.end_line();
            self.alone = Some(device);
            return Ok(());
        }
        if let Some(device) = self.alone.take() {
            words.insert(columns.device.min(words.len()), device);
        }
        self.take_values(&words, columns)
    }

    fn take_values(&mut self, words: &[&str], columns: Columns) -> Result<(), String> {
        let device = words.get(columns.device).copied();
        if let Some(number) = device.filter(|word| plain(word).is_some()) {
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
        let whole = device.filter(|_| words.len() == columns.n).zip(columns.values(words));
        match (whole, self.reports.last_mut()) {
            (Some((device, found)), Some(report)) => {
                report.insert(device.to_owned(), found);
            }
            _ => self.cut_at = Some(self.reports.len()),
        }
        Ok(())
    }

    /// Ends what the lines so far had: a device without its values was cut off.
    fn end_line(&mut self) {
        if self.alone.take().is_some() {
            self.cut_at = Some(self.reports.len());
        }
    }
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

/// A number. A decimal comma is that of the host's language.
fn plain(word: &str) -> Option<f64> {
    word.replace(',', ".").parse().ok()
}

/// A number, with the unit that `--human` puts behind it: 1.5 MB of `1.5M` is 1536.
fn scaled(word: &str) -> Option<f64> {
    let units = [('B', 1.0 / 1024.0), ('k', 1.0), ('M', 1024.0), ('G', 1024.0 * 1024.0)];
    let unit = units.iter().find_map(|(letter, kb)| Some((word.strip_suffix(*letter)?, kb)));
    match unit {
        Some((number, kb)) => Some(plain(number)? * kb),
        None => plain(word),
    }
}
