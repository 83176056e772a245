//! libpq's form of an address: `host=... port=... dbname='...'`.

/// A parameter of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Pair {
    /// A parameter of this name and value.
    pub fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into() }
    }
}

/// The parameters in their order. A value ends at a blank or stands in single quotes; `\` takes the next letter
/// as it is.
///
/// # Errors
/// What is wrong. The text is not shown: a password may stand in it.
pub fn parse(text: &str) -> Result<Vec<Pair>, &'static str> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let after = after.trim_start().strip_prefix('=').ok_or("a parameter has no = sign")?;
        let taken = take_value(after.trim_start())?;
        pairs.push(Pair::new(name, taken.value));
        rest = taken.rest.trim_start();
    }
    Ok(pairs)
}

/// A value and what follows it.
struct Taken<'t> {
    value: String,
    rest: &'t str,
}

fn take_value(text: &str) -> Result<Taken<'_>, &'static str> {
    let quoted = text.strip_prefix('\'');
    let body = quoted.unwrap_or(text);
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            '\'' if quoted.is_some() => return Ok(Taken { value, rest: &body[at + 1..] }),
            c if quoted.is_none() && c.is_whitespace() => {
                return Ok(Taken { value, rest: &body[at..] });
            }
            c => value.push(c),
        }
    }
    if quoted.is_some() { Err("a quote is not closed") } else { Ok(Taken { value, rest: "" }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_have_quotes_and_escapes() {
        let text =
            r"dbname = sbtest options='-c work_mem=64MB' password=a\ b  user='o\'k' host= empty=''";
        let pairs = parse(text).unwrap().into_iter();
        let shown: Vec<String> =
            pairs.map(|pair| format!("{}={}", pair.name, pair.value)).collect();
        assert_eq!(
            shown,
            [
                "dbname=sbtest",
                "options=-c work_mem=64MB",
                "password=a b",
                "user=o'k",
                "host=empty=''"
            ]
        );
        assert_eq!(parse("password=secret word"), Err("a parameter has no = sign"));
        assert_eq!(parse("password='secret"), Err("a quote is not closed"));
    }
}
