//! Versions as Debian writes them, and what a suite that has moved on says.

use super::*;

#[test]
fn upstream_versions() {
    for (debian, version) in [
        ("1:10.11.19-0+deb12u1", "10.11.19"),
        ("1:11.8.9+ds-4", "11.8.9"),
        ("9.7.4-2", "9.7.4"),
        ("19~rc1-1", "19rc1"),
        ("13.23-0+deb11u4", "13.23"),
    ] {
        assert_eq!(upstream(debian).unwrap().to_string(), version);
    }
    assert_eq!(upstream("sid"), None);
}
