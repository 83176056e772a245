//! The words, names and symbols of a statement.
//!
//! Where servers could read a text in two ways, by their version, character set or modes, it is an error.

use rqps_model::Dbms;

/// A token of a statement. What stands in strings and comments is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without quotes in lower case: a keyword, or a name.
    Word(String),
    /// A name in quotes. In double quotes MySQL has a string, unless a mode says otherwise.
    Quoted(String),
    /// A number.
    Number,
    /// A string, or a list of parameters.
    Text,
    /// Any other character.
    Symbol(char),
}

/// The tokens of a statement, without the semicolon at its end.
#[derive(Debug)]
pub(super) struct Tokens(Vec<Token>);

impl Tokens {
    /// # Errors
    /// A quote or a comment that does not end, what servers read in more than one way, a second statement.
    pub(super) fn read(dbms: Dbms, sql: &str) -> Result<Self, String> {
        let is_refused = |c: &char| c.is_control() && !matches!(c, '\t' | '\n');
        if let Some(c) = sql.chars().find(is_refused) {
            return Err(format!("it has the character {}", c.escape_default()));
        }
        let mut reader = Reader { dbms, sql, rest: sql, found: Vec::new() };
        while let Some(c) = reader.rest.chars().next() {
            reader.read(c)?;
        }
        let mut tokens = Self(reader.found);
        while tokens.is(tokens.len().wrapping_sub(1), ';') {
            tokens.0.pop();
        }
        if tokens.0.contains(&Token::Symbol(';')) {
            return Err("it is more than one statement; write each as a text of its own".to_owned());
        }
        Ok(tokens)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Token> {
        self.0.get(at)
    }

    /// The word without quotes at a position, in lower case; empty where there is none.
    pub(super) fn word(&self, at: usize) -> &str {
        match self.get(at) {
            Some(Token::Word(word)) => word,
            _ => "",
        }
    }

    /// The word before a position.
    pub(super) fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    /// What can be a name at a position.
    pub(super) fn name(&self, at: usize) -> Option<&str> {
        match self.get(at) {
            Some(Token::Word(name) | Token::Quoted(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is(&self, at: usize, symbol: char) -> bool {
        self.get(at) == Some(&Token::Symbol(symbol))
    }

    /// Whether this symbol stands before a position.
    pub(super) fn is_before(&self, at: usize, symbol: char) -> bool {
        at.checked_sub(1).is_some_and(|at| self.is(at, symbol))
    }

    /// The position behind the bracket that opens at `at`.
    pub(super) fn after_bracket(&self, at: usize) -> usize {
        let mut depth = 0_usize;
        for position in at..self.len() {
            if self.is(position, '(') {
                depth += 1;
            } else if self.is(position, ')') {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                return position + 1;
            }
        }
        self.len()
    }

    /// All words with their positions.
    pub(super) fn words(&self) -> impl Iterator<Item = (usize, &str)> {
        (0..self.len()).map(|at| (at, self.word(at))).filter(|(_, word)| !word.is_empty())
    }
}

/// What a suite puts the names of its tables and lists of parameters in place of.
const TABLE: &str = "{table}";
const LIST: &str = "{list}";

struct Reader<'a> {
    dbms: Dbms,
    sql: &'a str,
    rest: &'a str,
    found: Vec<Token>,
}

impl Reader<'_> {
    fn read(&mut self, c: char) -> Result<(), String> {
        let (mysql, rest) = (!self.dbms.is_postgres_family(), self.rest);
        if let Some(comment) = self.comment()? {
            require_plain(&rest[..comment])?;
            self.rest = &rest[comment..];
        } else if is_unicode_escape(rest) && !mysql {
            return Err("it has Unicode escapes; write the characters themselves".to_owned());
        } else if c == '\'' {
            self.string()?;
        } else if c == '"' || (mysql && c == '`') {
            self.quoted_name(c)?;
        } else if c == '$' && !mysql && self.dollar_string()? {
            self.found.push(Token::Text);
        } else if c.is_ascii_digit() || (c == '.' && self.begins_number()) {
            self.number()?;
        } else if is_of_word(c) && (mysql || c != '$') {
            let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            if rest[end..].starts_with('{') {
                return Err(format!("write a space after {}", &rest[..end]));
            }
            self.push(Token::Word(rest[..end].to_ascii_lowercase()), end);
        } else if c == '{' {
            self.placeholder()?;
        } else {
            require_plain(&rest[..c.len_utf8()])?;
            if c == '.' && !self.is_between_names() {
                return Err(
                    "a point in it is not between names; write no spaces around it".to_owned()
                );
            }
            self.rest = &rest[1..];
            if !c.is_whitespace() {
                self.found.push(Token::Symbol(c));
            }
        }
        Ok(())
    }

    fn push(&mut self, token: Token, bytes: usize) {
        self.found.push(token);
        self.rest = &self.rest[bytes..];
    }

    /// How long the comment is that begins here.
    fn comment(&self) -> Result<Option<usize>, String> {
        let (mysql, rest) = (!self.dbms.is_postgres_family(), self.rest);
        let is_line = match rest.strip_prefix("--") {
            // MySQL takes two dashes for a comment before a blank alone.
            Some(after) => !mysql || after.is_empty() || after.starts_with([' ', '\t', '\n']),
            None => mysql && rest.starts_with('#'),
        };
        if is_line {
            return Ok(Some(rest.find('\n').unwrap_or(rest.len())));
        }
        if !rest.starts_with("/*") {
            return Ok(None);
        }
        if mysql && (rest.starts_with("/*!") || rest.starts_with("/*M!")) {
            return Err(
                "it has a comment that a server may execute; leave the comment out".to_owned()
            );
        }
        let after = end_of_comment(rest, !mysql).ok_or("a comment in it does not end")?;
        let end = rest.len() - after.len();
        let hint = rest[..end].to_ascii_lowercase();
        // SET_VAR of MySQL, Set of pg_hint_plan.
        if hint.starts_with("/*+") && (hint.contains("set") || hint.contains("resource")) {
            return Err("a hint in it sets something; write SET as a text of its own".to_owned());
        }
        Ok(Some(end))
    }

    /// A point before a digit begins a number, unless a name stands before it.
    fn begins_number(&self) -> bool {
        let is_digit = self.rest[1..].starts_with(|c: char| c.is_ascii_digit());
        is_digit && !matches!(self.found.last(), Some(Token::Word(_) | Token::Quoted(_)))
    }

    /// Whether the point here touches a name on both sides. MySQL takes a word for a name where it does, and has names
    /// that begin with a point.
    fn is_between_names(&self) -> bool {
        let before = self.sql[..self.sql.len() - self.rest.len()].chars().next_back();
        let is_name = before.is_some_and(|c| is_of_word(c) || "\"`}".contains(c));
        is_name && self.rest[1..].starts_with(|c| is_of_word(c) || "\"`{*".contains(c))
    }

    /// A number. Servers begin a word, a string or another number at different characters behind it.
    fn number(&mut self) -> Result<(), String> {
        let digits =
            |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = self.rest;
        let end = if let Some(hex) = rest.strip_prefix("0x") {
            2 + hex.len() - hex.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len()
        } else {
            let mut end = digits(rest);
            if let Some(after) = rest[end..].strip_prefix('.') {
                end += 1 + digits(after);
            }
            if let Some(power) = rest[end..].strip_prefix(['e', 'E']) {
                let sign = usize::from(power.starts_with(['+', '-']));
                let n = digits(&power[sign..]);
                end += if n > 0 { 1 + sign + n } else { 0 };
            }
            end
        };
        let is_of_more = |c: char| is_of_word(c) || !c.is_ascii() || "\"'`.{@".contains(c);
        if rest[end..].starts_with(is_of_more) {
            return Err(format!("write a space after the number {}", &rest[..end]));
        }
        self.push(Token::Number, end);
        Ok(())
    }

    /// `{table}` or `{list}`.
    fn placeholder(&mut self) -> Result<(), String> {
        let (token, length) = if self.rest.starts_with(TABLE) {
            (Token::Word(TABLE.to_owned()), TABLE.len())
        } else if self.rest.starts_with(LIST) {
            (Token::Text, LIST.len())
        } else {
            return Err("it has a brace; {table} and {list} alone are written in braces".to_owned());
        };
        if self.rest[length..].starts_with(is_of_word) {
            return Err(format!("write a space after {}", &self.rest[..length]));
        }
        self.push(token, length);
        Ok(())
    }

    /// A string in single quotes. No character set of a client has quotes among the later bytes of a character, so that
    /// letters of any language do not move its end. Neither does a backslash before `_` or `%`, whatever it means.
    fn string(&mut self) -> Result<(), String> {
        let (text, end) = self.between_quotes('\'')?;
        let mut after_backslashes = text.split('\\').skip(1);
        if after_backslashes.any(|after| !after.starts_with(['_', '%'])) {
            let why = "a string in it has a backslash, which servers read in more than one way";
            return Err(why.to_owned());
        }
        self.push(Token::Text, end);
        Ok(())
    }

    /// A name in quotes: MariaDB reads `#mysql50#` and `@` in it as another database's.
    fn quoted_name(&mut self, quote: char) -> Result<(), String> {
        let (name, end) = self.between_quotes(quote)?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_$ -".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!(
                "a name in quotes may have only letters, digits, spaces, _, $ and -, which {name:?} has \
                 not; write strings in single quotes"
            ));
        }
        self.push(Token::Quoted(name), end);
        Ok(())
    }

    /// What stands between quotes, and where they end; twice the quote is one of it.
    fn between_quotes(&self, quote: char) -> Result<(String, usize), String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            if c != quote {
                text.push(c);
            } else if chars.next_if(|(_, next)| *next == quote).is_some() {
                text.push(quote);
            } else {
                return Ok((text, at + 1));
            }
        }
        Err("a quote in it is not closed".to_owned())
    }

    /// Passes a string between `$tag$`, where one begins here.
    fn dollar_string(&mut self) -> Result<bool, String> {
        let Some((tag, after)) = self.rest[1..].split_once('$') else { return Ok(false) };
        let is_tag = tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
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

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// `U&'...'` and `U&"..."`.
fn is_unicode_escape(text: &str) -> bool {
    let after = text.strip_prefix(['u', 'U']).and_then(|text| text.strip_prefix('&'));
    after.is_some_and(|text| text.starts_with(['"', '\'']))
}

/// Refuses what may have two readings outside of strings.
fn require_plain(text: &str) -> Result<(), String> {
    match text.chars().find(|c| !c.is_ascii() || *c == '\\') {
        Some(c) => Err(format!("it has the character {} outside of a string", c.escape_default())),
        None => Ok(()),
    }
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
