//! What can be read in a page: packed data may hold any letters by chance, so no test looks for words in them.

/// A page with a mark in place of each script and each packed file.
pub(crate) fn readable(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    loop {
        let script = rest.find("<script").map(|at| (at, "</script>"));
        let file = rest.find(";base64,").map(|at| (at, "\""));
        let Some((at, end)) = [script, file].into_iter().flatten().min() else { break };
        let from = at + rest[at..].find(['>', ',']).unwrap() + 1;
        let to = from + rest[from..].find(end).unwrap();
        out.push_str(&rest[..from]);
        out.push('…');
        rest = &rest[to..];
        out.push_str(end);
        rest = &rest[end.len()..];
    }
    out + rest
}
