//! HOT PATH: what one thread's scripts act on: its connections, statements, random numbers and counts.
//! Budget: two clock reads and a few branches per event, no allocation per statement after warm-up.

mod bulk;
mod events;
mod statements;

use std::io::ErrorKind;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rqps_client::{Address, Error, Outcome, Row};

use crate::console::Level;
use crate::random::{Random, unique, unique_below};
use crate::run::control::Control;
use crate::settings::Settings;
use crate::sql::connection::Connection;
use crate::sql::failure::Failure;
use crate::sql::place::{Driver, Place};
use crate::sql::places;
use crate::tally::{Counted, Tally};
use bulk::Bulk;
use statements::{Slot, Statement};

/// What a call from Lua gives back: the rows of a result, or one of those below.
pub(crate) type Rows = f64;
/// The statement went well and has no result, be it without rows.
pub(crate) const NO_RESULT: Rows = -1.0;
/// The statement failed in a way that the event survives.
pub(crate) const IGNORED: Rows = -2.0;
/// The statement failed.
pub(crate) const FAILED: Rows = -3.0;

/// The pause between attempts to connect to a server that is not there: short beside what a restart
/// takes, and no load on a host where many threads wait.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);

/// What one thread's scripts act on.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) settings: Arc<Settings>,
    pub(crate) control: Arc<Control>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) random: Random,
    links: Vec<Option<Link>>,
    statements: Vec<Option<Statement>>,
    slots: Vec<Slot>,
    free_slots: Vec<u32>,
    /// Why the last call failed.
    failure: Option<Failure>,
    /// The row that was fetched last.
    pub(crate) row: Row,
    /// A text on its way to Lua.
    pub(crate) text: Vec<u8>,
    /// When the event under way began, or was due; ns.
    began_ns: u64,
    /// When the last event ended; ns, 0 when unknown.
    ended_ns: u64,
}

/// A connection with all that a reconnect needs.
#[derive(Debug)]
struct Link {
    driver: Driver,
    place: Place,
    connection: Connection,
    bulk: Bulk,
}

impl Worker {
    /// A worker without connections. Stream number `stream` is its own.
    pub(crate) fn new(
        settings: Arc<Settings>,
        control: Arc<Control>,
        tally: Arc<Tally>,
        stream: u64,
    ) -> Self {
        Self {
            random: Random::new(settings.seed, stream, &settings.shape),
            settings,
            control,
            tally,
            links: Vec::new(),
            statements: Vec::new(),
            slots: Vec::new(),
            free_slots: Vec::new(),
            failure: None,
            row: Row::default(),
            text: Vec::new(),
            began_ns: 0,
            ended_ns: 0,
        }
    }

    /// A number that no thread gets twice, of 32 bits.
    pub(crate) fn unique(&self) -> f64 {
        let [a, b, c, d, ..] = self.control.n_unique.fetch_add(1, Relaxed).to_le_bytes();
        f64::from(unique(self.settings.seed, u32::from_le_bytes([a, b, c, d])))
    }

    /// One of `n_values` numbers from `first` on that no thread gets twice before all were given.
    pub(crate) fn unique_between(&self, first: f64, n_values: f64) -> f64 {
        let whole = n_values.clamp(1.0, f64::from(u32::MAX) + 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 2^32")]
        let n_values = whole as u64;
        let all = &self.control.n_unique_between;
        let mut given = all.lock().unwrap_or_else(PoisonError::into_inner);
        let n = given.entry((first.to_bits(), n_values)).or_default();
        let number = unique_below(self.settings.seed, *n, n_values);
        *n += 1;
        first + number as f64
    }

    /// Opens a connection, to the next server of the options. Its number, or `None` after telling why
    /// there is none.
    pub(crate) fn connect(&mut self, driver: Driver) -> Option<usize> {
        let link = match self.open_link(driver) {
            Ok(link) => link,
            Err(lines) => {
                for line in lines {
                    self.settings.console.log(Level::Fatal, &line);
                }
                return None;
            }
        };
        let free = self.links.iter().position(Option::is_none);
        match free.and_then(|idx| self.links.get_mut(idx).map(|slot| (idx, slot))) {
            Some((idx, slot)) => {
                *slot = Some(link);
                Some(idx)
            }
            None => {
                self.links.push(Some(link));
                Some(self.links.len() - 1)
            }
        }
    }

    fn open_link(&self, driver: Driver) -> Result<Link, Vec<String>> {
        let Settings { options, environment, .. } = &*self.settings;
        let places = places(driver, options, environment).map_err(|error| match driver {
            Driver::Mysql => vec![error.to_string()],
            Driver::Pgsql => vec![format!("Connection to database failed: {error}")],
        })?;
        let n = self.control.n_connections.fetch_add(1, Relaxed);
        let idx = usize::try_from(n).unwrap_or(0).checked_rem(places.len()).unwrap_or(0);
        let Some(place) = places.into_iter().nth(idx) else {
            return Err(vec![format!("no host is given for {}", driver.name())]);
        };
        let connection = self.open(driver, &place)?;
        Ok(Link { driver, place, connection, bulk: Bulk::default() })
    }

    fn open(&self, driver: Driver, place: &Place) -> Result<Connection, Vec<String>> {
        if self.settings.dry_run && driver == Driver::Mysql {
            return Ok(Connection::Dry);
        }
        Connection::open(driver, place).map_err(|error| refused(driver, place, &error))
    }

    /// Closes a connection; false when it was closed already.
    pub(crate) fn disconnect(&mut self, link: usize) -> bool {
        let Some(slot) = self.links.get_mut(link) else { return false };
        let was_open = slot.take().is_some();
        for place in &mut self.statements {
            if let Some(statement) = place.take_if(|it| it.link == link) {
                self.free_slots.extend(statement.into_slots());
            }
        }
        was_open
    }

    /// Opens a connection again, with its statements; false after it printed why it cannot. One to PostgreSQL stays,
    /// as in sysbench.
    pub(crate) fn reconnect(&mut self, link: usize) -> bool {
        if matches!(self.links.get(link), Some(Some(open)) if open.driver == Driver::Pgsql) {
            let text = "reconnect is not supported by the current driver";
            self.settings.console.log(Level::Alert, text);
            return true;
        }
        let Err(lines) = self.try_reconnect(link) else {
            self.tally.count_reconnect();
            return self.prepare_again(link);
        };
        for line in lines {
            self.settings.console.log(Level::Fatal, &line);
        }
        false
    }

    /// Makes a lost connection again, with its statements, trying again and again until the run
    /// is over, as a server that restarts is back only some time later. False after telling why a
    /// statement cannot be prepared there.
    #[cold]
    fn reconnect_in_time(&mut self, link: usize) -> bool {
        self.settings.console.log(Level::Debug, "Reconnecting");
        self.tally.count_reconnect();
        while let Err(lines) = self.try_reconnect(link) {
            for line in lines {
                self.settings.console.log(Level::Debug, &line);
            }
            if self.control.is_over() {
                // The event cannot be ended, and no further one begins.
                return true;
            }
            events::pause(BETWEEN_ATTEMPTS);
        }
        self.settings.console.log(Level::Debug, "Reconnected");
        self.prepare_again(link)
    }

    fn try_reconnect(&mut self, link: usize) -> Result<(), Vec<String>> {
        let closed = || vec!["attempt to reconnect a connection that was closed".to_owned()];
        let Some(Some(old)) = self.links.get(link) else { return Err(closed()) };
        let connection = self.open(old.driver, &old.place)?;
        // Rows that were gathered for an insert stay.
        if let Some(Some(link)) = self.links.get_mut(link) {
            link.connection = connection;
        }
        Ok(())
    }

    /// Sends a statement as text.
    #[inline]
    pub(crate) fn query(&mut self, link: usize, sql: &[u8]) -> Rows {
        self.show_statement(sql);
        let Some(Some(open)) = self.links.get_mut(link) else { return self.closed() };
        match open.connection.query(sql) {
            Ok(outcome) => {
                let had_result = open.connection.had_result();
                self.count(&outcome, had_result)
            }
            Err(error) => self.failed(link, &error, "mysql_drv_query()", sql),
        }
    }

    /// Counts what a statement did, by what came back. Gives its rows.
    #[inline]
    fn count(&self, outcome: &Outcome, had_result: bool) -> Rows {
        if had_result {
            self.tally.count(Counted::Read);
            return outcome.rows as f64;
        }
        self.tally.count(if outcome.affected > 0 { Counted::Write } else { Counted::Other });
        NO_RESULT
    }

    /// Notes and tells a failure.
    #[cold]
    fn failed(&mut self, link: usize, error: &Error, call: &str, sql: &[u8]) -> Rows {
        let Some(Some(open)) = self.links.get(link) else { return self.closed() };
        let driver = open.driver;
        let failure = Failure::new(driver, error);
        let ignored = self.settings.ignored.has(driver, &failure);
        let lost = failure.lost;
        // Every statement that failed counts, as in sysbench, whatever becomes of its event; one that a new
        // connection makes up for counts as that.
        if !(ignored && lost) {
            self.tally.count_error();
        }
        if !ignored && failure.lost_statement {
            self.tell_lost_statement(&failure);
        } else if !ignored {
            let call = if driver == Driver::Pgsql { "PQexec()" } else { call };
            for line in failure.told(driver, call, sql) {
                self.settings.console.log(Level::Fatal, &line);
            }
        }
        self.failure = Some(failure);
        match ignored {
            true if lost && !self.reconnect_in_time(link) => FAILED,
            true if !lost && driver == Driver::Pgsql => self.roll_back(link),
            true => IGNORED,
            false => FAILED,
        }
    }

    /// Tells of a proxy that does not keep prepared statements: once, as all threads meet it.
    #[cold]
    fn tell_lost_statement(&self, failure: &Failure) {
        if self.control.is_first_lost_statement() {
            self.settings.console.log(Level::Fatal, &failure.told_of_lost_statement());
        }
    }

    /// Ends the transaction that an error broke in PostgreSQL, which takes no other statement then.
    /// It is no statement of the script and not counted.
    #[cold]
    fn roll_back(&mut self, link: usize) -> Rows {
        let Some(Some(open)) = self.links.get_mut(link) else { return FAILED };
        if open.connection.query(b"ROLLBACK").is_ok() { IGNORED } else { FAILED }
    }

    #[cold]
    fn closed(&mut self) -> Rows {
        self.settings.console.log(Level::Alert, "attempt to use an already closed connection");
        self.failure = None;
        FAILED
    }

    /// Why the last call failed; `None` when it was no error of a server.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// The columns of a connection's last answer.
    pub(crate) fn n_columns(&mut self, link: usize) -> usize {
        let Some(Some(open)) = self.links.get_mut(link) else { return 0 };
        open.connection.n_columns().unwrap_or(0)
    }

    /// Whether a connection's last statement has a result.
    pub(crate) fn had_result(&self, link: usize) -> bool {
        matches!(self.links.get(link), Some(Some(open)) if open.connection.had_result())
    }

    /// Fetches the next row of a connection's last answer: its columns, -1 after the last row, -2 when
    /// it was not kept.
    pub(crate) fn fetch_row(&mut self, link: usize) -> i32 {
        let Some(Some(open)) = self.links.get_mut(link) else { return -2 };
        match open.connection.fetch_row(&mut self.row) {
            Ok(true) => i32::try_from(self.row.len()).unwrap_or(i32::MAX),
            Ok(false) => -1,
            Err(_) => -2,
        }
    }

    #[inline]
    fn show_statement(&self, sql: &[u8]) {
        if self.settings.db_debug {
            let text = String::from_utf8_lossy(sql);
            self.settings.console.log(Level::Notice, &format!("DEBUG: {text}"));
        }
    }
}

/// Why a connection could not be made, in the words of sysbench.
fn refused(driver: Driver, place: &Place, error: &Error) -> Vec<String> {
    let failure = Failure::new(driver, error);
    let unknown_name = unknown_name(place, error);
    match driver {
        Driver::Mysql => {
            // The client library's numbers for a name without an address and for a server that cannot be reached.
            let (errno, message) = match (unknown_name, failure.errno) {
                (Some(UnknownName { host, .. }), _) => {
                    (2005, format!("Unknown MySQL server host '{host}' (0)"))
                }
                (None, 2013) => (2002, failure.message),
                (None, errno) => (errno, failure.message),
            };
            vec![
                format!("unable to connect to MySQL server on {}, aborting...", place.called),
                format!("error {errno}: {message}"),
            ]
        }
        Driver::Pgsql => {
            let message = match unknown_name {
                Some(UnknownName { host, why }) => {
                    format!("could not translate host name \"{host}\" to address: {why}\n")
                }
                None => failure.message,
            };
            vec![format!("Connection to database failed: {message}")]
        }
    }
}

/// A host's name that has no address.
struct UnknownName<'a> {
    host: &'a str,
    /// What the resolver says.
    why: String,
}

/// The name whose address was not found, where that is why a connection failed.
fn unknown_name<'a>(place: &'a Place, error: &Error) -> Option<UnknownName<'a>> {
    let Address::Tcp { host, .. } = &place.endpoint.address else { return None };
    let Error::Connect { source, .. } = error else { return None };
    // The resolver's errors are not the system's.
    let of_resolver = source.raw_os_error().is_none() && source.kind() != ErrorKind::TimedOut;
    let text = source.to_string();
    let why = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    of_resolver.then(|| UnknownName { host, why: why.to_owned() })
}
