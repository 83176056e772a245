//! A Debian package's file, read: an `ar` archive (deb(5)) with the tree in a `data.tar.xz`.

use std::fs::File;
use std::io::{BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

use crate::Error;
use crate::catalogue::Layout;
use crate::unpack::{Limits, Unpacked, corrupt, tar_xz};

/// First bytes of an ar archive: ar(5).
const MAGIC: &[u8; 8] = b"!<arch>\n";

/// Size of a member's header: name 16, time 12, owner 6, group 6, mode 8, size 10, end 2.
const HEADER: usize = 60;

/// Unpacks what the layout wants of a package into the existing directory `to`.
pub(super) fn unpack(
    deb: &Path,
    to: &Path,
    layout: &Layout,
    limits: Limits,
    written: &mut dyn FnMut(u64) -> Result<(), Error>,
) -> Result<Unpacked, Error> {
    let open = |e| Error::io(format!("open package {}", deb.display()), e);
    let bad = |e: &dyn std::fmt::Display| corrupt(deb, e);
    let mut file = BufReader::new(File::open(deb).map_err(open)?);
    let mut magic = [0; MAGIC.len()];
    file.read_exact(&mut magic).map_err(|e| bad(&e))?;
    if &magic != MAGIC {
        return Err(bad(&"it is not a Debian package"));
    }
    loop {
        let mut header = [0; HEADER];
        file.read_exact(&mut header).map_err(|_| bad(&"it has no data.tar.xz"))?;
        let (name, size) = member(&header).ok_or_else(|| bad(&"a member's header is malformed"))?;
        match name {
            "data.tar.xz" => {
                return tar_xz((&mut file).take(size), deb, to, layout, limits, written);
            }
            name if name.starts_with("data.tar") => {
                return Err(bad(&format!("it holds a {name}, where data.tar.xz was expected")));
            }
            _ => {
                // Members begin at even positions.
                let skip = i64::try_from(size + size % 2).map_err(|e| bad(&e))?;
                file.seek(SeekFrom::Current(skip)).map_err(|e| bad(&e))?;
            }
        }
    }
}

/// A member's name and size.
fn member(header: &[u8; HEADER]) -> Option<(&str, u64)> {
    let text = std::str::from_utf8(header).ok()?;
    let size = text.get(48..58)?.trim_end().parse().ok()?;
    let end = text.get(58..)? == "`\n";
    // Some writers end names with a slash.
    end.then_some((text.get(..16)?.trim_end().trim_end_matches('/'), size))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use liblzma::write::XzEncoder;

    use std::collections::BTreeMap;

    use super::*;

    fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for (name, content) in members {
            let size = content.len();
            bytes
                .extend(format!("{name:<16}0           0     0     100644  {size:<10}`\n").bytes());
            bytes.extend(*content);
            bytes.extend(&b"\n"[..size % 2]);
        }
        bytes
    }

    fn data() -> Vec<u8> {
        use std::io::Write as _;
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(3);
        tar.append_data(&mut header, "./usr/sbin/mysqld", &b"elf"[..]).unwrap();
        let mut link = tar::Header::new_gnu();
        link.set_entry_type(tar::EntryType::Symlink);
        link.set_size(0);
        // Nothing of ours, and so no reason to refuse the package.
        tar.append_link(&mut link, "./etc/alternatives", "/usr/share/x").unwrap();
        let mut xz = XzEncoder::new(Vec::new(), 1);
        xz.write_all(&tar.into_inner().unwrap()).unwrap();
        xz.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        let deb = dir.path().join("x.deb");
        fs::write(&deb, bytes).unwrap();
        let layout = Layout {
            strip: String::new(),
            inner: None,
            nested: Vec::new(),
            keep: vec!["usr/sbin/".to_owned()],
            drop: Vec::new(),
            executable: Vec::new(),
            beside: BTreeMap::new(),
            links: None,
        };
        let to = dir.path().join("to");
        fs::create_dir(&to).unwrap();
        let limits = Limits { bytes: 1000, entries: 10 };
        unpack(&deb, &to, &layout, limits, &mut |_| Ok(())).map_err(|e| e.to_string())?;
        assert!(!to.join("etc").exists());
        Ok(fs::read_to_string(to.join("usr/sbin/mysqld")).unwrap())
    }

    #[test]
    fn takes_what_is_wanted_from_the_data_of_a_package() {
        let control: &[u8] = b"odd";
        let good = ar(&[
            ("debian-binary", b"2.0\n"),
            ("control.tar.xz", control),
            ("data.tar.xz", &data()),
        ]);
        assert_eq!(unpacked(&good).unwrap(), "elf");
        for len in [0, 5, 40, 100, 200, good.len() - 20] {
            let error = unpacked(&good[..len]).unwrap_err();
            assert!(error.contains("cannot be unpacked"), "{len}: {error}");
        }
        let zst = ar(&[("debian-binary", b"2.0\n"), ("data.tar.zst", b"x")]);
        assert!(unpacked(&zst).unwrap_err().contains("it holds a data.tar.zst"));
    }
}
