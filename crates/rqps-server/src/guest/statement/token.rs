//! The words, names and points of a statement: what stands in strings and comments is left out.

use rqps_model::Dbms;

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without quotes: a keyword, or a name.
    Word(String),
    /// A name in quotes. In double quotes MySQL has a string, unless a mode says otherwise.
    Quoted(String),
    /// A point.
    Dot,
    /// A comma.
    Comma,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// The end of a statement.
    Semicolon,
    /// Numbers, strings, operators.
    Other,
}

impl Token {
    /// A word in lower case; nothing of a quoted name, which is no keyword.
    pub(super) fn word(&self) -> Option<String> {
        match self {
            Self::Word(word) => Some(word.to_ascii_lowercase()),
            _ => None,
        }
    }

    /// What can be a name.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Word(name) | Self::Quoted(name) => Some(name),
            _ => None,
        }
    }
}

/// The tokens of a statement.
///
/// # Errors
/// A quote or a comment that does not end, and what servers of one family read differently.
pub(super) fn tokens(dbms: Dbms, sql: &str) -> Result<Vec<Token>, String> {
    check_text(sql)?;
    let mut reader = Reader { dbms, rest: sql, found: Vec::new() };
    while let Some(c) = reader.rest.chars().next() {
        reader.read(c)?;
    }
    Ok(reader.found)
}

struct Reader<'a> {
    dbms: Dbms,
    rest: &'a str,
    found: Vec<Token>,
}

impl Reader<'_> {
    fn read(&mut self, c: char) -> Result<(), String> {
        let mysql = self.dbms != Dbms::Postgres;
        let rest = self.rest;
        let is_unicode = |text: &str| {
            let after = text.strip_prefix(['u', 'U']).and_then(|text| text.strip_prefix('&'));
            after.is_some_and(|text| text.starts_with(['"', '\'']))
        };
        if !mysql && is_unicode(rest) {
            return Err("it has Unicode escapes; write the characters themselves".to_owned());
        }
        let after_dashes = rest.strip_prefix("--").map(|after| after.chars().next());
        let is_line = match after_dashes {
            // MySQL takes two dashes for a comment before a blank alone.
            Some(next) => !mysql || next.is_none_or(char::is_whitespace),
            None => mysql && c == '#',
        };
        if is_line {
            self.rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if mysql && (rest.starts_with("/*!") || rest.starts_with("/*M!")) {
            return Err("it has a comment that a server may execute; write it without".to_owned());
        } else if rest.starts_with("/*") {
            self.rest = end_of_comment(rest, !mysql).ok_or("a comment in it does not end")?;
        } else if c == '\'' {
            self.quoted(c)?;
            self.found.push(Token::Other);
        } else if c == '"' || (mysql && c == '`') {
            let name = self.quoted(c)?;
            self.found.push(Token::Quoted(name));
        } else if !mysql && c == '$' && self.dollar_quoted()? {
            self.found.push(Token::Other);
        } else if c.is_ascii_digit() || (c == '.' && self.begins_number()) {
            self.number();
        } else if c.is_alphabetic() || c == '_' || c == '{' || (mysql && c == '$') {
            self.word();
        } else {
            self.rest = &rest[c.len_utf8()..];
            match c {
                '.' => self.found.push(Token::Dot),
                ',' => self.found.push(Token::Comma),
                '(' => self.found.push(Token::Open),
                ')' => self.found.push(Token::Close),
                ';' => self.found.push(Token::Semicolon),
                _ if c.is_whitespace() => {}
                _ => self.found.push(Token::Other),
            }
        }
        Ok(())
    }

    /// A point before a digit begins a number, unless a name stands before it.
    fn begins_number(&self) -> bool {
        let is_digit = self.rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let after_name = matches!(self.found.last(), Some(Token::Word(_) | Token::Quoted(_)));
        is_digit && !after_name
    }

    /// A number, or a name that begins with digits, as MySQL allows.
    fn number(&mut self) {
        let is_of_number = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let whole = self.rest.trim_start_matches(is_of_number);
        let head = &self.rest[..self.rest.len() - whole.len()];
        let is_digits = head.bytes().all(|byte| byte.is_ascii_digit());
        if !head.is_empty() && !is_digits && !is_exponent(head) && !head.starts_with("0x") {
            self.found.push(Token::Word(head.to_owned()));
            self.rest = whole;
            return;
        }
        self.rest = match whole.strip_prefix('.') {
            Some(after) if is_digits => after.trim_start_matches(is_of_number),
            _ => whole,
        };
        self.found.push(Token::Other);
    }

    /// A word, or a place such as `{table}` that the suite fills.
    fn word(&mut self) {
        let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '{' | '}');
        let after = self.rest.trim_start_matches(is_of_word);
        self.found.push(Token::Word(self.rest[..self.rest.len() - after.len()].to_owned()));
        self.rest = after;
    }

    /// What stands between quotes; twice the quote is one of it. No escape is in it: [`check_text`] refuses backslashes.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != quote {
                text.push(c);
            } else if chars.next_if(|(_, next)| *next == quote).is_some() {
                text.push(quote);
            } else {
                self.rest = &self.rest[at + 1..];
                return Ok(text);
            }
        }
        Err("a quote in it is not closed".to_owned())
    }

    /// A string between `$tag$`, where one begins here.
    fn dollar_quoted(&mut self) -> Result<bool, String> {
        let Some((tag, after)) = self.rest[1..].split_once('$') else { return Ok(false) };
        let is_tag = tag.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !tag.starts_with(|c: char| c.is_ascii_digit());
        if !is_tag {
            return Ok(false);
        }
        let end = format!("${tag}$");
        let at = after.find(&end).ok_or("a quote in it is not closed")?;
        self.rest = &after[at + end.len()..];
        Ok(true)
    }
}

/// Refuses characters that servers read in more than one way, by their version, character set and modes: where a string
/// or a comment ends would not be certain.
fn check_text(sql: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_graphic() || matches!(c, ' ' | '\t' | '\n');
    if let Some(c) = sql.chars().find(|c| !is_plain(*c)) {
        return Err(format!("it has the character {}; write it in ASCII", c.escape_default()));
    }
    if sql.contains('\\') {
        return Err("it has a backslash, which servers read in more than one way".to_owned());
    }
    Ok(())
}

/// `1e5`.
fn is_exponent(text: &str) -> bool {
    let parts = text.split_once(['e', 'E']);
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    parts.is_some_and(|(base, power)| is_number(base) && is_number(power))
}

/// What follows a comment; those of PostgreSQL lie in one another.
fn end_of_comment(text: &str, nests: bool) -> Option<&str> {
    let (mut depth, mut rest) = (0_u32, text);
    loop {
        if let Some(after) = rest.strip_prefix("/*").filter(|_| nests || depth == 0) {
            (depth, rest) = (depth + 1, after);
        } else if let Some(after) = rest.strip_prefix("*/") {
            (depth, rest) = (depth - 1, after);
            if depth == 0 {
                return Some(rest);
            }
        } else {
            rest = &rest[rest.chars().next()?.len_utf8()..];
        }
    }
}
