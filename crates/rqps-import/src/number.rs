//! Numbers as other tools write them.

/// No rate, count or cost is larger; a larger one is an error of whoever wrote it.
const MAX: f64 = 1e15;

/// No rate or cost but 0 is smaller.
const MIN: f64 = 1e-12;

/// Most seconds that a file may state: 31 years.
pub(crate) const MAX_SECONDS: f64 = 1e9;

/// Most gigabytes that a file may state.
pub(crate) const MAX_GB: f64 = 1e9;

/// A rate, count or cost: 0, or from 10^-12 to 10^15. `None` stands for what was not run: an empty field,
/// `-`, `NA`, `nan`.
///
/// # Errors
/// What is neither, in words.
pub(crate) fn parse_quantity(text: &str) -> Result<Option<f64>, String> {
    let text = text.trim();
    if matches!(text, "" | "-" | "NA" | "N/A" | "na" | "nan" | "-nan" | "NaN") {
        return Ok(None);
    }
    parse_number(text).map(Some)
}

/// The same of what must be there.
///
/// # Errors
/// What is no such number, in words.
pub(crate) fn parse_number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => match check_range(value) {
            true => Ok(value.abs()),
            false => Err(format!("{text:?} is not a number from {MIN:e} to {MAX:e}")),
        },
        _ => Err(format!("{text:?} is not a number from 0 on")),
    }
}

/// Whether a number from 0 on can be a rate, count or cost.
pub(crate) fn check_range(value: f64) -> bool {
    value == 0.0 || (MIN..=MAX).contains(&value)
}

/// A value that was computed from numbers with few digits, with six digits of its own.
pub(crate) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A time in milliseconds as nanoseconds.
pub(crate) fn ns_of_ms(ms: f64) -> u64 {
    whole(ms * 1e6)
}

/// Rounded to a whole number; what does not fit is the nearest that does.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as saturates, and that is what is wanted"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_run_is_no_zero() {
        assert_eq!(parse_quantity("4527"), Ok(Some(4527.0)));
        assert_eq!(parse_quantity(" 0.000098 "), Ok(Some(0.000_098)));
        assert_eq!(parse_quantity("0"), Ok(Some(0.0)));
        for nothing in ["", "-", "NA", "nan"] {
            assert_eq!(parse_quantity(nothing), Ok(None));
        }
        for wrong in ["-1", "inf", "12x", "1e400", "1e300", "1e-320", "18446744073709551615"] {
            assert!(parse_quantity(wrong).is_err(), "{wrong}");
        }
        assert!(parse_quantity("-0").unwrap().unwrap().is_sign_positive());
        assert_eq!(ns_of_ms(0.52), 520_000);
        assert_eq!(six_digits(2.0 / 3.0).to_string(), "0.666667");
        assert_eq!(six_digits(0.0).to_string(), "0");
    }
}
