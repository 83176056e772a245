//! Entries of folders that are no files or directories, that cannot be read, or whose names are no text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;
use std::time::{Duration, Instant};

use rqps_import::iibench;

use crate::folders::{Folder, ROW, log, notes, table};
use crate::options;

const LOG: &str = "sb.o.scan.range100.pk1.dop8";

fn pipe(folder: &Folder, name: &str) {
    let status = Command::new("mkfifo").arg(folder.path.join(name)).status().unwrap();
    assert!(status.success());
}

/// A log of `l.i0` by the only client.
const INSERTS: &str =
    "i_sec\tt_sec\tt_ins\n1.0\t1.0\t100\nTotals: 1.0 secs, 100.0 rows/sec, 100 rows\n";

/// Nobody writes to them: they are passed over at once.
#[test]
fn pipes_and_sockets() {
    let start = Instant::now();
    let raw = Folder::new("raw", &[(&format!("my8043_a/{LOG}"), &*log(1000))]);
    pipe(&raw, "my8043_a/sb.o.update.range100.pk1.dop8");
    pipe(&raw, "my8043_a/sb.vm.scan.range100.pk1.dop8");
    let _socket =
        UnixListener::bind(raw.path.join("my8043_a/sb.io.scan.range100.pk1.dop8")).unwrap();
    let why = "remove it, or put a regular file there";
    let mut said = notes(&raw.import().runs[0]).to_vec();
    said.sort();
    assert_eq!(
        said,
        [
            format!("Not imported: my8043_a/sb.io.scan.range100.pk1.dop8: it is a socket: {why}."),
            format!("Not imported: my8043_a/sb.o.update.range100.pk1.dop8: it is a pipe: {why}."),
            format!("Not imported: my8043_a/sb.vm.scan.range100.pk1.dop8: it is a pipe: {why}."),
        ]
    );

    let tables = Folder::new("in.4u", &[("qps.abs.a.tsv", &table(ROW))]);
    pipe(&tables, "qps.abs.b.tsv");
    assert_eq!(
        tables.skipped(&tables.import()),
        [format!("in.4u/qps.abs.b.tsv: it is a pipe: {why}")]
    );

    let inserts = Folder::new("ib.1u", &[("mrg.l.i0", "ips\ttag\n100\tmy8043\n")]);
    pipe(&inserts, "mrg.l.x");
    let imports = iibench::import(&inserts.path, &options("ib")).unwrap();
    assert_eq!(inserts.skipped(&imports), [format!("ib.1u/mrg.l.x: it is a pipe: {why}")]);
    assert!(start.elapsed() < Duration::from_secs(9), "it waited for a pipe");
}

/// Two of them would look alike.
#[test]
fn names_that_are_no_text() {
    let odd = |byte: u8| OsStr::from_bytes(&[b"my8043_".as_slice(), &[byte]].concat()).to_owned();
    let raw = Folder::new("raw", &[(&format!("my8044_a/{LOG}"), &*log(1000))]);
    for (byte, qps) in [(0xff, 900), (0xfe, 800)] {
        let system = raw.path.join(odd(byte));
        std::fs::create_dir(&system).unwrap();
        std::fs::write(system.join(LOG), log(qps)).unwrap();
    }
    let imports = raw.import();
    assert_eq!(imports.runs[0].systems.len(), 1);
    let odd_name = "raw/my8043_\u{fffd}: its name is not UTF-8: rename it";
    assert_eq!(raw.skipped(&imports), [odd_name, odd_name]);

    let inserts = Folder::new("ib", &[("my8044_a/l.i0/o.ib.dop1.1", INSERTS)]);
    std::fs::create_dir(inserts.path.join(odd(0xff))).unwrap();
    let imports = iibench::import(&inserts.path, &options("ib")).unwrap();
    let said = notes(&imports.runs[0]).join(" ");
    assert!(said.contains("its name is not UTF-8: rename it"), "{said}");
}

/// A directory that cannot be read, as one of another user, or a link to a disk that is not there.
#[test]
fn directories_that_cannot_be_read() {
    let raw = Folder::new("raw", &[(&format!("my8044_a/{LOG}"), &*log(1000))]);
    symlink("/nowhere", raw.path.join("my8043_a")).unwrap();
    let run = raw.import().runs.remove(0);
    let said = raw.shortened(&notes(&run).join(" "));
    assert!(said.starts_with("Not imported: cannot read raw/my8043_a: "), "{said}");
    // It is the only one.
    let alone = Folder::new("raw", &[]);
    symlink("/nowhere", alone.path.join("my8043_a")).unwrap();
    assert_eq!(alone.problem(), "cannot read raw/my8043_a");

    let inserts = Folder::new("ib", &[("my8044_a/l.i0/o.ib.dop1.1", INSERTS)]);
    symlink("/nowhere", inserts.path.join("my8043_a")).unwrap();
    std::fs::create_dir(inserts.path.join("pg174_a")).unwrap();
    symlink("/nowhere", inserts.path.join("pg174_a/l.i0")).unwrap();
    let run = iibench::import(&inserts.path, &options("ib")).unwrap().runs.remove(0);
    assert_eq!(run.systems.len(), 2);
    let said = inserts.shortened(&notes(&run).join("\n"));
    assert!(said.contains("cannot read ib/my8043_a: "), "{said}");
    assert!(said.contains("cannot read ib/pg174_a/l.i0: "), "{said}");
}
