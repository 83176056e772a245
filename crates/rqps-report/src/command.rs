//! Commands as a shell takes them.

use shlex::Quoter;

use rqps_text::words::one_line;

/// The words of a command as one line for a shell, each quoted where it has to be.
#[must_use]
pub fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A word for a shell, which it shows on one line and without what steers a terminal.
#[must_use]
pub fn shown(word: &str) -> String {
    quoted(&one_line(word))
}

fn quoted(word: &str) -> String {
    // Only a NUL is refused otherwise, which no command has.
    let quoted = Quoter::new().allow_nul(true).quote(word).map(Into::into);
    quoted.unwrap_or_else(|_| word.to_owned())
}
