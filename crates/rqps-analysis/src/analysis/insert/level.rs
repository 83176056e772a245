//! Where a rate lies among those of all systems on its step: the field's colours of absolute rates.

/// From this share of the largest figure on the smallest is not marked: the field's rule.
const CLOSE: f64 = 0.8;

/// Where a rate lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// In the bottom quarter of the range of rates: red.
    Bottom,
    /// In its middle half, or nothing to compare with.
    Middle,
    /// In its top quarter: green.
    Top,
    /// The insert rate was not held, so the range excludes the rate: grey.
    Unheld,
}

impl Level {
    /// The level as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bottom => "bottom",
            Self::Middle => "middle",
            Self::Top => "top",
            Self::Unheld => "unheld",
        }
    }
}

/// The levels of the figures of one step: each with whether it counts; `None` where there is none.
pub(crate) fn levels(figures: &[Option<(f64, bool)>]) -> Vec<Level> {
    let counted =
        || figures.iter().flatten().filter(|(_, counts)| *counts).map(|(value, _)| *value);
    let (min, max) = (counted().fold(f64::INFINITY, f64::min), counted().fold(0.0, f64::max));
    let quarter = (max - min) / 4.0;
    let level = |figure: &Option<(f64, bool)>| match figure {
        Some((_, false)) => Level::Unheld,
        Some((value, true)) if quarter > 0.0 && *value >= max - quarter => Level::Top,
        Some((value, true)) if quarter > 0.0 && *value <= min + quarter && min < CLOSE * max => {
            Level::Bottom
        }
        _ => Level::Middle,
    };
    figures.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Vec<Level> {
        levels(&values.iter().map(|v| Some((*v, true))).collect::<Vec<_>>())
    }

    #[test]
    fn quarters_of_the_range() {
        use Level::{Bottom, Middle, Top, Unheld};
        assert_eq!(of(&[100.0, 50.0, 75.0, 88.0, 62.0]), [Top, Bottom, Middle, Top, Bottom]);
        // Nothing is red where the smallest is near the largest.
        assert_eq!(of(&[100.0, 80.0]), [Top, Middle]);
        assert_eq!(of(&[100.0, 79.0]), [Top, Bottom]);
        assert_eq!(of(&[100.0]), [Middle]);
        // What failed its rate neither counts nor shifts the others.
        let unheld = [Some((100.0, true)), Some((1.0, false)), Some((90.0, true)), None];
        assert_eq!(levels(&unheld), [Top, Unheld, Middle, Middle]);
    }
}
