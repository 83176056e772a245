//! Variants as they are written.

use super::*;

#[test]
fn cpus_are_read_and_written() {
    for (text, numbers, written) in [
        ("0-1", &[0, 1][..], "0-1"),
        ("3, 1,0", &[0, 1, 3], "0-1,3"),
        ("5", &[5], "5"),
        ("2-4,4-6,9", &[2, 3, 4, 5, 6, 9], "2-6,9"),
    ] {
        let cpus: CpuSet = text.parse().unwrap();
        assert_eq!((cpus.numbers(), cpus.to_string().as_str()), (numbers, written));
    }
    for bad in ["", "a", "3-1", "0-99999", "1,,2", "-1"] {
        assert!(bad.parse::<CpuSet>().is_err(), "{bad}");
    }
}

#[test]
fn compressions_are_read_and_written() {
    for text in ["none", "row", "page-zlib", "page-lz4", "zstd", "lz4+zstd", "lz4+zlib"] {
        assert_eq!(text.parse::<Compression>().unwrap().to_string(), text);
    }
    assert_eq!("zstd+zstd".parse::<Compression>().unwrap().to_string(), "zstd");
    for bad in ["", "gzip", "page-", "lz4+", "lz4+zstd+zlib", "page-lz4+zstd"] {
        assert!(bad.parse::<Compression>().is_err(), "{bad}");
    }
}

#[test]
fn sizes_are_binary() {
    for (text, bytes) in [
        ("2G", Some(2 << 30)),
        ("512M", Some(512 << 20)),
        ("1.5g", Some(3 << 29)),
        ("4096", Some(4096)),
        ("1 GiB", Some(1 << 30)),
        ("64KB", Some(64 << 10)),
        ("0", None),
        ("", None),
        ("G", None),
        ("-1G", None),
        ("99999999T", None),
    ] {
        assert_eq!(parse_bytes(text), bytes, "{text}");
    }
}

#[test]
fn sizes_are_written_as_they_are_read() {
    for (bytes, text) in [(2 << 30, "2G"), (1536 << 20, "1536M"), (1025 << 10, "1025K")] {
        assert_eq!(written_bytes(bytes), text);
        assert_eq!(parse_bytes(text), Some(bytes));
    }
    assert_eq!(written_bytes(1_000_001), "1000001");
}
