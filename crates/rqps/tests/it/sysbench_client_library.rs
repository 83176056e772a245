//! `rqps sysbench` and what sysbench's client libraries do by themselves: character sets, lengths of parameters,
//! libpq's environment. Each script prints the same by the real sysbench, where that is installed.

use std::process::Command;

use crate::bench::{Bench, for_each_server};
use crate::sysbench_sandbox::{Server, has_sysbench};

/// What a script prints by rqps and, where it is installed, by the real sysbench.
struct Printed {
    ours: String,
    theirs: Option<String>,
}

impl Printed {
    fn assert(&self, expected: &str) {
        assert_eq!(self.ours, expected);
        if let Some(theirs) = &self.theirs {
            assert_eq!(theirs, expected, "sysbench");
        }
    }
}

/// Runs a command by both, with further environment variables.
fn both(bench: &Bench, server: &Server, args: &[&str], variables: &[(&str, &str)]) -> Printed {
    let output = |mut command: Command| {
        command.current_dir(bench.dir()).args(&server.options).args(args);
        command.arg("--verbosity=1").envs(variables.iter().copied());
        command.output().unwrap().stdout
    };
    Printed {
        ours: String::from_utf8(output(bench.command(&["sysbench"]))).unwrap(),
        // It prints what lies behind a text that it has cut: bytes of any kind.
        theirs: has_sysbench()
            .then(|| String::from_utf8_lossy(&output(Command::new("sysbench"))).into_owned()),
    }
}

/// Text outside ASCII, through a connection whose character set nobody named.
const WORDS: &str = "function event() end\nfunction prepare()\n  local c = sysbench.sql.driver():connect()\n  \
                     if sysbench.sql.driver():name() == 'mysql' then\n    \
                     print(c:query_row('SELECT @@character_set_client, @@character_set_connection, \
                     @@character_set_results'))\n  else\n    print(c:query_row('SHOW client_encoding'))\n  end\n  \
                     c:query('CREATE TABLE words (w VARCHAR(20) CHARSET)')\n  \
                     c:query(\"INSERT INTO words VALUES ('é')\")\n  \
                     print(c:query_row('SELECT w, char_length(w) FROM words'))\n  c:query('DROP TABLE words')\nend\n";

#[test]
#[ignore = "make test-all: real servers"]
fn text_outside_ascii_arrives_as_from_sysbench() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let charset = if dbms == "postgres" { "" } else { "CHARACTER SET utf8" };
        bench.write("words.lua", &WORDS.replace("CHARSET", charset));
        let server = Server::start(&bench, dbms, version);
        // A server of rqps's own settings may insist on its character set.
        let Printed { ours, theirs } = both(&bench, &server, &["./words.lua", "prepare"], &[]);
        assert!(ours.lines().count() == 2, "{ours}");
        if let Some(theirs) = theirs {
            assert_eq!(ours, theirs);
        }
        server.stop();
    });
}

/// Parameters of text with a length: set, random, CHAR, VARCHAR, through a wider and an equal column.
const LENGTHS: &str = "local types = sysbench.sql.type\nfunction event() end\nfunction prepare()\n  \
                       local c = sysbench.sql.driver():connect()\n  \
                       c:query('CREATE TABLE names (n VARCHAR(9), m VARCHAR(5))')\n  \
                       local s = c:prepare('INSERT INTO names VALUES (?, ?)')\n  \
                       local n, m = s:bind_create(types.VARCHAR, 5), s:bind_create(types.CHAR, 5)\n  \
                       s:bind_param(n, m)\n  n:set('abcdefgh')\n  m:set('ABCDEFGH')\n  s:execute()\n  \
                       print(c:query_row('SELECT n, m FROM names'))\n  c:query('DELETE FROM names')\n  \
                       n:set('ab')\n  m:set('')\n  s:execute()\n  \
                       print(c:query_row('SELECT n, m FROM names'))\n  c:query('DROP TABLE names')\nend\n";

#[test]
#[ignore = "make test-all: real servers"]
fn texts_are_cut_to_the_length_of_their_parameter() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("names.lua", LENGTHS);
        let server = Server::start(&bench, dbms, version);
        for mode in ["--db-ps-mode=auto", "--db-ps-mode=disable"] {
            let printed = both(&bench, &server, &["./names.lua", mode, "prepare"], &[]);
            assert_eq!(printed.ours, "abcde\tABCDE\nab\t\n", "{mode}");
        }
        server.stop();
    });
}

const SESSION: &str = "function event() end\nfunction prepare()\n  print(sysbench.sql.driver():connect():query_row(\
                       \"SELECT current_user, current_setting('enable_seqscan'), current_setting('work_mem'), \
                       current_setting('timezone'), current_setting('client_encoding')\"))\nend\n";

#[test]
#[ignore = "make test-all: real servers"]
fn the_environment_of_libpq_counts() {
    for_each_server(|dbms, version| {
        if dbms != "postgres" {
            return;
        }
        let bench = Bench::new();
        bench.write("session.lua", SESSION);
        let server = Server::start(&bench, dbms, version);
        let [_, host, port, _] = &server.options[..] else { panic!("{:?}", server.options) };
        let (host, port) = (&host["--pgsql-host=".len()..], &port["--pgsql-port=".len()..]);
        let prepare = |more: &[&'static str], variables: &[(&str, &str)]| {
            let args = [&["./session.lua", "--pgsql-password="], more, &["prepare"]].concat();
            let fixed = [("PGPASSWORD", "pw"), ("PGTZ", "Asia/Tokyo")];
            both(&bench, &server, &args, &[&fixed, variables].concat())
        };
        let plain = "sbtest\ton\t4MB\tAsia/Tokyo\tUTF8\n";
        let changed = "sbtest\toff\t64MB\tAsia/Tokyo\tUTF8\n";
        prepare(&[], &[]).assert(plain);
        let options = ("PGOPTIONS", "-c enable_seqscan=off -c work_mem=64MB");
        prepare(&[], &[options]).assert(changed);
        let nowhere = ["--pgsql-host=", "--pgsql-port="];
        prepare(&nowhere, &[("PGHOST", host), ("PGPORT", port)]).assert(plain);
        let text = "--pgsql-db=dbname=sbtest options='-c enable_seqscan=off -c work_mem=64MB'";
        prepare(&[text], &[]).assert(changed);
        bench.write("services", "[mine]\noptions=-c enable_seqscan=off -c work_mem=64MB\n");
        let file = bench.path("services").display().to_string();
        prepare(&[], &[("PGSERVICE", "mine"), ("PGSERVICEFILE", &file)]).assert(changed);
        prepare(&[], &[("PGCLIENTENCODING", "LATIN1")])
            .assert("sbtest\ton\t4MB\tAsia/Tokyo\tLATIN1\n");
        // Over TCP to a server without TLS; over a unix socket nothing is encrypted either.
        for more in [&[][..], &["--pgsql-host=127.0.0.1"]] {
            let refused = prepare(more, &[("PGSSLMODE", "require")]).ours;
            assert!(refused.starts_with("FATAL: Connection to database failed: "), "{refused}");
        }
        let refused = prepare(&[], &[("PGREQUIREAUTH", "md5")]).ours;
        assert!(refused.contains("failed: PGREQUIREAUTH cannot be used: "), "{refused}");
        server.stop();
    });
}
