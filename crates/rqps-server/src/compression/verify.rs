//! Whether what a server tells of tables and column families is the compression that was meant.
//!
//! An answer that is missing is wrong: a check that finds nothing to look at has checked nothing.

use rqps_model::{Codec, Compression};

/// RocksDB's names of the codecs in lower case, as far as its options are compared.
const NONE: &str = "knocompression";

/// What is wrong with a table, by `there`: names, and row format and create options with a bar
/// between them.
pub(super) fn wrong_table(
    table: &str,
    compression: Compression,
    there: &[(String, String)],
) -> Option<String> {
    let Some((_, told)) = there.iter().find(|(name, _)| name == table) else {
        return Some(format!("information_schema.tables does not list table {table}"));
    };
    let (format, options) = told.split_once('|').unwrap_or((told, ""));
    let by_row = format.eq_ignore_ascii_case("compressed");
    let by_page = page_option(options);
    let fits = match compression {
        Compression::None => !by_row && by_page.is_none(),
        Compression::Row => by_row,
        // MariaDB has one algorithm for all tables and tells that there is compression; MySQL tells
        // the codec.
        Compression::Page(codec) => {
            by_page.is_some_and(|told| told == "on" || told == codec.name())
        }
        // Of RocksDB alone.
        Compression::Levels { .. } => false,
    };
    (!fits).then(|| format!("table {table} has row format {format} and options {options:?}"))
}

/// Page compression in create options: `on` of MariaDB's `` `PAGE_COMPRESSED`=1 ``, the codec of
/// MySQL's `COMPRESSION="lz4"`; `None` where it is absent or switched off.
fn page_option(options: &str) -> Option<String> {
    options.to_ascii_lowercase().split_whitespace().find_map(|option| {
        let (name, value) = option.split_once('=')?;
        let bare = |text: &str| text.trim_matches(['`', '"', '\'']).to_owned();
        match (bare(name).as_str(), bare(value).as_str()) {
            ("page_compressed", "1" | "on" | "yes") => Some("on".to_owned()),
            ("compression", "" | "none") => None,
            ("compression", codec) => Some(codec.to_owned()),
            _ => None,
        }
    })
}

/// What is wrong with the options of the tables' column family.
pub(super) fn wrong_levels(
    compression: Compression,
    options: &[(String, String)],
) -> Option<String> {
    let told = |name: &str| {
        let found = options.iter().find(|(option, _)| option == name);
        found.map(|(_, value)| value.to_ascii_lowercase())
    };
    // A server omits the bottom level's where it is none, and says so where it is that of the
    // others.
    let (all, levels, bottom) =
        (told("COMPRESSION_TYPE"), told("COMPRESSION_PER_LEVEL"), told("BOTTOMMOST_COMPRESSION"));
    let same = |told: &Option<String>, codec: Codec| {
        told.as_ref().is_some_and(|told| is_codec(told, codec))
    };
    let fits = match compression {
        Compression::Levels { middle, bottom: last } => {
            let list: Vec<&str> = levels.as_deref().unwrap_or("").split(':').collect();
            let whole = matches!(list[..], [NONE, NONE, NONE, one] if is_codec(one, middle));
            same(&all, middle) && whole && same(&bottom, last)
        }
        Compression::None => {
            // An empty list; MyRocks takes a letter off what it believes to end in a colon.
            let is_empty = |list: &str| matches!(list, "null" | "nul");
            let is_none = |list: &str| is_empty(list) || list.split(':').all(|one| one == NONE);
            all.as_deref() == Some(NONE)
                && levels.as_deref().is_some_and(is_none)
                && matches!(bottom.as_deref(), None | Some(NONE | "kdisablecompressionoption"))
        }
        Compression::Row | Compression::Page(_) => false,
    };
    let shown = |(name, value): &(String, String)| format!("{} {value}", name.to_ascii_lowercase());
    (!fits).then(|| match options {
        [] => "information_schema.rocksdb_cf_options does not list the tables' family".to_owned(),
        _ => {
            let all: Vec<String> = options.iter().map(shown).collect();
            format!("the tables' column family has {}", all.join(", "))
        }
    })
}

/// `klz4compression`, `kzstd`, and `kzstdnotfinalcompression` of old versions.
fn is_codec(told: &str, codec: Codec) -> bool {
    let rest = told.strip_prefix('k').and_then(|told| told.strip_prefix(codec.name()));
    rest.is_some_and(|rest| matches!(rest, "" | "compression" | "notfinalcompression"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_not_as_meant_are_found() {
        let wrong = |told: &str, compression: &str| {
            let there = [("sbtest1".to_owned(), told.to_owned())];
            wrong_table("sbtest1", compression.parse().unwrap(), &there)
        };
        for (told, compression) in [
            ("Compressed|row_format=COMPRESSED key_block_size=8", "row"),
            ("Dynamic|`PAGE_COMPRESSED`=1", "page-zlib"),
            ("Dynamic|partitioned `page_compressed`='ON'", "page-zlib"),
            ("Dynamic|COMPRESSION=\"lz4\"", "page-lz4"),
            ("Dynamic|", "none"),
            ("Dynamic|`PAGE_COMPRESSED`=0 COMPRESSION=\"none\"", "none"),
        ] {
            assert_eq!(wrong(told, compression), None, "{told}");
        }
        for (told, compression) in [
            ("Dynamic|COMPRESSION=\"lz4\"", "page-zlib"),
            ("Dynamic|`PAGE_COMPRESSED`=0", "page-zlib"),
            ("Dynamic|`PAGE_COMPRESSED`=1", "none"),
            ("Compressed|", "none"),
            ("Compact|", "page-zlib"),
        ] {
            assert!(wrong(told, compression).is_some(), "{told}");
        }
        assert_eq!(
            wrong("Compact|", "row").unwrap(),
            "table sbtest1 has row format Compact and options \"\""
        );
        assert_eq!(
            wrong_table("pi1", Compression::Row, &[]).unwrap(),
            "information_schema.tables does not list table pi1"
        );
    }

    #[test]
    fn the_whole_list_of_levels_counts() {
        let wrong = |all: &str, levels: &str, bottom: &str, compression: &str| {
            let option = |(name, value): (&str, &str)| {
                (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
            };
            let options = [
                ("BOTTOMMOST_COMPRESSION", bottom),
                ("COMPRESSION_PER_LEVEL", levels),
                ("COMPRESSION_TYPE", all),
            ];
            let options: Vec<_> = options.into_iter().filter_map(option).collect();
            wrong_levels(compression.parse().unwrap(), &options)
        };
        let (none, lz4, zstd) = ("kNoCompression", "kLZ4Compression", "kZSTD");
        let field = format!("{none}:{none}:{none}:{lz4}");
        assert_eq!(wrong(lz4, &field, zstd, "lz4+zstd"), None);
        assert_eq!(wrong(lz4, &field, "kZSTDNotFinalCompression", "lz4+zstd"), None);
        assert_eq!(wrong(none, "NUL", "", "none"), None);
        assert_eq!(wrong(none, none, "kDisableCompressionOption", "none"), None);
        for (all, levels, bottom, compression) in [
            // The last one is right, those before it are not.
            (lz4, format!("{lz4}:{lz4}:{lz4}:{lz4}").as_str(), zstd, "lz4+zstd"),
            (lz4, lz4, zstd, "lz4+zstd"),
            (lz4, "NULL", zstd, "lz4+zstd"),
            (lz4, &field, "", "lz4+zstd"),
            (lz4, &field, "kLZ4HCCompression", "lz4"),
            ("kSnappyCompression", "NULL", "", "none"),
            (none, "NULL", zstd, "none"),
            (none, &field, "", "none"),
            ("", "", "", "none"),
        ] {
            assert!(wrong(all, levels, bottom, compression).is_some(), "{all} {levels} {bottom}");
        }
        assert_eq!(
            wrong("kSnappyCompression", "NULL", "", "none").unwrap(),
            "the tables' column family has compression_per_level NULL, compression_type \
             kSnappyCompression"
        );
        assert!(wrong("", "", "", "zstd").unwrap().contains("does not list the tables' family"));
    }
}
