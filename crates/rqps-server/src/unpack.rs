//! Archives become prefixes: only the wanted paths, never outside the directory, never in halves.
//!
//! An archive is refused as a whole when any entry, wanted or not, has an absolute path or `..`, is
//! a device or a pipe, or is a link that points outside; or when what it holds exceeds the limits. The
//! caller unpacks into a directory of its own and renames it.

mod gate;
mod meter;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use zip::ZipArchive;

use crate::Error;
use crate::catalogue::Layout;
use gate::{Gate, Kind};
use meter::Metered;

/// Limits of an archive.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most bytes written.
    pub bytes: u64,
    /// Most entries, wanted or not.
    pub entries: usize,
}

/// Result of unpacking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unpacked {
    /// Files and links written.
    pub n_files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// Unpacks an archive (or, with `layout.inner`, the one inside it) into the existing directory `to`.
/// What kind it is, its first bytes say.
///
/// `version` replaces `{version}` in the layout's paths; `written` is told the bytes so far and may
/// stop the work with an error.
///
/// # Errors
/// [`Error::CorruptArchive`], [`Error::UnsafeArchive`] or a failed write; `to` is then in pieces.
pub fn unpack(
    archive: &Path,
    to: &Path,
    layout: &Layout,
    version: &str,
    limits: Limits,
    written: &mut dyn FnMut(u64) -> Result<(), Error>,
) -> Result<Unpacked, Error> {
    let mut file = File::open(archive)
        .map_err(|e| Error::io(format!("open archive {}", archive.display()), e))?;
    let mut start = Vec::new();
    (&mut file).take(FIRST_BYTES).read_to_end(&mut start).map_err(|e| corrupt(archive, &e))?;
    file.rewind().map_err(|e| corrupt(archive, &e))?;
    let strip = layout.strip.replace("{version}", version);
    let mut gate = Gate::new(archive, to, layout, (strip, limits), written);
    match (Form::of(&start), &layout.inner) {
        (Some(Form::Zip), None) => {
            let mut zip = ZipArchive::new(file).map_err(|e| corrupt(archive, &e))?;
            from_zip(&mut zip, &mut gate)?;
            for nested in &layout.nested {
                let mut bytes = Vec::new();
                let entry = zip.by_name(nested).map_err(|e| corrupt(archive, &e))?;
                entry
                    .take(NESTED_BYTES)
                    .read_to_end(&mut bytes)
                    .map_err(|e| corrupt(archive, &e))?;
                let mut inside =
                    ZipArchive::new(Cursor::new(bytes)).map_err(|e| corrupt(archive, &e))?;
                gate.strip_nothing();
                from_zip(&mut inside, &mut gate)?;
            }
        }
        (Some(Form::Zip), Some(inner)) => {
            let mut zip = ZipArchive::new(file).map_err(|e| corrupt(archive, &e))?;
            let entry = zip.by_name(inner).map_err(|e| corrupt(archive, &e))?;
            from_tar(XzDecoder::new(entry), &mut gate)?;
        }
        (Some(_), Some(inner)) => {
            return Err(corrupt(archive, &format!("it is not a zip with {inner} in it")));
        }
        (Some(Form::Gzip), None) => {
            from_tar(MultiGzDecoder::new(BufReader::new(file)), &mut gate)?;
        }
        (Some(Form::Xz), None) => {
            // Parallel xz writes several streams one after the other.
            let decoder = XzDecoder::new_multi_decoder(BufReader::new(file));
            from_tar(decoder, &mut gate)?;
        }
        (None, _) => {
            let shown = String::from_utf8_lossy(&start[..start.len().min(16)]).into_owned();
            let detail = format!("it begins with {shown:?}, which is not a zip, tar.gz or tar.xz");
            return Err(corrupt(archive, &detail));
        }
    }
    if let Some(links) = &layout.links {
        gate.make_links(links)?;
    }
    let done = gate.finish();
    if done.n_files == 0 {
        return Err(corrupt(archive, &"it contains none of the wanted files"));
    }
    Ok(done)
}

/// The most that a zip inside an archive may have, bytes: it is held in memory.
const NESTED_BYTES: u64 = 64 << 20;

/// As many bytes as tell the kinds of archives apart.
const FIRST_BYTES: u64 = 16;

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Zip,
    Gzip,
    Xz,
}

impl Form {
    /// By the signatures of APPNOTE.TXT 4.3.7 and 4.3.16 (an empty zip), RFC 1952 and the xz format.
    fn of(start: &[u8]) -> Option<Self> {
        match start {
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Zip),
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }
}

pub(crate) fn corrupt(archive: &Path, detail: &dyn std::fmt::Display) -> Error {
    Error::CorruptArchive { archive: archive.to_owned(), detail: detail.to_string() }
}

/// Unpacks a tar.xz that is part of `archive`, of whose entries only the wanted ones are judged: the
/// archive is a distribution's package, signed, and full of links to places of an installed system.
pub(crate) fn tar_xz(
    stream: impl Read,
    archive: &Path,
    to: &Path,
    layout: &Layout,
    limits: Limits,
    written: &mut dyn FnMut(u64) -> Result<(), Error>,
) -> Result<Unpacked, Error> {
    let gate = Gate::new(archive, to, layout, (layout.strip.clone(), limits), written);
    let mut gate = gate.that_ignores_the_rest();
    from_tar(XzDecoder::new(stream), &mut gate)?;
    Ok(gate.finish())
}

fn from_zip<R: Read + Seek>(zip: &mut ZipArchive<R>, gate: &mut Gate<'_>) -> Result<(), Error> {
    /// File type bits of a Unix mode and their value for a link: inode(7).
    const TYPE_BITS: u32 = 0o170_000;
    const REGULAR: u32 = 0o100_000;
    const DIRECTORY: u32 = 0o040_000;
    const LINK: u32 = 0o120_000;
    for i in 0..zip.len() {
        let mut entry = zip.by_index(i).map_err(|e| corrupt(gate.archive(), &e))?;
        let name = entry.name().map_err(|e| corrupt(gate.archive(), &e))?.into_owned();
        let mode = entry.unix_mode().unwrap_or(0);
        let kind = match mode & TYPE_BITS {
            _ if entry.is_dir() => Kind::Directory,
            LINK => {
                let mut target = String::new();
                // A link's target is its content; PATH_MAX is 4096.
                let read = entry.by_ref().take(4096).read_to_string(&mut target);
                read.map_err(|e| corrupt(gate.archive(), &e))?;
                Kind::Link(target.into())
            }
            0 | REGULAR => Kind::File { mode, content: &mut entry },
            DIRECTORY => Kind::Directory,
            _ => Kind::Other("is a device, a pipe or a socket"),
        };
        gate.pass(&name, kind)?;
    }
    Ok(())
}

fn from_tar(stream: impl Read, gate: &mut Gate<'_>) -> Result<(), Error> {
    let meter = gate.meter();
    let tar = tar::Archive::new(Metered::new(stream, gate.meter()));
    // What stopped the reader comes back as a broken archive.
    entries_of(tar, gate).map_err(|error| meter.take_failure().unwrap_or(error))
}

fn entries_of<R: Read>(mut tar: tar::Archive<R>, gate: &mut Gate<'_>) -> Result<(), Error> {
    use tar::EntryType;
    let meter = gate.meter();
    let entries = tar.entries().map_err(|e| corrupt(gate.archive(), &e))?;
    for entry in entries {
        let mut entry = entry.map_err(|e| corrupt(gate.archive(), &e))?;
        // A sparse file is larger than what of it is in the archive.
        let n_bytes = match entry.header().entry_type() {
            EntryType::GNUSparse => entry.header().entry_size(),
            _ => Ok(entry.size()),
        };
        meter.expect(n_bytes.map_err(|e| corrupt(gate.archive(), &e))?);
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = match entry.header().entry_type() {
            EntryType::Directory => Kind::Directory,
            EntryType::Symlink => {
                let target = entry.link_name().map_err(|e| corrupt(gate.archive(), &e))?;
                Kind::Link(target.unwrap_or_default().into_owned())
            }
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                let mode = entry.header().mode().map_err(|e| corrupt(gate.archive(), &e))?;
                Kind::File { mode, content: &mut entry }
            }
            EntryType::Link => {
                let target = entry.link_name().map_err(|e| corrupt(gate.archive(), &e))?;
                Kind::HardLink(target.unwrap_or_default().into_owned())
            }
            EntryType::XGlobalHeader | EntryType::XHeader => continue,
            _ => Kind::Other("is a device, a pipe or something unknown"),
        };
        gate.pass(&name, kind)?;
    }
    // The reader must reach the end of the compressed stream, or a cut archive would pass.
    meter.expect(u64::MAX);
    let mut rest = tar.into_inner();
    io::copy(&mut rest, &mut io::sink()).map_err(|e| corrupt(gate.archive(), &e))?;
    Ok(())
}

#[cfg(test)]
mod tests;
