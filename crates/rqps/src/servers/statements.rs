//! Statements as they are typed: each ends with a `;` outside quotes and comments.

/// Takes the whole statements off the front of `text`, each without its `;`; what has no `;` yet stays.
pub(super) fn take_whole(text: &mut String) -> Vec<String> {
    let mut whole = Vec::new();
    let mut begin = 0;
    for end in ends(text) {
        let statement = text[begin..end].trim();
        if !statement.is_empty() {
            whole.push(statement.to_owned());
        }
        begin = end + 1;
    }
    text.replace_range(..begin, "");
    if text.trim().is_empty() {
        text.clear();
    }
    whole
}

/// Where each `;` stands that ends a statement.
fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(';') {
            ends.push(at);
        }
        // PostgreSQL has an operator `#`; MySQL's comments seldom begin behind something else.
        let begins_line =
            text[..at].trim_end_matches([' ', '\t']).ends_with(['\n', ';']) || at == 0;
        at += match rest.find('\n') {
            Some(end) if begins_line && rest.starts_with('#') => end,
            _ => token_length(rest),
        };
    }
    ends
}

/// The length of the quoted text, the comment or the character that `rest` begins with; of one that does
/// not end, all of it.
fn token_length(rest: &str) -> usize {
    let until = |mark: &str, from: usize| {
        rest[from..].find(mark).map_or(rest.len(), |at| from + at + mark.len())
    };
    if rest.starts_with("--") {
        return until("\n", 0);
    }
    if rest.starts_with("/*") {
        return until("*/", 2);
    }
    if let Some(tag) = dollar_tag(rest) {
        return until(tag, tag.len());
    }
    let first = rest.chars().next().unwrap_or(' ');
    if matches!(first, '\'' | '"' | '`') {
        return quoted_length(rest, first);
    }
    first.len_utf8()
}

/// Of a text in quotes. A doubled quote begins another one right after it, which is as good here.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        if character == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = character == '\\' && !is_escaped && quote != '`';
    }
    rest.len()
}

/// PostgreSQL's `$$` or `$tag$` at the front.
fn dollar_tag(rest: &str) -> Option<&str> {
    let tag = &rest[1..1 + rest.strip_prefix('$')?.find('$')?];
    let is_name = tag.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !tag.starts_with(|c: char| c.is_ascii_digit())).then(|| &rest[..tag.len() + 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statement_of_a_line_is_one() {
        let mut text = "SELECT 1; SELECT 'a;b', \"c;\"; ;\nINSERT INTO t".to_owned();
        assert_eq!(take_whole(&mut text), ["SELECT 1", "SELECT 'a;b', \"c;\""]);
        assert_eq!(text.trim(), "INSERT INTO t");
        text.push_str(" VALUES (1);\n");
        assert_eq!(take_whole(&mut text), ["INSERT INTO t VALUES (1)"]);
        assert_eq!(text, "");
    }

    #[test]
    fn quotes_comments_and_bodies_hold_semicolons() {
        for statement in [
            "SELECT 'it''s; one'",
            r"SELECT 'a\';b'",
            "SELECT `a;b`",
            "SELECT 1 /* ; */",
            "SELECT 1 -- ;\n",
            "SELECT 1\n  # it's ;\n + 1",
            "SELECT 1 # 2",
            "DO $$ BEGIN x; END $$",
            "DO $a$ BEGIN x; $$; END $a$",
            "SELECT '$1', $1",
            "SELECT 'ä;ö'",
        ] {
            let mut text = format!("{statement};");
            assert_eq!(take_whole(&mut text), [statement.trim()]);
        }
        let mut open = "SELECT 'a;\n".to_owned();
        assert_eq!(take_whole(&mut open), Vec::<String>::new());
        assert_eq!(open, "SELECT 'a;\n");
    }
}
