//! What `vmstat N` printed: context switches and CPU, averaged over its lines.
//!
//! The columns are found by their headings, which come again every so many lines. The first line of
//! values is the average since the host was started and is left out.

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
    /// Values without headings, or without the columns `cs`, `us` and `sy`; what is wrong, in words.
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
                    let found = at("cs").zip(at("us")).zip(at("sy"));
                    let ((cs, us), sy) = found.ok_or("no columns cs, us and sy")?;
                    columns = Some([cs, us, sy]);
                    continue;
                }
                // `vmstat -t` names the time zone beside its headings; anything else is no line of values.
                Some(word) if word.parse::<u64>().is_err() => continue,
                Some(_) => {}
            }
            let columns = columns.ok_or("values before their headings")?;
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

    #[test]
    fn what_is_no_vmstat() {
        assert_eq!(Vmstat::parse(""), Ok(None));
        assert!(Vmstat::parse("1 2 3\n").is_err());
        assert!(Vmstat::parse(" r  b swpd\n").is_err());
    }
}
