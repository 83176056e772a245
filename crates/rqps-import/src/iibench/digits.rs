//! How many digits a computed value gets.

/// A computed value with as many digits as the scripts print.
pub(super) fn rounded(head: &str, value: f64) -> f64 {
    let unit = match head {
        "cpupq" | "csps" => 1.0,
        "ips" | "qps" | "p50" | "p99" | "cpups" => 10.0,
        _ => 1000.0,
    };
    (value * unit).round() / unit
}
