//! What all pages have around them.

use maud::{DOCTYPE, Markup, html};
use rqps_text::words::one_line;

use crate::desk::Desk;

/// What a page is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) title: &'a str,
    /// Its script, a file of this program.
    pub(crate) script: Option<&'a str>,
    /// Without script it loads itself again after so many seconds.
    pub(crate) again: Option<u32>,
}

/// A page of our own.
pub(crate) fn page(desk: &Desk, about: About<'_>, content: &Markup) -> Markup {
    let About { title, script, again } = about;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (one_line(title)) " - rqps" }
                link rel="stylesheet" href="/static/report.css";
                link rel="stylesheet" href="/static/serve.css";
                @if let Some(again) = again {
                    noscript { meta http-equiv="refresh" content=(again); }
                }
                @if let Some(script) = script { script src={ "/static/" (script) } defer {} }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header.site { (links()) }
                main #content { h1 { bdi { (one_line(title)) } } (content) }
                footer {
                    p {
                        "rqps " (one_line(&desk.options.rqps_version)) ", results in "
                        bdi { (one_line(&desk.options.results.display().to_string())) } "."
                    }
                }
            }
        }
    }
}

/// The way to the other pages.
fn links() -> Markup {
    html! {
        nav aria-label="Pages" {
            a href="/" { "Runs" }
            a href="/history" { "History" }
        }
    }
}

/// A page that is complete in itself, with links before its header to where it belongs; its style has a class for
/// them (`nav.pages`).
pub(crate) fn with_links(mut page: String, links: &Markup) -> String {
    if let Some(at) = page.find("<header>") {
        page.insert_str(at, &links.0);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stand_before_the_header() {
        let page = "<body><a class=\"skip\">x</a><header><h1>a</h1></header><header></header>";
        let links = html! { nav { "all" } };
        let out = with_links(page.to_owned(), &links);
        assert!(
            out.starts_with("<body><a class=\"skip\">x</a><nav>all</nav><header><h1>"),
            "{out}"
        );
        assert_eq!(with_links("none".to_owned(), &links), "none");
    }
}
