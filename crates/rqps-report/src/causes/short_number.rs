//! Numbers in the sentences of causes: few digits, always with their unit.

/// A time per operation with its sign: `+31 µs`, `-0.42 µs`, `+1.2 ms`.
pub(crate) fn signed_us(us: f64) -> String {
    let sign = if us < 0.0 { "-" } else { "+" };
    format!("{sign}{}", us_text(us.abs()))
}

/// A time without a sign.
pub(crate) fn us_text(us: f64) -> String {
    match us {
        v if v >= 1e7 => format!("{} s", digits(v / 1e6)),
        v if v >= 1e4 => format!("{} ms", digits(v / 1e3)),
        v => format!("{} µs", digits(v)),
    }
}

/// A share as whole percent: `91%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// Two significant digits from 1 up, two decimals below; a plain 0 for nothing.
pub(crate) fn digits(value: f64) -> String {
    match value {
        v if v >= 9.95 => format!("{v:.0}"),
        v if v >= 2.0 => format!("{v:.1}"),
        v if v < 0.000_05 => "0".to_owned(),
        v if v < 0.01 => format!("{v:.4}"),
        v if v < 0.1 => format!("{v:.3}"),
        v => format!("{v:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_for_a_sentence() {
        assert_eq!(
            [1.534, 12.3, 2.04, 0.42, 0.0031, 0.0].map(digits),
            ["1.53", "12", "2.0", "0.42", "0.0031", "0"]
        );
        assert_eq!(signed_us(31.2), "+31 µs");
        assert_eq!(signed_us(-0.42), "-0.42 µs");
        assert_eq!(signed_us(23_400.0), "+23 ms");
        assert_eq!(signed_us(2.34e7), "+23 s");
        assert_eq!(percent(0.912), "91%");
    }
}
