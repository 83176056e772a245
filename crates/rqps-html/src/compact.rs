//! Large pages without what HTML lets its writers leave out: a sixth of a page of many tables.

use maud::{Markup, PreEscaped};

/// A main part from this size on is made smaller, bytes: below it, it is easier to read as it is.
const LARGE: usize = 700_000;

/// End tags that the next tag implies, and the scope of headings that stand where headings stand.
const IMPLIED: [&str; 10] = [
    "</td>",
    "</th>",
    "</tr>",
    "</thead>",
    "</tbody>",
    "</li>",
    "</dt>",
    "</dd>",
    " scope=\"col\"",
    " scope=\"row\"",
];

/// The markup, without what is implied where it is large. Texts cannot hold any of it: they are escaped.
pub(super) fn of_large(markup: Markup) -> Markup {
    if markup.0.len() < LARGE {
        return markup;
    }
    PreEscaped(compact(&markup.0))
}

fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', ' ']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let implied = IMPLIED.iter().find(|tag| rest.starts_with(**tag));
        let n = implied.map_or(1, |tag| tag.len());
        if implied.is_none() {
            out.push_str(&rest[..n]);
        }
        rest = &rest[n..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_implied_goes() {
        let table =
            "<table><thead><tr><th scope=\"col\">a b</th></tr></thead><tr><td>1</td></tr></table>";
        assert_eq!(compact(table), "<table><thead><tr><th>a b<tr><td>1</table>");
        let text = "<p>a scope=&quot;col&quot; &lt;/td&gt;</p><th scope=\"rowgroup\">";
        assert_eq!(compact(text), text);
    }
}
