//! The values of many systems in a few words.

use crate::number::count;

/// With more candidates than this, systems are rows of a table. As many columns of ratios fit a
/// page.
pub const MANY: usize = 8;

/// Distinct values of a setting that a sentence names, and places of a footnote.
pub const VALUES: usize = 5;

/// The values of many systems by value: `OFF (20), ON (3), absent (9)`.
pub fn by_value(values: &[String]) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for value in values {
        match counted.iter_mut().find(|(known, _)| known == value) {
            Some((_, n)) => *n += 1,
            None => counted.push((value, 1)),
        }
    }
    // Stable: values that are as frequent stay in the order of the systems.
    counted.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let mut said: Vec<String> =
        counted.iter().take(VALUES).map(|(value, n)| format!("{value} ({n})")).collect();
    if counted.len() > VALUES {
        said.push(count(counted.len() - VALUES, "other value"));
    }
    said.join(", ")
}

#[cfg(test)]
mod tests {
    use super::by_value;

    #[test]
    fn values_are_counted_the_frequent_ones_first() {
        let values = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        assert_eq!(by_value(&values("b a a b c a")), "a (3), b (2), c (1)");
        assert_eq!(
            by_value(&values("1 2 3 4 5 6 7")),
            "1 (1), 2 (1), 3 (1), 4 (1), 5 (1), 2 other values"
        );
    }
}
