//! Whether a server that something failed on is still of use: it answers, and lets clients in.

use std::time::{Duration, Instant};

use anyhow::Result;
use rqps_client::{Connection, Error, ErrorClass};
use rqps_server::{Patience, connect, connect_to_keep, idle};

use super::{Local, RunningSystem};

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How a server was found to be of no more use.
#[derive(Debug, Clone)]
pub(super) enum Gone {
    /// It did not answer on the connection that it had.
    Silent,
    /// It answered there, and let nobody else in.
    Closed(String),
}

impl Gone {
    /// What is said of a server that runs all the same.
    pub(super) fn words(&self, patience: Patience) -> String {
        match self {
            Self::Silent => {
                let seconds = patience.answer().as_secs_f64();
                format!("hangs: it runs but did not answer within {seconds} s")
            }
            Self::Closed(why) => format!("runs but lets no client in ({why})"),
        }
    }
}

impl RunningSystem {
    /// Whether the server still answers and lets clients in, asked after something failed. When it does not,
    /// this waits for its process to end, which comes a moment after its connections break. One that lost a
    /// process to its memory limit counts as gone: PostgreSQL starts all others again.
    pub(crate) fn answers(&mut self) -> bool {
        if !self.spec.dbms.is_server() {
            return true;
        }
        if self.gone.is_some() {
            return false;
        }
        let mut gone = self.asked().err();
        // Asked last: one that was stopped answers when it goes on, and then ends.
        if gone.is_none() && self.is_lost() {
            gone = Some(Gone::Silent);
        }
        if gone.is_none() {
            return true;
        }
        self.gone = gone;
        let since = Instant::now();
        while self.server.as_ref().is_some_and(|s| s.running.is_alive())
            && since.elapsed() < self.patience.die()
        {
            pause();
        }
        false
    }

    /// Asks the simplest question and for a new connection. A connection that is broken tells nothing by
    /// itself: servers end those that were idle for long. The new one takes its place, and is asked.
    fn asked(&mut self) -> Result<(), Gone> {
        match ask(self.admin.as_mut(), self.patience) {
            // PostgreSQL answers by a process for each connection, whatever became of the one that makes
            // them.
            Ok(()) => self.lets_in().map(drop),
            Err(error) if is_broken(&error) && !self.has_failed() => {
                let mut connection = self.lets_in()?.ok_or(Gone::Silent)?;
                ask(connection.as_mut(), self.patience).map_err(|_| Gone::Silent)?;
                // It goes by the server's own limit where that cannot be lifted.
                let _ = idle::keep(self.spec.dbms, connection.as_mut());
                self.hold_schema(connection.as_mut()).map_err(|e| Gone::Closed(e.to_string()))?;
                self.admin = connection;
                Ok(())
            }
            Err(_) => Err(Gone::Silent),
        }
    }

    /// Opens the connection for questions again where the server has ended it, asked before what may come
    /// hours after the last one. Not where the server has failed, which shows in what comes next.
    ///
    /// # Errors
    /// When the server does not answer in time: what comes next would wait far longer. When rqps's schema there is no
    /// longer this run's.
    pub(super) fn renew(&mut self) -> Result<()> {
        if !self.spec.dbms.is_server() {
            return Ok(());
        }
        let answer = ask(self.admin.as_mut(), self.patience);
        self.renew_after(answer)
    }

    /// The same when the simplest question was asked.
    pub(super) fn renew_after(&mut self, answer: Result<(), Error>) -> Result<()> {
        let Err(error) = answer else { return Ok(()) };
        self.note_hang(&error);
        if self.gone.is_some() {
            return Err(error.into());
        }
        if is_broken(&error)
            && !self.has_failed()
            && let Ok(mut connection) = connect_to_keep(self.spec.dbms, &self.endpoint)
        {
            let _ = connection.set_timeout(Some(self.patience.question()));
            self.hold_schema(connection.as_mut())?;
            self.admin = connection;
        }
        Ok(())
    }

    /// Notes that the server did not answer in time, which a new connection would not tell.
    pub(super) fn note_hang(&mut self, error: &Error) {
        if matches!(error, Error::Timeout { .. }) {
            self.gone = Some(Gone::Silent);
        }
    }

    /// Tries to open a connection until the server has had its time; none where it says why not and is there
    /// all the same.
    fn lets_in(&self) -> Result<Option<Box<dyn Connection>>, Gone> {
        let since = Instant::now();
        loop {
            let error = match connect(self.spec.dbms, &self.endpoint) {
                Ok(connection) => return Ok(Some(connection)),
                Err(error) => error,
            };
            let rqps_server::Error::Client { source, .. } = &error else { return Ok(None) };
            let Some(within) = refusal_limit(source, self.server.is_some(), self.patience) else {
                return Ok(None);
            };
            if since.elapsed() >= within || self.is_lost() || self.has_ended() {
                return Err(Gone::Closed(format!("{:#}", anyhow::Error::from(error))));
            }
            pause();
        }
    }

    /// Whether the server has ended, or lost one of its processes.
    fn has_failed(&self) -> bool {
        let has_crashed = self.server.as_ref().is_some_and(|s| s.running.signal_told().is_some());
        has_crashed || self.is_lost() || self.has_ended()
    }

    /// Whether its process is no longer there.
    pub(crate) fn has_ended(&self) -> bool {
        self.server.as_ref().is_some_and(|s| !s.running.is_alive())
    }

    /// Whether it has lost a process, or was stopped by somebody.
    fn is_lost(&self) -> bool {
        let is_lost = |s: &Local| s.running.out_of_memory().is_some() || s.running.was_stopped();
        self.server.as_ref().is_some_and(is_lost)
    }
}

/// Asks the simplest question.
pub(super) fn ask(connection: &mut dyn Connection, patience: Patience) -> Result<(), Error> {
    let _ = connection.set_timeout(Some(patience.answer()));
    let answer = connection.query("select 1");
    let _ = connection.set_timeout(Some(patience.question()));
    answer.map(|_| ())
}

/// Whether a connection is of no more use, for another reason than that the server did not answer.
fn is_broken(error: &Error) -> bool {
    error.class() == ErrorClass::Lost && !matches!(error, Error::Timeout { .. })
}

/// How long a server may go on to refuse connections by such an error before it counts as gone; none where
/// it is there.
fn refusal_limit(error: &Error, is_ours: bool, patience: Patience) -> Option<Duration> {
    match error {
        // No thread, no memory: nobody gets in.
        Error::Server(said) if said.is_out_of_resources() => Some(patience.refuse()),
        // On a server of our own, whose clients have all ended, there is nobody to wait for. Their
        // connections may take a moment to go.
        Error::Server(said) if said.is_too_many_connections() => is_ours.then(|| patience.answer()),
        // It says why not, and so is there: a password.
        said if said.class() != ErrorClass::Lost => None,
        // Starting, recovering, or stopping, which shows.
        Error::Timeout { .. } | Error::Server(_) => Some(patience.answer()),
        _ => Some(patience.refuse()),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "neither a process nor a server's door has a timed wait"
)]
fn pause() {
    std::thread::sleep(LOOK_EVERY);
}

#[cfg(test)]
mod tests {
    use std::io;

    use rqps_client::ServerError;

    use super::*;

    fn said(errno: u16, sqlstate: &str) -> Error {
        Error::Server(ServerError {
            errno,
            sqlstate: sqlstate.to_owned(),
            message: String::new(),
            notes: None,
        })
    }

    #[test]
    fn who_lets_nobody_in_is_not_waited_for_for_ever() {
        let refused = Error::Connect {
            address: "/s".to_owned(),
            source: io::ErrorKind::ConnectionRefused.into(),
        };
        let patience = Patience::default();
        let (refuse, answer) = (Some(patience.refuse()), Some(patience.answer()));
        for (error, ours, theirs) in [
            (refused, refuse, refuse),
            // No thread, no memory.
            (said(1135, "HY000"), refuse, refuse),
            (said(0, "53200"), refuse, refuse),
            // Others may have the connections of somebody else's server.
            (said(1040, "08004"), answer, None),
            (said(0, "53300"), answer, None),
            // It starts, or stops.
            (said(0, "57P03"), answer, answer),
            (said(1053, "08S01"), answer, answer),
            // A password.
            (said(1045, "28000"), None, None),
        ] {
            let found = [true, false].map(|is_ours| refusal_limit(&error, is_ours, patience));
            assert_eq!(found, [ours, theirs], "{error:?}");
        }
    }

    #[test]
    fn who_does_not_answer_in_time_is_not_asked_on_another_connection() {
        let source = io::ErrorKind::UnexpectedEof.into();
        assert!(is_broken(&Error::Lost { doing: "asking", source }));
        // The last words on a connection that was idle for too long.
        assert!(is_broken(&said(4031, "HY000")) && is_broken(&said(0, "57P05")));
        assert!(!is_broken(&Error::Timeout { doing: "asking", seconds: 60 }));
        assert!(!is_broken(&said(1064, "42000")));
    }
}
