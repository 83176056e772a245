//! Whether a server still answers somebody while it is at work on what may take hours: a connection of its
//! own is opened now and then, and asked the simplest question.

use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use rqps_client::{Endpoint, Error};
use rqps_model::Dbms;
use rqps_server::{Patience, connect};

use super::answers::ask;

/// What came of the latest questions.
#[derive(Debug)]
pub(super) struct Silence {
    dbms: Dbms,
    endpoint: Endpoint,
    next: Instant,
    asked: Option<Asked>,
    missed: Missed,
    patience: Patience,
}

/// A question under way, in a thread of its own that nobody waits for.
#[derive(Debug)]
struct Asked {
    since: Instant,
    told: Receiver<bool>,
}

/// Questions in a row that were not answered.
#[derive(Debug)]
struct Missed {
    /// How long nobody may be answered.
    within: Duration,
    since: Option<Instant>,
    n: u32,
}

impl Silence {
    pub(super) fn of(dbms: Dbms, endpoint: &Endpoint, patience: Patience) -> Self {
        // A server that is busy with its disk may take long to let somebody in.
        let endpoint = Endpoint { connect_timeout: patience.answer(), ..endpoint.clone() };
        let next = Instant::now() + patience.ask_again();
        let missed = Missed::new(patience.answer());
        Self { dbms, endpoint, next, asked: None, missed, patience }
    }

    /// Whether it has answered nobody for as long as an answer may take (a minute) and two questions. To be
    /// called often; it does not wait.
    pub(super) fn is_total(&mut self) -> bool {
        let now = Instant::now();
        if let Some(asked) = &self.asked {
            let has_answered = match asked.told.try_recv() {
                Ok(has_answered) => has_answered,
                Err(TryRecvError::Empty) => return false,
                // A panic in it was reported by the panic hook, and tells nothing of the server.
                Err(TryRecvError::Disconnected) => true,
            };
            let is_silent = self.missed.note(asked.since, now, has_answered);
            self.asked = None;
            self.next = if has_answered { now + self.patience.ask_again() } else { now };
            return is_silent;
        }
        if now >= self.next {
            self.asked = self.ask(now);
            self.next = now + self.patience.ask_again();
        }
        false
    }

    fn ask(&self, since: Instant) -> Option<Asked> {
        let (dbms, endpoint, patience) = (self.dbms, self.endpoint.clone(), self.patience);
        let (tell, told) = channel();
        let thread = std::thread::Builder::new().name("rqps-silence".to_owned());
        // Nobody may be there to hear it.
        let thread = thread.spawn(move || tell.send(has_answered(dbms, &endpoint, patience)));
        thread.ok().map(|_| Asked { since, told })
    }
}

impl Missed {
    fn new(within: Duration) -> Self {
        Self { within, since: None, n: 0 }
    }

    /// Notes a question and whether it was answered; gives whether none was for so long. One alone says
    /// nothing: rqps itself may have been stopped meanwhile.
    fn note(&mut self, asked: Instant, now: Instant, has_answered: bool) -> bool {
        if has_answered {
            *self = Self::new(self.within);
            return false;
        }
        self.n += 1;
        let since = *self.since.get_or_insert(asked);
        self.n >= 2 && now.saturating_duration_since(since) >= self.within
    }
}

/// Asks it; an error of another kind than that no answer came is an answer, too.
fn has_answered(dbms: Dbms, endpoint: &Endpoint, patience: Patience) -> bool {
    match connect(dbms, endpoint) {
        Ok(mut connection) => {
            !matches!(ask(connection.as_mut(), patience), Err(Error::Timeout { .. }))
        }
        Err(rqps_server::Error::Client { source, .. }) => match source {
            Error::Timeout { .. } => false,
            // Nobody takes the connections that wait to be taken.
            Error::Connect { source, .. } => source.kind() != ErrorKind::TimedOut,
            _ => true,
        },
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::null_endpoint;
    use super::*;

    #[test]
    fn a_minute_without_an_answer_is_silence() {
        let start = Instant::now();
        let at = |s: u64| start + Duration::from_secs(s);
        let mut missed = Missed::new(Duration::from_secs(60));
        // As long as a connection may take, again and again.
        for s in (0..50).step_by(10) {
            assert!(!missed.note(at(s), at(s + 10), false), "{s}");
        }
        assert!(missed.note(at(50), at(60), false));
        // It was only slow.
        assert!(!missed.note(at(60), at(61), true));
        assert!(!missed.note(at(81), at(91), false));
        // One question, within which rqps was stopped for an hour.
        let mut missed = Missed::new(Duration::from_secs(60));
        assert!(!missed.note(at(0), at(3600), false));
        assert!(!missed.note(at(3600), at(3601), true));
    }

    #[test]
    fn who_refuses_is_there() {
        let (patience, connect_timeout) = (Patience::default(), Duration::from_millis(50));
        let endpoint = Endpoint { connect_timeout, ..null_endpoint() };
        assert!(has_answered(Dbms::Postgres, &endpoint, patience));
        // One that takes connections and says nothing.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let silent = Endpoint { address: rqps_client::Address::Unix(path), ..endpoint };
        assert!(!has_answered(Dbms::Mysql, &silent, patience));
        // It is asked, and not waited for.
        let mut silence = Silence::of(Dbms::Mysql, &silent, patience);
        (silence.next, silence.endpoint) = (Instant::now(), silent);
        assert!(!silence.is_total() && silence.asked.is_some());
        let since = Instant::now();
        while silence.missed.n == 0 {
            assert!(!silence.is_total() && since.elapsed() < patience.answer());
            std::thread::yield_now();
        }
    }
}
