//! `rqps sysbench` behind a proxy that does not keep prepared statements.

use rqps_fake_server::{Fault, When};

use crate::bench::Bench;
use crate::fake::{Started, for_each_family};

const SCRIPT: &str = "function thread_init()\n  con = sysbench.sql.driver():connect()\n  \
                      stmt = con:prepare('SELECT c FROM sbtest1 WHERE id=?')\n  \
                      id = stmt:bind_create(sysbench.sql.type.INT)\n  stmt:bind_param(id)\nend\n\
                      function event()\n  id:set(1)\n  stmt:execute()\nend\n";

const TABLE: &str = "CREATE TABLE sbtest1 (id INTEGER NOT NULL, k INTEGER NOT NULL, c CHAR(120) NOT NULL, \
                     pad CHAR(60) NOT NULL, PRIMARY KEY (id))";

#[test]
fn a_proxy_that_loses_statements_is_named_once_with_the_remedy() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let mut server = Started::new(&bench, dbms, version);
        server.tree.fail(When::Now, Fault::LoseStatements).unwrap();
        bench.write("point.lua", SCRIPT);
        let prepare = format!(
            "function event() end\nfunction prepare()\n  sysbench.sql.driver():connect():query({TABLE:?})\nend\n"
        );
        bench.write("table.lua", &prepare);
        let socket = server.socket.display();
        let (at, code) = match dbms {
            "postgres" => (
                format!("--db-driver=pgsql --pgsql-host={socket} --pgsql-port={}", server.port),
                "26000",
            ),
            _ => (format!("--mysql-socket={socket}"), "1243"),
        };
        let run = |words: &str| {
            let words = format!("sysbench {words} {at} --threads=4 --events=50 --time=0");
            bench.run(&words.split_whitespace().collect::<Vec<_>>())
        };
        let made = run("./table.lua prepare");
        assert_eq!(made.code(), 0, "{}{}", made.stdout, made.stderr);
        let said = run("./point.lua run");
        assert_eq!(said.code(), 1, "{}", said.stdout);
        let fatal: Vec<&str> =
            said.stdout.lines().filter(|line| line.starts_with("FATAL: ")).collect();
        let [line] = fatal[..] else { panic!("{}", said.stdout) };
        for words in ["a proxy before the server", "use --db-ps-mode=disable", code] {
            assert!(line.contains(words), "no {words:?} in {line}");
        }
        let said = run("./point.lua --db-ps-mode=disable run");
        assert_eq!(said.code(), 0, "{}{}", said.stdout, said.stderr);
    });
}
