//! How many clients there were, by the names of files and folders.

use std::path::Path;

/// Client threads by a name: 4 of `aug25.sb.mem.in.4u`, of `pgo.dop4` and of `clients-4`. `None` where it says
/// none or several. `4u` counts between points alone, as authors write it: `dell-2u-rack` is two units high.
pub(crate) fn of_name(name: &str) -> Option<u32> {
    let mut found = name.split('.').flat_map(of_part).filter(|n| *n > 0);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// The numbers of clients in what stands between two points.
fn of_part(part: &str) -> Vec<u32> {
    let number = |text: &str| text.parse::<u32>().ok();
    if let Some(n) = part.strip_suffix('u').and_then(number) {
        return vec![n];
    }
    let words: Vec<&str> = part.split(['_', '-']).collect();
    let number_at = |idx: usize| {
        let word = words.get(idx)?;
        let behind = word.strip_prefix("dop").or_else(|| word.strip_prefix("clients"))?;
        number(if behind.is_empty() { words.get(idx + 1)? } else { behind })
    };
    (0..words.len()).filter_map(number_at).collect()
}

/// Client threads by the name of a folder, else by that of the folder around it.
pub(crate) fn of_dir(dir: &Path) -> Option<u32> {
    let whole = std::path::absolute(dir).ok()?;
    let names = whole.iter().rev().take(2).map(|name| name.to_string_lossy());
    names.into_iter().find_map(|name| of_name(&name))
}

/// A note on a log that has another number than the user says.
pub(crate) fn said_note(said: u32, own: u32, log: &str) -> String {
    format!("--clients {said} is used, although {log} has {own} threads.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_it() {
        assert_eq!(of_name("aug25.sb.mem.in.4u.50m"), Some(4));
        assert_eq!(of_name("dop16"), Some(16));
        assert_eq!(of_name("pgo.dop40.prep1"), Some(40));
        assert_eq!(of_name("1u.1tno"), Some(1));
        assert_eq!(of_name("run_dop24-8t"), Some(24));
        assert_eq!(of_name("sb.clients-2"), Some(2));
        assert_eq!(of_name("clients_16.mem"), Some(16));
        assert_eq!(of_name("clients8"), Some(8));
        assert_eq!(of_name("ma110803.1u.48u"), None);
        assert_eq!(of_name("ubuntu.0u"), None);
        // Hosts and disks, not clients.
        for other in [
            "dell-2u-rack",
            "raid-10u",
            "nas_4u",
            "x_c32r128",
            "nov23.c2",
            "clients",
            "my-clients-a",
        ] {
            assert_eq!(of_name(other), None, "{other}");
        }
        assert_eq!(of_dir(Path::new("/results/sb.2u/join0")), Some(2));
        assert_eq!(of_dir(Path::new("/results.8u/sb/join0")), None);
    }
}
