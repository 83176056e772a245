//! What `vmstat N` printed: context switches and CPU, averaged over its lines.
//!
//! The columns are found by their headings, which come again at a fixed number of lines. Linux, BusyBox, the BSDs and
//! illumos have `cs`, `us` and `sy` among them; the BSDs call system calls `sy` as well, before `us`. The
//! first line of values is the average since the host was started and is skipped. Headings at another
//! distance begin another recording in the same file, whose first line is skipped as well.

use crate::error::TextProblem;
use crate::number::parse_number;

/// Fewest lines of values between headings that come again: terminals have more.
const MIN_PERIOD: usize = 15;

/// The headings of all CPU time besides `us` and `sy`, in percent.
const OTHER_CPU: [&str; 4] = ["id", "wa", "st", "gu"];

/// How far each percentage may be from the share: some systems round, others cut the digits off.
const PCT_SLACK: f64 = 1.0;

/// Why there are no averages where there are headings.
pub(crate) const ONLY_BOOT: &str = "its only line is the mean since the boot";

/// Averages over a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Vmstat {
    /// Context switches per second.
    pub(crate) switches_per_s: f64,
    /// CPU in user mode and in the kernel, percent of all CPUs.
    pub(crate) cpu_pct: f64,
    /// Lines that it rests on.
    pub(crate) n: u32,
    /// Lines that are no samples.
    pub(crate) unfit: Option<Unfit>,
}

/// Lines that are no samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unfit {
    /// The first of them, from 0.
    first_idx: usize,
    n_lines: u32,
    why: Why,
}

/// Why a line is no sample.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Why {
    /// It has not a value below each heading.
    Fields { n_fields: usize, n_heads: usize },
    /// All CPU time is not 100 percent.
    CpuSum { pct: f64 },
}

impl Unfit {
    /// What is to be known of them.
    pub(crate) fn problem(self) -> TextProblem {
        let Self { first_idx, n_lines, why } = self;
        let others = match n_lines {
            1 => "it is not a sample".to_owned(),
            n => format!("it and {} more such lines are not samples", n - 1),
        };
        let why = match why {
            Why::Fields { n_fields, n_heads } => {
                format!("{n_fields} fields below {n_heads} headings")
            }
            Why::CpuSum { pct } => format!("its CPU columns add up to {pct} percent, not to 100"),
        };
        TextProblem::at(first_idx, format!("{why}: {others}; record it again"))
    }
}

/// Where the values stand in a line.
#[derive(Debug, Clone, Copy)]
struct Columns {
    /// How many headings there are.
    n: usize,
    switches: usize,
    user: usize,
    system: usize,
    other_cpu: [Option<usize>; OTHER_CPU.len()],
}

impl Columns {
    fn of_heads(heads: &[&str]) -> Option<Self> {
        let at = |head: &str| heads.iter().position(|word| *word == head);
        let system = heads.iter().rposition(|word| *word == "sy")?;
        let user = at("us")?;
        let of_cpu = |head: &str| at(head).filter(|at| *at > user);
        let (n, switches) = (heads.len(), at("cs")?);
        Some(Self { n, switches, user, system, other_cpu: OTHER_CPU.map(of_cpu) })
    }

    /// Whether percentages can be all CPU time. Without `st` nobody knows what the hypervisor took.
    fn is_all_cpu(self, pct: f64) -> bool {
        let [idle, _, stolen, _] = self.other_cpu;
        let slack = PCT_SLACK * (2 + self.other_cpu.iter().flatten().count()) as f64;
        let is_low = idle.is_some() && stolen.is_some() && pct < 100.0 - slack;
        pct <= 100.0 + slack && !is_low
    }

    /// Whether a line has a value below each heading. `vmstat -t` names the time zone as the heading of a
    /// date and a time.
    fn fit(self, words: &[&str]) -> bool {
        let has_time = words.last().is_some_and(|word| word.contains(':'));
        words.len() == self.n + usize::from(has_time)
    }
}

/// A recording as far as it was read.
#[derive(Debug, Default)]
struct Reader {
    columns: Option<Columns>,
    /// Lines of values below the last headings.
    n_below: usize,
    /// The same of the first headings of the recording.
    period: Option<usize>,
    /// Whether the mean since the boot of the recording came.
    is_booted: bool,
    switches: f64,
    cpu_pct: f64,
    n: u32,
    unfit: Option<Unfit>,
}

impl Reader {
    fn take_heads(&mut self, heads: &[&str]) -> Result<(), String> {
        let columns = Columns::of_heads(heads);
        self.columns = Some(columns.ok_or(
            "it has no columns cs, us and sy: record it with vmstat and an interval alone",
        )?);
        let n_below = std::mem::take(&mut self.n_below);
        let period = *self.period.get_or_insert(n_below);
        if n_below < MIN_PERIOD || n_below != period {
            self.is_booted = false;
            self.period = None;
        }
        Ok(())
    }

    fn take_values(&mut self, idx: usize, words: &[&str]) -> Result<(), String> {
        let columns = self.columns.ok_or("values before their headings: record it again")?;
        self.n_below += 1;
        if !std::mem::replace(&mut self.is_booted, true) {
            return Ok(());
        }
        // A line that was cut off or has values without a blank between them is no sample.
        if !columns.fit(words) {
            self.exclude(idx, Why::Fields { n_fields: words.len(), n_heads: columns.n });
            return Ok(());
        }
        let value = |head: &str, at: usize| {
            let word = words[at];
            let is_whole = word.bytes().all(|byte| byte.is_ascii_digit());
            let number = parse_number(word).ok().filter(|_| is_whole);
            number.ok_or_else(|| {
                format!(
                    "{head}: {word:?} is not a whole number from 0 on: record it again with \
                     LC_ALL=C"
                )
            })
        };
        let switches = value("cs", columns.switches)?;
        let (user, system) = (value("us", columns.user)?, value("sy", columns.system)?);
        let mut pct = user + system;
        for (head, at) in OTHER_CPU.iter().zip(columns.other_cpu) {
            pct += at.map_or(Ok(0.0), |at| value(head, at))?;
        }
        if !columns.is_all_cpu(pct) {
            self.exclude(idx, Why::CpuSum { pct });
            return Ok(());
        }
        self.switches += switches;
        self.cpu_pct += user + system;
        self.n += 1;
        Ok(())
    }
}

impl Reader {
    fn exclude(&mut self, first_idx: usize, why: Why) {
        self.unfit.get_or_insert(Unfit { first_idx, n_lines: 0, why }).n_lines += 1;
    }
}

impl Vmstat {
    /// Reads the text; `None` when it has no line of values but the first of a recording.
    ///
    /// # Errors
    /// No headings, values without them, headings without `cs`, `us` and `sy`, and values that cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, TextProblem> {
        let mut reader = Reader::default();
        for (idx, line) in text.split_inclusive('\n').enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let read = match words.first() {
                Some(&"r") => reader.take_heads(&words),
                // The last line may be cut off where vmstat was ended, within a number, too.
                Some(word) if begins_values(word) && line.ends_with('\n') => {
                    reader.take_values(idx, &words)
                }
                // `vmstat -t` names the time zone beside its headings; anything else is no line of values.
                _ => Ok(()),
            };
            read.map_err(|problem| TextProblem::at(idx, problem))?;
        }
        if reader.columns.is_none() {
            let problem = if text.trim().is_empty() {
                "it is empty"
            } else {
                "it is not output of vmstat: no line begins with the heading r"
            };
            return Err(problem.into());
        }
        let Reader { switches, cpu_pct, n, unfit, .. } = reader;
        if let (0, Some(unfit)) = (n, unfit) {
            return Err(unfit.problem());
        }
        // A last line that lacks fields is one that was cut off.
        let last_idx = text.lines().count().saturating_sub(1);
        let is_cut =
            |unfit: &Unfit| unfit.first_idx == last_idx && matches!(unfit.why, Why::Fields { .. });
        let unfit = unfit.filter(|unfit| !is_cut(unfit));
        let mean = |sum: f64| sum / f64::from(n);
        Ok((n > 0).then(|| Self {
            switches_per_s: mean(switches),
            cpu_pct: mean(cpu_pct),
            n,
            unfit,
        }))
    }
}

/// Whether a line that begins with a word has values: a number of processes, be it a wrong one.
fn begins_values(word: &str) -> bool {
    word.parse::<f64>().is_ok_and(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: &str =
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
";

    /// A line of values of Linux.
    fn line(switches: &str, user: &str, system: &str) -> String {
        let busy: u32 = [user, system].iter().filter_map(|pct| pct.parse::<u32>().ok()).sum();
        let idle = 100_u32.saturating_sub(busy);
        format!(
            " 1  0      0 100000   2000  30000    0    0     0     0  900 {switches} {user} {system} {idle}  0  0\n"
        )
    }

    fn boot() -> String {
        line("7", "50", "40")
    }

    fn mean(text: &str) -> (u32, f64, f64) {
        let found = Vmstat::parse(text).unwrap().unwrap();
        (found.n, found.switches_per_s, found.cpu_pct)
    }

    fn problem(text: &str) -> String {
        let found = Vmstat::parse(text).unwrap_err();
        format!("{:?}: {}", found.line_idx.map(|idx| idx + 1), found.problem)
    }

    #[test]
    fn headings_and_the_first_line_do_not_count() {
        // Headings come again after as many lines each time.
        let lines = line("1000", "10", "2").repeat(MIN_PERIOD - 1);
        let text = format!("{HEADS}{}{lines}{HEADS}{}", boot(), line("3000", "12", "4"));
        let (n, switches, _) = mean(&text);
        assert_eq!(n, 15);
        assert!((switches - 17_000.0 / 15.0).abs() < 1e-9);
    }

    #[test]
    fn a_recorder_that_was_started_again_begins_with_a_mean_since_the_boot() {
        let both = format!(
            "{HEADS}{}{}{HEADS}{}{}",
            boot(),
            line("1000", "10", "2"),
            boot(),
            line("3000", "12", "4")
        );
        assert_eq!(mean(&both), (2, 2000.0, 14.0));
        // The first of them had headings more than once.
        let lines = line("1000", "10", "2").repeat(20);
        let long = format!(
            "{HEADS}{}{lines}{HEADS}{lines}{HEADS}{}{}",
            boot(),
            boot(),
            line("1000", "10", "2")
        );
        assert_eq!(mean(&long), (41, 1000.0, 12.0));
    }

    #[test]
    fn lines_with_other_fields_than_headings_are_no_samples() {
        let whole = line("1000", "10", "2");
        let short = " 1  0      0 100000   2000  30000    0    0     0     0  900 9000 10 2\n";
        let wide = whole.replace("  0      0 ", "  0 7 7      0 ");
        let cut = line("9000", "10", "2");
        let text = format!("{HEADS}{}{whole}{short}{wide}{}", boot(), cut.trim_end());
        assert_eq!(mean(&text), (1, 1000.0, 12.0));
        assert_eq!(
            problem(&format!("{HEADS}{}{short}", boot())),
            "Some(4): 14 fields below 17 headings: it is not a sample; record it again"
        );
        let said = |text: &str| {
            let unfit = Vmstat::parse(text).unwrap().unwrap().unfit;
            unfit.map(|unfit| (unfit.problem().line_idx, unfit.problem().problem))
        };
        let two = "14 fields below 17 headings: it and 1 more such lines are not samples; record it again";
        assert_eq!(said(&text), Some((Some(4), two.to_owned())));
        assert_eq!(said(&format!("{HEADS}{}{whole}{short}", boot())), None);
    }

    #[test]
    fn lines_whose_cpu_does_not_add_up_are_no_samples() {
        let whole = line("1000", "10", "2");
        let of = |odd: &str| {
            let found = Vmstat::parse(&format!("{HEADS}{}{whole}{odd}", boot())).unwrap().unwrap();
            (found.n, found.cpu_pct, found.unfit.map(|unfit| unfit.problem().problem))
        };
        let cpu = |pct: &str| whole.replace("10 2 88  0  0", pct);
        for wrong in ["80 2 88 0 0", "1 2 8 0 0", "0 0 0 0 0", "10 2 88 40 0"] {
            let (n, pct, told) = of(&cpu(wrong));
            assert_eq!((n, pct), (1, 12.0), "{wrong}");
            assert!(told.unwrap().contains("percent, not to 100"), "{wrong}");
        }
        // Digits are rounded or cut off, and steal time has a column.
        for right in ["10 2 86 0 0", "34 34 34 0 0", "10 2 47 1 40"] {
            assert_eq!((of(&cpu(right)).0, of(&cpu(right)).2), (2, None), "{right}");
        }
        // Guests have a column of their own in newer versions; older ones have none of steal time.
        let other = |heads: &str, cpu: &str| {
            let text = format!("{HEADS}{}{}", boot(), line("1000", "10", "2"));
            let text = text.replace("us sy id wa st", heads).replace("10 2 88  0  0", cpu);
            Vmstat::parse(&text.replace("50 40 10  0  0", cpu)).unwrap().unwrap().unfit
        };
        assert_eq!(other("us sy id wa st gu", "10 2 48 0 0 40"), None);
        assert_eq!(other("us sy id wa", "10 2 48 0"), None);
    }

    #[test]
    fn values_that_cannot_be_read() {
        let of = |switches: &str, user: &str, system: &str| {
            problem(&format!("{HEADS}{}{}", boot(), line(switches, user, system)))
        };
        let all = [
            of("-3000", "10", "2"),
            of("nan", "10", "2"),
            of("inf", "10", "2"),
            of("1.000", "10", "2"),
            of("1000", "10,5", "2"),
            of("1000", "10", "500"),
            of("18446744073709551615", "10", "2"),
        ];
        expect_test::expect![[r#"
            Some(4): cs: "-3000" is not a whole number from 0 on: record it again with LC_ALL=C
            Some(4): cs: "nan" is not a whole number from 0 on: record it again with LC_ALL=C
            Some(4): cs: "inf" is not a whole number from 0 on: record it again with LC_ALL=C
            Some(4): cs: "1.000" is not a whole number from 0 on: record it again with LC_ALL=C
            Some(4): us: "10,5" is not a whole number from 0 on: record it again with LC_ALL=C
            Some(4): its CPU columns add up to 510 percent, not to 100: it is not a sample; record it again
            Some(4): cs: "18446744073709551615" is not a whole number from 0 on: record it again with LC_ALL=C"#]].assert_eq(&all.join("\n"));
    }

    /// Context switches and CPU of the second line of values.
    fn second(heads: &str, lines: [&str; 2]) -> (f64, f64) {
        let found = Vmstat::parse(&format!("{heads}\n{}\n", lines.join("\n"))).unwrap().unwrap();
        (found.switches_per_s, found.cpu_pct)
    }

    #[test]
    fn systems_other_than_linux() {
        let freebsd = second(
            " procs     memory       page                    disks     faults       cpu\n \
             r  b  w  avm   fre  flt  re  pi  po   fr   sr nda0 nda1   in    sy    cs us sy id",
            [
                " 1  0  0 3.1G   90G  100   0   0   0  120   10   0    0    20   400   900  1  1 98",
                "40  0  0 3.1G   90G  100   0   0   0  120   10   9    0  4000 410000 1000000 60 20 20",
            ],
        );
        assert_eq!(freebsd, (1e6, 80.0));
        let openbsd = second(
            " procs    memory       page                    disks    traps          cpu\n \
             r   s   avm     fre  flt  re  pi  po  fr  sr sd0 sd1  int   sys   cs us sy id",
            [
                " 1  90   42M   7123M  212   0   0   0   0   0   0   1   12   134   56  1  1 98",
                " 2  90   42M   7123M  212   0   0   0   0   0   0   1   12  1340  560 30 12 58",
            ],
        );
        assert_eq!(openbsd, (560.0, 42.0));
        let illumos = second(
            " kthr      memory            page            disk          faults      cpu\n \
             r b w   swap  free  re  mf pi po fr de sr s0 s1 s2 s3   in   sy   cs us sy id",
            [
                " 0 0 0 100000 90000 0   0  0  0  0  0  0  0  0  0  0  100  200  300  1  1 98",
                " 0 0 0 100000 90000 0   0  0  0  0  0  0  0  0  0  0  100 9000  700  5  4 91",
            ],
        );
        assert_eq!(illumos, (700.0, 9.0));
    }

    #[test]
    fn wide_lines_with_the_time_and_of_busybox() {
        let wide = second(
            "--procs-- -----------------------memory---------------------- -timestamp-\n   r    b         \
             swpd         free       buff      cache   si   so    bi    bo   in   cs  us  sy  id  wa  st UTC",
            [
                "   1    0            0     10000000       2000      30000    0    0     9     9    1    7  50  40  10   0   0 2026-01-01 00:00:00",
                "   1    0            0     10000000       2000      30000    0    0     9     9    1 4000  12   3  85   0   0 2026-01-01 00:00:01",
            ],
        );
        assert_eq!(wide, (4000.0, 15.0));
        let busybox = second(
            "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   \
             swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st",
            [
                " 1  0      0 12  2 30    0    0     9     9    1    7  5  4 91  0  0",
                " 0  0      0 12  2 30    0    0     0     0  100  250  2  1 97  0  0",
            ],
        );
        assert_eq!(busybox, (250.0, 3.0));
    }

    #[test]
    fn what_is_no_vmstat() {
        assert_eq!(problem(""), "None: it is empty");
        for other in ["sh: vmstat: not found\n", "disk- ---reads---\n"] {
            let problem = problem(other);
            assert!(problem.starts_with("None: it is not output of vmstat"), "{problem}");
        }
        assert_eq!(Vmstat::parse(&format!("{HEADS}{}", boot())), Ok(None));
        assert!(problem("1 2 3\n").starts_with("Some(1): values before their headings"));
        assert!(problem(" r  b swpd\n").starts_with("Some(1): it has no columns cs, us and sy"));
    }
}
