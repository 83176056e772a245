//! The field's colours as meanings: yellow below 0.95, blue above 1.05, after rounding to two digits.

use rqps_analysis::Level;

/// The meaning of a cell's colour. Every format has the same in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// A ratio below 0.95: yellow.
    Lower,
    /// A ratio above 1.05: blue.
    Higher,
    /// Among the lowest rates of its column, or a rate that was not held: red.
    Worst,
    /// Among the highest rates of its column: green.
    Best,
    /// A rate or ratio whose insert rate was not held: grey.
    Unheld,
    /// No rate because of a failure.
    Failed,
    /// No rate yet.
    Faint,
    /// A heading.
    Strong,
}

impl Tone {
    /// The colour of a ratio.
    #[must_use]
    pub fn of_ratio(ratio: f64) -> Self {
        let hundredths = (ratio * 100.0).round();
        if hundredths < 95.0 {
            Self::Lower
        } else if hundredths > 105.0 {
            Self::Higher
        } else {
            Self::Plain
        }
    }

    /// The colour of a rate.
    #[must_use]
    pub fn of_level(level: Level) -> Self {
        match level {
            Level::Bottom => Self::Worst,
            Level::Middle => Self::Plain,
            Level::Top => Self::Best,
            Level::Unheld => Self::Unheld,
        }
    }

    /// The terminal's codes for it; empty for plain text.
    pub(crate) fn ansi(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Lower => "\u{1b}[33m",
            Self::Higher => "\u{1b}[94m",
            Self::Failed | Self::Worst => "\u{1b}[31m",
            Self::Best => "\u{1b}[32m",
            Self::Faint | Self::Unheld => "\u{1b}[2m",
            Self::Strong => "\u{1b}[1m",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tone;

    #[test]
    fn rounds_before_it_compares() {
        assert_eq!(Tone::of_ratio(0.946), Tone::Plain);
        assert_eq!(Tone::of_ratio(0.944), Tone::Lower);
        assert_eq!(Tone::of_ratio(1.054), Tone::Plain);
        assert_eq!(Tone::of_ratio(1.056), Tone::Higher);
    }
}
