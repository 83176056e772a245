//! What a program's ELF file tells: symbols that it defines (does it bring an allocator of its own?) and
//! the loader that it asks for.
//!
//! Only 64-bit little-endian files are read, which is what Linux servers are made for on x86-64 and
//! arm64. Names and numbers of fields are those of elf(5).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Section types with symbols: SHT_SYMTAB and SHT_DYNSYM.
const SYMBOL_TABLES: [u32; 2] = [2, 11];

/// The type of the segment with the loader's path.
const PT_INTERP: u32 = 3;

/// The largest table that is believed, bytes: a server's with debug information has some 20 MB.
const MAX_TABLE: u64 = 1 << 30;

/// Bytes of an entry of a symbol table, `Elf64_Sym`.
const SYMBOL: usize = 24;

/// Which of `wanted` the file defines itself, in its dynamic symbols or, where it was not stripped,
/// in all of its symbols.
///
/// # Errors
/// When the file cannot be read or is no ELF file of the kind above.
pub(crate) fn defined_symbols(path: &Path, wanted: &[&str]) -> io::Result<BTreeSet<String>> {
    let file = File::open(path)?;
    let header = read(&file, 0, 64)?;
    // e_ident: magic, ELFCLASS64, ELFDATA2LSB.
    if header.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a 64-bit ELF file"));
    }
    let (table, size, n) = (u64_at(&header, 40)?, u16_at(&header, 58)?, u16_at(&header, 60)?);
    let sections = read(&file, table, u64::from(size) * u64::from(n))?;
    let mut found = BTreeSet::new();
    for section in sections.chunks_exact(usize::from(size).max(1)) {
        if !SYMBOL_TABLES.contains(&u32_at(section, 4)?) {
            continue;
        }
        let symbols = read(&file, u64_at(section, 24)?, u64_at(section, 32)?)?;
        // sh_link is the section with the names.
        let link = usize::try_from(u32_at(section, 40)?).map_err(io::Error::other)?;
        let names = sections.chunks_exact(usize::from(size)).nth(link).ok_or_else(cut_short)?;
        let names = read(&file, u64_at(names, 24)?, u64_at(names, 32)?)?;
        for symbol in symbols.chunks_exact(SYMBOL) {
            // st_shndx 0 is SHN_UNDEF: it is asked for, not brought.
            if u16_at(symbol, 6)? == 0 {
                continue;
            }
            let start = usize::try_from(u32_at(symbol, 0)?).map_err(io::Error::other)?;
            let rest = names.get(start..).unwrap_or_default();
            let name = rest.split(|byte| *byte == 0).next().unwrap_or_default();
            if let Some(name) = wanted.iter().find(|wanted| wanted.as_bytes() == name) {
                found.insert((*name).to_owned());
            }
        }
    }
    Ok(found)
}

/// The sections of a file: name and content's offset and size.
///
/// # Errors
/// As for [`defined_symbols`].
pub(crate) fn sections(path: &Path) -> io::Result<Vec<(String, u64, u64)>> {
    let file = File::open(path)?;
    let header = read(&file, 0, 64)?;
    if header.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a 64-bit ELF file"));
    }
    let (table, size, n) = (u64_at(&header, 40)?, u16_at(&header, 58)?, u16_at(&header, 60)?);
    let entries = read(&file, table, u64::from(size) * u64::from(n))?;
    let entries: Vec<&[u8]> = entries.chunks_exact(usize::from(size).max(1)).collect();
    // e_shstrndx is the section with the names of all.
    let Some(names) = entries.get(usize::from(u16_at(&header, 62)?)) else { return Ok(Vec::new()) };
    let names = read(&file, u64_at(names, 24)?, u64_at(names, 32)?)?;
    let section = |entry: &&[u8]| {
        let start = usize::try_from(u32_at(entry, 0)?).map_err(io::Error::other)?;
        let name = names.get(start..).unwrap_or_default();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok((String::from_utf8_lossy(name).into_owned(), u64_at(entry, 24)?, u64_at(entry, 32)?))
    };
    entries.iter().map(section).collect()
}

/// A part of a file.
///
/// # Errors
/// When the file cannot be read or ends before.
pub(crate) fn read_part(path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    read(&File::open(path)?, offset, len)
}

/// The loader that a program asks for, an absolute path; `None` for static programs and libraries.
///
/// # Errors
/// As for [`defined_symbols`].
pub(crate) fn interpreter(path: &Path) -> io::Result<Option<PathBuf>> {
    let file = File::open(path)?;
    let header = read(&file, 0, 64)?;
    if header.get(..6) != Some(b"\x7fELF\x02\x01") {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a 64-bit ELF file"));
    }
    // e_phoff, e_phentsize, e_phnum.
    let (table, size, n) = (u64_at(&header, 32)?, u16_at(&header, 54)?, u16_at(&header, 56)?);
    let segments = read(&file, table, u64::from(size) * u64::from(n))?;
    for segment in segments.chunks_exact(usize::from(size).max(1)) {
        if u32_at(segment, 0)? == PT_INTERP {
            // p_offset and p_filesz; the text ends with a zero byte.
            let text = read(&file, u64_at(segment, 8)?, u64_at(segment, 32)?)?;
            let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
            return Ok(Some(PathBuf::from(OsStr::from_bytes(text))));
        }
    }
    Ok(None)
}

fn read(file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    if len > MAX_TABLE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a table of more than 1 GiB"));
    }
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

fn cut_short() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a truncated ELF file")
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    bytes.get(at..at + N).and_then(|part| part.try_into().ok()).ok_or_else(cut_short)
}

fn u16_at(bytes: &[u8], at: usize) -> io::Result<u16> {
    bytes_at(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> io::Result<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> io::Result<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_a_program_defines_from_what_it_asks_for() {
        // This test's own program: `main` is its own, `malloc` the C library's.
        let me = std::env::current_exe().unwrap();
        let found = defined_symbols(&me, &["main", "malloc", "no_such_symbol"]).unwrap();
        assert_eq!(found, BTreeSet::from(["main".to_owned()]));
    }

    #[test]
    fn tells_which_loader_a_program_asks_for() {
        let me = std::env::current_exe().unwrap();
        let loader = interpreter(&me).unwrap().unwrap();
        assert!(loader.is_absolute() && loader.exists(), "{}", loader.display());
    }

    #[test]
    fn what_is_no_elf_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        for (bytes, said) in [
            (b"#!/bin/sh\n".repeat(20), "not a 64-bit ELF file"),
            (b"\x7fELF\x02\x01".to_vec(), "failed to fill whole buffer"),
            ([b"\x7fELF\x02\x01".as_slice(), &[0xff; 100]].concat(), "more than 1 GiB"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = defined_symbols(&path, &["malloc"]).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
