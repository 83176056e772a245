//! Servers that mean no good, or are broken: whatever they send, a call ends in a few timeouts at most, with
//! an error that says what was wrong, and without taking all memory.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::wire::mysql::transcripts::{greeting_80, packets};
use crate::{
    Address, Connect, Connection, Endpoint, Error, MysqlConnection, ParamType, Password,
    PostgresConnection, Protocol, StatementSpec, Tls,
};

/// What the clients wait for one read.
const LIMIT: Duration = Duration::from_millis(200);

/// Within which every call must have ended: a first read, an answer and a last read of [`LIMIT`] each, and
/// the reading of what is held at most, on a host that is busy and in a build that is not optimised.
const WITHIN: Duration = Duration::from_secs(120);

/// What a server does where an answer is due.
#[derive(Debug, Clone)]
enum Does {
    /// Says nothing.
    Nothing,
    /// Sends bytes and closes.
    Closes(Vec<u8>),
    /// Sends bytes and then nothing.
    Stalls(Vec<u8>),
    /// Sends bytes and then the same bytes for ever.
    Repeats(Vec<u8>, Vec<u8>),
    /// Sends bytes and then one more now and then, more often than the client's patience ends.
    Drips(Vec<u8>, u8),
}

impl Does {
    fn play(&self, stream: &mut TcpStream) {
        let _ = match self {
            Self::Nothing => Ok(()),
            Self::Closes(bytes) | Self::Stalls(bytes) => stream.write_all(bytes),
            Self::Repeats(first, again) => stream.write_all(first).and_then(|()| {
                let again = again.repeat(1 + (1 << 20) / again.len());
                loop {
                    stream.write_all(&again)?;
                }
            }),
            Self::Drips(first, again) => stream.write_all(first).and_then(|()| {
                loop {
                    stream.write_all(&[*again])?;
                    std::thread::park_timeout(LIMIT / 8);
                }
            }),
        };
        if !matches!(self, Self::Closes(_)) {
            // Until the client has had enough.
            let mut rest = [0; 1024];
            while stream.read(&mut rest).is_ok_and(|n| n > 0) {}
        }
    }
}

/// A server that lets everybody in and then does something, or does it in place of letting in.
fn server(let_in: Option<&'static dyn Welcome>, does: Does) -> (Endpoint, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        if let Some(welcome) = let_in {
            welcome.let_in(&mut stream);
            let mut request = [0; 1 << 16];
            assert!(stream.read(&mut request).unwrap() > 0);
        }
        does.play(&mut stream);
    });
    let endpoint = Endpoint {
        address: Address::Tcp { host: "127.0.0.1".to_owned(), port },
        tls: Tls::Off,
        user: "bob".to_owned(),
        password: Password(String::new()),
        server_public_key: None,
        database: String::new(),
        on_login: None,
        startup: crate::Startup::default(),
        connect_timeout: if let_in.is_some() { Duration::from_secs(60) } else { LIMIT },
    };
    (endpoint, thread)
}

trait Welcome: Send + Sync {
    fn let_in(&self, stream: &mut TcpStream);
}

struct Mysql;

impl Welcome for Mysql {
    fn let_in(&self, stream: &mut TcpStream) {
        stream.write_all(&packets(0, &[&greeting_80()])).unwrap();
        let mut login = [0; 4096];
        assert!(stream.read(&mut login).unwrap() > 0);
        stream.write_all(&packets(2, &[b"\x00\x00\x00\x02\x00\x00\x00"])).unwrap();
    }
}

struct Postgres;

impl Welcome for Postgres {
    fn let_in(&self, stream: &mut TcpStream) {
        let mut startup = [0; 4096];
        assert!(stream.read(&mut startup).unwrap() > 0);
        stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
    }
}

/// Goes as far as TLS begins.
struct MysqlWithTls;

impl Welcome for MysqlWithTls {
    fn let_in(&self, stream: &mut TcpStream) {
        stream.write_all(&packets(0, &[&greeting_80()])).unwrap();
    }
}

/// Goes as far as TLS begins.
struct PostgresWithTls;

impl Welcome for PostgresWithTls {
    fn let_in(&self, stream: &mut TcpStream) {
        let mut request = [0; 8];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"S").unwrap();
    }
}

/// What a client asks.
#[derive(Debug, Clone, Copy)]
enum Asks {
    Query,
    Text,
    Prepare,
    Ahead,
}

const ASKS: [Asks; 4] = [Asks::Query, Asks::Text, Asks::Prepare, Asks::Ahead];

impl Asks {
    fn ask(self, client: &mut impl Connection) -> Result<(), Error> {
        match self {
            Self::Query => client.query("select 1").map(drop),
            Self::Text => client.execute_text(b"select 1").map(drop),
            Self::Prepare => {
                let (params, protocol) = (&[ParamType::Int][..], Protocol::Prepared);
                let spec = StatementSpec { sql: "select ?", params, protocol, null_rows: 0 };
                client.prepare(&spec).map(drop)
            }
            Self::Ahead => {
                let ahead = client.pipeline().unwrap();
                ahead.send_text(b"select 1")?;
                while !ahead.await_answer(LIMIT / 10)? {}
                ahead.answer().map(drop)
            }
        }
    }
}

/// The error of a call, which must come in time and leave a connection that says that it is lost.
fn asked<C: Connect>(welcome: &'static dyn Welcome, asks: Asks, does: Does) -> Error {
    let (endpoint, thread) = server(Some(welcome), does.clone());
    let mut client = C::connect(&endpoint).unwrap();
    // One that ends is waited for as long as its thread may need.
    let limit = if matches!(does, Does::Closes(_)) { WITHIN } else { LIMIT };
    client.set_timeout(Some(limit)).unwrap();
    let since = Instant::now();
    let error = asks.ask(&mut client).expect_err(&format!("{asks:?} {does:?}"));
    let after = since.elapsed();
    assert!(after < WITHIN, "{asks:?} took {after:?}: {error}");
    // What is left of an answer is never taken for the next one's.
    if !matches!(error, Error::Server(_)) {
        let again = client.execute_text(b"select 2").expect_err("it goes on after a broken answer");
        // One that was sent ahead stays due for ever.
        let is_told = matches!(again, Error::Lost { .. } | Error::Usage { .. });
        assert!(is_told, "{asks:?} {again:?}");
    }
    drop(client);
    thread.join().unwrap();
    error
}

fn refused<C: Connect + std::fmt::Debug>(does: Does) -> Error {
    let (endpoint, thread) = server(None, does);
    let since = Instant::now();
    let error = C::connect(&endpoint).unwrap_err();
    assert!(since.elapsed() < WITHIN, "{error}");
    thread.join().unwrap();
    error
}

/// A column, as MySQL describes it.
const COLUMN: &[u8] =
    b"\x03def\x00\x00\x00\x01a\x00\x0c\x2d\x00\xff\x00\x00\x00\xfe\x00\x00\x00\x00\x00";

/// The beginning of MySQL's answer with rows: rows go on with sequence number 3.
fn mysql_rows() -> Vec<u8> {
    packets(1, &[b"\x01", COLUMN])
}

/// 256 rows, after which sequence numbers are where they were.
fn mysql_256_rows() -> Vec<u8> {
    packets(3, &vec![&b"\x03abc"[..]; 256])
}

const POSTGRES_COLUMNS: &[u8] =
    b"T\0\0\0\x1a\0\x01a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
const POSTGRES_ROW: &[u8] = b"D\0\0\0\x0d\0\x01\0\0\0\x03abc";

#[test]
fn columns_and_rows_are_what_the_clients_take_for_them() {
    // Without this the other tests could pass on any nonsense.
    let rows = [mysql_rows(), packets(3, &[b"\x03abc", b"\xfe\x00\x00\x02\x00\x00\x00"])].concat();
    let (endpoint, thread) = server(Some(&Mysql), Does::Stalls(rows));
    let mut client = MysqlConnection::connect(&endpoint).unwrap();
    assert_eq!(client.query("select 1").unwrap().scalar(), Some("abc"));
    drop(client);
    thread.join().unwrap();
    let rows = [POSTGRES_COLUMNS, POSTGRES_ROW, b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I"].concat();
    let (endpoint, thread) = server(Some(&Postgres), Does::Stalls(rows));
    let mut client = PostgresConnection::connect(&endpoint).unwrap();
    assert_eq!(client.query("select 1").unwrap().scalar(), Some("abc"));
    drop(client);
    thread.join().unwrap();
}

#[test]
fn silence_is_a_timeout() {
    for asks in ASKS {
        for error in [
            asked::<MysqlConnection>(&Mysql, asks, Does::Nothing),
            asked::<PostgresConnection>(&Postgres, asks, Does::Nothing),
        ] {
            assert!(matches!(error, Error::Timeout { .. }), "{asks:?}: {error:?}");
        }
    }
    assert!(matches!(refused::<MysqlConnection>(Does::Nothing), Error::Timeout { .. }));
    assert!(matches!(refused::<PostgresConnection>(Does::Nothing), Error::Timeout { .. }));
}

#[test]
fn answers_that_are_cut_off_are_lost_or_late() {
    let mysql = [mysql_rows(), packets(3, &[b"\x03abc"])].concat();
    let postgres = [POSTGRES_COLUMNS, POSTGRES_ROW].concat();
    for asks in [Asks::Query, Asks::Text, Asks::Ahead] {
        for n in [0, 1, 3, 4, 5, 9, 20, mysql.len()] {
            let cut = mysql[..n].to_vec();
            let error = asked::<MysqlConnection>(&Mysql, asks, Does::Closes(cut.clone()));
            assert!(matches!(error, Error::Lost { .. }), "{asks:?} {n}: {error:?}");
            let error = asked::<MysqlConnection>(&Mysql, asks, Does::Stalls(cut));
            assert!(matches!(error, Error::Timeout { .. }), "{asks:?} {n}: {error:?}");
        }
        for n in [0, 1, 4, 5, 9, 20, postgres.len()] {
            let cut = postgres[..n].to_vec();
            let error = asked::<PostgresConnection>(&Postgres, asks, Does::Closes(cut.clone()));
            assert!(matches!(error, Error::Lost { .. }), "{asks:?} {n}: {error:?}");
            let error = asked::<PostgresConnection>(&Postgres, asks, Does::Stalls(cut));
            assert!(matches!(error, Error::Timeout { .. }), "{asks:?} {n}: {error:?}");
        }
    }
}

/// What was sent when the time was over differs from host to host.
fn is_late_or_too_long(error: &Error) -> bool {
    matches!(error, Error::Timeout { .. } | Error::Protocol { .. })
}

#[test]
fn rows_without_end_have_an_end() {
    for asks in [Asks::Query, Asks::Text, Asks::Ahead] {
        let does = Does::Repeats(mysql_rows(), mysql_256_rows());
        let error = asked::<MysqlConnection>(&Mysql, asks, does);
        assert!(is_late_or_too_long(&error), "{asks:?}: {error:?}");
        let does = Does::Repeats(POSTGRES_COLUMNS.to_vec(), POSTGRES_ROW.to_vec());
        let error = asked::<PostgresConnection>(&Postgres, asks, does);
        assert!(is_late_or_too_long(&error), "{asks:?}: {error:?}");
    }
}

#[test]
fn notices_without_end_have_an_end() {
    let does = Does::Repeats(Vec::new(), b"N\0\0\0\x05\0".to_vec());
    for asks in ASKS {
        let error = asked::<PostgresConnection>(&Postgres, asks, does.clone());
        assert!(matches!(error, Error::Timeout { .. }), "{asks:?}: {error:?}");
    }
    assert!(matches!(refused::<PostgresConnection>(does), Error::Timeout { .. }));
}

#[test]
fn messages_that_are_too_long_to_be_held_are_refused() {
    // Packets of the greatest length, each of which announces that the message goes on.
    let endless = Does::Repeats(b"\xff\xff\xff\x01".to_vec(), vec![b'a'; 4096]);
    let error = asked::<MysqlConnection>(&Mysql, Asks::Query, endless.clone());
    assert!(is_late_or_too_long(&error), "{error:?}");
    assert!(is_late_or_too_long(&refused::<MysqlConnection>(endless)));
    let endless = Does::Repeats(b"D\x7f\xff\xff\xff".to_vec(), vec![b'a'; 4096]);
    let error = asked::<PostgresConnection>(&Postgres, Asks::Query, endless.clone());
    assert!(is_late_or_too_long(&error), "{error:?}");
    assert!(is_late_or_too_long(&refused::<PostgresConnection>(endless)));
}

#[test]
fn a_byte_now_and_then_is_no_answer() {
    for asks in [Asks::Query, Asks::Text, Asks::Ahead] {
        // A row that is long enough to be waited for, byte by byte.
        let first = [mysql_rows(), b"\x00\x00\x10\x03\xfd\xfc\xff\x0f".to_vec()].concat();
        let error = asked::<MysqlConnection>(&Mysql, asks, Does::Drips(first, b'a'));
        assert!(matches!(error, Error::Timeout { .. }), "{asks:?}: {error:?}");
        let first = [POSTGRES_COLUMNS, b"D\x00\x10\x00\x00\0\x01\0\x0f\xff\xf6"].concat();
        let error = asked::<PostgresConnection>(&Postgres, asks, Does::Drips(first, b'a'));
        assert!(matches!(error, Error::Timeout { .. }), "{asks:?}: {error:?}");
    }
    let greeting = b"\x00\x00\x10\x00\x0a8.0.33".to_vec();
    let error = refused::<MysqlConnection>(Does::Drips(greeting, b'a'));
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    let error = refused::<PostgresConnection>(Does::Drips(b"R\x00\x10\x00\x00".to_vec(), 0));
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
}

#[test]
fn a_byte_now_and_then_is_no_handshake() {
    fn refused<C: Connect + std::fmt::Debug>(welcome: &'static dyn Welcome) -> Error {
        // A record of the greatest length, which takes minutes.
        let does = Does::Drips(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc".to_vec(), 3);
        let (mut endpoint, thread) = server(Some(welcome), does);
        endpoint.tls = Tls::Required { ca: None };
        // Enough for what comes before.
        endpoint.connect_timeout = LIMIT * 10;
        let since = Instant::now();
        let error = C::connect(&endpoint).unwrap_err();
        assert!(since.elapsed() < WITHIN, "{error}");
        thread.join().unwrap();
        error
    }
    for error in
        [refused::<MysqlConnection>(&MysqlWithTls), refused::<PostgresConnection>(&PostgresWithTls)]
    {
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    }
}

#[test]
fn what_comes_out_of_order_is_a_violation() {
    for asks in [Asks::Query, Asks::Text, Asks::Ahead] {
        // A sequence number that is not due; rows before their columns; an answer within an answer.
        for bytes in [
            packets(7, &[b"\x00\x00\x00\x02\x00\x00\x00"]),
            packets(1, &[b"\xfe\x00\x00\x02\x00"]),
            [mysql_rows(), packets(9, &[b"\x03abc"])].concat(),
            packets(1, &[b"\xfb/etc/passwd"]),
            packets(1, &[b""]),
            packets(1, &[b"\x00"]),
        ] {
            let error = asked::<MysqlConnection>(&Mysql, asks, Does::Stalls(bytes.clone()));
            let is_told = matches!(error, Error::Protocol { .. } | Error::Timeout { .. });
            assert!(is_told, "{asks:?} {bytes:?}: {error:?}");
        }
        for bytes in [
            &b"Z\0\0\0\x03I"[..],
            b"\0\0\0\0\0\0\0\0\0\0",
            b"D\0\0\0\x02\0\0",
            b"E\0\0\0\x06Cx",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
        ] {
            let error = asked::<PostgresConnection>(&Postgres, asks, Does::Stalls(bytes.to_vec()));
            let is_told = matches!(error, Error::Protocol { .. } | Error::Timeout { .. });
            assert!(is_told, "{asks:?} {bytes:?}: {error:?}");
        }
    }
}
