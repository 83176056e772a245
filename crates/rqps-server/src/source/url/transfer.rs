//! One transfer over HTTP into a file that may hold its beginning already.
//!
//! It runs in a thread of its own, so that the user can stop it while a server says nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{TryRecvError, channel};
use std::time::Duration;

use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use super::Patience;
use crate::Error;
use crate::watch::{Watch, pause};

/// A transfer to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer<'a> {
    /// From where.
    pub(super) url: &'a str,
    /// The file that it fills, from its end on.
    pub(super) part: &'a Path,
    /// More than this is not taken.
    pub(super) max_bytes: u64,
    /// How patient it is.
    pub(super) patience: Patience,
}

/// Longest time to make a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// Longest time for everything; a stalled transfer ends far earlier.
const LIMIT: Duration = Duration::from_secs(6 * 3600);

/// Bytes that are read at once.
const BUFFER: usize = 256 * 1024;

/// Why an attempt ended before the file was there.
enum Failure {
    /// This address will not do.
    Useless(String),
    /// The same again may do, from where it broke off.
    Passing(String),
    /// Our side cannot go on.
    Ours(Error),
}

/// What the thread and its maker share.
#[derive(Debug, Default)]
struct Shared {
    bytes: AtomicU64,
    stop: AtomicBool,
}

struct Work {
    url: String,
    part: PathBuf,
    max_bytes: u64,
    patience: Patience,
    shared: Arc<Shared>,
    agent: Agent,
}

impl Transfer<'_> {
    /// The inner error says why the address will not do.
    pub(super) fn run(
        self,
        watch: &mut Watch<'_>,
        progress: &mut dyn FnMut(&mut Watch<'_>, u64),
    ) -> Result<Result<(), String>, Error> {
        let shared = Arc::new(Shared::default());
        let work = Work {
            url: self.url.to_owned(),
            part: self.part.to_owned(),
            max_bytes: self.max_bytes,
            patience: self.patience,
            shared: Arc::clone(&shared),
            agent: agent(self.url, self.patience.stall),
        };
        let (sender, receiver) = channel();
        // Its maker may have left meanwhile.
        std::thread::spawn(move || drop(sender.send(work.all())));
        let every = Duration::from_millis(100);
        let done = watch.poll(&format!("download {}", self.url), LIMIT, every, |watch| {
            progress(watch, shared.bytes.load(Ordering::Relaxed));
            match receiver.try_recv() {
                Ok(done) => Ok(Some(done)),
                Err(TryRecvError::Empty) => Ok(None),
                Err(TryRecvError::Disconnected) => {
                    Err(Error::io("download", io::Error::other("the download thread panicked")))
                }
            }
        });
        shared.stop.store(true, Ordering::Relaxed);
        match done? {
            Some(Ok(())) => Ok(Ok(())),
            Some(Err(Failure::Useless(why) | Failure::Passing(why))) => Ok(Err(why)),
            Some(Err(Failure::Ours(error))) => Err(error),
            None => Ok(Err(format!("it took longer than {} h", LIMIT.as_secs() / 3600))),
        }
    }
}

fn agent(url: &str, stall: Duration) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        // A redirect must not give up what the address promised.
        .https_only(url.starts_with("https://"))
        .timeout_connect(Some(CONNECT_LIMIT))
        .timeout_recv_response(Some(stall))
        .timeout_per_read(Some(stall))
        .user_agent(concat!("rqps/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// Asks whether a file is at an address, without fetching it. The inner error says what the site
/// answers, the outer one that nobody does.
pub(crate) fn is_there(url: &str, limit: Duration) -> Result<Result<(), String>, String> {
    let agent = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(url.starts_with("https://"))
        .timeout_global(Some(limit))
        .user_agent(concat!("rqps/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent();
    let response = agent.head(url).call().map_err(|error| {
        let text = error.to_string();
        // The resolver's own words, of glibc's getaddrinfo(3).
        let unknown = matches!(error, ureq::Error::HostNotFound) || text.contains("lookup address");
        if unknown { "offline, or without a name server (no such host)".to_owned() } else { text }
    })?;
    let status = response.status();
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    Ok(if !status.is_success() {
        Err(format!("answers {status}"))
    } else if kind.is_some_and(|kind| kind.starts_with("text/html")) {
        Err("answers with a web page, no archive".to_owned())
    } else {
        Ok(())
    })
}

impl Work {
    /// As many attempts as patience has, each from where the one before broke off.
    fn all(&self) -> Result<(), Failure> {
        let mut left = self.patience.resumes;
        loop {
            let why = match self.attempt() {
                Err(Failure::Passing(why)) if left > 0 && !self.stopped() => why,
                Err(Failure::Passing(why)) => {
                    let resumes = self.patience.resumes;
                    return Err(Failure::Passing(format!(
                        "{why} (after {resumes} earlier failures)"
                    )));
                }
                other => return other,
            };
            left -= 1;
            drop(why);
            pause(self.patience.pause);
        }
    }

    fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    fn attempt(&self) -> Result<(), Failure> {
        let have = fs::metadata(&self.part).map_or(0, |meta| meta.len());
        let mut request = self.agent.get(&self.url).header("Accept-Encoding", "identity");
        if have > 0 {
            request = request.header("Range", format!("bytes={have}-"));
        }
        let response = request.call().map_err(|error| match error {
            ureq::Error::Timeout(_) => Failure::Passing("it does not answer in time".to_owned()),
            ureq::Error::Io(e) if e.kind() != io::ErrorKind::ConnectionRefused => {
                Failure::Passing(format!("no answer: {e}"))
            }
            other => Failure::Useless(format!("no answer: {other}")),
        })?;
        let (from, total) = self.judge(&response, have)?;
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(from == 0).append(from > 0);
        let file = if from == 0 { File::create(&self.part) } else { options.open(&self.part) };
        let file = file.map_err(|e| Failure::Ours(Error::write(&self.part, e)))?;
        self.copy(response.into_body(), file, from, total)
    }

    /// From which byte on the answer is, and how long the whole file is.
    fn judge(&self, response: &Response<Body>, have: u64) -> Result<(u64, Option<u64>), Failure> {
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let status = response.status();
        if status == StatusCode::RANGE_NOT_SATISFIABLE {
            // What is there is no beginning of this file, or all of it: the next attempt starts from 0.
            fs::remove_file(&self.part).map_err(|e| Failure::Ours(Error::write(&self.part, e)))?;
            return Err(Failure::Passing(format!("it answers {status}")));
        }
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(Failure::Passing(format!("it answers {status}")));
        }
        if !status.is_success() {
            return Err(Failure::Useless(format!("it answers {status}")));
        }
        if header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            return Err(Failure::Useless("it answers with a web page, no archive".to_owned()));
        }
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (from, total) = if status == StatusCode::PARTIAL_CONTENT {
            // RFC 9110, 14.4: `bytes 1000-1999/2000`, the last may be `*`.
            let range = header("content-range").and_then(|text| text.strip_prefix("bytes "));
            let (span, total) = range.and_then(|text| text.split_once('/')).unwrap_or_default();
            let from = span.split_once('-').and_then(|(from, _)| number(from));
            if from != Some(have) {
                fs::remove_file(&self.part)
                    .map_err(|e| Failure::Ours(Error::write(&self.part, e)))?;
                return Err(Failure::Passing("it sent a different part than requested".to_owned()));
            }
            (have, number(total))
        } else {
            (0, header("content-length").and_then(number))
        };
        let max = self.max_bytes;
        match total {
            Some(total) if total > max => Err(Failure::Useless(format!(
                "it sends {} MB, far more than the archive should have",
                total / 1_000_000
            ))),
            _ => Ok((from, total)),
        }
    }

    fn copy(
        &self,
        body: Body,
        mut file: File,
        from: u64,
        total: Option<u64>,
    ) -> Result<(), Failure> {
        let mut reader = body.into_with_config().limit(u64::MAX).reader();
        let mut buffer = vec![0_u8; BUFFER];
        let mut bytes = from;
        loop {
            self.shared.bytes.store(bytes, Ordering::Relaxed);
            if self.stopped() {
                return Err(Failure::Passing("it was stopped".to_owned()));
            }
            let n = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => {
                    return Err(Failure::Passing(format!("it broke off at {bytes} bytes: {e}")));
                }
            };
            bytes += n as u64;
            if bytes > self.max_bytes {
                let max = self.max_bytes / 1_000_000;
                return Err(Failure::Useless(format!("it sends more than {max} MB")));
            }
            file.write_all(&buffer[..n]).map_err(|e| Failure::Ours(Error::write(&self.part, e)))?;
        }
        match total {
            Some(total) if bytes < total => {
                Err(Failure::Passing(format!("it broke off at {bytes} of {total} bytes")))
            }
            _ => Ok(()),
        }
    }
}
