//! Programs in each wall try what is theirs and what is not.

use std::fs::{self, Permissions};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::kill;
use nix::unistd::getppid;
use tempfile::TempDir;

use super::*;
use crate::tool::{self, Terms};
use crate::watch::{Watch, pause};

/// What a shell tries, in its own directory and in one outside: name and command.
const ATTEMPTS: &[(&str, &str)] = &[
    ("read", "cat $D/read"),
    ("list", "ls $D"),
    ("append", "echo x >> $D/append"),
    ("truncate", "truncate -s 0 $D/truncate"),
    ("create", "touch $D/create"),
    ("remove", "rm $D/remove"),
    ("rename", "mv $D/rename $D/renamed"),
    ("move out", "mv $D/take $OWN/taken"),
    ("move in", "mv $OWN/give-$N $D/given"),
    ("link", "ln $OWN/keep $D/link"),
    ("symbolic link", "ln -s $OWN/keep $D/symlink"),
    ("make directory", "mkdir $D/made"),
    ("remove directory", "rmdir $D/empty"),
    ("make pipe", "mkfifo $D/pipe"),
    ("move between directories", "mv $D/one/file $D/two/file"),
];

/// A directory of a server's own and one outside, both open to all, so that only a wall stops anybody.
struct Ground {
    top: TempDir,
    identity: Identity,
}

impl Ground {
    fn new(identity: Identity) -> Self {
        let top = tempfile::tempdir().unwrap();
        let open =
            |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        open(top.path(), 0o755);
        for name in ["own", "outside"] {
            let dir = top.path().join(name);
            for dir in [dir.clone(), dir.join("empty"), dir.join("one"), dir.join("two")] {
                fs::create_dir(&dir).unwrap();
                open(&dir, 0o777);
            }
            for file in ["read", "append", "truncate", "remove", "rename", "take", "one/file"] {
                fs::write(dir.join(file), "text\n").unwrap();
                open(&dir.join(file), 0o666);
            }
        }
        for file in ["give-own", "give-outside", "keep"] {
            fs::write(top.path().join("own").join(file), "text\n").unwrap();
            open(&top.path().join("own").join(file), 0o666);
        }
        Self { top, identity }
    }

    fn enclosure(&self) -> Enclosure {
        Enclosure { write: vec![self.top.path().join("own")], ..Enclosure::default() }
    }

    /// Runs a command in a wall and gives what it says.
    fn run(&self, wall: &Wall, enclosure: &Enclosure, mut command: Command) -> String {
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let log = self.top.path().join("log");
        let limit = Duration::from_secs(60);
        let terms = Terms { identity: &self.identity, log: &log, limit };
        let cage = Cage { door: Door::new(wall, enclosure).unwrap(), ..Cage::default() };
        // Relative paths must lead into the wall, too.
        command.current_dir(self.top.path().join("own"));
        let done = tool::run_in(cage, command, terms, &mut watch, &mut |_| {}).unwrap().unwrap();
        assert!(done.success(), "{}: {}", done.end(), done.output);
        done.output
    }

    /// The names of the attempts on a directory that succeed in a wall.
    fn successes(&self, wall: &Wall, dir: &str) -> Vec<&'static str> {
        let top = self.top.path().display();
        let mut script = format!("OWN=.; D={top}/{dir}; N={dir}\n");
        for (name, command) in ATTEMPTS {
            script.push_str(&format!("if {command} >/dev/null 2>&1; then echo '{name}'; fi\n"));
        }
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        let said = self.run(wall, &self.enclosure(), command);
        let names = ATTEMPTS.iter().map(|(name, _)| *name);
        names.filter(|name| said.lines().any(|line| line == *name)).collect()
    }
}

fn all() -> Vec<&'static str> {
    ATTEMPTS.iter().map(|(name, _)| *name).collect()
}

fn identity() -> Identity {
    Identity::for_servers().unwrap()
}

/// The wall of a kind that holds here; says so where there is none.
fn wall_of(walls: Walls) -> Option<Wall> {
    let wall = probe(&identity(), walls);
    let is_meant = matches!(
        (&wall, walls),
        (Wall::Landlock { .. }, Walls::Any) | (Wall::Namespaces { .. }, Walls::Namespaces)
    );
    if !is_meant {
        eprintln!("NOT TESTED: {walls:?} gives {wall} here");
    }
    is_meant.then_some(wall)
}

#[test]
fn without_a_wall_everything_succeeds() {
    let wall = probe(&identity(), Walls::Nothing);
    assert_eq!(wall.to_string(), "none (switched off for a trial)");
    assert_eq!(Ground::new(identity()).successes(&wall, "outside"), all());
}

#[test]
fn landlock_leaves_a_server_its_own_directory_alone() {
    let Some(wall) = wall_of(Walls::Any) else { return };
    let ground = Ground::new(identity());
    assert_eq!(ground.successes(&wall, "outside"), [""; 0]);
    assert_eq!(ground.successes(&wall, "own"), all());
}

#[test]
fn namespaces_let_a_server_write_to_its_own_directory_alone() {
    let Some(wall) = wall_of(Walls::Namespaces) else { return };
    let ground = Ground::new(identity());
    assert_eq!(ground.successes(&wall, "outside"), ["read", "list"]);
    assert_eq!(ground.successes(&wall, "own"), all());
    // Nothing of it is seen outside.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&ground.top.path().display().to_string()), "{mounts}");
}

#[test]
fn devices_and_shared_memory_are_there() {
    for walls in [Walls::Any, Walls::Namespaces] {
        let Some(wall) = wall_of(walls) else { continue };
        let ground = Ground::new(identity());
        let shared = format!("/dev/shm/rqps-wall-{}", std::process::id());
        let script = format!(
            "echo x > /dev/null && head -c 1 /dev/urandom > /dev/null && cat /proc/self/status \
             > /dev/null && echo x > {shared} && rm {shared} && echo done"
        );
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        let enclosure = Enclosure { write: vec!["/dev/shm".into()], ..Enclosure::default() };
        assert_eq!(ground.run(&wall, &enclosure, command), "done\n", "{wall}");
    }
}

#[test]
fn what_a_wall_forbids_is_told_as_its_doing() {
    let (wall, said) = (Wall::Landlock { abi: 7 }, "x.log: Permission denied");
    assert!(suspicion(&wall, said).contains("(Landlock ABI 7)"));
    assert_eq!(suspicion(&wall, "bad option"), "");
    assert_eq!(suspicion(&Wall::None { why: String::new() }, said), "");
}

/// The variable with the arguments of a test that another one starts.
///
/// That of [`in_the_wall`]: its own port, a strange one and the name of a socket.
const ARGUMENTS: &str = "RQPS_TEST_IN_THE_WALL";

/// Runs [`in_the_wall`] in a wall, as this user: the test's program may be closed to others.
fn said_within(wall: &Wall) -> Vec<String> {
    let ground = Ground::new(Identity { switch: false, ..identity() });
    let strange = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let name = format!("rqps-wall-{}-{own}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _socket = UnixListener::bind_addr(&address).unwrap();
    let port = strange.local_addr().unwrap().port();
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(&program);
    command.args(["--exact", "wall::tests::in_the_wall", "--ignored", "--nocapture"]);
    command.env(ARGUMENTS, format!("{own} {port} {name}"));
    let read = vec![program.parent().unwrap().to_owned()];
    let enclosure = Enclosure { read, port: Some(own), ..ground.enclosure() };
    let said = ground.run(wall, &enclosure, command);
    said.lines().filter_map(|line| line.strip_prefix("wall: ")).map(str::to_owned).collect()
}

#[test]
#[ignore = "what other tests run in a wall"]
fn in_the_wall() {
    #[expect(clippy::disallowed_methods, reason = "told by the test that starts this one")]
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let [own, strange, name] = arguments.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let address = SocketAddr::from_abstract_name(name).unwrap();
    let (own, strange): (u16, u16) = (own.parse().unwrap(), strange.parse().unwrap());
    let say = |what: &str, result: io::Result<()>| {
        let result = result.map_or_else(|e| e.kind().to_string(), |()| "done".to_owned());
        println!("\nwall: {what}: {result}");
    };
    let listener = TcpListener::bind(("127.0.0.1", own));
    say("listen on the own port", listener.as_ref().map(drop).map_err(|e| e.kind().into()));
    say("listen on any port", TcpListener::bind("127.0.0.1:0").map(drop));
    say("connect to the own port", TcpStream::connect(("127.0.0.1", own)).map(drop));
    say("connect to another port", TcpStream::connect(("127.0.0.1", strange)).map(drop));
    say("connect to an abstract socket", UnixStream::connect_addr(&address).map(drop));
    say("signal the parent", kill(getppid(), None).map_err(Into::into));
}

#[test]
fn landlock_leaves_a_server_its_own_port_alone() {
    let Some(wall @ Wall::Landlock { abi }) = wall_of(Walls::Any) else { return };
    let of_tcp = if wall.has_tcp() { "permission denied" } else { "done" };
    let of_scope = if abi >= Wall::SCOPES { "permission denied" } else { "done" };
    let expected = [
        "listen on the own port: done".to_owned(),
        format!("listen on any port: {of_tcp}"),
        format!("connect to the own port: {of_tcp}"),
        format!("connect to another port: {of_tcp}"),
        format!("connect to an abstract socket: {of_scope}"),
        format!("signal the parent: {of_scope}"),
    ];
    assert_eq!(said_within(&wall), expected);
}

#[test]
#[ignore = "what another test runs and sees die"]
fn dies_with_a_process_in_a_wall() {
    #[expect(clippy::disallowed_methods, reason = "told by the test that starts this one")]
    let Ok(walls) = std::env::var(ARGUMENTS) else { return };
    let wall = wall_of(walls.parse().unwrap_or_default()).unwrap();
    let door = Door::new(&wall, &Enclosure::default()).unwrap();
    let mut command = Command::new("sleep");
    command.arg("600").current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
    let cage = Cage { door, ..Cage::default() };
    let process = process::spawn_in(cage, command, &identity(), Signal::SIGKILL).unwrap();
    println!("\nsleeps: {}", process.pid());
    kill(nix::unistd::getpid(), Signal::SIGKILL).unwrap();
}

#[test]
fn processes_in_a_wall_die_with_rqps() {
    for (walls, word) in [(Walls::Any, "any"), (Walls::Namespaces, "namespaces")] {
        if wall_of(walls).is_none() {
            continue;
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        let test = "wall::tests::dies_with_a_process_in_a_wall";
        command.args(["--exact", test, "--ignored", "--nocapture"]).env(ARGUMENTS, word);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let pid = said.lines().find_map(|line| line.strip_prefix("sleeps: ")).expect(&said);
        let pid = pid.parse().unwrap();
        let start = std::time::Instant::now();
        while process::stat(pid).is_some_and(|stat| stat.state != 'Z') {
            assert!(start.elapsed() < Duration::from_secs(60), "{pid} is still there in {walls:?}");
            pause(Duration::from_millis(5));
        }
    }
}
