//! The drawing itself: a small graph in full, contrasts, hostile names.

use expect_test::expect;

use super::*;
use crate::Stacks;

fn pair(base: &str, candidate: &str) -> String {
    let (base, candidate) = (Stacks::parse(base).unwrap(), Stacks::parse(candidate).unwrap());
    let tree = CallTree::of_pair(&base, &candidate);
    svg(Flame {
        tree: &tree,
        us_per_sample: [0.1, 0.1],
        is_pair: true,
        operation: "query",
        least_share: 0.0,
        label: "b less a",
    })
    .into_string()
    .replace("<svg x", "\n<svg x")
}

#[test]
fn a_differential_graph() {
    let out = pair("main;old 100\nmain;same 100\n", "main;young 400\nmain;same 101\n");
    expect![[r#""#]].assert_eq(&out);
}

#[test]
fn one_system() {
    let stacks = Stacks::parse("main;read_[k] 60\nmain;[libc.so.6] 40\n").unwrap();
    let out = svg(Flame {
        tree: &CallTree::of(&stacks),
        us_per_sample: [0.1, 0.0],
        is_pair: false,
        operation: "row",
        least_share: 0.0,
        label: "a",
    });
    expect![[r#""#]].assert_eq(&out.into_string().replace("<svg x", "\n<svg x"));
}

#[test]
fn nothing_sampled_is_nothing_drawn() {
    assert_eq!(pair("", ""), "");
}

#[test]
fn names_cannot_leave_their_frame() {
    let out = pair("</title><script>alert(1)</script>\"'& 5\n", "a 1\n");
    assert!(!out.contains("<script") && out.contains("&lt;script&gt;"), "{out}");
}

/// Relative luminance of `#rrggbb`, WCAG 2.2.
fn luminance(hex: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[test]
fn names_can_be_read_on_every_colour_in_both_themes() {
    for theme in STYLE.split("--ink: ").skip(1) {
        let block = format!("--ink: {}", theme.split('}').next().unwrap());
        let colours: Vec<(&str, &str)> = block
            .split(';')
            .filter_map(|entry| entry.trim().strip_prefix("--")?.split_once(": "))
            .filter(|(_, value)| value.starts_with('#'))
            .collect();
        let (ink, grounds) = colours.split_first().unwrap();
        assert!(grounds.len() >= 16, "{grounds:?}");
        for (name, ground) in grounds.iter().filter(|(name, _)| *name != "mark") {
            let (a, b) = (luminance(ink.1), luminance(ground));
            let ratio = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(ratio >= 4.5, "ink on {name}: {ratio:.2}");
        }
    }
}

#[test]
fn the_script_asks_for_nothing_from_outside() {
    for word in ["fetch(", "XMLHttpRequest", "import", "eval(", "innerHTML"] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    assert_eq!(SCRIPT.matches("http").count(), 1, "the name of SVG alone");
}
