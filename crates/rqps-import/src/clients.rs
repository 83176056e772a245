//! How many clients there were, by the names of files and folders.

use std::path::Path;

/// Client threads by a name: 4 of `aug25.sb.mem.in.4u` and of `pgo.dop4`. `None` where it says none or
/// several.
pub(crate) fn of_name(name: &str) -> Option<u32> {
    let number = |part: &str| -> Option<u32> {
        part.strip_suffix('u').or_else(|| part.strip_prefix("dop"))?.parse().ok()
    };
    let mut found = name.split(['.', '_', '-']).filter_map(number).filter(|n| *n > 0);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// Client threads by the name of a folder, else by that of the folder around it.
pub(crate) fn of_dir(dir: &Path) -> Option<u32> {
    let whole = std::path::absolute(dir).ok()?;
    let names = whole.iter().rev().take(2).map(|name| name.to_string_lossy());
    names.into_iter().find_map(|name| of_name(&name))
}

/// A note on a log that has another number than the user says.
pub(crate) fn said_note(said: u32, own: u32, log: &str) -> String {
    format!("--clients says {said} clients, which are taken, and {log} has {own} threads.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_it() {
        assert_eq!(of_name("aug25.sb.mem.in.4u.50m"), Some(4));
        assert_eq!(of_name("dop16"), Some(16));
        assert_eq!(of_name("pgo.dop40.prep1"), Some(40));
        assert_eq!(of_name("run_24u-8t"), Some(24));
        assert_eq!(of_name("ma110803.1u.48u"), None);
        assert_eq!(of_name("ubuntu.0u"), None);
        assert_eq!(of_dir(Path::new("/results/sb.2u/join0")), Some(2));
        assert_eq!(of_dir(Path::new("/results.8u/sb/join0")), None);
    }
}
