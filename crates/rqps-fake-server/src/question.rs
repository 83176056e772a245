//! A statement that is no work on the tables, cut into its first word and the rest.

/// What a client asks.
pub(crate) struct Question<'a> {
    /// The statement as it came, without a semicolon at its end.
    pub(crate) sql: &'a str,
    /// The same in lower case, from the second word on.
    pub(crate) rest: &'a str,
}

/// A statement without blanks around it and without its semicolon.
pub(crate) fn trimmed(sql: &str) -> &str {
    sql.trim().trim_end_matches(';')
}

/// The first word of a statement in lower case, and what is behind it.
pub(crate) fn first_word(lower: &str) -> (&str, &str) {
    lower.split_once([' ', '\n']).unwrap_or((lower, ""))
}
