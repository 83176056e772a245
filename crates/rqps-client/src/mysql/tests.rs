//! Connection logic against servers of this process, which say what a script tells them to. A long
//! file: the script and the server that reads it serve all of them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use super::*;
use crate::wire::mysql::auth::{CACHING_SHA2, scramble_native, scramble_sha2};
use crate::wire::mysql::capability::DEPRECATE_EOF;
use crate::wire::mysql::packet::split_message;
use crate::wire::mysql::rsa::TEST_KEY;
use crate::wire::mysql::transcripts::{
    greeting, greeting_51, greeting_80, greeting_mariadb, packets, text_rows,
};
use crate::{Address, ErrorClass, ParamType, Password, SessionCharset, Tls};

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const OK: &[u8] = b"\x00\x00\x00\x02\x00\x00\x00";
const CAN_DEPRECATE_EOF: u32 = 0xDFFF_FFFF;

/// The server's side of one connection.
struct Peer {
    stream: TcpStream,
    received: Vec<u8>,
    seq: u8,
}

impl Peer {
    /// Sends packets that go on counting from what was sent and received.
    fn say(&mut self, payloads: &[&[u8]]) {
        let bytes = packets(self.seq, payloads);
        payloads.iter().for_each(|_| self.seq = self.seq.wrapping_add(1));
        self.stream.write_all(&bytes).unwrap();
    }

    /// Reads one message; each command starts its count at 0.
    fn hear(&mut self, first_seq: u8) -> Vec<u8> {
        loop {
            if let Some(message) = split_message(&self.received, first_seq).unwrap() {
                self.received.drain(..message.n_bytes);
                self.seq = message.next_seq;
                return message.payload;
            }
            let mut bytes = [0; 65536];
            let n = self.stream.read(&mut bytes).unwrap();
            assert!(n > 0, "the client closed");
            self.received.extend_from_slice(&bytes[..n]);
        }
    }

    /// Greets, lets the client in without a look at its password, returns its login.
    fn welcome(&mut self, greeting: &[u8]) -> Vec<u8> {
        self.say(&[greeting]);
        let login = self.hear(1);
        self.say(&[OK]);
        login
    }

    /// Reads a command and answers it.
    fn answer(&mut self, command: &[u8], payloads: &[&[u8]]) {
        assert_eq!(self.hear(0), command);
        self.say(payloads);
    }
}

/// A server that plays `script` on its first connection, and the endpoint it listens on.
fn server(script: impl FnOnce(&mut Peer) + Send + 'static) -> (Endpoint, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let handle = std::thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        script(&mut Peer { stream, received: Vec::new(), seq: 0 });
    });
    let endpoint = Endpoint {
        address: Address::Tcp { host: "127.0.0.1".to_owned(), port },
        tls: Tls::Off,
        user: "bob".to_owned(),
        password: Password("secret".to_owned()),
        server_public_key: None,
        database: "sbtest".to_owned(),
        on_login: None,
        startup: crate::Startup::default(),
        connect_timeout: Duration::from_secs(20),
    };
    (endpoint, handle)
}

fn connected(script: impl FnOnce(&mut Peer) + Send + 'static) -> (MysqlConnection, JoinHandle<()>) {
    let (endpoint, handle) = server(move |peer| {
        peer.welcome(&greeting_80());
        script(peer);
    });
    (MysqlConnection::connect(&endpoint).unwrap(), handle)
}

fn refused(script: impl FnOnce(&mut Peer) + Send + 'static) -> Error {
    let (endpoint, handle) = server(script);
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    handle.join().unwrap();
    error
}

/// A greeting whose default collation is utf8mb4's of 8.0, where the transcripts' is latin1's.
fn of_utf8(mut greeting: Vec<u8>) -> Vec<u8> {
    // Protocol, version, NUL; then id, nonce, filler, capabilities.
    let version = greeting.iter().position(|&byte| byte == 0).unwrap() + 1;
    let charset = version + 4 + 8 + 1 + 2;
    assert_eq!(greeting[charset], 8);
    greeting[charset] = 255;
    greeting
}

#[test]
fn a_session_of_a_client_library_is_utf8_on_a_latin1_server() {
    for (greeting, charset) in [(greeting_51(), 33), (greeting_mariadb(), 45)] {
        let (mut endpoint, handle) = server(move |peer| {
            assert_eq!(peer.welcome(&greeting)[8], charset);
        });
        endpoint.startup.charset = SessionCharset::ClientLibrary;
        MysqlConnection::connect(&endpoint).unwrap();
        handle.join().unwrap();
    }
}

#[test]
fn logs_in_natively_to_old_and_new_servers() {
    // 5.1 has no utf8mb4; a server of latin1 gets a session of latin1.
    for (greeting, version, charset) in [
        (greeting_51(), [5, 1, 73], 8),
        (of_utf8(greeting_51()), [5, 1, 73], 33),
        (greeting_mariadb(), [10, 11, 5], 8),
        (of_utf8(greeting_mariadb()), [10, 11, 5], 45),
    ] {
        let old = version[0] == 5;
        let (endpoint, handle) = server(move |peer| {
            let login = peer.welcome(&greeting);
            assert_eq!(login[8], charset);
            let scramble = scramble_native(b"secret", NONCE);
            let plugin = if old { &b""[..] } else { b"mysql_native_password\0" };
            assert_eq!(login[32..], [b"bob\0\x14", &scramble[..], b"sbtest\0", plugin].concat());
            assert_eq!(peer.hear(0), b"\x01");
        });
        let connection = MysqlConnection::connect(&endpoint).unwrap();
        let session = connection.session();
        assert_eq!(session.server_version.as_ref().unwrap().numbers, version);
        assert_eq!(
            (session.auth.as_str(), session.transport.as_str()),
            ("mysql_native_password", "tcp")
        );
        assert_eq!(session.connection_id, 8);
        drop(connection);
        handle.join().unwrap();
    }
}

#[test]
fn follows_a_switch_and_the_full_exchange() {
    let (endpoint, handle) = server(|peer| {
        peer.say(&[&greeting_mariadb()]);
        peer.hear(1);
        peer.say(&[b"\xfecaching_sha2_password\0ABCDEFGHIJKLMNOPQRST\0"]);
        assert_eq!(peer.hear(3), scramble_sha2(b"secret", b"ABCDEFGHIJKLMNOPQRST"));
        peer.say(&[b"\x01\x04"]);
        assert_eq!(peer.hear(5), b"\x02");
        peer.say(&[&[b"\x01", TEST_KEY.as_bytes()].concat()]);
        assert_eq!(peer.hear(7).len(), 128);
        peer.say(&[OK]);
    });
    let connection = MysqlConnection::connect(&endpoint).unwrap();
    assert_eq!(connection.session().auth, CACHING_SHA2);
    handle.join().unwrap();
}

/// A server that asks for the password itself, after which nothing must come.
fn asks_for_the_password(peer: &mut Peer) {
    peer.say(&[&greeting_80()]);
    peer.hear(1);
    peer.say(&[b"\x01\x04"]);
    let mut rest = Vec::new();
    let _ = peer.stream.read_to_end(&mut rest);
    assert_eq!(rest, b"", "something was sent");
}

#[test]
fn a_password_goes_to_no_server_that_could_be_anybody() {
    let (mut endpoint, handle) = server(asks_for_the_password);
    // This leads to the same listener and is no loopback address.
    let Address::Tcp { host, .. } = &mut endpoint.address else { panic!("no TCP") };
    *host = "0.0.0.0".to_owned();
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("ca=FILE") && text.contains("server_public_key=FILE"), "{text}");
    handle.join().unwrap();
}

#[test]
fn a_password_is_encrypted_with_the_key_that_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("public_key.pem");
    std::fs::write(&path, TEST_KEY).unwrap();
    let (mut endpoint, handle) = server(|peer| {
        peer.say(&[&greeting_80()]);
        peer.hear(1);
        peer.say(&[b"\x01\x04"]);
        assert_eq!(peer.hear(3).len(), 128);
        peer.say(&[OK]);
    });
    let Address::Tcp { host, .. } = &mut endpoint.address else { panic!("no TCP") };
    *host = "0.0.0.0".to_owned();
    endpoint.server_public_key = Some(path.clone());
    assert!(MysqlConnection::connect(&endpoint).is_ok());
    handle.join().unwrap();
    for text in [None, Some("no key")] {
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let error = MysqlConnection::connect(&endpoint).unwrap_err().to_string();
        assert!(error.contains("public_key.pem: ") && error.contains("PUBLIC KEY"), "{error}");
    }
}

#[test]
fn a_cached_password_and_a_session_without_autocommit() {
    let (endpoint, handle) = server(|peer| {
        peer.say(&[&greeting_80()]);
        peer.hear(1);
        peer.say(&[b"\x01\x03", b"\x00\x00\x00\x00\x00\x00\x00"]);
        peer.answer(b"\x03SET autocommit = 1", &[OK]);
    });
    assert!(MysqlConnection::connect(&endpoint).is_ok());
    handle.join().unwrap();
}

#[test]
fn refusals_are_clear() {
    let busy = refused(|peer| peer.say(&[b"\xff\x10\x04Too many connections"]));
    assert_eq!(busy.to_string(), "server error 1040 (): Too many connections");
    let denied = refused(|peer| {
        peer.say(&[&greeting_80()]);
        peer.hear(1);
        peer.say(&[b"\xff\x15\x04#28000Access denied"]);
    });
    assert_eq!(denied.code(), "1045");
    let plugin = refused(|peer| {
        peer.say(&[&greeting("11.4.5-MariaDB", 0x81FF_F7FE, Some("client_ed25519"))]);
        peer.hear(1);
        peer.say(&[b"\xfeclient_ed25519\0abcdefghijklmnopqrstabcdefghijkl"]);
    });
    assert!(plugin.to_string().starts_with("not supported: authentication plugin"), "{plugin}");
    let ancient = refused(|peer| peer.say(&[&greeting("4.0.1", 0x0000_0001, None)]));
    assert!(ancient.to_string().contains("before MySQL 4.1"), "{ancient}");
    let postgres = refused(|peer| peer.say(&[b"Enot a greeting"]));
    assert!(postgres.to_string().contains("is this the port of a MySQL server?"), "{postgres}");
    let endless = refused(|peer| {
        peer.say(&[&greeting_80()]);
        peer.hear(1);
        peer.say(&[&b"\x01\x03"[..]; 16]);
    });
    assert!(endless.to_string().contains("has not ended after 16 messages"), "{endless}");
}

#[test]
fn a_login_cut_short_is_lost_and_a_silent_server_times_out() {
    let cut = refused(|peer| peer.stream.write_all(&packets(0, &[&greeting_80()])[..20]).unwrap());
    assert_eq!(cut.to_string(), "connection lost while logging in");
    let (mut endpoint, handle) = server(|peer| {
        let mut byte = [0];
        assert!(matches!(peer.stream.read(&mut byte), Ok(0) | Err(_)));
    });
    endpoint.connect_timeout = Duration::from_millis(50);
    let silent = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(silent, Error::Timeout { doing: "logging in", .. }), "{silent}");
    handle.join().unwrap();
}

#[test]
fn tls_is_never_negotiated_down() {
    let (mut endpoint, handle) = server(|peer| {
        peer.say(&[&greeting("8.0.33", 0xDFFF_F7FF, Some(CACHING_SHA2))]);
    });
    endpoint.tls = Tls::Required { ca: None };
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(&error, Error::Tls { detail, .. } if detail.contains("does not offer")));
    handle.join().unwrap();
    // Bytes that come before the handshake could be anybody's.
    let (mut endpoint, handle) = server(|peer| {
        peer.say(&[&greeting_80(), OK]);
        let _ = peer.stream.read(&mut [0; 64]);
    });
    endpoint.tls = Tls::Required { ca: None };
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error}");
    handle.join().unwrap();
}

#[test]
fn prepares_executes_and_survives_errors() {
    let (mut connection, handle) = connected(|peer| {
        let definition: &[u8] = b"\x03def any definition";
        peer.answer(
            b"\x16SELECT c FROM t WHERE id=?",
            &[b"\x00\x07\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00", definition, definition],
        );
        let with_types = b"\x17\x07\0\0\0\0\x01\0\0\0\0\x01\x03\0\x05\0\0\0";
        let without = b"\x17\x07\0\0\0\0\x01\0\0\0\0\0\x06\0\0\0";
        let deadlock: &[u8] = b"\xff\xbd\x04#40001Deadlock found";
        let row: [&[u8]; 4] = [b"\x01", definition, b"\x00\x00\x01x", b"\xfe\0\0\x02\0\0\0"];
        peer.answer(with_types, &[deadlock]);
        peer.answer(with_types, &row);
        peer.answer(without, &row);
        peer.answer(b"\x03UPDATE t SET k=7", &[b"\x00\x09\x00\x02\x00\x00\x00"]);
    });
    let spec = StatementSpec {
        sql: "SELECT c FROM t WHERE id=?",
        params: &[ParamType::Int],
        protocol: Protocol::Prepared,
        null_rows: 0,
    };
    let statement = connection.prepare(&spec).unwrap();
    let update = StatementSpec { sql: "UPDATE t SET k=?", protocol: Protocol::Text, ..spec };
    let update = connection.prepare(&update).unwrap();
    let with = |value| {
        let mut params = Params::new();
        params.push_int(value);
        params
    };
    let error = connection.execute(statement, &with(5)).unwrap_err();
    assert_eq!((error.class(), error.code().as_str()), (ErrorClass::Retry, "1213"));
    assert_eq!(connection.execute(statement, &with(5)).unwrap().rows, 1);
    assert!(matches!(connection.execute(statement, &with(1 << 31)), Err(Error::Usage { .. })));
    assert!(matches!(connection.execute(StatementId(9), &with(1)), Err(Error::Usage { .. })));
    assert_eq!(connection.execute(statement, &with(6)).unwrap().rows, 1);
    assert_eq!(connection.execute(update, &with(7)).unwrap().affected, 9);
    handle.join().unwrap();
}

#[test]
fn a_statement_with_other_parameters_is_closed_again() {
    let (mut connection, handle) = connected(|peer| {
        peer.answer(b"\x16SELECT 1", &[b"\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"]);
        assert_eq!(peer.hear(0), b"\x19\x07\0\0\0");
        peer.answer(b"\x16SELECT", &[b"\xff\x28\x04#42000You have an error"]);
    });
    let params = [ParamType::Int];
    let spec =
        |sql| StatementSpec { sql, params: &params, protocol: Protocol::Prepared, null_rows: 0 };
    let error = connection.prepare(&spec("SELECT 1")).unwrap_err();
    assert_eq!(error.to_string(), "statement \"SELECT 1\": it has 0 parameters but declares 1");
    assert_eq!(connection.prepare(&spec("SELECT")).unwrap_err().code(), "1064");
    handle.join().unwrap();
}

#[test]
fn queries_read_whole_results() {
    for can in [CAN_DEPRECATE_EOF, CAN_DEPRECATE_EOF & !DEPRECATE_EOF] {
        let (endpoint, handle) = server(move |peer| {
            peer.welcome(&greeting("8.0.33", can, Some(CACHING_SHA2)));
            assert_eq!(peer.hear(0), b"\x03select 1");
            let rows = text_rows(can & DEPRECATE_EOF != 0).bytes;
            peer.stream.write_all(&rows[..9]).unwrap();
            peer.stream.write_all(&rows[9..]).unwrap();
            peer.answer(b"\x03selec", &[b"\xff\x28\x04#42000You have an error"]);
            peer.answer(b"\x03do 1", &[OK]);
        });
        let mut connection = MysqlConnection::connect(&endpoint).unwrap();
        let result = connection.query("select 1").unwrap();
        assert_eq!((result.scalar(), result.rows.len()), (Some("1"), 3));
        assert_eq!(connection.query("selec").unwrap_err().code(), "1064");
        assert_eq!(connection.query("do 1").unwrap(), ResultSet::default());
        handle.join().unwrap();
    }
}

#[test]
fn backslashes_follow_the_sessions_mode() {
    let (mut connection, handle) = connected(|peer| {
        peer.answer(b"\x03do 'a\\\\'", &[OK]);
        peer.answer(b"\x03set sql_mode", &[b"\x00\x00\x00\x02\x02\x00\x00"]);
        peer.answer(b"\x03do 'a\\'", &[OK]);
    });
    let spec = StatementSpec {
        sql: "do ?",
        params: &[ParamType::Text],
        protocol: Protocol::Text,
        null_rows: 0,
    };
    let statement = connection.prepare(&spec).unwrap();
    let mut params = Params::new();
    params.push_text(|arena| arena.extend_from_slice(b"a\\"));
    connection.execute(statement, &params).unwrap();
    connection.execute_text(b"set sql_mode").unwrap();
    connection.execute(statement, &params).unwrap();
    handle.join().unwrap();
}

#[test]
fn after_a_broken_answer_the_connection_is_lost() {
    let (mut connection, handle) = connected(|peer| {
        peer.answer(b"\x03select 1", &[b"\xfbfile"]);
    });
    let error = connection.execute_text(b"select 1").unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error}");
    let error = connection.query("select 1").unwrap_err();
    assert!(matches!(error, Error::Lost { doing: "running a query", .. }), "{error}");
    assert!(matches!(connection.execute_text(b"select 1"), Err(Error::Lost { .. })));
    handle.join().unwrap();

    let (mut connection, handle) = connected(|peer| {
        assert_eq!(peer.hear(0), b"\x03select 1");
        peer.stream.write_all(&text_rows(true).bytes[..30]).unwrap();
    });
    let error = connection.execute_text(b"select 1").unwrap_err();
    assert_eq!(error.to_string(), "connection lost while executing a statement");
    assert_eq!(error.class(), ErrorClass::Lost);
    handle.join().unwrap();
}

#[test]
fn a_silent_server_times_out_and_a_break_ends_the_wait() {
    let (mut connection, handle) = connected(|peer| {
        peer.hear(0);
        let _ = peer.stream.read(&mut [0; 64]);
    });
    connection.set_timeout(Some(Duration::from_millis(20))).unwrap();
    let error = connection.execute_text(b"select sleep(1000)").unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    drop(connection);
    handle.join().unwrap();

    let (started, waits) = std::sync::mpsc::channel();
    let (mut connection, handle) = connected(move |peer| {
        peer.hear(0);
        started.send(()).unwrap();
        let _ = peer.stream.read(&mut [0; 64]);
    });
    let breaker = connection.breaker().unwrap();
    let waiting = std::thread::spawn(move || connection.execute_text(b"select 1").unwrap_err());
    waits.recv().unwrap();
    breaker.break_off();
    assert!(matches!(waiting.join().unwrap(), Error::Lost { .. }));
    handle.join().unwrap();
}

const DEADLOCK: &[u8] = b"\xff\xbd\x04#40001Deadlock found";

#[test]
fn statements_sent_ahead_are_answered_in_their_order() {
    const SQL: &str = "DELETE FROM t WHERE id > ?";
    let deleted = |n: u8| vec![0, n, 0, 2, 0, 0, 0];
    let (mut client, handle) = connected(move |peer| {
        peer.answer(
            &[b"\x16", SQL.as_bytes()].concat(),
            &[b"\x00\x07\0\0\0\0\0\x01\0\0\0\0", b"def"],
        );
        // With types, as none has succeeded yet.
        let with_types: Vec<Vec<u8>> = (0..3).map(|_| peer.hear(0)).collect();
        assert!(with_types.iter().all(|message| message.len() == with_types[0].len()));
        let several =
            [packets(1, &[DEADLOCK]), packets(1, &[&deleted(5)]), packets(1, &[&deleted(4)])];
        // Answers come in one piece and a half.
        let bytes = several.concat();
        let (head, tail) = bytes.split_at(bytes.len() - 3);
        peer.stream.write_all(head).unwrap();
        assert_eq!(peer.hear(0).len(), with_types[0].len() - 2, "the server has the types");
        peer.stream.write_all(tail).unwrap();
        peer.stream.write_all(&packets(1, &[&deleted(3)])).unwrap();
        peer.answer(b"\x03SELECT 1", &[OK]);
    });
    let spec = StatementSpec {
        sql: SQL,
        params: &[ParamType::BigInt],
        protocol: Protocol::Prepared,
        null_rows: 0,
    };
    let id = client.prepare(&spec).unwrap();
    let mut params = Params::new();
    params.push_int(1);
    let pipeline = client.pipeline().unwrap();
    assert!(!pipeline.await_answer(Duration::ZERO).unwrap(), "nothing was sent");
    for _ in 0..3 {
        pipeline.send(id, &params).unwrap();
    }
    let Err(Error::Usage { detail, .. }) = pipeline.query("SELECT 1") else { panic!() };
    assert!(detail.starts_with("3 statements"), "{detail}");
    let minute = Duration::from_secs(60);
    assert!(pipeline.await_answer(minute).unwrap());
    assert_eq!(pipeline.answer().unwrap_err().class(), ErrorClass::Retry);
    assert_eq!(pipeline.answer().unwrap().affected, 5);
    assert!(pipeline.await_answer(minute).unwrap(), "it was read with the one before");
    pipeline.send(id, &params).unwrap();
    assert_eq!(pipeline.answer().unwrap().affected, 4);
    assert_eq!(pipeline.answer().unwrap().affected, 3);
    assert!(matches!(pipeline.answer(), Err(Error::Usage { .. })));
    assert!(client.execute_text(b"SELECT 1").is_ok());
    drop(client);
    handle.join().unwrap();
}

#[test]
fn a_server_that_closes_leaves_no_answer_to_wait_for() {
    let (mut client, handle) = connected(|peer| {
        peer.hear(0);
        peer.say(&[OK]);
    });
    let pipeline = client.pipeline().unwrap();
    for _ in 0..3 {
        pipeline.send_text(b"DELETE FROM t").unwrap();
    }
    assert!(pipeline.answer().is_ok());
    assert!(pipeline.await_answer(Duration::from_secs(60)).unwrap(), "the end is there to read");
    assert_eq!(pipeline.answer().unwrap_err().class(), ErrorClass::Lost);
    // One answer is still due, which never comes.
    assert_eq!(pipeline.await_answer(Duration::ZERO).unwrap_err().class(), ErrorClass::Lost);
    assert_eq!(client.execute_text(b"SELECT 1").unwrap_err().class(), ErrorClass::Lost);
    handle.join().unwrap();
}

#[test]
fn a_server_that_closes_while_a_statement_is_sent_may_have_said_why() {
    let (mut client, handle) = connected(|peer| {
        peer.hear(0);
        peer.say(&[OK]);
        // Before the next statement is there, and goes.
        let said = packets(1, &[b"\xff\x81\x04#08S01Got a packet bigger than max"]);
        peer.stream.write_all(&said).unwrap();
    });
    let pipeline = client.pipeline().unwrap();
    pipeline.send_text(b"DELETE FROM t").unwrap();
    handle.join().unwrap();
    let long = vec![b' '; 8 * 1024 * 1024];
    pipeline.send_text(&long).unwrap();
    assert!(pipeline.answer().is_ok());
    let Err(Error::Server(error)) = pipeline.answer() else { panic!() };
    assert_eq!(error.errno, 1153);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let (done, over) = std::sync::mpsc::channel::<()>();
    let (mut client, handle) = connected(move |peer| {
        peer.hear(0);
        let _ = over.recv();
    });
    client.set_timeout(Some(Duration::from_millis(50))).unwrap();
    let pipeline = client.pipeline().unwrap();
    pipeline.send_text(b"DELETE FROM t").unwrap();
    let error = loop {
        match pipeline.await_answer(Duration::from_millis(5)) {
            Ok(is_there) => assert!(!is_there),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
    done.send(()).unwrap();
    handle.join().unwrap();
}
