//! What goldens hold of a page.

use crate::readable::readable;

/// A page for a golden: with a mark in place of scripts, packed files, the style sheet and their digests, which the
/// tests of policies compare. Goldens hold markup and text alone.
pub(crate) fn markup(page: &str) -> String {
    let page = readable(page);
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    let mut digests = head.split("'sha256-");
    let mut out = digests.next().unwrap_or_default().to_owned();
    for rest in digests {
        let (_, after) = rest.split_once('\'').unwrap();
        out.push_str("'sha256-…'");
        out.push_str(after);
    }
    format!("{out}<style>…</style>{body}")
}
