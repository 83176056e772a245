//! Microseconds as text: three digits that count.

/// `0.123`, `1.23`, `12.3`, `123`; `0` for nothing.
#[must_use]
pub fn us(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    // Where rounding would add a digit, the next row applies.
    let decimals = match size {
        s if s < 0.9995 => 3,
        s if s < 9.995 => 2,
        s if s < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// The same with its sign: `+1.23`, `-0.040`, `0.000` for what is less than can be shown.
#[must_use]
pub fn signed_us(value: f64) -> String {
    let text = us(value);
    let is_zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    if is_zero {
        text.trim_start_matches('-').to_owned()
    } else if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_that_count() {
        for (value, text) in [
            (0.0, "0"),
            (0.0001, "0.000"),
            (0.1234, "0.123"),
            (0.9999, "1.00"),
            (12.34, "12.3"),
            (99.96, "100"),
        ] {
            assert_eq!(us(value), text);
        }
        assert_eq!(signed_us(1.5), "+1.50");
        assert_eq!(signed_us(-1.5), "-1.50");
        assert_eq!(signed_us(-0.0001), "0.000");
    }
}
