//! Clients of rqps's on fake servers of both families.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rqps_client::{
    Address, AnyConnection, Connection, Endpoint, Error, ErrorClass, ParamType, Params, Password,
    Protocol, StatementSpec, Tls,
};
use rqps_model::Dbms;

use crate::config::CommandLine;
use crate::faults::Faults;
use crate::log::Log;
use crate::place::Place;
use crate::program::listen;
use crate::server::{Server, tables_dir};
use crate::{Family, Fault, Tree, When};

struct Bench {
    tree: Tree,
    server: Arc<Server>,
    endpoint: Endpoint,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn new(family: Family) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        let tree = Tree::lay_out(&tree, "/bin/true".as_ref(), family, "11.22").unwrap();
        let data_dir = dir.path().join("data");
        fs::create_dir_all(tables_dir(family, &data_dir)).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let socket = dir.path().join("socket");
        let line = CommandLine {
            data_dir,
            socket: Some(socket.clone()),
            port: Some(port),
            ..CommandLine::default()
        };
        let log = Log { family };
        let faults = Arc::new(Faults::read(Place::above(&tree.dir().join("bin/x")), log));
        let version = "11.22".to_owned();
        let server = Arc::new(Server::open(version, &line, log, Arc::clone(&faults)).unwrap());
        listen(&server, &line).unwrap();
        std::thread::spawn(move || faults.watch());
        let endpoint = Endpoint {
            address: Address::Unix(socket),
            tls: Tls::Off,
            user: "rqps".to_owned(),
            password: Password("secret".to_owned()),
            server_public_key: None,
            database: "rqps".to_owned(),
            on_login: None,
            startup: rqps_client::Startup::default(),
            connect_timeout: Duration::from_secs(60),
        };
        Self { tree, server, endpoint, _dir: dir }
    }

    fn connect(&self) -> AnyConnection {
        let dbms = match self.server.family {
            Family::Postgres => Dbms::Postgres,
            _ => Dbms::Mariadb,
        };
        AnyConnection::open(dbms, &self.endpoint).unwrap()
    }

    /// A connection and a table of three rows.
    fn filled(&self) -> AnyConnection {
        let mut connection = self.connect();
        connection.query("CREATE TABLE sbtest1 (id SERIAL, k INTEGER)").unwrap();
        let rows = "(1,7,'one','p'),(2,8,'two','p'),(3,8,'three','p')";
        let sql = format!("INSERT INTO sbtest1 (id,k,c,pad) VALUES {rows}");
        assert_eq!(connection.query(&sql).unwrap().affected, 3);
        connection
    }
}

fn on_each(test: impl Fn(Bench)) {
    for family in [Family::Postgres, Family::Mariadb] {
        test(Bench::new(family));
    }
}

/// Waits until something is so.
fn until(mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "it never comes");
    }
}

const COUNT: &str = "SELECT COUNT(*) FROM sbtest1";

#[test]
fn text_and_prepared_statements_give_rows_and_counts() {
    on_each(|bench| {
        let mut connection = bench.filled();
        let rows = connection.query("SELECT id, c FROM sbtest1 WHERE k IN (8)").unwrap().rows;
        let row = |id: &str, c: &str| vec![Some(id.to_owned()), Some(c.to_owned())];
        assert_eq!(rows, [row("2", "two"), row("3", "three")]);
        let spec =
            |sql, params| StatementSpec { sql, params, protocol: Protocol::Prepared, null_rows: 0 };
        let ints = [ParamType::Int, ParamType::Int];
        let range = spec("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", &ints[..]);
        let update = spec("UPDATE sbtest1 SET c=? WHERE id=?", &[ParamType::Text, ParamType::Int]);
        let (range, update) =
            (connection.prepare(&range).unwrap(), connection.prepare(&update).unwrap());
        for _ in 0..2 {
            let mut params = Params::new();
            params.push_int(2);
            params.push_int(9);
            assert_eq!(connection.execute(range, &params).unwrap().rows, 2);
            params.clear();
            params.push_text(|out| out.extend(b"new"));
            params.push_int(1);
            assert_eq!(connection.execute(update, &params).unwrap().affected, 1);
        }
        let new = connection.query("SELECT c FROM sbtest1 WHERE id=1").unwrap();
        assert_eq!(new.scalar(), Some("new"));
        connection.execute_text(b"BEGIN").unwrap();
        connection.execute_text(b"DELETE FROM sbtest1 WHERE id=1").unwrap();
        connection.execute_text(b"COMMIT").unwrap();
        assert_eq!(connection.query(COUNT).unwrap().scalar(), Some("2"));
    });
}

#[test]
fn a_statement_that_is_not_known_is_an_error_that_names_it() {
    on_each(|bench| {
        let mut connection = bench.connect();
        let error = connection.query("SELECT a FROM dual WHERE b=2").unwrap_err();
        let words = "does not know this statement: SELECT a FROM dual WHERE b=2";
        assert!(error.to_string().contains(words), "{error}");
        let spec = StatementSpec {
            sql: "CALL x",
            params: &[],
            protocol: Protocol::Prepared,
            null_rows: 0,
        };
        let error = connection.prepare(&spec).unwrap_err().to_string();
        assert!(error.contains("does not know this statement: CALL x"), "{error}");
        assert_eq!(connection.query("select 1").unwrap().scalar(), Some("1"));
    });
}

#[test]
fn faults_come_at_their_statement_and_once() {
    on_each(|mut bench| {
        let mut connection = bench.filled();
        bench.tree.fail(When::Text(2, "COUNT(*)".to_owned()), Fault::EndConnection).unwrap();
        bench.tree.fail_each_time(When::Text(1, "UPDATE".to_owned()), Fault::DiskFull).unwrap();
        bench.tree.fail(When::Now, Fault::WrongRows(-1)).unwrap();
        let sql = "SELECT c FROM sbtest1 WHERE id=1";
        until(|| connection.query(sql).unwrap().rows.is_empty());
        assert_eq!(connection.query(COUNT).unwrap().scalar(), Some("2"));
        assert_eq!(connection.query(COUNT).unwrap_err().class(), ErrorClass::Lost);
        let mut connection = bench.connect();
        assert_eq!(connection.query(COUNT).unwrap().scalar(), Some("2"));
        let error = connection.query("UPDATE sbtest1 SET k=k+1 WHERE id=1").unwrap_err();
        let Error::Server(said) = &error else { panic!("{error}") };
        assert!(["53100", "1114"].contains(&said.code().as_str()), "{said}");
        assert_eq!(bench.tree.n_met(), 3);
        bench.tree.heal().unwrap();
        until(|| connection.query(COUNT).unwrap().scalar() == Some("3"));
    });
}

#[test]
fn a_server_that_refuses_keeps_who_is_in() {
    on_each(|mut bench| {
        let mut connection = bench.connect();
        bench.tree.fail(When::Now, Fault::Crowded).unwrap();
        bench.tree.fail(When::Now, Fault::Slow(Duration::from_millis(20))).unwrap();
        until(|| bench.server.faults.is_crowded());
        let dbms =
            if bench.server.family == Family::Postgres { Dbms::Postgres } else { Dbms::Mariadb };
        let error = AnyConnection::open(dbms, &bench.endpoint).unwrap_err();
        let Error::Server(said) = &error else { panic!("{error}") };
        assert!(said.is_too_many_connections(), "{said}");
        until(|| {
            let since = Instant::now();
            connection.query("select 1").unwrap();
            since.elapsed() >= Duration::from_millis(20)
        });
        bench.tree.fail(When::Now, Fault::Refuse).unwrap();
        let is_refused =
            || matches!(AnyConnection::open(dbms, &bench.endpoint), Err(Error::Connect { .. }));
        until(is_refused);
        connection.query("select 1").unwrap();
    });
}
