//! From a request to who answers it.

use hyper::StatusCode;
use rqps_store::Error;

use crate::asked::Asked;
use crate::desk::Desk;
use crate::live;
use crate::page::{compare, history, list, overview, report};
use crate::reply::Reply;

/// What answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    List,
    Overview(&'a str),
    Report(&'a str),
    /// A run in a format for programs: its name with the format's ending.
    Data(&'a str),
    Live(&'a str),
    /// The stream that follows a run.
    Events(&'a str),
    Compare,
    History,
    File(&'a str),
}

impl<'a> Route<'a> {
    /// Which one a path names.
    pub(crate) fn of(path: &'a [String]) -> Option<Self> {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        Some(match parts.as_slice() {
            [] => Self::List,
            ["compare"] => Self::Compare,
            ["history"] => Self::History,
            ["static", name] => Self::File(name),
            ["runs", id] => Self::Report(id),
            ["runs", id, "about"] => Self::Overview(id),
            ["runs", _, "data", name] => Self::Data(name),
            ["runs", id, "live"] => Self::Live(id),
            ["runs", id, "events"] => Self::Events(id),
            _ => return None,
        })
    }

    /// Whether it is for who has not shown the token: files of this program alone.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Whether it can take seconds of CPU time.
    pub(crate) fn is_heavy(self) -> bool {
        matches!(self, Self::Report(_) | Self::Data(_) | Self::Compare | Self::History)
    }
}

/// Answers a request; everything here may wait for the disk.
pub(crate) fn answer(desk: &Desk, asked: &Asked, route: Route<'_>) -> Reply {
    let result = match route {
        Route::List => list::show(desk, asked),
        Route::Overview(id) => overview::show(desk, id),
        Route::Report(id) => report::show(desk, asked, id),
        Route::Data(name) => report::data(desk, asked, name),
        Route::Live(id) => live::page(desk, id),
        Route::Compare => compare::show(desk, asked),
        Route::History => history::show(desk, asked),
        Route::File(name) => Ok(file(name)),
        // Answered without waiting.
        Route::Events(_) => Ok(Reply::unknown()),
    };
    result.unwrap_or_else(|error| of_error(&error))
}

/// A page that says what is wrong with the store or the run.
fn of_error(error: &Error) -> Reply {
    let status = match error {
        Error::UnknownRun { .. } | Error::AmbiguousRun { .. } | Error::BadRunId { .. } => {
            StatusCode::NOT_FOUND
        }
        Error::NoResults { .. } => StatusCode::NOT_FOUND,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Reply::problem(status, &chain(error))
}

/// An error and what it comes from, in one sentence.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

fn file(name: &str) -> Reply {
    match name {
        "report.css" => Reply::file("text/css; charset=utf-8", rqps_html::page::stylesheet()),
        "serve.css" => Reply::file("text/css; charset=utf-8", include_str!("assets/serve.css")),
        "list.js" => Reply::file(SCRIPT, include_str!("assets/list.js")),
        "live.js" => Reply::file(SCRIPT, include_str!("assets/live.js")),
        "unlock.js" => Reply::file(SCRIPT, include_str!("assets/unlock.js")),
        _ => Reply::unknown(),
    }
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_routes() {
        let route = |path: &str| {
            let parts = crate::asked::parts_of(path).unwrap();
            Route::of(&parts).map(|route| format!("{route:?}"))
        };
        assert_eq!(route("/").as_deref(), Some("List"));
        assert_eq!(route("/runs/r1/").as_deref(), Some("Report(\"r1\")"));
        assert_eq!(route("/runs/r1/about").as_deref(), Some("Overview(\"r1\")"));
        assert_eq!(route("/runs/r1/data/r1.csv").as_deref(), Some("Data(\"r1.csv\")"));
        assert_eq!(route("/runs"), None);
        assert_eq!(route("/rqps.db"), None);
    }
}
