//! What a server's processes may reach: files to read, directories to write, one TCP port.

use std::path::PathBuf;

/// Directories of the system that every program may read: programs, libraries, time zones, names of
/// users and hosts, and what the kernel says of processes and devices.
pub(super) const SYSTEM_DIRS: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/etc",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/nix/store",
    "/gnu/store",
];

/// Devices that every program may read and write.
pub(super) const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What processes may reach beside [`SYSTEM_DIRS`] and [`DEVICES`]; paths that do not exist are skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Enclosure {
    /// Directories to read and execute.
    pub(crate) read: Vec<PathBuf>,
    /// Directories to read, execute and write.
    pub(crate) write: Vec<PathBuf>,
    /// The TCP port to listen on.
    pub(crate) port: Option<u16>,
}
