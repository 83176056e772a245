//! Whether a server that something failed on is still of use: it answers, and lets clients in.

use std::time::{Duration, Instant};

use rqps_client::{Error, ErrorClass};
use rqps_model::Dbms;
use rqps_server::connect;

use super::{ANSWER_WITHIN, DO_WITHIN, Local, Up};

/// How long a server that no longer answers is given to end by itself, so that it can be said how.
const DIE_WITHIN: Duration = Duration::from_secs(10);

/// How long a server may refuse connections before it counts as gone: it is up, and nobody has to wait
/// for room.
const REFUSE_WITHIN: Duration = Duration::from_secs(2);

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
    pub(super) fn words(&self) -> String {
        match self {
            Self::Silent => {
                format!("hangs: it runs and did not answer within {} s", ANSWER_WITHIN.as_secs())
            }
            Self::Closed(why) => format!("runs and lets no client in ({why})"),
        }
    }
}

impl Up {
    /// Whether the server still answers and lets clients in, asked after something failed. When it does not,
    /// this waits for its process to end, which comes a moment after its connections break. One that lost a
    /// process to its memory limit counts as gone: PostgreSQL starts all others anew.
    pub(crate) fn answers(&mut self) -> bool {
        if self.spec.dbms == Dbms::Null {
            return true;
        }
        if self.gone.is_some() {
            return false;
        }
        let _ = self.admin.set_timeout(Some(ANSWER_WITHIN));
        let answers = self.admin.query("select 1").is_ok();
        let _ = self.admin.set_timeout(Some(DO_WITHIN));
        // PostgreSQL answers by a process for each connection, whatever became of the one that makes them.
        let mut gone = if answers { self.lets_in().err() } else { Some(Gone::Silent) };
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
            && since.elapsed() < DIE_WITHIN
        {
            pause();
        }
        false
    }

    /// Tries to open a connection until the server has had its time.
    fn lets_in(&self) -> Result<(), Gone> {
        let since = Instant::now();
        loop {
            let error = match connect(self.spec.dbms, &self.endpoint) {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let rqps_server::Error::Client { source, .. } = &error else { return Ok(()) };
            let within = match source {
                // It says why not, and so is there: too many connections, a password.
                said if said.class() != ErrorClass::Lost => return Ok(()),
                // Starting, recovering, or stopping, which shows.
                Error::Timeout { .. } | Error::Server(_) => ANSWER_WITHIN,
                _ => REFUSE_WITHIN,
            };
            if since.elapsed() >= within || self.is_lost() {
                return Err(Gone::Closed(format!("{:#}", anyhow::Error::from(error))));
            }
            pause();
        }
    }

    /// Whether it has lost a process, or was stopped by somebody.
    fn is_lost(&self) -> bool {
        let is_lost = |s: &Local| s.running.out_of_memory().is_some() || s.running.was_stopped();
        self.server.as_ref().is_some_and(is_lost)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "neither a process nor a server's door has a timed wait"
)]
fn pause() {
    std::thread::sleep(LOOK_EVERY);
}
