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
        let (name, value) = line.split_at(cut.unwrap_or(line.len()));
        let value = value.trim_start();
        let value = value.strip_prefix('=').unwrap_or(value).trim();
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        options.push((name.to_owned(), cut.map(|_| value.to_owned())));
    }
    options
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
}
