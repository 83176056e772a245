//! What pages beside the reports share with them: the style, numbers and words as they are written there.

pub use rqps_text::number::{count, interval, long_duration, plain_figure, ratio, utc};
pub use rqps_text::words::one_line;

/// The style of the reports' pages.
#[must_use]
pub fn stylesheet() -> &'static str {
    crate::html::STYLE
}

/// The styles of all reports and histories by hash, as content security policies name them.
#[must_use]
pub fn styles() -> String {
    crate::html::all_styles()
}

/// The scripts of all reports by hash, as content security policies name them.
#[must_use]
pub fn scripts() -> String {
    crate::html::all_scripts()
}
