//! Takes out of a text what differs from one run, host or day to the next.

use std::path::Path;

/// Directories, run ids and times of progress lines become words in capitals.
pub(crate) fn redact(text: &str, dir: &Path) -> String {
    let text = text.replace(&dir.display().to_string(), "DIR");
    let text = replace_pattern(&text, "########-######", "TIME");
    let text = replace_pattern(&text, "##:##:## ", "");
    let mut lines = Vec::new();
    for line in text.lines() {
        // Where servers live depends on who runs the test.
        if !line.starts_with("server programs: ") && !line.starts_with("server data: ") {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}

/// Replaces what looks like `pattern`, in which `#` is a digit.
fn replace_pattern(text: &str, pattern: &str, with: &str) -> String {
    let fits = |at: &str| {
        let mut chars = at.chars();
        pattern.chars().all(|p| {
            chars.next().is_some_and(|c| if p == '#' { c.is_ascii_digit() } else { c == p })
        })
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if fits(rest) {
            out.push_str(with);
            rest = &rest[pattern.len()..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

#[test]
fn redacts() {
    let text = "00:00:07 run 20261121-221141-null took\n/x/y/results\n00:00:01 server data: /z\n";
    assert_eq!(redact(text, Path::new("/x/y")), "run TIME-null took\nDIR/results\n");
}
