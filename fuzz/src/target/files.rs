//! Other tools' results: an input is a folder, written as text.
//!
//! ```text
//! mytools                 which import
//! == qps.abs.all.tsv      a file's name
//! ...                     and what it holds, up to the next name
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use rqps_import::sysbench::LogFile;
use rqps_import::{Options, iibench, mytools, sysbench};

/// The most files of a folder.
const MAX_FILES: usize = 8;

pub(super) fn imports(input: &[u8], dir: &Path) {
    let text = String::from_utf8_lossy(input);
    let (kind, rest) = text.split_once('\n').unwrap_or((&text, ""));
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
        "sysbench" => {
            let log = |path: &PathBuf| LogFile { path: path.clone(), label: None, step: None };
            let logs: Vec<LogFile> = paths.iter().map(log).collect();
            drop(sysbench::import(&logs, &options));
        }
        _ => drop(mytools::import(dir, &options)),
    }
    for path in paths {
        let _ = fs::remove_file(path);
    }
}

/// The folders that the importer's own tests have.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/rqps-import/tests/data"));
    let folders = [
        ("mytools", "tables.1u"),
        ("mytools", "raw/x.my5651_rel.z12a"),
        ("mytools", "raw/x.my8043_rel.z12a"),
        ("iibench", "iibench.2u"),
        ("sysbench", "sysbench"),
    ];
    let mut seeds = Vec::new();
    for (kind, folder) in folders {
        let entries = fs::read_dir(data.join(folder)).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let mut text = format!("{kind}\n");
        for path in paths.iter().filter(|path| path.is_file()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let content = fs::read_to_string(path).unwrap_or_default();
            // What the import takes of a file fits into its beginning.
            let content: String = content.chars().take(6000).collect();
            text.push_str(&format!("== {name}\n{content}\n"));
        }
        seeds.push(text.into_bytes());
    }
    seeds
}
