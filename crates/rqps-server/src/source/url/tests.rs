//! Downloads from a web server in this process that behaves, breaks off, stalls, lies and redirects.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::places::hex;
use crate::source::Algorithm;

/// How the server answers the next request; the last one is for all that follow.
#[derive(Debug, Clone, Copy)]
enum Manner {
    /// The file, by Range where asked for.
    Good,
    /// The whole file whatever is asked for.
    NoRange,
    /// Promises all of it and sends half of what was asked for.
    Half,
    /// Half, and then nothing while the client waits.
    Stall,
    /// Other bytes of the same length.
    Other,
    /// A web page with status 200.
    Page,
    /// A status without a body.
    Status(u16),
    /// The same server, another path.
    Redirect,
    /// A part from somewhere else than asked for.
    WrongPart,
    /// Promises far too much.
    Huge,
}

struct Site {
    base: String,
    /// The Range header of each request, in order; empty for none.
    asked: Arc<Mutex<Vec<String>>>,
}

fn content() -> Vec<u8> {
    (0..300_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect()
}

fn serve(manners: &'static [Manner]) -> Site {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for (i, stream) in listener.incoming().enumerate() {
            let manner = manners[i.min(manners.len() - 1)];
            if let Some(stream) = answer(stream.unwrap(), manner, &log) {
                held.push(stream);
            }
        }
    });
    Site { base, asked }
}

/// Answers one request; gives back a connection that is to stay open.
fn answer(stream: TcpStream, manner: Manner, log: &Mutex<Vec<String>>) -> Option<TcpStream> {
    let mut range = String::new();
    for line in BufReader::new(&stream).lines() {
        let line = line.unwrap();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("range: ") {
            value.clone_into(&mut range);
        }
    }
    log.lock().unwrap().push(range.clone());
    let from = range.strip_prefix("bytes=").and_then(|r| r.strip_suffix('-')?.parse().ok());
    let all = content();
    let mut out = &stream;
    let mut say = |head: &str, body: &[u8]| {
        // The client may be gone: it reads no further than it wants.
        let _ = out.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes());
        let _ = out.write_all(body);
    };
    let partial = |from: usize| {
        let (rest, total) = (all.len().saturating_sub(from), all.len());
        format!(
            "206 Partial Content\r\nContent-Length: {rest}\r\nContent-Range: bytes {from}-{}/{total}",
            total - 1
        )
    };
    let whole = format!("200 OK\r\nContent-Length: {}", all.len());
    let head = from.map_or_else(|| whole.clone(), partial);
    let body = &all[from.unwrap_or(0).min(all.len())..];
    match manner {
        Manner::Good => say(&head, body),
        Manner::NoRange => say(&whole, &all),
        Manner::Half => say(&head, &body[..body.len() / 2]),
        Manner::Stall => {
            say(&head, &body[..body.len() / 2]);
            return Some(stream);
        }
        Manner::Other => say(&head, &vec![7; body.len()]),
        Manner::Page => say("200 OK\r\nContent-Type: text/html; charset=utf-8", b"<html>sign in"),
        Manner::Status(code) => say(&format!("{code} Because\r\nContent-Length: 0"), b""),
        Manner::Redirect => say("302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0", b""),
        Manner::WrongPart => say(&partial(5), &all[5..]),
        Manner::Huge => say("200 OK\r\nContent-Length: 999000000000", &all),
    }
    let _ = stream.shutdown(Shutdown::Both);
    None
}

const FAST: Patience =
    Patience { stall: Duration::from_secs(5), resumes: 3, pause: Duration::ZERO };

fn source(sites: &[&Site]) -> Url {
    let hex = hex(&Sha256::digest(content()));
    let mut source = Url {
        site: None,
        urls: sites.iter().map(|site| format!("{}/{{series}}/{{file}}", site.base)).collect(),
        file: "db-{version}.tar.gz".to_owned(),
        checksum: Checksum { algorithm: Algorithm::Sha256, hex },
        layout: "tree".to_owned(),
        download_bytes: 300_000,
    };
    source.resolve(&"5.6.14".parse().unwrap());
    assert_eq!(source.flaw(), None);
    source
}

struct Got {
    dir: tempfile::TempDir,
    result: Result<(), Error>,
    notes: Vec<String>,
}

fn get(sites: &[&Site], part: Option<&[u8]>) -> Got {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("db-5.6.14.tar.gz");
    if let Some(part) = part {
        fs::write(part_of(&to), part).unwrap();
    }
    let stop = AtomicBool::new(false);
    let mut notes = Vec::new();
    let mut report = |progress: Progress<'_>| {
        if let Progress::Note { text } = progress {
            notes.push(text.to_owned());
        }
    };
    let mut watch = Watch { stop: &stop, report: &mut report };
    let result = fetch_patiently("mysql-5.6.14", &source(sites), &to, FAST, &mut watch);
    if result.is_ok() {
        assert!(fs::read(&to).unwrap() == content(), "other bytes");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "something is left");
    } else {
        assert!(!to.exists());
    }
    Got { dir, result, notes }
}

fn ranges(site: &Site) -> Vec<String> {
    site.asked.lock().unwrap().clone()
}

/// The error without what differs from run to run.
fn shown(got: &Got, sites: &[&Site]) -> String {
    let mut text = got.result.as_ref().unwrap_err().to_string();
    for (i, site) in sites.iter().enumerate() {
        text = text.replace(&site.base, &format!("http://site{i}"));
    }
    text.replace(&got.dir.path().display().to_string(), "DIR")
}

#[test]
fn a_good_server_and_a_redirect() {
    for manners in [&[Manner::Good][..], &[Manner::Redirect, Manner::Good]] {
        let site = serve(manners);
        let got = get(&[&site], None);
        got.result.unwrap();
        assert_eq!(got.notes, Vec::<String>::new());
    }
}

#[test]
fn a_transfer_that_breaks_off_is_taken_up_by_range() {
    for first in [&[Manner::Half, Manner::Half, Manner::Good][..], &[Manner::Stall, Manner::Good]] {
        let site = serve(first);
        get(&[&site], None).result.unwrap();
        let asked = ranges(&site);
        assert_eq!(asked[..2], [String::new(), "bytes=150000-".to_owned()], "{asked:?}");
    }
}

#[test]
fn a_server_without_range_starts_from_0() {
    let site = serve(&[Manner::Half, Manner::NoRange]);
    get(&[&site], None).result.unwrap();
    let site = serve(&[Manner::Half, Manner::WrongPart, Manner::Good]);
    get(&[&site], None).result.unwrap();
    assert_eq!(ranges(&site), ["", "bytes=150000-", ""]);
}

#[test]
fn what_an_earlier_run_left_is_used_or_thrown_away() {
    let site = serve(&[Manner::Good]);
    get(&[&site], Some(&content()[..1000])).result.unwrap();
    assert_eq!(ranges(&site), ["bytes=1000-"]);
    // Not the beginning of this file: the checksum tells, and the second time is from the start.
    let site = serve(&[Manner::Good]);
    get(&[&site], Some(&[9; 1000])).result.unwrap();
    assert_eq!(ranges(&site), ["bytes=1000-", ""]);
    // Longer than the file.
    let site = serve(&[Manner::Status(416), Manner::Good]);
    get(&[&site], Some(&[9; 400_000])).result.unwrap();
    assert_eq!(ranges(&site), ["bytes=400000-", ""]);
}

#[test]
fn a_busy_server_is_asked_again_and_then_the_next_mirror() {
    let site = serve(&[Manner::Status(503), Manner::Good]);
    get(&[&site], None).result.unwrap();
    let [bad, good] = [serve(&[Manner::Status(404)]), serve(&[Manner::Good])];
    let got = get(&[&bad, &good], None);
    got.result.unwrap();
    assert_eq!(ranges(&bad).len(), 1);
    assert_eq!(got.notes.len(), 1);
    assert!(got.notes[0].ends_with("/5.6/db-5.6.14.tar.gz: it answers 404 Not Found"));
    // A mirror with another file is as good as none.
    let [bad, good] = [serve(&[Manner::Other]), serve(&[Manner::Good])];
    get(&[&bad, &good], None).result.unwrap();
}

#[test]
fn every_failure_is_told_with_the_next_step() {
    let sites = [
        serve(&[Manner::Status(404)]),
        serve(&[Manner::Other]),
        serve(&[Manner::Page]),
        serve(&[Manner::Status(500)]),
        serve(&[Manner::Huge]),
    ];
    let sites: Vec<&Site> = sites.iter().collect();
    let got = get(&sites, None);
    expect![[r#"
        mysql-5.6.14 could not be downloaded:
          http://site0/5.6/db-5.6.14.tar.gz: it answers 404 Not Found
          http://site1/5.6/db-5.6.14.tar.gz: it sent a different file: its SHA-256 is 08f166476de183f7a1b2874d544d37912aaf8d19b92013e1aafe233ba231024a, the catalogue says 136f334d647619879743ff33fde1ac6547f40e314692441f2a125e087cad47c9
          http://site2/5.6/db-5.6.14.tar.gz: it answers with a web page, no archive
          http://site3/5.6/db-5.6.14.tar.gz: it answers 500 Internal Server Error (after 3 earlier failures)
          http://site4/5.6/db-5.6.14.tar.gz: it sends 999000 MB, far more than the archive should have
        get db-5.6.14.tar.gz in another way and put it into DIR, then run the command again"#]].assert_eq(&shown(&got, &sites));
}

#[test]
fn half_an_archive_for_good_says_where_it_broke_off() {
    let site = serve(&[Manner::Half]);
    let got = get(&[&site], None);
    let text = shown(&got, &[&site]);
    // Each attempt brings half of the rest.
    assert!(text.contains("it broke off at 281250 "), "{text}");
    // What came is kept for the next run.
    let part = fs::metadata(got.dir.path().join("db-5.6.14.tar.gz.part")).unwrap();
    assert_eq!(part.len(), 281_250);
}

#[test]
fn nobody_there() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let site = Site { base, asked: Arc::default() };
    let text = shown(&get(&[&site], None), &[&site]);
    assert!(text.contains("db-5.6.14.tar.gz: no answer: "), "{text}");
}

#[test]
fn the_user_can_stop_a_server_that_says_nothing() {
    let site = serve(&[Manner::Stall]);
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let mut report = |progress: Progress<'_>| {
        if matches!(progress, Progress::Fetching { bytes: 150_000, .. }) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let mut watch = Watch { stop: &stop, report: &mut report };
    let patience = Patience { stall: Duration::from_secs(3600), ..FAST };
    let to = dir.path().join("x");
    let result = fetch_patiently("x", &source(&[&site]), &to, patience, &mut watch);
    assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
}

#[test]
fn flaws() {
    let site = serve(&[Manner::Good]);
    let good = source(&[&site]);
    let flaw = |change: &dyn Fn(&mut Url)| {
        let mut url = good.clone();
        change(&mut url);
        url.flaw().unwrap()
    };
    assert!(flaw(&|url| url.urls.clear()).contains("needs urls or site"));
    assert!(flaw(&|url| url.urls[0] = "ftp://x/y".to_owned()).contains("does not begin with"));
    assert!(flaw(&|url| url.urls[0] = "https://x/{nope}".to_owned()).contains("braces"));
    let md5 = Checksum { algorithm: Algorithm::Md5, hex: "0".repeat(32) };
    assert!(flaw(&|url| url.checksum = md5.clone()).contains("use https"));
    let mut url = Url { site: Some("nope".to_owned()), ..good.clone() };
    assert_eq!(url.take_site(&BTreeMap::new()), Some("unknown site \"nope\"".to_owned()));
}

#[test]
fn a_file_is_there_only_where_the_site_says_so() {
    let limit = Duration::from_secs(20);
    let ask = |manners| is_there(&format!("{}/x.tar.gz", serve(manners).base), limit).unwrap();
    assert_eq!(ask(&[Manner::Good]), Ok(()));
    assert_eq!(ask(&[Manner::Redirect, Manner::Good]), Ok(()));
    assert_eq!(ask(&[Manner::Status(404)]), Err("answers 404 Not Found".to_owned()));
    assert_eq!(
        ask(&[Manner::Redirect, Manner::Status(503)]).unwrap_err(),
        "answers 503 Service Unavailable"
    );
    assert_eq!(ask(&[Manner::Page]).unwrap_err(), "answers with a web page, no archive");
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    assert!(is_there(&format!("http://{closed}/x"), limit).is_err());
}
