//! Other tools' results: an input is a folder, written as text.
//!
//! ```text
//! mytools                 which import
//! == qps.abs.all.tsv      a file's name
//! ...                     and what it holds, up to the next name
//! ```

use std::fs;
use std::path::PathBuf;

use rqps_import::sysbench::LogFile;
use rqps_import::{Options, iibench, mytools, sysbench};

/// The most files of a folder.
const MAX_FILES: usize = 8;

pub(crate) fn read(text: &str) {
    // In memory where that can be had: thousands of files a second.
    let builder = tempfile::Builder::new();
    let Ok(dir) = builder.tempdir_in("/dev/shm").or_else(|_| builder.tempdir()) else { return };
    let dir = dir.path();
    let (kind, rest) = text.split_once('\n').unwrap_or((text, ""));
    let mut paths = Vec::new();
    for part in rest.split("== ").filter(|part| !part.trim().is_empty()).take(MAX_FILES) {
        let (name, content) = part.split_once('\n').unwrap_or((part, ""));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name: String = name.chars().filter(|c| is_plain(*c)).take(80).collect();
        if name.trim_matches('.').is_empty() {
            continue;
        }
        let path = dir.join(name);
        if fs::write(&path, content).is_ok() {
            paths.push(path);
        }
    }
    let options = Options {
        dbms: Some(rqps_model::Dbms::Mysql),
        clients: Some(1),
        source: "fuzz".to_owned(),
        ..Options::default()
    };
    match kind {
        "iibench" => drop(iibench::import(dir, &options)),
        // All files are those of one step.
        "iibench-raw" => {
            let step = dir.join("qr100.L1");
            drop(fs::create_dir(&step));
            for path in &paths {
                drop(path.file_name().map(|name| fs::rename(path, step.join(name))));
            }
            drop(iibench::import(dir, &options));
        }
        "sysbench" => {
            let log = |path: &PathBuf| LogFile { path: path.clone(), label: None, step: None };
            let logs: Vec<LogFile> = paths.iter().map(log).collect();
            drop(sysbench::import(&logs, &options));
        }
        _ => drop(mytools::import(dir, &options)),
    }
}
