//! The page's own promises: contrast, no way around the escaping.

mod colours;

use std::fs;
use std::path::{Path, PathBuf};

use super::{CHART_LIBRARY, CHART_STYLE, INSERT_STYLE, SCRIPT, STYLE};

/// Relative luminance of `#rrggbb`, WCAG 2.2.
fn luminance(hex: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The colours of a style's light theme, then of its dark one.
fn themes(style: &str) -> [Vec<(String, String)>; 2] {
    let mut blocks = style.split(":root {").skip(1).map(|block| {
        let body = block.split('}').next().unwrap();
        body.lines()
            .filter_map(|line| {
                let (name, value) = line.trim().strip_prefix("--")?.split_once(": ")?;
                Some((name.to_owned(), value.trim_end_matches(';').to_owned()))
            })
            .collect::<Vec<_>>()
    });
    [blocks.next().unwrap(), blocks.next().unwrap()]
}

#[test]
fn contrast_is_wcag_aa_in_both_themes() {
    for theme in themes(STYLE) {
        let colour = |name: &str| &theme.iter().find(|(n, _)| n == name).unwrap().1;
        for ink in ["ink", "muted", "link", "failed-ink"] {
            for paper in ["paper", "panel"] {
                let ratio = contrast(colour(ink), colour(paper));
                assert!(ratio >= 4.5, "{ink} on {paper}: {ratio:.2}");
            }
        }
        for pair in [
            ("lower-ink", "lower-bg"),
            ("higher-ink", "higher-bg"),
            ("failed-ink", "failed-bg"),
            ("unheld-ink", "unheld-bg"),
        ] {
            let ratio = contrast(colour(pair.0), colour(pair.1));
            assert!(ratio >= 4.5, "{} on {}: {ratio:.2}", pair.0, pair.1);
        }
        // Signs are text; lines and dots need 3.
        for mark in ["lower-mark", "higher-mark", "t1", "t2", "t3"] {
            let ratio = contrast(colour(mark), colour("paper"));
            assert!(ratio >= 4.5, "{mark} on paper: {ratio:.2}");
            assert!(contrast(colour(mark), colour("band")) >= 3.0, "{mark} on band");
        }
        assert!(contrast(colour("ink"), colour("lower-bg")) >= 4.5);
        assert!(contrast(colour("ink"), colour("higher-bg")) >= 4.5);
    }
}

#[test]
fn colours_of_the_insert_benchmark_can_be_read_in_both_themes() {
    for theme in themes(INSERT_STYLE) {
        let colour = |name: String| &theme.iter().find(|(n, _)| *n == name).unwrap().1;
        for name in ["best", "worst"] {
            let ratio = contrast(colour(format!("{name}-ink")), colour(format!("{name}-bg")));
            assert!(ratio >= 4.5, "{name}: {ratio:.2}");
        }
    }
}

#[test]
fn the_chart_library_is_the_published_one() {
    let readme = include_str!("vendor/README.md");
    let files = [
        ("uPlot.iife.min.js", include_str!("vendor/uPlot.iife.min.js")),
        ("uPlot.min.css", CHART_STYLE),
        ("uPlot.LICENSE", include_str!("vendor/uPlot.LICENSE")),
    ];
    for (name, text) in files {
        let digest = <sha2::Sha256 as sha2::Digest>::digest(text.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(readme.contains(&format!("{hex}  {name}")), "{name}: {hex}");
    }
    assert!(CHART_LIBRARY.contains("Permission is hereby granted"));
}

#[test]
fn no_script_ends_early_or_needs_another() {
    for script in [SCRIPT, CHART_LIBRARY] {
        assert!(!script.contains("</script") && !script.contains("<!--"));
    }
    for word in ["eval(", "new Function", "http:", "https:", "import(", "XMLHttpRequest", "fetch("]
    {
        assert!(!SCRIPT.contains(word), "{word}");
    }
    // The page's policy refuses styles in attributes; those of elements' own `style` it does not.
    for word in [" style=", "setAttribute(\"style\"", "cssText"] {
        assert!(!SCRIPT.contains(word) && !CHART_LIBRARY.contains(word), "{word}");
    }
}

/// What passes unescaped: styles, scripts, base64, and markup that was escaped before.
const UNESCAPED: [&str; 8] = [
    "&style",
    "SCRIPT",
    "CHART_LIBRARY",
    "flame::SCRIPT",
    "series",
    "bodies",
    "packed",
    "compact(&markup.0",
];

/// The Rust files below a directory.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push(path);
        }
    }
    out
}

#[test]
fn only_style_and_script_pass_unescaped() {
    let mut n = 0;
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        // This file.
        if path.ends_with("src/tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for after in text.split("PreEscaped(").skip(1) {
            let what = after.split(')').next().unwrap();
            assert!(UNESCAPED.contains(&what), "{}: {what}", path.display());
            n += 1;
        }
    }
    assert!(n >= UNESCAPED.len(), "{n} places were found");
}
