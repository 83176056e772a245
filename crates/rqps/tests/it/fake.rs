//! Fake servers in place of a plan's real ones: laid out as a user's own servers, failing on command.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rqps_fake_server::{Family, Tree};

use crate::bench::Bench;
use crate::interleaved_runs::until;

/// The program of all fake servers. Examples lie beside the directory of the tests' own program.
pub(crate) fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.parent().unwrap().parent().unwrap();
    let program = profile.join("examples/fake_server");
    let shown = program.display();
    assert!(program.is_file(), "there is no {shown}: cargo build -p rqps --examples");
    program
}

/// A fake server that a test has started itself, below a directory of its own; it ends with the value.
pub(crate) struct Started {
    pub(crate) tree: Tree,
    /// Where its unix socket is; of PostgreSQL the directory.
    pub(crate) socket: PathBuf,
    /// Its port, which names the socket of PostgreSQL.
    pub(crate) port: u16,
    child: Child,
}

impl Started {
    /// Starts one on new data and waits until its socket is there.
    pub(crate) fn new(bench: &Bench, dbms: &str, version: &str) -> Self {
        let dir = bench.path("started");
        let family = if dbms == "postgres" { Family::Postgres } else { Family::Mariadb };
        let tree = Tree::lay_out(&dir, &program(), family, version).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (place, data) = (dir.display(), dir.join("data"));
        let data = data.display();
        let (socket, file) = match family {
            Family::Postgres => (dir.clone(), dir.join(format!(".s.PGSQL.{port}"))),
            _ => (dir.join("socket"), dir.join("socket")),
        };
        let [make, serve] = match family {
            Family::Postgres => {
                [format!("initdb -D {data}"), format!("postgres -D {data} -k {place} -p {port}")]
            }
            _ => [
                format!("mariadbd --datadir={data} --bootstrap"),
                format!("mariadbd --datadir={data} --socket={place}/socket --port={port}"),
            ],
        };
        let command = |line: &str| {
            let mut words = line.split(' ');
            let mut command = Command::new(dir.join("bin").join(words.next().unwrap()));
            command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        assert!(command(&make).status().unwrap().success());
        let child = command(&serve).spawn().unwrap();
        let started = Self { tree, socket, port, child };
        until("the fake server's socket", || file.exists());
        started
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes `plan.toml` with a fake server in place of each of the plan's systems: of the same DBMS and version,
/// in the directory `fake-0` and so on. The servers come in the plan's order.
pub(crate) fn write_plan(bench: &Bench, plan: &str) -> Vec<Tree> {
    let (mut text, mut trees) = (String::new(), Vec::new());
    let mut family = None;
    for line in plan.lines() {
        match line.split_once(" = ") {
            Some(("dbms", name)) => {
                let named = |family: &Family| name.trim_matches(['"', '\'']) == family.name();
                let all = [Family::Postgres, Family::Mariadb, Family::Mysql];
                family = all.into_iter().find(named);
            }
            Some(("version", version)) => {
                let dir = bench.path(&format!("fake-{}", trees.len()));
                let version = version.trim_matches(['"', '\'']);
                trees.push(Tree::lay_out(&dir, &program(), family.unwrap(), version).unwrap());
                text.push_str(&format!("basedir = {:?}\n", dir.display().to_string()));
                continue;
            }
            _ => {}
        }
        text.push_str(line);
        text.push('\n');
    }
    assert!(!trees.is_empty(), "no versions in {plan}");
    bench.write("plan.toml", &text);
    trees
}

/// Runs a test on each family, as DBMS and version: those that the tests have as real servers.
pub(crate) fn for_each_family(test: impl Fn(&str, &str)) {
    for (dbms, version) in [("postgres", "11.22"), ("mariadb", "10.2.11")] {
        eprintln!("fake {dbms}@{version}");
        test(dbms, version);
    }
}
