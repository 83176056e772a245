//! What `vmstat N` printed: context switches and CPU, averaged over its lines.
//!
//! The columns are found by their headings, which come again every so many lines. Linux, BusyBox, the BSDs and
//! illumos have `cs`, `us` and `sy` among them; the BSDs call system calls `sy` as well, before `us`. The
//! first line of values is the average since the host was started and is left out.

/// Why there are no averages where there are headings.
pub(crate) const ONLY_BOOT: &str = "it has no line but the mean since the boot";

/// Averages over a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Vmstat {
    /// Context switches per second.
    pub(crate) switches_per_s: f64,
    /// CPU in user mode and in the kernel, percent of all CPUs.
    pub(crate) cpu_pct: f64,
    /// Lines that it rests on.
    pub(crate) n: u32,
}

impl Vmstat {
    /// Reads the text; `None` when it has no line of values but the first.
    ///
    /// # Errors
    /// No headings, values without them, or headings without `cs`, `us` and `sy`; what is wrong, in words.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>, String> {
        let mut columns: Option<[usize; 3]> = None;
        let (mut sums, mut n) = ([0.0; 3], 0_u32);
        let mut is_first = true;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.first() {
                None => continue,
                Some(word) if word.starts_with("procs") => continue,
                Some(&"r") => {
                    let at = |head: &str| words.iter().position(|word| *word == head);
                    let sy = words.iter().rposition(|word| *word == "sy");
                    let found = at("cs").zip(at("us")).zip(sy);
                    let ((cs, us), sy) = found.ok_or(
                        "it has no columns cs, us and sy: record it with vmstat and an interval alone",
                    )?;
                    columns = Some([cs, us, sy]);
                    continue;
                }
                // `vmstat -t` names the time zone beside its headings; anything else is no line of values.
                Some(word) if word.parse::<u64>().is_err() => continue,
                Some(_) => {}
            }
            let columns = columns.ok_or("values before their headings: record it again")?;
            if std::mem::take(&mut is_first) {
                continue;
            }
            let values = columns.map(|at| words.get(at)?.parse::<f64>().ok());
            let [Some(cs), Some(us), Some(sy)] = values else {
                // The last line may be cut off where vmstat was ended.
                continue;
            };
            for (sum, value) in sums.iter_mut().zip([cs, us, sy]) {
                *sum += value;
            }
            n += 1;
        }
        if columns.is_none() {
            return Err(if text.trim().is_empty() {
                "it is empty".to_owned()
            } else {
                "it is no output of vmstat: no line begins with the heading r".to_owned()
            });
        }
        let mean = |sum: f64| sum / f64::from(n);
        Ok((n > 0).then(|| Self {
            switches_per_s: mean(sums[0]),
            cpu_pct: mean(sums[1] + sums[2]),
            n,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 100000   2000  30000    0    0     9     9    1    7 50 40 10  0  0
 1  0      0 100000   2000  30000    0    0     0     0  900 1000 10  2 88  0  0
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 100000   2000  30000    0    0     0     0  900 3000 12  4 84  0  0
 1  0      0 100000   2000  30000    0    0     0     0
";

    #[test]
    fn headings_and_the_first_line_do_not_count() {
        let found = Vmstat::parse(TEXT).unwrap().unwrap();
        assert_eq!(found.n, 2);
        assert!((found.switches_per_s - 2000.0).abs() < 1e-9);
        assert!((found.cpu_pct - 14.0).abs() < 1e-9);
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
        assert_eq!(Vmstat::parse(""), Err("it is empty".to_owned()));
        for other in ["sh: vmstat: not found\n", "disk- ---reads---\n"] {
            let problem = Vmstat::parse(other).unwrap_err();
            assert!(problem.starts_with("it is no output of vmstat"), "{problem}");
        }
        let boot = TEXT.lines().take(3).collect::<Vec<_>>().join("\n");
        assert_eq!(Vmstat::parse(&boot), Ok(None));
        assert!(Vmstat::parse("1 2 3\n").is_err());
        assert!(Vmstat::parse(" r  b swpd\n").is_err());
    }
}
