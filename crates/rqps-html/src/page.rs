//! What pages beside the reports share with them.

/// The style of the reports' pages.
#[must_use]
pub fn stylesheet() -> &'static str {
    crate::STYLE
}

/// The styles of all reports and histories by hash, as content security policies name them.
#[must_use]
pub fn styles() -> String {
    crate::all_styles()
}

/// The scripts of all reports by hash, as content security policies name them.
#[must_use]
pub fn scripts() -> String {
    crate::all_scripts()
}
