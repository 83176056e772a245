//! A request as plain values: what the blocking part of the server gets to see.

/// The longest path and query, bytes: a comparison names its systems in it.
pub(crate) const LONGEST_URI: usize = 8 << 10;

/// Names and values of a query, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=b&c=d`; bytes that are no UTF-8 become U+FFFD.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let owned = |(name, value): (std::borrow::Cow<'_, str>, std::borrow::Cow<'_, str>)| {
            (name.into_owned(), value.into_owned())
        };
        Self(form_urlencoded::parse(text).map(owned).collect())
    }

    /// The first value of a name; empty when there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// All values of a name.
    pub(crate) fn all<'f>(&'f self, name: &str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A request that may be answered.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The parts of the path between its slashes.
    pub(crate) path: Vec<String>,
    pub(crate) query: Fields,
}

/// The parts of a path, decoded; `None` for one that is none of ours.
pub(crate) fn parts_of(path: &str) -> Option<Vec<String>> {
    let rest = path.strip_prefix('/')?;
    let decoded = |part: &str| {
        // The ids of runs and names of files here have none of the letters that would be written by number.
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        (part.bytes().all(is_plain) && part != "." && part != "..").then(|| part.to_owned())
    };
    rest.split('/').filter(|part| !part.is_empty()).map(decoded).collect()
}

/// `a=b&c=d` of pairs.
pub(crate) fn query_of<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let fields = Fields::parse(b"s=a%3A1&s=b&q=x+y%20z&bad=%ff");
        assert_eq!(fields.all("s").collect::<Vec<_>>(), ["a:1", "b"]);
        assert_eq!((fields.get("q"), fields.get("none")), ("x y z", ""));
        assert_eq!(fields.get("bad"), "\u{fffd}");
        assert_eq!(query_of([("s", "a:1"), ("q", "x&y")]), "s=a%3A1&q=x%26y");
    }

    #[test]
    fn no_path_leads_out() {
        let parts = |path: &str| parts_of(path).map(|parts| parts.join("|"));
        assert_eq!(parts("/").as_deref(), Some(""));
        assert_eq!(parts("/runs/2026-a_b.c/about").as_deref(), Some("runs|2026-a_b.c|about"));
        for bad in [
            "",
            "runs",
            "/runs/../rqps.db",
            "/runs/./x",
            "/runs/%2e%2e/x",
            "/runs/a%2fb",
            "/runs/a\\b",
            "/static/../../etc/passwd",
            "*",
        ] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}
