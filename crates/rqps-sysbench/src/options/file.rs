//! Files of options: `NAME=VALUE` or a name alone on each line, `#` before comments.

/// The options of a file in order.
pub(super) fn parse(text: &str) -> Vec<(String, Option<String>)> {
    let mut options = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with('[') {
            continue;
        }
        let line = line.strip_prefix("--").unwrap_or(line);
        let cut = line.find(|c: char| c == '=' || c.is_whitespace());
        let (name, behind) = line.split_at(cut.unwrap_or(line.len()));
        let behind = behind.trim_start();
        let (is_assigned, text) = match behind.strip_prefix('=') {
            Some(text) => (true, text.trim_start()),
            None => (false, behind),
        };
        let value = first_value(text);
        let is_given = is_assigned || !value.is_empty();
        options.push((name.to_owned(), is_given.then(|| value.to_owned())));
    }
    options
}

/// A value within quotes, else up to a blank. As in sysbench 1.0.20, what follows is a comment.
fn first_value(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.split_once(quote).map(|(value, _)| value);
    let word = || text.split_whitespace().next().filter(|word| !word.starts_with('#'));
    within('"').or_else(|| within('\'')).or_else(word).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_values_and_comments() {
        let parsed = parse("# x\n[sysbench]\n\nthreads=2\n --time = 3 \nmysql-db \"a b\"\ndebug\n");
        let pair = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let expected = [
            pair("threads", Some("2")),
            pair("time", Some("3")),
            pair("mysql-db", Some("a b")),
            pair("debug", None),
        ];
        assert_eq!(parsed, expected);
    }

    /// What sysbench 1.0.20 makes of the same lines.
    #[test]
    fn comments_behind_values() {
        for (line, value) in [
            ("threads=2 # two", Some("2")),
            ("threads=2\t# two", Some("2")),
            ("threads=2#two", Some("2#two")),
            ("mysql-db=a ; b", Some("a")),
            ("mysql-db=a#b", Some("a#b")),
            ("mysql-db=\"a # b\" # c", Some("a # b")),
            ("mysql-db='a b' # c", Some("a b")),
            ("mysql-db= # c", Some("")),
            ("mysql-db=", Some("")),
            ("debug # c", None),
        ] {
            let parsed = parse(line);
            assert_eq!(parsed[0].1.as_deref(), value, "{line}");
        }
    }
}
