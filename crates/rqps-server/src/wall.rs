//! The wall around a server: the kernel confines its processes to their own files and their own TCP port.
//!
//! Landlock forbids everything outside the directories of an [`Enclosure`]. Where the kernel has none, a mount
//! namespace makes everything outside read-only. A [`Door`] is made before the fork; the child goes
//! through it before its program is executed, and no descendant comes back.

mod door;
mod enclosure;
mod landlock;
mod namespaces;
#[cfg(test)]
mod tests;

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use rqps_model::Wall;

use crate::identity::Identity;
use crate::process::{self, Cage};
use crate::trial::Walls;
pub(crate) use door::Door;
pub(crate) use enclosure::Enclosure;

/// How long the program that tries a wall may take.
const TRY_WITHIN: Duration = Duration::from_secs(10);

/// How a wall may have made a program fail, by what the program says; empty where nothing hints at a wall.
pub(crate) fn suspicion(wall: &Wall, said: &str) -> String {
    // EACCES of Landlock and EROFS of a read-only mount, as the C library words them.
    let is_hint = ["Permission denied", "Read-only file system"].iter().any(|e| said.contains(e));
    if !wall.holds() || !is_hint {
        return String::new();
    }
    let name = wall.name();
    format!(
        "; rqps confines the server to its own directories ({name}): no option may name other ones"
    )
}

/// Finds the wall that works on this host, by a trial of each.
#[must_use]
pub fn probe(identity: &Identity, walls: Walls) -> Wall {
    let abi = landlock::abi();
    let namespaces = Wall::Namespaces { has_user: !identity.switch };
    let candidates = match (walls, abi) {
        (Walls::Nothing, _) => return Wall::None { why: "switched off for a trial".to_owned() },
        (Walls::Namespaces, _) | (Walls::Any, None) => vec![namespaces],
        // Early versions do not forbid to cut a file short, which a read-only mount does.
        (Walls::Any, Some(abi)) if abi < Wall::TRUNCATION => {
            vec![namespaces, Wall::Landlock { abi }]
        }
        (Walls::Any, Some(abi)) => vec![Wall::Landlock { abi }, namespaces],
    };
    let mut why = Vec::new();
    if abi.is_none() {
        why.push("the kernel has no Landlock".to_owned());
    }
    for wall in candidates {
        match try_out(&wall, identity) {
            Ok(()) => return wall,
            Err(e) => why.push(format!("{}: {e}", wall.name())),
        }
    }
    Wall::None { why: why.join("; ") }
}

fn try_out(wall: &Wall, identity: &Identity) -> io::Result<()> {
    let door = Door::new(wall, &Enclosure::default())?;
    let mut command = Command::new("true");
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let cage = Cage { door, ..Cage::default() };
    let process = process::spawn_in(cage, command, identity, Signal::SIGKILL)?;
    match process.wait(TRY_WITHIN)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(io::Error::other(process::describe_end(status))),
        None => Err(io::Error::other("a program in it did not end")),
    }
}
