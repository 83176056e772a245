//! SQL as words, numbers, texts, parameters and signs.

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// A keyword or a name, quoted or not.
    Word(&'a str),
    /// A whole number.
    Number(i64),
    /// What stands between apostrophes, as it was written.
    Text(&'a str),
    /// A parameter, from 0.
    Param(usize),
    /// Anything else.
    Sign(u8),
}

/// The tokens of a statement; `None` where a text does not end.
pub(crate) fn tokens(sql: &str) -> Option<Vec<Token<'_>>> {
    let bytes = sql.as_bytes();
    let (mut out, mut at, mut n_params) = (Vec::new(), 0, 0);
    while let Some(&byte) = bytes.get(at) {
        let rest = &sql[at..];
        let (token, length) = match byte {
            b' ' | b'\n' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'\'' => {
                let end = end_of_text(rest)?;
                (Token::Text(&rest[1..end]), end + 1)
            }
            b'`' | b'"' => {
                let end = rest[1..].find(char::from(byte))? + 1;
                (Token::Word(&rest[1..end]), end + 1)
            }
            b'?' => {
                n_params += 1;
                (Token::Param(n_params - 1), 1)
            }
            b'$' => {
                let digits = run(&rest[1..], |b| b.is_ascii_digit());
                let number: usize = rest[1..=digits].parse().ok()?;
                (Token::Param(number.checked_sub(1)?), digits + 1)
            }
            b'0'..=b'9' => {
                let digits = run(rest, |b| b.is_ascii_digit());
                (Token::Number(rest[..digits].parse().ok()?), digits)
            }
            b'-' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                let digits = 1 + run(&rest[1..], |b| b.is_ascii_digit());
                (Token::Number(rest[..digits].parse().ok()?), digits)
            }
            b if b.is_ascii_alphabetic() || b == b'_' || b == b'@' => {
                let is_of_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'@';
                let length = run(rest, is_of_word);
                (Token::Word(&rest[..length]), length)
            }
            // A letter of many bytes is none of the statements that are known.
            b if !b.is_ascii() => return None,
            b => (Token::Sign(b), 1),
        };
        out.push(token);
        at += length;
    }
    Some(out)
}

/// How many of the first bytes are so.
fn run(text: &str, is_so: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|b| !is_so(b)).unwrap_or(text.len())
}

/// Where the apostrophe is that ends a text which begins with one. A doubled one does not.
fn end_of_text(text: &str) -> Option<usize> {
    let mut from = 1;
    loop {
        let end = from + text[from..].find('\'')?;
        if text.as_bytes().get(end + 1) != Some(&b'\'') {
            return Some(end);
        }
        from = end + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::Token::{Number, Param, Sign, Text, Word};
    use super::*;

    #[test]
    fn a_statement_in_pieces() {
        let wanted = [
            Word("select"),
            Word("c"),
            Word("FROM"),
            Word("sb test"),
            Word("WHERE"),
            Word("id"),
            Sign(b'='),
            Param(0),
            Word("AND"),
            Word("c"),
            Sign(b'='),
            Text("it''s"),
            Sign(b','),
            Number(-7),
        ];
        assert_eq!(
            tokens("select c FROM `sb test` WHERE id=? AND c = 'it''s',-7").unwrap(),
            wanted
        );
        assert_eq!(tokens("$2, $1").unwrap(), [Param(1), Sign(b','), Param(0)]);
        assert_eq!(tokens("'open"), None);
    }
}
