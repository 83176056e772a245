//! Connections against a server in this process that follows a script.

mod login;
mod peer;

use std::time::Duration;

use super::*;
use crate::{ErrorClass, ParamType, Password, Protocol, ServerError, Tls};

use peer::{Peer, endpoint, serve};

/// A connection whose server, after a login without password, does as `script` says.
fn connect(script: impl FnOnce(&mut Peer) + Send + 'static) -> (PostgresConnection, peer::Server) {
    let server = serve(|peer| {
        peer.let_in();
        script(peer);
    });
    (PostgresConnection::connect(&server.endpoint).unwrap(), server)
}

fn spec<'a>(sql: &'a str, params: &'a [ParamType], protocol: Protocol) -> StatementSpec<'a> {
    StatementSpec { sql, params, protocol, null_rows: 0 }
}

#[test]
fn a_statement_is_prepared_once_and_executed_in_one_message() {
    let (mut client, server) = connect(|peer| {
        let (tag, body) = peer.request();
        assert_eq!((tag, body.as_slice()), (b'P', &b"s0\0SELECT $1\0\0\x01\0\0\0\x17"[..]));
        assert_eq!(peer.request().0, b'S');
        peer.answer(&[(b'1', b""), (b'Z', b"I")]);
        for value in [5, 6] {
            let (tag, body) = peer.request();
            assert_eq!(tag, b'B');
            let bind = [&b"\0s0\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0"[..], &[value], b"\0\0"];
            assert_eq!(body, bind.concat());
            assert_eq!((peer.request().0, peer.request().0), (b'E', b'S'));
            let row = (b'D', &b"\0\x01\0\0\0\x01x"[..]);
            peer.answer(&[(b'2', b""), row, row, (b'C', b"SELECT 2\0"), (b'Z', b"I")]);
        }
        assert_eq!(peer.request().0, b'X');
    });
    let id = client.prepare(&spec("SELECT ?", &[ParamType::Int], Protocol::Prepared)).unwrap();
    let mut params = Params::new();
    for value in [5, 6] {
        params.clear();
        params.push_int(value);
        assert_eq!(client.execute(id, &params).unwrap(), Outcome { rows: 2, affected: 0 });
    }
    drop(client);
    server.finish();
}

#[test]
fn text_is_sent_without_preparing() {
    let (mut client, server) = connect(|peer| {
        assert_eq!(peer.request(), (b'Q', b"UPDATE t SET c='it''s'\0".to_vec()));
        peer.answer(&[(b'C', b"UPDATE 4\0"), (b'Z', b"I")]);
        assert_eq!(peer.request(), (b'Q', b"COMMIT\0".to_vec()));
        peer.answer(&[(b'C', b"COMMIT\0"), (b'Z', b"I")]);
    });
    let text = spec("UPDATE t SET c=?", &[ParamType::Text], Protocol::Text);
    let id = client.prepare(&text).unwrap();
    let mut params = Params::new();
    params.push_text(|out| out.extend(b"it's"));
    assert_eq!(client.execute(id, &params).unwrap(), Outcome { rows: 0, affected: 4 });
    assert_eq!(client.execute_text(b"COMMIT").unwrap(), Outcome::default());
    server.finish();
}

#[test]
fn a_query_is_read_in_full() {
    let (mut client, server) = connect(|peer| {
        peer.request();
        let columns = [b"\0\x02a\0".to_vec(), vec![0; 18], b"b\0".to_vec(), vec![0; 18]].concat();
        let row = b"\0\x02\0\0\0\x011\xff\xff\xff\xff";
        peer.answer(&[(b'T', &columns), (b'D', row), (b'C', b"SELECT 1\0"), (b'Z', b"I")]);
    });
    let result = client.query("SELECT").unwrap();
    assert_eq!(result.columns, ["a", "b"]);
    assert_eq!(result.rows, [[Some("1".to_owned()), None]]);
    assert_eq!((result.scalar(), result.affected), (Some("1"), 0));
    server.finish();
}

#[test]
fn a_servers_error_leaves_the_connection_good() {
    let duplicate = b"SERROR\0C23505\0Mduplicate key\0\0";
    let (mut client, server) = connect(move |peer| {
        for _ in 0..2 {
            peer.request();
            peer.answer(&[(b'E', duplicate), (b'Z', b"E")]);
        }
        peer.request();
        peer.answer(&[(b'C', b"ROLLBACK\0"), (b'Z', b"I")]);
    });
    let wanted = ServerError {
        errno: 0,
        sqlstate: "23505".to_owned(),
        message: "duplicate key".to_owned(),
        notes: None,
    };
    let Err(Error::Server(error)) = client.execute_text(b"INSERT") else { panic!() };
    assert_eq!((&error, error.class()), (&wanted, ErrorClass::Retry));
    let Err(Error::Server(error)) = client.query("INSERT") else { panic!() };
    assert_eq!(error, wanted);
    assert_eq!(client.execute_text(b"ROLLBACK").unwrap(), Outcome::default());
    server.finish();
}

#[test]
fn a_server_that_dies_is_a_lost_connection_with_its_last_words() {
    let shutdown = b"SFATAL\0C57P01\0Mterminating\0\0";
    type Ask = fn(&mut PostgresConnection) -> Result<(), Error>;
    let asks: [Ask; 2] =
        [|client| client.execute_text(b"X").map(drop), |client| client.query("X").map(drop)];
    for ask in asks {
        let (mut client, server) = connect(move |peer| {
            peer.request();
            peer.answer(&[(b'D', b"\0\0"), (b'E', shutdown)]);
        });
        let Err(Error::Lost { source, .. }) = ask(&mut client) else { panic!() };
        assert_eq!(source.to_string(), "server error 57P01: terminating");
        assert_eq!(ask(&mut client).unwrap_err().class(), ErrorClass::Lost);
        server.finish();

        let (mut client, server) = connect(|peer| drop(peer.request()));
        let error = ask(&mut client).unwrap_err();
        assert!(matches!(error, Error::Lost { .. }), "{error:?}");
        server.finish();
    }
}

#[test]
fn a_late_answer_is_never_taken_for_the_next() {
    let (mut client, server) = connect(|peer| {
        peer.request();
        assert_eq!(peer.request_or_end(), None, "nothing may follow a timeout");
    });
    client.set_timeout(Some(Duration::from_millis(10))).unwrap();
    let error = client.execute_text(b"SELECT pg_sleep(9)").unwrap_err();
    assert!(matches!(error, Error::Timeout { seconds: 1, .. }), "{error:?}");
    assert!(matches!(client.execute_text(b"SELECT 1"), Err(Error::Lost { .. })));
    drop(client);
    server.finish();
}

#[test]
fn nonsense_ends_the_connection() {
    for nonsense in [&b"G\0\0\0\x04"[..], b"D\0\0\0\x01", b"R\0\0\0\x04"] {
        let (mut client, server) = connect(move |peer| {
            peer.request();
            peer.send_raw(nonsense);
            assert_eq!(peer.request_or_end(), None);
        });
        let error = client.execute_text(b"X").unwrap_err();
        assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
        assert_eq!(client.execute_text(b"X").unwrap_err().class(), ErrorClass::Lost);
        server.finish();
    }
}

#[test]
fn another_thread_can_break_it() {
    // The break may come before the request or after it.
    let (mut client, server) = connect(|peer| while peer.request_or_end().is_some() {});
    let breaker = client.breaker().unwrap();
    let other = std::thread::spawn(move || breaker.break_off());
    assert_eq!(client.execute_text(b"X").unwrap_err().class(), ErrorClass::Lost);
    other.join().unwrap();
    drop(client);
    server.finish();
}

#[test]
fn a_wrong_call_sends_nothing() {
    let (mut client, server) = connect(|peer| assert_eq!(peer.request().0, b'X'));
    let params = Params::new();
    let unknown = client.execute(StatementId(3), &params).unwrap_err();
    assert!(matches!(unknown, Error::Usage { .. }), "{unknown:?}");
    let text = spec("SELECT ?", &[ParamType::Int], Protocol::Text);
    let id = client.prepare(&text).unwrap();
    assert!(matches!(client.execute(id, &params), Err(Error::Usage { .. })));
    drop(client);
    server.finish();
}

#[test]
fn statements_sent_ahead_are_answered_in_their_order() {
    let failed = b"SERROR\0C40001\0Mcould not serialize\0\0";
    let (mut client, server) = connect(move |peer| {
        for sql in [&b"A\0"[..], b"B\0", b"C\0"] {
            assert_eq!(peer.request(), (b'Q', sql.to_vec()));
        }
        peer.answer(&[
            (b'C', b"DELETE 5\0"),
            (b'Z', b"I"),
            (b'E', failed),
            (b'Z', b"I"),
            (b'C', b"DELETE 4\0"),
            (b'Z', b"I"),
        ]);
        peer.request();
        peer.answer(&[(b'C', b"DELETE 3\0"), (b'Z', b"I")]);
    });
    let pipeline = client.pipeline().unwrap();
    assert!(!pipeline.await_answer(Duration::ZERO).unwrap(), "nothing was sent");
    for sql in [b"A", b"B", b"C"] {
        pipeline.send_text(sql).unwrap();
    }
    let Err(Error::Usage { detail, .. }) = pipeline.execute_text(b"D") else { panic!() };
    assert!(detail.starts_with("3 statements"), "{detail}");
    let minute = Duration::from_secs(60);
    assert!(pipeline.await_answer(minute).unwrap());
    assert_eq!(pipeline.answer().unwrap().affected, 5);
    assert_eq!(pipeline.answer().unwrap_err().class(), ErrorClass::Retry);
    assert_eq!(pipeline.answer().unwrap().affected, 4);
    assert!(matches!(pipeline.answer(), Err(Error::Usage { .. })));
    assert_eq!(client.execute_text(b"D").unwrap().affected, 3);
    server.finish();
}

#[test]
fn a_server_that_dies_leaves_no_answer_to_wait_for() {
    let (mut client, server) = connect(|peer| {
        // It has both before it dies: otherwise the second could not always be sent.
        peer.request();
        peer.request();
        peer.answer(&[(b'C', b"DELETE 5\0"), (b'Z', b"I")]);
    });
    let pipeline = client.pipeline().unwrap();
    pipeline.send_text(b"A").unwrap();
    pipeline.send_text(b"B").unwrap();
    assert!(pipeline.answer().is_ok());
    assert_eq!(pipeline.answer().unwrap_err().class(), ErrorClass::Lost);
    assert_eq!(client.execute_text(b"C").unwrap_err().class(), ErrorClass::Lost);
    server.finish();
}
