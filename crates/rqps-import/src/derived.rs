//! Whether a value per operation is that per second over the rate of the same line.

use crate::number::{parse_quantity, six_digits};

/// A number with the weight of its last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed {
    pub(crate) value: f64,
    unit: f64,
}

impl Printed {
    /// Reads a number; `None` for one that lacks.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value = parse_quantity(text).ok()??;
        let (digits, exponent) = text.trim().split_once(['e', 'E']).unwrap_or((text.trim(), "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
        let power = exponent.parse::<i32>().ok()? - i32::try_from(decimals).ok()?;
        Some(Self { value, unit: 10_f64.powi(power) })
    }

    /// The least and the most that it can stand for: scripts round, and `bc` cuts digits off.
    pub(crate) fn range(self) -> Range {
        Range { least: (self.value - self.unit).max(0.0), most: self.value + self.unit }
    }
}

impl Printed {
    /// What its quotient by another can be.
    pub(crate) fn over(self, other: Self) -> Range {
        let (own, other) = (self.range(), other.range());
        Range { least: own.least / other.most, most: own.most / other.least }
    }

    /// Whether it is more than another, whatever digits lack.
    pub(crate) fn is_above(self, other: Self) -> bool {
        self.range().least > other.range().most
    }
}

/// Most percent of all CPUs. vmstat rounds user and system CPU apart.
pub(crate) const MAX_CPU_PCT: f64 = 102.0;

/// Why CPU per operation is not of the rate: both are more than all CPUs, whatever digits lack.
pub(crate) fn cpu_problem(per_operation: Printed, rate: Printed) -> Option<String> {
    let least = per_operation.range().least * rate.range().least;
    (least > MAX_CPU_PCT).then(|| {
        format!(
            "cpu/o {} at o/s {} are {:.0}% of all CPUs: cpu/o is excluded",
            per_operation.value,
            rate.value,
            per_operation.value * rate.value
        )
    })
}

/// The headings of two values that differ by the rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) per_s: &'static str,
    pub(crate) per_operation: &'static str,
    /// Whether the first is in MB and the second in KB.
    pub(crate) is_mb: bool,
}

impl Pair {
    pub(crate) const fn new(per_s: &'static str, per_operation: &'static str) -> Self {
        Self { per_s, per_operation, is_mb: false }
    }

    pub(crate) const fn of_mb(per_s: &'static str, per_operation: &'static str) -> Self {
        Self { per_s, per_operation, is_mb: true }
    }
}

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Range {
    const ALL: Self = Self { least: 0.0, most: f64::INFINITY };

    pub(crate) fn meets(self, other: Self) -> bool {
        self.least <= other.most && other.least <= self.most
    }

    fn common(self, other: Self) -> Option<Self> {
        let (least, most) = (self.least.max(other.least), self.most.min(other.most));
        (least <= most).then_some(Self { least, most })
    }
}

/// Two values that are of another rate than the line's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contradiction {
    pub(crate) per_operation: &'static str,
    per_s: &'static str,
    per_s_value: f64,
    per_operation_value: f64,
    /// The rates that both can be of.
    rates: Range,
}

impl std::fmt::Display for Contradiction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { per_operation, per_s, per_s_value, per_operation_value, rates } = self;
        write!(f, "{per_s} {per_s_value} and {per_operation} {per_operation_value}")?;
        let least = six_digits(rates.least);
        match rates.most.is_finite() {
            true => write!(f, " (a rate of {least} to {})", six_digits(rates.most)),
            false => write!(f, " (a rate above {least})"),
        }
    }
}

/// What the pairs of a line say of its rate.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Held {
    pub(crate) contradictions: Vec<Contradiction>,
    /// Whether a pair is of the rate.
    is_supported: bool,
}

impl Held {
    /// The rate of all contradicting pairs, where they have one and no pair is of the stated rate.
    pub(crate) fn other_rate(&self) -> Option<Range> {
        let ranges = self.contradictions.iter().map(|c| c.rates);
        let common = ranges.reduce(|a, b| a.common(b).unwrap_or(Range { least: 1.0, most: 0.0 }));
        common.filter(|range| !self.is_supported && range.least <= range.most)
    }

    /// The contradictions, for messages.
    pub(crate) fn told(&self) -> String {
        self.contradictions.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}

/// Holds the pairs of a line against its rate.
pub(crate) fn hold(pairs: &[Pair], rate: Printed, value: impl Fn(&str) -> Option<Printed>) -> Held {
    let mut held = Held::default();
    for pair in pairs {
        let Some(per_s) = value(pair.per_s) else { continue };
        let Some(per_operation) = value(pair.per_operation) else { continue };
        let rates = rates(*pair, per_s, per_operation);
        if !rates.meets(rate.range()) {
            held.contradictions.push(Contradiction {
                per_operation: pair.per_operation,
                per_s: pair.per_s,
                per_s_value: per_s.value,
                per_operation_value: per_operation.value,
                rates,
            });
        } else if per_s.value > 0.0 && rates != Range::ALL {
            held.is_supported = true;
        }
    }
    held
}

/// The rates that both values can be of. An MB has 1000 or 1024 KB.
fn rates(pair: Pair, per_s: Printed, per_operation: Printed) -> Range {
    let (few, many) = if pair.is_mb { (1000.0, 1024.0) } else { (1.0, 1.0) };
    let (per_s, per_operation) = (per_s.range(), per_operation.range());
    let most = per_s.most * many / per_operation.least;
    Range { least: per_s.least * few / per_operation.most, most }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCHES: [Pair; 1] = [Pair::new("cs/s", "cs/o")];

    fn told(per_s: &str, per_operation: &str, rate: &str) -> String {
        let value = |head: &str| Printed::parse(if head == "cs/s" { per_s } else { per_operation });
        hold(&SWITCHES, Printed::parse(rate).unwrap(), value).told()
    }

    #[test]
    fn digits_that_are_rounded_or_cut_off_contradict_nothing() {
        for (per_s, per_operation, rate) in [
            ("94023", "3.826", "24575"),
            ("94023", "3.825", "24575"),
            ("12", "0", "24575"),
            ("0", "0.000", "5"),
            ("0.4", "0.06", "7"),
            ("1.23457e+06", "1.235", "1e6"),
            ("NA", "9", "1"),
        ] {
            assert_eq!(told(per_s, per_operation, rate), "", "{per_s} {per_operation} {rate}");
        }
        assert_eq!(
            told("94023", "0.382", "24575"),
            "cs/s 94023 and cs/o 0.382 (a rate of 245488 to 246782)"
        );
        assert_eq!(
            told("94023", "0.000", "24575"),
            "cs/s 94023 and cs/o 0 (a rate above 94022000)"
        );
    }

    #[test]
    fn the_rate_is_wrong_where_all_else_has_another() {
        let pairs = [Pair::new("a", "b"), Pair::new("c", "d")];
        let other = |a: &str, c: &str| {
            let value = |head: &str| {
                Printed::parse(match head {
                    "a" => a,
                    "c" => c,
                    _ => "1.000",
                })
            };
            hold(&pairs, Printed::parse("100").unwrap(), value).other_rate()
        };
        assert!(
            other("500", "500").is_some_and(|rate| rate.meets(Range { least: 500.0, most: 500.0 }))
        );
        assert_eq!(other("500", "100"), None, "one of them is of the rate");
        assert_eq!(other("500", "900"), None, "they are of no one rate");
        assert!(other("500", "NA").is_some());
        assert_eq!(other("100", "100"), None);
    }
}
