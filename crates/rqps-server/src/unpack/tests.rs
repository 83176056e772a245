//! Attacks on the unpacker, with archives built here.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;

use liblzma::write::XzEncoder;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

const LIMITS: Limits = Limits { bytes: 1_000_000, entries: 20 };

fn layout(inner: Option<&str>) -> Layout {
    Layout {
        strip: "top-{version}/".to_owned(),
        inner: inner.map(ToOwned::to_owned),
        nested: Vec::new(),
        keep: vec!["bin/".to_owned(), "lib/".to_owned()],
        drop: vec!["bin/debug".to_owned()],
        executable: vec!["bin/".to_owned()],
        beside: [("pkg.libs/".to_owned(), "libs/".to_owned())].into(),
        links: None,
    }
}

fn run(bytes: &[u8], layout: &Layout) -> (tempfile::TempDir, PathBuf, Result<Unpacked, Error>) {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("archive.zip");
    fs::write(&archive, bytes).unwrap();
    let to = dir.path().join("to");
    fs::create_dir(&to).unwrap();
    let result = unpack(&archive, &to, layout, "1.2", LIMITS, &mut |_| Ok(()));
    (dir, to, result)
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn refused(bytes: &[u8], layout: &Layout) -> String {
    let (dir, _, result) = run(bytes, layout);
    let error = result.unwrap_err();
    assert!(matches!(error, Error::UnsafeArchive { .. }), "{error}");
    let beside: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside.len(), 2, "something was written outside: {beside:?}");
    error.to_string()
}

#[test]
fn reads_zips_inside_a_zip_through_the_same_gate() {
    let layout = Layout { nested: vec!["top-1.2/more.zip".to_owned()], ..layout(None) };
    let with = |inside: &[(&str, &[u8])]| {
        zip_of(&[("top-1.2/bin/server", b"server"), ("top-1.2/more.zip", &zip_of(inside))])
    };
    let (_dir, to, result) = run(&with(&[("lib/x.so", b"so"), ("docs/manual", b"no")]), &layout);
    assert_eq!(result.unwrap(), Unpacked { n_files: 2, bytes: 8 });
    assert_eq!(fs::read(to.join("lib/x.so")).unwrap(), b"so");
    assert!(refused(&with(&[("../lib/x.so", b"so")]), &layout).contains("leaves the archive"));
    let (_dir, _, result) = run(&zip_of(&[("top-1.2/bin/server", b"server")]), &layout);
    assert!(matches!(result, Err(Error::CorruptArchive { .. })), "{result:?}");
}

#[test]
fn keeps_what_is_wanted_and_nothing_else() {
    let bytes = zip_of(&[
        ("top-1.2/bin/server", b"server"),
        ("top-1.2/bin/debug-server", b"no"),
        ("top-1.2/lib/deep/er/x.so", b"so"),
        ("pkg.libs/libpq-1a.so.5", b"pq"),
        ("top-1.2/docs/manual", b"no"),
        ("other/bin/server", b"no"),
    ]);
    let (_dir, to, result) = run(&bytes, &layout(None));
    assert_eq!(result.unwrap(), Unpacked { n_files: 3, bytes: 10 });
    assert!(to.join("libs/libpq-1a.so.5").is_file());
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |p: &str| fs::metadata(to.join(p)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("bin/server"), 0o755);
    assert_eq!(mode("lib/deep/er/x.so"), 0o644);
    assert_eq!(mode("lib/deep"), 0o755);
    assert!(!to.join("docs").exists() && !to.join("bin/debug-server").exists());
}

#[test]
fn refuses_names_that_leave_the_directory_also_of_unwanted_entries() {
    for name in ["../x", "top-1.2/bin/../../../x", "/x", "top-1.2\\..\\x"] {
        let error = refused(&zip_of(&[("top-1.2/bin/a", b"a"), (name, b"x")]), &layout(None));
        assert!(error.contains(&format!("{name:?}")), "{error}");
    }
}

#[test]
fn refuses_links_that_point_outside_and_paths_through_links() {
    for target in ["/etc", "../../..", "../../../outside"] {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.add_symlink("top-1.2/lib/l", target, SimpleFileOptions::default()).unwrap();
        assert!(refused(&zip.finish().unwrap().into_inner(), &layout(None)).contains("link"));
    }
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.add_symlink("top-1.2/lib/l", "../bin", SimpleFileOptions::default()).unwrap();
    zip.start_file("top-1.2/lib/l/x", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"x").unwrap();
    assert!(refused(&zip.finish().unwrap().into_inner(), &layout(None)).contains("through a link"));
}

#[test]
fn links_are_judged_by_where_they_will_be() {
    let with = |links: &[(&str, &str)]| {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        zip.start_file("top-1.2/lib/x", SimpleFileOptions::default()).unwrap();
        for (name, target) in links {
            zip.add_symlink(*name, *target, SimpleFileOptions::default()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    // Inside the archive, but above the prefix when `top-1.2/` is taken off.
    for target in ["../..", "../../x", "../../other/x"] {
        assert!(refused(&with(&[("top-1.2/lib/l", target)]), &layout(None)).contains("link"));
    }
    // Each is inside for itself, both together are not.
    let chain = [("top-1.2/lib/a", ".."), ("top-1.2/lib/l", "a/../x")];
    assert!(refused(&with(&chain), &layout(None)).contains("through `..`"));
    let good =
        [("top-1.2/lib/a", ".."), ("top-1.2/lib/d/l", "./../../lib/x"), ("top-1.2/lib/b", "a/bin")];
    let (_dir, to, result) = run(&with(&good), &layout(None));
    assert_eq!(result.unwrap().n_files, 4);
    assert!(to.join("lib/d/l").is_file());
}

#[test]
fn refuses_too_much() {
    let big = vec![0_u8; 1_000_001];
    assert!(refused(&zip_of(&[("top-1.2/bin/a", &big)]), &layout(None)).contains("1 MB"));
    let names: Vec<String> = (0..21).map(|i| format!("n{i}")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|n| (n.as_str(), &b""[..])).collect();
    assert!(refused(&zip_of(&entries), &layout(None)).contains("one more than the 20"));
}

#[test]
fn refuses_cut_and_empty_archives() {
    let noise: Vec<u8> =
        (0..50_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
    let bytes = zip_of(&[("top-1.2/bin/a", &noise), ("top-1.2/bin/b", &noise)]);
    for cut in [0, 1, 100, bytes.len() / 2, bytes.len() - 1] {
        let (_dir, _, result) = run(&bytes[..cut], &layout(None));
        assert!(matches!(result, Err(Error::CorruptArchive { .. })), "cut at {cut}: {result:?}");
    }
    let (_dir, _, result) = run(&zip_of(&[("elsewhere", b"x")]), &layout(None));
    assert!(result.unwrap_err().to_string().contains("none of the wanted files"));
}

fn tar_xz(build: impl FnOnce(&mut tar::Builder<XzEncoder<Vec<u8>>>)) -> Vec<u8> {
    let mut tar = tar::Builder::new(XzEncoder::new(Vec::new(), 1));
    build(&mut tar);
    tar.into_inner().unwrap().finish().unwrap()
}

fn header(kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o755);
    header
}

#[test]
fn reads_a_tar_inside_a_zip() {
    let inner = tar_xz(|tar| {
        tar.append_data(
            &mut header(tar::EntryType::Regular, 2),
            "top-1.2/lib/x.so.1.2",
            &b"so"[..],
        )
        .unwrap();
        let mut link = header(tar::EntryType::Symlink, 0);
        tar.append_link(&mut link, "top-1.2/lib/x.so.1", "x.so.1.2").unwrap();
    });
    let (_dir, to, result) = run(&zip_of(&[("inner.txz", &inner)]), &layout(Some("inner.txz")));
    assert_eq!(result.unwrap().n_files, 2);
    assert_eq!(fs::read(to.join("lib/x.so.1")).unwrap(), b"so");
    let cut = zip_of(&[("inner.txz", &inner[..inner.len() - 8])]);
    assert!(matches!(run(&cut, &layout(Some("inner.txz"))).2, Err(Error::CorruptArchive { .. })));
    assert!(matches!(run(&cut, &layout(Some("x"))).2, Err(Error::CorruptArchive { .. })));
}

#[test]
fn refuses_special_entries_of_a_tar() {
    for (kind, word) in [
        (tar::EntryType::Link, "hard link"),
        (tar::EntryType::Char, "device"),
        (tar::EntryType::Block, "device"),
        (tar::EntryType::Fifo, "pipe"),
        (tar::EntryType::Symlink, "outside"),
    ] {
        let inner = tar_xz(|tar| {
            tar.append_link(&mut header(kind, 0), "top-1.2/bin/x", "/etc/passwd").unwrap();
        });
        let error = refused(&zip_of(&[("i", &inner)]), &layout(Some("i")));
        assert!(error.contains(word), "{error}");
    }
}

fn tar_gz(build: impl FnOnce(&mut tar::Builder<flate2::write::GzEncoder<Vec<u8>>>)) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(encoder);
    build(&mut tar);
    tar.into_inner().unwrap().finish().unwrap()
}

fn add<W: std::io::Write>(tar: &mut tar::Builder<W>, name: &str, content: &[u8]) {
    let mut header = header(tar::EntryType::Regular, content.len() as u64);
    tar.append_data(&mut header, name, content).unwrap();
}

#[test]
fn reads_tars_with_any_top_directory_and_their_hard_links() {
    let any = Layout { strip: "*/".to_owned(), ..layout(None) };
    let gz = tar_gz(|tar| {
        add(tar, "db-1.2-linux/bin/server", b"elf");
        add(tar, "db-1.2-linux/docs/manual", b"no");
        let mut link = header(tar::EntryType::Link, 0);
        tar.append_link(&mut link, "db-1.2-linux/bin/twin", "db-1.2-linux/bin/server").unwrap();
        tar.append_link(&mut link, "db-1.2-linux/docs/x", "db-1.2-linux/docs/manual").unwrap();
    });
    let (_dir, to, result) = run(&gz, &any);
    assert_eq!(result.unwrap(), Unpacked { n_files: 2, bytes: 3 });
    assert_eq!(fs::read(to.join("bin/twin")).unwrap(), b"elf");
    for cut in [gz.len() / 2, gz.len() - 1] {
        let (_dir, _, result) = run(&gz[..cut], &any);
        assert!(matches!(result, Err(Error::CorruptArchive { .. })), "cut at {cut}: {result:?}");
    }
    let xz = tar_xz(|tar| add(tar, "x/lib/a.so", b"so"));
    // Two streams in one file, as parallel xz writes them.
    let twice = [xz.clone(), tar_xz(|_| {})].concat();
    for bytes in [&xz, &twice] {
        assert_eq!(fs::read(run(bytes, &any).1.join("lib/a.so")).unwrap(), b"so");
    }
}

#[test]
fn what_is_passed_over_can_be_stopped_and_has_a_bound() {
    let any = Layout { strip: "*/".to_owned(), ..layout(None) };
    let with = |n_bytes: usize| {
        let rest = vec![0_u8; n_bytes];
        let entry = tar_gz(|tar| {
            add(tar, "top/bin/a", b"a");
            add(tar, "top/docs/manual", &rest);
        });
        // The rest after the last entry is read through as well.
        let after = tar_gz(|tar| {
            add(tar, "top/bin/a", b"a");
            tar.get_mut().write_all(&vec![0_u8; 1024]).unwrap();
            tar.get_mut().write_all(&rest).unwrap();
        });
        [entry, after]
    };
    for bytes in with(21_000_000) {
        assert!(refused(&bytes, &any).contains("more than 20 MB"));
    }
    for bytes in with(10_000_000) {
        assert_eq!(run(&bytes, &any).2.unwrap().n_files, 1);
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path().join("archive");
        fs::write(&archive, bytes).unwrap();
        let mut n_looks = 0;
        let result = unpack(&archive, dir.path(), &any, "1.2", LIMITS, &mut |_| {
            n_looks += 1;
            let doing = "unpack".to_owned();
            if n_looks > 3 { Err(Error::Interrupted { doing }) } else { Ok(()) }
        });
        assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
        assert_eq!(n_looks, 4);
    }
}

/// The library holds a long name in memory whole.
#[test]
fn refuses_names_without_end() {
    let any = Layout { strip: "*/".to_owned(), ..layout(None) };
    let with = |kind: tar::EntryType, n_bytes: usize| {
        tar_gz(|tar| {
            add(tar, "top/docs/manual", &vec![0_u8; 300_000]);
            let mut long = header(kind, n_bytes as u64);
            long.set_cksum();
            tar.append(&long, vec![b'a'; n_bytes].as_slice()).unwrap();
            add(tar, "top/bin/a", b"a");
        })
    };
    for kind in [tar::EntryType::GNULongName, tar::EntryType::GNULongLink, tar::EntryType::XHeader]
    {
        let error = refused(&with(kind, 100_000), &any);
        assert!(error.contains("headers of more than 64 KB"), "{kind:?}: {error}");
    }
    // Links of long names and attributes are common.
    assert_eq!(run(&with(tar::EntryType::GNULongLink, 5000), &any).2.unwrap().n_files, 1);
    let deep = format!("top/lib/{}x.so", "deep/".repeat(100));
    let bytes = tar_gz(|tar| add(tar, &deep, b"so"));
    assert_eq!(run(&bytes, &any).2.unwrap().n_files, 1);
}

#[test]
fn refuses_hard_links_to_what_is_not_its_own() {
    let any = Layout { strip: "*/".to_owned(), ..layout(None) };
    for (target, word) in [
        ("/etc/passwd", "outside the archive"),
        ("../../x", "outside the archive"),
        ("top/docs/manual", "is not kept"),
        ("top/lib/l/passwd", "is not kept"),
    ] {
        let bytes = tar_gz(|tar| {
            add(tar, "top/docs/manual", b"no");
            add(tar, "top/bin/passwd", b"x");
            let mut link = header(tar::EntryType::Symlink, 0);
            tar.append_link(&mut link, "top/lib/l", "../bin").unwrap();
            let mut link = header(tar::EntryType::Link, 0);
            tar.append_link(&mut link, "top/bin/x", target).unwrap();
        });
        let error = refused(&bytes, &any);
        assert!(error.contains("hard link") && error.contains(word), "{target}: {error}");
    }
}

#[test]
fn links_that_a_list_names_are_made_and_stay_inside() {
    let listed = |list: &str| {
        let links = crate::catalogue::Links { file: "lib/links.json".into(), strip: "n/".into() };
        let layout = Layout { strip: "p/n/".to_owned(), links: Some(links), ..layout(None) };
        let bytes = tar_gz(|tar| {
            add(tar, "p/n/lib/x.so.1", b"so");
            add(tar, "p/n/lib/links.json", list.as_bytes());
        });
        run(&bytes, &layout)
    };
    let good = r#"[{"source":"n/lib/x.so.1","target":"n/lib/x.so"},
                   {"source":"n/lib/x.so.1","target":"n/bin/deep/y"}]"#;
    let (_dir, to, result) = listed(good);
    assert_eq!(result.unwrap().n_files, 4);
    assert_eq!(fs::read_link(to.join("lib/x.so")).unwrap(), PathBuf::from("x.so.1"));
    assert_eq!(fs::read(to.join("bin/deep/y")).unwrap(), b"so");
    for bad in [
        r#"[{"source":"n/../../x","target":"n/lib/x.so"}]"#,
        r#"[{"source":"/etc","target":"n/lib/x.so"}]"#,
        r#"[{"source":"n/lib/x.so.1","target":"n/../../x.so"}]"#,
        r#"[{"source":"n//etc","target":"n/lib/e"}]"#,
        "[",
    ] {
        let (dir, _, result) = listed(bad);
        assert!(result.is_err(), "{bad}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "{bad}");
    }
}

#[test]
fn something_else_is_told_by_its_first_bytes() {
    let (_dir, _, result) = run(b"<html>sign in</html>", &layout(None));
    let error = result.unwrap_err().to_string();
    assert!(error.contains("begins with \"<html>sign in</h\", which is not a zip"), "{error}");
}
