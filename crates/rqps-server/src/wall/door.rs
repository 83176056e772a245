//! The way into a wall. It is made before the fork; the child goes through it before its program is executed.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

use nix::sys::prctl::set_no_new_privs;
use rqps_model::Wall;

use super::enclosure::Enclosure;
use super::landlock;
use super::namespaces::Mounts;

/// The way into a wall, made before the fork.
#[derive(Debug)]
pub(crate) enum Door {
    /// A ruleset of Landlock.
    Landlock(OwnedFd),
    /// The mounts of a namespace.
    Namespaces(Mounts),
}

impl Door {
    /// Makes the way into a wall; `None` where there is no wall.
    ///
    /// # Errors
    /// When the kernel refuses the ruleset, or a path has a zero byte.
    pub(crate) fn new(wall: &Wall, enclosure: &Enclosure) -> io::Result<Option<Self>> {
        Ok(match wall {
            Wall::Landlock { .. } => Some(Self::Landlock(landlock::ruleset(enclosure)?)),
            Wall::Namespaces { has_user } => {
                Some(Self::Namespaces(Mounts::new(&enclosure.write, *has_user)?))
            }
            Wall::None { .. } => None,
        })
    }

    /// The half that needs the rights of root; async-signal-safe.
    pub(crate) fn enter_as_root(&self) -> io::Result<()> {
        match self {
            Self::Namespaces(mounts) => mounts.enter_as_root(),
            Self::Landlock(_) => Ok(()),
        }
    }

    /// The half that follows the change of user; async-signal-safe. `cwd` is the working directory, which
    /// in a namespace has to be entered again.
    pub(crate) fn enter_as_user(&self, cwd: Option<&CStr>) -> io::Result<()> {
        set_no_new_privs()?;
        match self {
            Self::Landlock(ruleset) => landlock::restrict_self(ruleset),
            Self::Namespaces(mounts) => {
                mounts.enter_as_user()?;
                cwd.map_or(Ok(()), |cwd| Ok(nix::unistd::chdir(cwd)?))
            }
        }
    }
}
