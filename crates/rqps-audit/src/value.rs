//! Values of settings made comparable and short: units, switches, lists.

use std::collections::{BTreeMap, BTreeSet};

use super::known::{Kind, SettingRule};

/// A value in the form in which it is compared and shown.
pub(super) fn normal(known: &SettingRule, value: &str) -> String {
    let value = value.trim();
    let said = known.says.get(value).map_or(value, String::as_str);
    match known.kind {
        Kind::Bytes => bytes(said).map_or_else(|| said.to_owned(), show_bytes),
        Kind::Switch => match switch(said) {
            Some(on) => if on { "on" } else { "off" }.to_owned(),
            None => said.to_owned(),
        },
        Kind::List => {
            let words: BTreeSet<&str> =
                said.split(',').map(str::trim).filter(|w| !w.is_empty()).collect();
            words.into_iter().collect::<Vec<_>>().join(",")
        }
        Kind::Text | Kind::Flags => said.to_owned(),
    }
}

/// Whether two normal values say the same: `ON` and `on`, `90` and `90.000000`.
pub fn same(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    // Versions write one number in several ways; the values themselves are exact.
    matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a.total_cmp(&b).is_eq())
}

pub(super) fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "1" | "yes" | "true" => Some(true),
        "off" | "0" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// `1073741824`, `1G`, `128MB`, `8kB`; `None` for anything else, -1 among it.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit.trim().trim_end_matches(['B', 'b']) {
        "" => 0,
        "k" | "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Bytes in the largest unit that they are whole in: `1G`, `48M`, `32000`.
pub(super) fn show_bytes(n: u64) -> String {
    let units = [(40, "T"), (30, "G"), (20, "M"), (10, "K")];
    let whole = units.into_iter().find(|(shift, _)| n > 0 && n.is_multiple_of(1 << shift));
    whole.map_or_else(|| n.to_string(), |(shift, unit)| format!("{}{unit}", n >> shift))
}

/// Of lists of flags (`a=on,b=off`) those that all have and that differ, each list in its own form;
/// flags that not all know are part of what a version is.
pub(super) fn differing_flags(lists: &[&str]) -> Vec<String> {
    let maps: Vec<BTreeMap<&str, &str>> = lists
        .iter()
        .map(|list| list.split(',').filter_map(|f| f.split_once('=')).collect())
        .collect();
    let Some(first) = maps.first() else { return Vec::new() };
    let differs = |name: &&&str| {
        let values: Option<Vec<&&str>> = maps.iter().map(|map| map.get(**name)).collect();
        values.is_some_and(|values| values.iter().any(|v| !same(v, values[0])))
    };
    let names: Vec<&&str> = first.keys().filter(differs).collect();
    let show = |map: &BTreeMap<&str, &str>| {
        names.iter().map(|name| format!("{name}={}", map[**name])).collect::<Vec<_>>().join(",")
    };
    maps.iter().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_every_spelling() {
        for (text, shown) in [
            ("1073741824", "1G"),
            ("4GB", "4G"),
            ("128MB", "128M"),
            ("8kB", "8K"),
            ("50331648", "48M"),
            ("32000", "32000"),
            ("0", "0"),
        ] {
            assert_eq!(show_bytes(bytes(text).unwrap()), shown);
        }
        assert_eq!((bytes("-1"), bytes("5min"), bytes("99999999999T")), (None, None, None));
    }

    #[test]
    fn values_that_say_the_same() {
        assert!(same("ON", "on") && same("90", "90.000000"));
        assert!(!same("4", "04.1") && !same("on", "1"));
        assert_eq!((switch("ON"), switch("0"), switch("DETECT")), (Some(true), Some(false), None));
    }

    #[test]
    fn only_flags_that_both_have_are_compared() {
        let lists = ["a=on,b=on,old=on", "b=off,a=on,new=on"];
        assert_eq!(differing_flags(&lists), ["b=on", "b=off"]);
        assert_eq!(differing_flags(&["a=on", "a=on"]), ["", ""]);
    }
}
