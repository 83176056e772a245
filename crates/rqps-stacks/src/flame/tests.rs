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
    expect![[r#"
        <svg class="flame" role="img" aria-label="b less a" width="100%" height="54">
        <svg x="0.000%" y="0" width="100.000%" height="17"><title>all
        inclusive 20.0 → 50.1 µs/query (+30.1 ± 5.20)</title><rect class="z" width="100%" height="100%"></rect><text x="3" y="12.5">all</text></svg>
        <svg x="0.000%" y="18" width="100.000%" height="17"><title>main
        inclusive 20.0 → 50.1 µs/query (+30.1 ± 5.20)</title><rect class="m4" width="100%" height="100%"></rect><text x="3" y="12.5">main</text></svg>
        <svg x="0.000%" y="36" width="16.639%" height="17"><title>old
        inclusive 10.0 → 0 µs/query (-10.0 ± 1.98)
        own 10.0 → 0 µs/query (-10.0 ± 1.98)
        vanished</title><rect class="l3 gone" width="100%" height="100%"></rect><text x="3" y="12.5">− old</text></svg>
        <svg x="16.639%" y="36" width="16.805%" height="17"><title>same
        inclusive 10.0 → 10.1 µs/query (+0.100 ± 2.79)
        own 10.0 → 10.1 µs/query (+0.100 ± 2.79)</title><rect class="z" width="100%" height="100%"></rect><text x="3" y="12.5">same</text></svg>
        <svg x="33.444%" y="36" width="66.556%" height="17"><title>young
        inclusive 0 → 40.0 µs/query (+40.0 ± 3.93)
        own 0 → 40.0 µs/query (+40.0 ± 3.93)
        new</title><rect class="m4 new" width="100%" height="100%"></rect><text x="3" y="12.5">+ young</text></svg></svg>"#]].assert_eq(&out);
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
    expect![[r#"
        <svg class="flame" role="img" aria-label="a" width="100%" height="54">
        <svg x="0.000%" y="0" width="100.000%" height="17"><title>all
        10.0 µs/row inclusive, 0 own</title><rect class="z" width="100%" height="100%"></rect><text x="3" y="12.5">all</text></svg>
        <svg x="0.000%" y="18" width="100.000%" height="17"><title>main
        10.0 µs/row inclusive, 0 own</title><rect class="u2" width="100%" height="100%"></rect><text x="3" y="12.5">main</text></svg>
        <svg x="0.000%" y="36" width="40.000%" height="17"><title>[libc.so.6]
        4.00 µs/row inclusive, 4.00 own</title><rect class="b" width="100%" height="100%"></rect><text x="3" y="12.5">[libc.so.6]</text></svg>
        <svg x="40.000%" y="36" width="60.000%" height="17"><title>read_[k]
        6.00 µs/row inclusive, 6.00 own</title><rect class="k" width="100%" height="100%"></rect><text x="3" y="12.5">read_[k]</text></svg></svg>"#]].assert_eq(&out.into_string().replace("<svg x", "\n<svg x"));
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
    // A page's policy refuses styles in attributes.
    assert!(!SCRIPT.contains("setAttribute(\"style\"") && !SCRIPT.contains("cssText"));
    assert_eq!(SCRIPT.matches("http").count(), 1, "the name of SVG alone");
}
