//! Landlock: what a process may open and where it may connect, by rules that it can never lift.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, NetPort, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use nix::errno::Errno;
use nix::libc;

use super::enclosure::{DEVICES, Enclosure, SYSTEM_DIRS};

/// The rights that are handled. Kernels with fewer handle those that they know.
const RIGHTS: ABI = ABI::V6;

/// The flag that asks for the version of the interface: `LANDLOCK_CREATE_RULESET_VERSION`.
const VERSION: libc::c_ulong = 1;

/// The version of the kernel's interface; `None` where the kernel has no Landlock.
#[expect(unsafe_code, reason = "no library tells the version")]
pub(super) fn abi() -> Option<u32> {
    let none = ptr::null::<libc::c_void>();
    // SAFETY: with this flag landlock_create_ruleset(2) takes no attributes and reads no memory.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

/// Makes the ruleset of an enclosure.
pub(super) fn ruleset(enclosure: &Enclosure) -> io::Result<OwnedFd> {
    let made: Option<OwnedFd> = build(enclosure).map_err(io::Error::other)?;
    made.ok_or_else(|| Errno::EOPNOTSUPP.into())
}

fn build(enclosure: &Enclosure) -> Result<Option<OwnedFd>, RulesetError> {
    let read = AccessFs::from_read(RIGHTS);
    let write = AccessFs::from_all(RIGHTS);
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile;
    let ruleset = Ruleset::default()
        .handle_access(write)?
        .handle_access(AccessNet::from_all(RIGHTS))?
        .scope(Scope::from_all(RIGHTS))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM_DIRS, read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(&enclosure.read, read))?
        .add_rules(path_beneath_rules(&enclosure.write, write))?;
    let ports =
        enclosure.port.map(|port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::BindTcp)));
    Ok(ruleset.add_rules(ports)?.into())
}

/// Restricts this process for good; async-signal-safe.
#[expect(unsafe_code, reason = "the library's own call is not for the child of a fork")]
pub(super) fn restrict_self(ruleset: &OwnedFd) -> io::Result<()> {
    let fd = ruleset.as_raw_fd();
    // SAFETY: landlock_restrict_self(2) takes a descriptor, which is open, and flags; it reads no memory.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, fd, 0) };
    Ok(Errno::result(result).map(drop)?)
}
