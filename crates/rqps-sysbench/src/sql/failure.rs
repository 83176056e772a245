//! What went wrong with a statement, in sysbench's words, and whether an event goes on after it.

use rqps_client::{Error, ErrorNotes, numbered_places};

use super::place::Driver;

/// MySQL's number for a connection that broke during a statement (`CR_SERVER_LOST`).
const LOST: u16 = 2013;
/// Its client library's other numbers for a connection that is gone: `CR_SERVER_GONE_ERROR` where it was
/// before the statement, `CR_SERVER_LOST_EXTENDED` while it was made. Which of them it is depends on the
/// moment, so that whoever names one means them all.
const GONE: [u16; 3] = [2006, LOST, 2055];

/// What went wrong with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// MySQL's number; 0 for PostgreSQL.
    pub(crate) errno: u16,
    /// SQLSTATE.
    pub(crate) sqlstate: String,
    /// The server's text, or this client's.
    pub(crate) message: String,
    /// Whether the connection is gone.
    pub(crate) lost: bool,
    /// Whether a server said so at all.
    pub(crate) by_server: bool,
    /// Whether a prepared statement is not there, as behind a proxy.
    pub(crate) lost_statement: bool,
    /// What PostgreSQL said besides.
    notes: Option<Box<ErrorNotes>>,
}

impl Failure {
    /// What an error of the client means.
    pub(crate) fn new(driver: Driver, error: &Error) -> Self {
        let lost = error.class() == rqps_client::ErrorClass::Lost;
        match error {
            Error::Server(said) => Self {
                errno: said.errno,
                sqlstate: said.sqlstate.clone(),
                message: said.message.clone(),
                lost,
                by_server: true,
                lost_statement: said.is_lost_statement(),
                notes: said.notes.clone(),
            },
            _ => Self {
                errno: if lost && driver == Driver::Mysql { LOST } else { 0 },
                sqlstate: if lost { "08S01" } else { "HY000" }.to_owned(),
                message: with_sources(error),
                lost,
                by_server: lost,
                lost_statement: false,
                notes: None,
            },
        }
    }

    /// The line for a prepared statement that is not there.
    pub(crate) fn told_of_lost_statement(&self) -> String {
        let code = if self.errno == 0 { self.sqlstate.clone() } else { self.errno.to_string() };
        format!(
            "a proxy before the server does not keep prepared statements: use --db-ps-mode=disable \
             (error {code}: {})",
            self.message
        )
    }

    /// The error's text as scripts and users see it.
    pub(crate) fn text(&self) -> String {
        if self.by_server {
            format!(
                "SQL error, errno = {}, state = '{}': {}",
                self.errno, self.sqlstate, self.message
            )
        } else {
            format!("SQL API error: {}", self.message)
        }
    }

    /// The text of PostgreSQL's client library: the server's with the line of the statement that it is about, and with
    /// its notes. What no server said stays as it is.
    pub(crate) fn libpq_text(&self, sql: &str) -> String {
        if !self.by_server || self.lost {
            return self.message.clone();
        }
        let mut text = format!("ERROR:  {}\n", self.message);
        let Some(notes) = &self.notes else { return text };
        if let Some(line) = Line::new(&numbered_places(sql), notes.position) {
            let head = format!("LINE {}: ", line.number);
            let blanks = " ".repeat(head.len() + line.column);
            text.push_str(&format!("{head}{}\n{blanks}^\n", line.text));
        }
        for (head, note) in [("DETAIL:  ", &notes.detail), ("HINT:  ", &notes.hint)] {
            if !note.is_empty() {
                text.push_str(&format!("{head}{note}\n"));
            }
        }
        text
    }

    /// The lines that tell it when it happened, for a call of the client library as sysbench names it.
    pub(crate) fn told(&self, driver: Driver, call: &str, sql: &[u8]) -> Vec<String> {
        let sql = shortened(sql);
        match driver {
            Driver::Mysql => vec![format!(
                "{call} returned error {} ({}) for query '{sql}'",
                self.errno, self.message
            )],
            Driver::Pgsql => vec![
                format!("{call} failed: 7 {}", self.message),
                format!("failed query was: {sql}"),
            ],
        }
    }
}

/// Which errors an event survives: it is begun again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ignored {
    all: bool,
    numbers: Vec<u16>,
}

impl Ignored {
    /// The errors that `--mysql-ignore-errors` names.
    pub(crate) fn new(names: &[String]) -> Self {
        Self {
            all: names.iter().any(|name| name == "all"),
            numbers: names.iter().filter_map(|name| name.trim().parse().ok()).collect(),
        }
    }

    /// Whether an event survives this one. PostgreSQL's are fixed: what a transaction that is begun
    /// again can get over (serialization, deadlock, unique key, lock not available).
    pub(crate) fn has(&self, driver: Driver, failure: &Failure) -> bool {
        match driver {
            Driver::Mysql => {
                let names = |number| self.numbers.contains(number);
                let is_named = names(&failure.errno)
                    || GONE.contains(&failure.errno) && GONE.iter().any(names);
                failure.by_server && (self.all || is_named)
            }
            Driver::Pgsql => {
                matches!(failure.sqlstate.as_str(), "40001" | "40P01" | "23505" | "55P03")
            }
        }
    }
}

/// A line of a statement, cut where it is long.
struct Line {
    number: usize,
    text: String,
    /// Characters before what it is about.
    column: usize,
}

impl Line {
    /// The line of a statement's character number `position`, from 1; `None` where it has none.
    fn new(sql: &str, position: usize) -> Option<Self> {
        const MOST: usize = 60;
        let before = position.checked_sub(1)?;
        let mut column = before;
        for (idx, line) in sql.split('\n').enumerate() {
            let length = line.chars().count();
            if column <= length {
                let cut = column.saturating_sub(MOST / 2);
                let (head, from) = if length > MOST && cut > 0 { ("...", cut) } else { ("", 0) };
                let tail = if length > from + MOST { "..." } else { "" };
                let middle: String = line.chars().skip(from).take(MOST).collect();
                let column = column - from + head.len();
                let text = format!("{head}{middle}{tail}");
                return Some(Self { number: idx + 1, text, column });
            }
            column -= length + 1;
        }
        None
    }
}

/// The beginning of a statement: an insert of many rows would fill the screen.
fn shortened(sql: &[u8]) -> String {
    const MOST: usize = 1000;
    let text = String::from_utf8_lossy(sql.get(..MOST).unwrap_or(sql));
    if sql.len() > MOST { format!("{text}...") } else { text.into_owned() }
}

/// An error with its causes, in one line.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rqps_client::ServerError;

    fn said(errno: u16, sqlstate: &str) -> Failure {
        let message = "why".to_owned();
        let error = ServerError { errno, sqlstate: sqlstate.to_owned(), message, notes: None };
        Failure::new(Driver::Mysql, &Error::Server(error))
    }

    #[test]
    fn which_errors_are_survived() {
        let names = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let some = Ignored::new(&names("1213,1020,1205"));
        assert!(some.has(Driver::Mysql, &said(1213, "40001")));
        assert!(!some.has(Driver::Mysql, &said(1062, "23000")));
        assert!(some.has(Driver::Pgsql, &said(0, "40P01")));
        assert!(!some.has(Driver::Pgsql, &said(0, "42P01")));
        assert!(Ignored::new(&names("all")).has(Driver::Mysql, &said(1062, "23000")));
    }

    #[test]
    fn the_line_of_a_statement_is_shown() {
        let text = |sql: &str, position: usize, hint: &str| {
            let notes = ErrorNotes { position, hint: hint.to_owned(), detail: String::new() };
            let said = ServerError {
                errno: 0,
                sqlstate: "42P01".to_owned(),
                message: "why".to_owned(),
                notes: Some(Box::new(notes)),
            };
            Failure::new(Driver::Pgsql, &Error::Server(said)).libpq_text(sql)
        };
        assert_eq!(
            text("SELECT ?\nFROM x", 16, "Look."),
            "ERROR:  why\nLINE 2: FROM x\n             ^\nHINT:  Look.\n"
        );
        assert_eq!(text("SELECT", 99, ""), "ERROR:  why\n");
        assert_eq!(text("SELECT", 0, ""), "ERROR:  why\n");
        let long = text(&format!("SELECT {}, x FROM t", "y, ".repeat(40)), 130, "");
        let lines: Vec<&str> = long.lines().collect();
        assert!(lines[1].starts_with("LINE 1: ...") && lines[1].len() < 80, "{long}");
        assert_eq!(lines[1].find("x"), lines[2].find('^'), "{long}");
    }

    #[test]
    fn words_are_those_of_sysbench() {
        let failure = said(1146, "42S02");
        assert_eq!(failure.text(), "SQL error, errno = 1146, state = '42S02': why");
        assert_eq!(
            failure.told(Driver::Mysql, "mysql_drv_query()", b"SELECT"),
            ["mysql_drv_query() returned error 1146 (why) for query 'SELECT'"]
        );
        let lost = Error::Lost { doing: "x", source: std::io::ErrorKind::BrokenPipe.into() };
        let lost = Failure::new(Driver::Mysql, &lost);
        assert!(lost.lost && lost.errno == 2013);
        let ignores = |numbers: &str| Ignored::new(&[numbers.to_owned()]).has(Driver::Mysql, &lost);
        assert!(ignores("2013") && ignores("2006") && ignores("all") && !ignores("1213"));
    }
}
