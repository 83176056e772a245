//! What apt prints, read; what it is configured with.

use super::*;

#[test]
fn reads_what_apt_prints() {
    let output = "Reading package lists...\n\
        'http://h/pool/m/mariadb-server-core_10.11.19-0%2bdeb12u1_amd64.deb' mariadb-server-core_1%3a10.11.19-0+deb12u1_amd64.deb 7342456 SHA256:bda81c\n\
        'http://h/pool/libaio1_0.3.113-4_amd64.deb' libaio1_0.3.113-4_amd64.deb 13360 MD5Sum:d1fd\n\
        'http://h/pool/libssl3_3.0.22_amd64.deb' libssl3_3.0.22_amd64.deb 2039888 \n";
    let files = parse_uris(output);
    let short: Vec<_> = files
        .iter()
        .map(|f| (f.name.as_str(), f.version.as_str(), f.bytes, f.sha256.as_str()))
        .collect();
    assert_eq!(
        short,
        [
            ("mariadb-server-core", "1:10.11.19-0+deb12u1", 7_342_456, "bda81c"),
            ("libaio1", "0.3.113-4", 13_360, ""),
            ("libssl3", "3.0.22", 2_039_888, ""),
        ]
    );
    assert_eq!(files[0].file, "mariadb-server-core_1%3a10.11.19-0+deb12u1_amd64.deb");
    let madison = "postgresql-19 |   19~rc1-1 | http://h/debian experimental/main amd64 Packages\n    \
        libpq5 |   19~rc1-1 | http://h/debian experimental/main amd64 Packages\n    \
        libpq5 |     18.6-3 | http://h/debian sid/main amd64 Packages\nN: Unable to locate package x\n";
    let found = parse_madison(madison);
    let found: Vec<_> = found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(
        found,
        [("postgresql-19", "19~rc1-1"), ("libpq5", "19~rc1-1"), ("libpq5", "18.6-3")]
    );
}

#[test]
fn the_mirror_is_the_hosts() {
    let targets = "bookworm http://m/debian/\nbookworm-updates http://m/debian/\n\
        bookworm-security http://m/security/\n";
    let of = |suite: &str, targets: &str| sources(suite, "/k.gpg", targets);
    assert_eq!(
        of("trixie", targets).unwrap(),
        "deb [signed-by=/k.gpg] http://m/debian/ trixie main\n\
         deb [signed-by=/k.gpg] http://m/security/ trixie-security main\n"
    );
    assert_eq!(
        of("experimental", targets).unwrap(),
        "deb [signed-by=/k.gpg] http://m/debian/ experimental main\n\
         deb [signed-by=/k.gpg] http://m/debian/ sid main\n"
    );
    // A source for the very suite wins: that is how an ended suite is had from Debian's archive.
    let more = format!("{targets}bullseye http://old/debian/\nbullseye-security http://old/sec/\n");
    let archive = of("bullseye", &more).unwrap();
    assert!(archive.contains("http://old/debian/ bullseye main\n"), "{archive}");
    assert!(archive.contains("http://old/sec/ bullseye-security main\n"), "{archive}");
    let error = of("sid", "jammy http://ubuntu/\njammy-security http://ubuntu/\n").unwrap_err();
    assert!(error.contains("no Debian source") && error.contains("jammy"), "{error}");
    assert!(of("sid", "").unwrap_err().contains("it has: nothing"));
}

#[test]
fn proxies_are_taken_over_but_nothing_that_weakens_signatures() {
    let dump = "Acquire \"\";\nAcquire::http::Proxy \"http://p:3128\";\nAcquire::https::CaInfo \"\";\n\
        Acquire::AllowInsecureRepositories \"1\";\nAcquire::Check-Date \"false\";\n\
        Acquire::IndexTargets::deb::DEP-11::MetaKey \"x\";\nAcquire::Languages \"\";\n";
    let taken: Vec<&str> = dump.lines().filter(|line| is_of_the_network(line)).collect();
    assert_eq!(
        taken,
        ["Acquire::http::Proxy \"http://p:3128\";", "Acquire::Check-Date \"false\";"]
    );
}

#[test]
fn what_apt_says_is_answered_with_the_next_step() {
    for (output, step) in [
        (
            "Err:1 http://m bookworm InRelease\nE: Failed to fetch http://m  Could not connect to p:9",
            "check the network, or the proxy",
        ),
        (
            "Err:1 http://m bookworm InRelease\n  Temporary failure resolving 'm'",
            "check the network, or the proxy",
        ),
        (
            "E: The repository 'http://m jessie Release' does not have a Release file.",
            "add an apt source for jessie that points there",
        ),
        (
            "W: GPG error: the public key is not available: NO_PUBKEY 6E\n\
             E: The repository 'http://m jessie InRelease' is not signed.",
            "apt-get install debian-archive-keyring",
        ),
        (
            "Err:1 http://m sid/main libx 1\n  404  Not Found [IP: 1]\nE: Failed to fetch http://m",
            "it no longer has",
        ),
        (
            "The following packages have unmet dependencies:\n libx : Depends: liby\n\
             E: Unable to correct problems, you have held broken packages.",
            "try again in some days",
        ),
    ] {
        let done = Done { status: None, output: output.to_owned(), said_too_much: false };
        let text = explain("apt-get", "jessie", &done);
        assert!(text.contains(step), "{text}");
        // Its own words are there too.
        assert!(text.contains(output.lines().last().unwrap().trim()), "{text}");
    }
}
