//! What a browser does, by hand: requests over TCP, so that tests can send what no browser would.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::bench::{Bench, Running};

/// Longest wait for an answer. Reached only by what hangs.
const DEADLINE: Duration = Duration::from_secs(300);

/// A server under way.
pub(crate) struct Served {
    pub(crate) process: Running,
    pub(crate) at: SocketAddr,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Served {
    /// Starts `rqps serve` on a free port of loopback.
    pub(crate) fn start(bench: &Bench, args: &[&str]) -> Self {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0"];
        all.extend(args);
        let mut process = bench.spawn(&all);
        let line = process.await_line("http://");
        let at = line.split("http://").nth(1).unwrap().split('/').next().unwrap();
        Self { at: at.parse().unwrap(), process }
    }

    /// Sends a request as it stands, and gives the connection.
    pub(crate) fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.at).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// Sends a request as it stands, and reads the answer.
    pub(crate) fn ask(&self, text: &str) -> Answer {
        Answer::read(self.send(text))
    }

    /// `GET` with these headers on top.
    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(&self.request("GET", path, headers))
    }

    /// A page that must be there.
    pub(crate) fn get(&self, path: &str) -> Answer {
        let answer = self.get_with(path, &[]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer
    }

    /// A whole request; a `Host` among the headers takes the place of the right one.
    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str(&format!("Host: {}\r\n", self.at));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{text}\r\n")
    }

    /// Follows a run.
    pub(crate) fn follow(&self, run_id: &str) -> Followed {
        let headers = [("Accept", "text/event-stream")];
        let path = format!("/runs/{run_id}/events");
        let mut reader = BufReader::new(self.send(&self.request("GET", &path, &headers)));
        let mut status = String::new();
        reader.read_line(&mut status).unwrap();
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        Followed { reader }
    }
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A server that refuses may close before it has read all.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().unwrap_or_default().split(' ').nth(1).unwrap_or("0");
        let pair = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            (name.to_lowercase(), value.to_owned())
        };
        Self {
            status: status.parse().unwrap(),
            headers: lines.map(pair).collect(),
            body: body.to_owned(),
        }
    }

    /// The value of a header; empty when it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// A stream of events.
pub(crate) struct Followed {
    reader: BufReader<TcpStream>,
}

impl Followed {
    /// The next event, as its name and data; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<(String, String)> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // Lines between are sizes of chunks and signs of life.
            if let Some(text) = line.strip_prefix("event: ") {
                text.trim_end().clone_into(&mut name);
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, data.trim_end().to_owned()));
            }
        }
    }
}
