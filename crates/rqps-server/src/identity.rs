//! The user that servers run as: an ordinary user is itself; root, which servers refuse, is `nobody`.

use nix::unistd::{Gid, Uid, User, getegid, geteuid};

use crate::Error;

/// The user that server processes run as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// User id.
    pub uid: Uid,
    /// Group id.
    pub gid: Gid,
    /// The user's name, for messages.
    pub name: String,
    /// Whether processes must switch to this user: rqps runs as root.
    pub switch: bool,
}

/// User and group id of `nobody` where the user database has no such name: the kernel's overflow id.
const NOBODY: u32 = 65_534;

impl Identity {
    /// The identity for this process.
    ///
    /// # Errors
    /// When the user database cannot be read.
    pub fn for_servers() -> Result<Self, Error> {
        let lookup = |e: nix::Error| Error::io("look up the user that servers run as", e.into());
        let uid = geteuid();
        if !uid.is_root() {
            let user = User::from_uid(uid).map_err(lookup)?;
            let name = user.map_or_else(|| uid.to_string(), |user| user.name);
            return Ok(Self { uid, gid: getegid(), name, switch: false });
        }
        let user = User::from_name("nobody").map_err(lookup)?;
        Ok(match user {
            Some(user) => Self { uid: user.uid, gid: user.gid, name: user.name, switch: true },
            None => Self {
                uid: Uid::from_raw(NOBODY),
                gid: Gid::from_raw(NOBODY),
                name: "nobody".to_owned(),
                switch: true,
            },
        })
    }
}
