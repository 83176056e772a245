//! Reports: pure functions from a run to text, markdown, CSV, JSON and one self-contained HTML page.
//!
//! No IO and no clock: the same run and the same version give the same bytes. `docs/reports.md`
//! tells users how to read them.

pub mod charts;
pub mod command;
pub mod csv;
pub mod gate;
pub mod history;
pub mod html;
pub mod json;
pub mod markdown;
pub mod page;
pub mod post;
pub mod text;

mod causes;
mod compare;
mod comparison;
mod dot;
mod grid;
mod insert;
mod layout;
mod many;
mod places;
pub mod plans;
mod repeat;
pub mod response;
mod stacks;
pub mod stacks_page;
mod tone;
pub mod warning;

use std::fmt;
use std::str::FromStr;

use rqps_analysis::Analysis;
use rqps_model::Run;
use rqps_model::UnknownWord;

pub use text::{Detail, TextOptions};

/// A format of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One self-contained page.
    Html,
    /// The field's tables for a terminal or a post.
    Text,
    /// Tables for a merge request.
    Markdown,
    /// One row per step, number of clients and system.
    Csv,
    /// Everything for programs, with a published schema.
    Json,
}

impl Format {
    /// The usual ending of a file in this format.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "txt",
            Self::Markdown => "md",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

impl FromStr for Format {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "html" => Ok(Self::Html),
            "text" | "txt" => Ok(Self::Text),
            "markdown" | "md" => Ok(Self::Markdown),
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            _ => Err(UnknownWord {
                what: "format",
                value: text.to_owned(),
                known: "html, text, markdown, csv, json",
            }),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Html => "html",
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Csv => "csv",
            Self::Json => "json",
        })
    }
}

/// The report on `run` with the practical bound `bound` (0.05 for 5%); `options` is for text.
#[must_use]
pub fn render(run: &Run, bound: f64, format: Format, options: TextOptions) -> String {
    render_analysis(&Analysis::of(run, bound), format, options)
}

/// The same of an analysis, which may have stack profiles.
#[must_use]
pub fn render_analysis(analysis: &Analysis<'_>, format: Format, options: TextOptions) -> String {
    match format {
        Format::Html => html::render(analysis),
        Format::Text => text::render(analysis, options),
        Format::Markdown => markdown::render(analysis),
        Format::Csv => csv::render(analysis),
        Format::Json => json::render(analysis),
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn formats_by_name() {
        for format in [Format::Html, Format::Text, Format::Markdown, Format::Csv, Format::Json] {
            assert_eq!(format.to_string().parse::<Format>(), Ok(format));
            assert_eq!(format.extension().parse::<Format>(), Ok(format));
        }
        assert!("pdf".parse::<Format>().is_err());
    }
}
