//! Text that came from outside - of servers, plans, archives, other tools' files - made fit for a terminal: what
//! steers one or reorders a line becomes U+FFFD.
//!
//! It is done whether or not there is a terminal: what goes into a file is looked at on one later. Formats for
//! programs (JSON, CSV) have other rules and stay as they are.

/// `text` with its line breaks and tabs, without any other character that steers a terminal or changes the
/// direction of a line.
pub(crate) fn lines(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { fit(c) }).collect()
}

/// The same on one line: line breaks and tabs become spaces, so that no text passes for two cells or lines.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { fit(c) }).collect()
}

fn fit(c: char) -> char {
    let steers = c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}');
    if steers { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_servers_do_not_steer_the_terminal() {
        let text = "perf ended: \u{1b}[2J\u{7}\u{9b}31m\u{202e}x\r\n\ty";
        let fit = "perf ended: \u{fffd}[2J\u{fffd}\u{fffd}31m\u{fffd}x\u{fffd}\n\ty";
        assert_eq!(lines(text), fit);
        let fit = "perf ended: \u{fffd}[2J\u{fffd}\u{fffd}31m\u{fffd}x   y";
        assert_eq!(one_line(text), fit);
        assert_eq!(lines("Zürich, 日本 …"), "Zürich, 日本 …");
    }
}
