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
        if mysql && rest.strip_prefix("--").is_some_and(|after| after.starts_with(is_odd_blank)) {
            return Err(
                "it has a character behind two dashes that servers read differently".to_owned()
            );
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
            let escapes = mysql || self.is_escape_string();
            self.quoted('\'', escapes)?;
            self.found.push(Token::Other);
        } else if c == '"' || (mysql && c == '`') {
            let name = self.quoted(c, mysql && c == '"')?;
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

    /// Whether a string of PostgreSQL has escapes, as an E stands right before it.
    fn is_escape_string(&self) -> bool {
        matches!(self.found.last(), Some(Token::Word(word)) if word.eq_ignore_ascii_case("e"))
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

    /// What stands between quotes; twice the quote is one of it.
    fn quoted(&mut self, quote: char, escapes: bool) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            let is_certain = escapes && self.dbms == Dbms::Postgres;
            if quote == '\'' && c == '\\' && !is_certain {
                // sql_mode and standard_conforming_strings decide whether it escapes, and where the string ends.
                return Err("it has a backslash in a string; write it without".to_owned());
            } else if escapes && c == '\\' {
                text.extend(chars.next().map(|(_, c)| c));
            } else if c != quote {
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

/// What is a blank for MySQL and none for others, or the other way round.
fn is_odd_blank(c: char) -> bool {
    !c.is_ascii_whitespace() && (c.is_control() || c.is_whitespace())
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
