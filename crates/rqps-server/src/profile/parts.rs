//! Options that are made of parts: RocksDB takes the settings of a column family as one text, and a
//! profile writes each with a reason of its own, as `rocksdb_default_cf_options.write_buffer_size`.

use super::same;
use crate::options::part_of;

/// Takes those of the plan's options out of `wanted` that stand for a part of the profile's
/// options: the part gets their value. Those that replace a whole option stay in `wanted`, and the
/// profile's goes, with all its parts.
pub(super) fn replace(
    options: Vec<(String, String)>,
    wanted: &mut Vec<(String, String)>,
) -> Vec<(String, String)> {
    let is_whole = |name: &str| wanted.iter().any(|(key, _)| same(key, name));
    let mut options: Vec<(String, String)> = options
        .into_iter()
        .filter(|(name, _)| match part_of(name) {
            Some((whole, _)) => !is_whole(whole),
            None => !is_whole(name),
        })
        .collect();
    wanted.retain(|(key, value)| {
        let Some((whole, _)) = part_of(key) else { return true };
        if let Some(there) = options.iter_mut().find(|(name, _)| same(name, key)) {
            there.1.clone_from(value);
            return false;
        }
        // A part that the profile does not set goes behind its last one.
        let behind = |(name, _): &(String, String)| part_of(name).is_some_and(|p| same(p.0, whole));
        match options.iter().rposition(behind) {
            Some(at) => options.insert(at + 1, (key.clone(), value.clone())),
            None => return true,
        }
        false
    });
    options
}

/// Writes the parts of each option as one: `write_buffer_size=16M;target_file_size_base=16M`.
pub(super) fn join(options: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut joined: Vec<(String, String)> = Vec::new();
    for (name, value) in options {
        let Some((whole, part)) = part_of(&name) else {
            joined.push((name, value));
            continue;
        };
        match joined.iter_mut().find(|(name, _)| same(name, whole)) {
            Some((_, parts)) => {
                parts.push(';');
                parts.push_str(&format!("{part}={value}"));
            }
            None => joined.push((whole.to_owned(), format!("{part}={value}"))),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(
        profile: &[(&str, &str)],
        plan: &[(&str, &str)],
    ) -> (String, Vec<(String, String)>) {
        let own = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
        };
        let mut left = own(plan);
        let options = join(replace(own(profile), &mut left));
        let lines: Vec<String> = options.iter().map(|(k, v)| format!("{k}={v}")).collect();
        (lines.join("|"), left)
    }

    const PROFILE: &[(&str, &str)] =
        &[("x_cf_options.a", "1"), ("y", "2"), ("x_cf_options.b", "{c=3;d=4}")];

    #[test]
    fn parts_become_one_option_where_the_first_stood() {
        assert_eq!(rendered(PROFILE, &[]).0, "x_cf_options=a=1;b={c=3;d=4}|y=2");
    }

    #[test]
    fn the_plan_replaces_a_part_adds_one_or_replaces_all() {
        let (text, left) = rendered(PROFILE, &[("x-cf-options.a", "9"), ("x_cf_options.e", "5")]);
        assert_eq!(text, "x_cf_options=a=9;b={c=3;d=4};e=5|y=2");
        assert!(left.is_empty(), "{left:?}");
        let (text, left) = rendered(PROFILE, &[("x-cf-options", "f=1")]);
        assert_eq!(text, "y=2");
        assert_eq!(left, [("x-cf-options".to_owned(), "f=1".to_owned())]);
    }

    #[test]
    fn names_with_dots_that_are_no_parts_stay() {
        assert_eq!(rendered(&[("auto_explain.x", "1")], &[]).0, "auto_explain.x=1");
        let (_, left) = rendered(&[("y", "2")], &[("x_cf_options.a", "9")]);
        assert_eq!(join(left), [("x_cf_options".to_owned(), "a=9".to_owned())]);
    }
}
