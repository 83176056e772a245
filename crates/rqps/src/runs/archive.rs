//! `rqps runs export` and `rqps runs import`: runs for other hosts and other programs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use rqps_export::archive::{self, Extent};
use rqps_export::{csv, json};
use rqps_store::{RunRef, Store, Table};

use crate::args::ExportFormat;
use crate::opened::ENDING;
use crate::output::say;

/// Writes a run to `output`, or to a file or directory named after it.
pub(crate) fn export(
    store: &Store,
    run: &str,
    format: ExportFormat,
    extent: Extent,
    output: Option<&Path>,
) -> Result<()> {
    // `rqps runs export RUN.tar.zst` names the run and the file at once.
    let (run, named) = match run.strip_suffix(ENDING) {
        Some(id) if output.is_none() => {
            let id = Path::new(id)
                .file_name()
                .map_or(id.to_owned(), |n| n.to_string_lossy().into_owned());
            (id, Some(PathBuf::from(run)))
        }
        _ => (run.to_owned(), None),
    };
    let of: RunRef = run.parse().unwrap_or_default();
    let id = store.resolve(&of)?;
    let usual = || match format {
        ExportFormat::Archive => PathBuf::from(format!("{id}{ENDING}")),
        ExportFormat::Json => PathBuf::from(format!("{id}.json")),
        ExportFormat::Csv => PathBuf::from(format!("{id}.csv")),
        ExportFormat::Parquet => PathBuf::from(format!("{id}.parquet")),
    };
    let path = output.map(Path::to_path_buf).or(named).unwrap_or_else(usual);
    if format == ExportFormat::Archive && !path.to_string_lossy().ends_with(ENDING) {
        bail!(
            "{} is no name of an archive: write FILE{ENDING}, or choose another --format",
            path.display()
        );
    }
    let of = RunRef::Id(id);
    match format {
        ExportFormat::Archive => {
            archive::write(store, &of, &path, extent, env!("CARGO_PKG_VERSION"))?;
        }
        ExportFormat::Json => {
            let text = json::render(&store.select_tables(&of)?);
            write(&path, text.as_bytes())?;
        }
        ExportFormat::Csv => {
            tables(store, &of, &path, "csv", |table| Ok(csv::render(table).into_bytes()))?;
        }
        ExportFormat::Parquet => write_parquet(store, &of, &path)?,
    }
    say(&format!("wrote {}\n", path.display()))
}

#[cfg(feature = "parquet")]
fn write_parquet(store: &Store, run: &RunRef, dir: &Path) -> Result<()> {
    let by = concat!("rqps ", env!("CARGO_PKG_VERSION"));
    tables(store, run, dir, "parquet", |table| Ok(rqps_export::parquet::render(table, by)?))
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Store, _: &RunRef, _: &Path) -> Result<()> {
    bail!(
        "this build has no Parquet support (`make dist` adds it); use --format csv or --format json"
    )
}

/// A file for each table of the run, in a directory that must be new or empty.
fn tables(
    store: &Store,
    run: &RunRef,
    dir: &Path,
    ending: &str,
    render: impl Fn(&Table) -> Result<Vec<u8>>,
) -> Result<()> {
    std::fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    let mut there = std::fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))?;
    if there.next().is_some() {
        bail!("{} is not empty; name a new directory with -o", dir.display());
    }
    for table in store.select_tables(run)? {
        write(&dir.join(format!("{}.{ending}", table.name)), &render(&table)?)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))
}

/// Takes archives into the store.
pub(crate) fn import(store: &Store, files: &[PathBuf]) -> Result<()> {
    for file in files {
        let id = archive::read(file, store)?;
        crate::report::keep_verdicts(store, &store.select_run(&RunRef::Id(id.clone()))?);
        say(&format!("imported {id}\n"))?;
    }
    Ok(())
}
