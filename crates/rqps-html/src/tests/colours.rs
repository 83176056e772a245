//! Colours that carry meaning stay apart for people who do not tell all colours apart.
//!
//! How they see is simulated after G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A
//! Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE Transactions on Visualization and
//! Computer Graphics 15(6), 2009: severity 1.0, on linear RGB. Distances are CIE76, in CIELAB with white D65.

use super::super::{INSERT_STYLE, STYLE};
use super::themes;

/// Least distance: more than four times what can just be told apart, which is 2.3 (M. Mahy, L. Van Eycken and
/// A. Oosterlinck, "Evaluation of Uniform Color Spaces Developed after the Adoption of CIELAB and CIELUV", Color
/// Research and Application 19(2), 1994).
const APART: f64 = 10.0;

/// What stands in one table, chart or bar and means different things.
const PAIRS: [(&str, &str); 15] = [
    ("lower-bg", "higher-bg"),
    ("lower-mark", "higher-mark"),
    ("lower-mark", "muted"),
    ("higher-mark", "muted"),
    ("best-bg", "worst-bg"),
    ("unheld-bg", "best-bg"),
    ("unheld-bg", "worst-bg"),
    ("unheld-bg", "lower-bg"),
    ("unheld-bg", "higher-bg"),
    ("failed-bg", "lower-bg"),
    ("failed-bg", "higher-bg"),
    ("failed-ink", "ink"),
    ("t1", "t2"),
    ("t1", "t3"),
    ("t2", "t3"),
];

/// Red, green and blue from 0 to 1, or what they were turned into.
type Triple = [f64; 3];

/// How linear RGB looks to whom, as linear RGB.
const SEEN_BY: [(&str, [Triple; 3]); 4] = [
    ("full vision", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ),
];

/// Linear sRGB to XYZ, IEC 61966-2-1.
const XYZ: [Triple; 3] =
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];

/// The white of sRGB, D65.
const WHITE: Triple = [0.9505, 1.0, 1.089];

/// Where the cube root of CIELAB begins, its cube root.
const DELTA: f64 = 6.0 / 29.0;

fn rgb(hex: &str) -> Triple {
    [1, 3, 5].map(|at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0)
}

/// A share of one colour on another, as `color-mix(in srgb)` has it.
fn mixed(share: f64, colour: Triple, other: Triple) -> Triple {
    [0, 1, 2].map(|i: usize| share * colour[i] + (1.0 - share) * other[i])
}

fn times(matrix: &[Triple; 3], v: Triple) -> Triple {
    matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
}

/// What CIELAB makes of a colour that is seen through one of the matrices.
fn lab(colour: Triple, matrix: &[Triple; 3]) -> Triple {
    let linear =
        colour.map(|v| if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) });
    let seen = times(matrix, linear).map(|v| v.clamp(0.0, 1.0));
    let xyz = times(&XYZ, seen);
    let [x, y, z] = [0, 1, 2].map(|i: usize| {
        let share = xyz[i] / WHITE[i];
        if share > DELTA.powi(3) {
            share.cbrt()
        } else {
            share / (3.0 * DELTA.powi(2)) + 4.0 / 29.0
        }
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(a: Triple, b: Triple, matrix: &[Triple; 3]) -> f64 {
    let (a, b) = (lab(a, matrix), lab(b, matrix));
    [0, 1, 2].map(|i: usize| (a[i] - b[i]).powi(2)).iter().sum::<f64>().sqrt()
}

#[test]
fn colours_that_mean_something_stay_apart_whoever_looks() {
    for (page, insert) in themes(STYLE).into_iter().zip(themes(INSERT_STYLE)) {
        let colour = |name: &str| {
            let mut all = page.iter().chain(&insert);
            rgb(&all.find(|(n, _)| n == name).unwrap().1)
        };
        // What no verdict confirms is paler (`.pale`).
        let pale = |name: &str| mixed(0.4, colour(name), colour("paper"));
        let mut pairs: Vec<(&str, &str, Triple, Triple)> =
            PAIRS.iter().map(|&(a, b)| (a, b, colour(a), colour(b))).collect();
        pairs.push(("pale lower-bg", "pale higher-bg", pale("lower-bg"), pale("higher-bg")));
        for (whose, matrix) in &SEEN_BY {
            for (a, b, one, other) in &pairs {
                let apart = distance(*one, *other, matrix);
                assert!(apart >= APART, "{a} and {b} with {whose}: {apart:.1}");
            }
        }
    }
}

#[test]
fn distances_of_known_colours() {
    let (black, white) = ([0.0; 3], [1.0; 3]);
    for (whose, matrix) in &SEEN_BY {
        // Greys are seen alike by all.
        let apart = distance(black, white, matrix);
        assert!((apart - 100.0).abs() < 0.1, "{whose}: {apart}");
    }
    // A green and a red of one lightness, which this page had: 28.8 apart, and 2.4 with deuteranopia.
    let (green, red) = (rgb("#cdeacb"), rgb("#f7cfc9"));
    assert!((distance(green, red, &SEEN_BY[0].1) - 28.8).abs() < 0.2);
    assert!((distance(green, red, &SEEN_BY[2].1) - 2.4).abs() < 0.2);
}
