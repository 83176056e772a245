//! Numbers as other tools write them.

/// A rate, count or cost: finite and not negative. `None` stands for what was not run: an empty field,
/// `-`, `NA`, `nan`.
///
/// # Errors
/// What is neither, in words.
pub(crate) fn parse_quantity(text: &str) -> Result<Option<f64>, String> {
    let text = text.trim();
    if matches!(text, "" | "-" | "NA" | "N/A" | "na" | "nan" | "-nan" | "NaN") {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(Some(value)),
        _ => Err(format!("{text:?} is no number from 0 on")),
    }
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
        for wrong in ["-1", "inf", "12x", "1e400"] {
            assert!(parse_quantity(wrong).is_err(), "{wrong}");
        }
        assert_eq!(ns_of_ms(0.52), 520_000);
    }
}
