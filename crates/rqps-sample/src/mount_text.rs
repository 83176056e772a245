//! Reads the text of /proc/self/mountinfo: which file system holds a path.

use std::borrow::Cow;
use std::path::Path;

use crate::TextError;

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub point: String,
    /// Its type: `ext4`, `xfs`, `overlay`, `tmpfs`.
    pub kind: String,
    /// What is mounted there: a device's path, or a word.
    pub source: String,
}

/// The file system that holds `path`, which must be absolute and without symbolic links: the
/// longest mount point above it, and of several on one point the last, which covers the others.
///
/// # Errors
/// Names the line that is malformed; `/` not being mounted is an error, too.
pub fn parse_mount_of(text: &str, path: &Path) -> Result<Mount, TextError> {
    let mut best: Option<Mount> = None;
    for (i, line) in text.lines().enumerate() {
        let mount =
            parse_line(line).ok_or_else(|| TextError::at(i, line, "not a line of mountinfo"))?;
        let above = path.starts_with(&mount.point);
        if above && best.as_ref().is_none_or(|b| mount.point.len() >= b.point.len()) {
            best = Some(mount);
        }
    }
    best.ok_or_else(|| TextError::absent(text, &format!("a mount point above {}", path.display())))
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn parse_line(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let point = before.split(' ').nth(4)?;
    let mut after = after.split(' ');
    let (kind, source) = (after.next()?, after.next()?);
    Some(Mount {
        point: unescape(point).into_owned(),
        kind: kind.to_owned(),
        source: unescape(source).into_owned(),
    })
}

/// Undoes the kernel's octal escapes of space, tab, newline and backslash: `\040`.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let plain = text
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\");
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 8:17 / /data rw shared:5 master:1 - xfs /dev/sdb1 rw
41 27 0:44 / /data\\040two rw - btrfs /dev/sdc rw,subvol=/
42 40 0:45 / /data/fast rw - tmpfs tmpfs rw
43 40 0:46 / /data/fast rw - overlay overlay rw,lowerdir=/a
";

    #[test]
    fn longest_and_latest_wins() {
        let of = |path: &str| {
            let mount = parse_mount_of(TEXT, Path::new(path)).unwrap();
            format!("{} on {}", mount.kind, mount.source)
        };
        assert_eq!(of("/"), "ext4 on /dev/vda");
        assert_eq!(of("/data2/x"), "ext4 on /dev/vda");
        assert_eq!(of("/data/mysql"), "xfs on /dev/sdb1");
        assert_eq!(of("/data two/x"), "btrfs on /dev/sdc");
        assert_eq!(of("/data/fast/x"), "overlay on overlay");
    }

    #[test]
    fn names_the_line() {
        let error = parse_mount_of("22 27 0:21 / /proc rw\n", Path::new("/")).unwrap_err();
        assert_eq!(error.to_string(), "line 1 \"22 27 0:21 / /proc rw\": not a line of mountinfo");
        assert!(parse_mount_of("", Path::new("/x")).is_err());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(?s).{0,200}", near in "[ 0-9:/a-z-]{0,60} - [ a-z/]{0,20}") {
            let _ = parse_mount_of(&text, Path::new("/x"));
            let _ = parse_mount_of(&near, Path::new("/x"));
        }
    }
}
