//! The faults: what each is called, what it needs and how it is told.

use nix::unistd::geteuid;

use super::strike::hierarchy;

/// What happens to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The user interrupts it.
    Interrupt,
    /// rqps is killed.
    Kill,
    /// A server is killed.
    ServerKill,
    /// A server is stopped and never continues.
    ServerStop,
    /// A server's memory limit is hit.
    MemoryLimit,
    /// The disk of results and data is full.
    DiskFull,
    /// It is interrupted, and the store cannot be written when it is to be resumed.
    StoreReadOnly,
    /// Somebody takes the port of every server in the moment in which it starts.
    PortTaken,
    /// The servers' program is replaced by one that ends at once.
    BadProgram,
    /// A server's socket is removed: connected clients continue, new ones are refused.
    SocketGone,
    /// A server hangs with all its processes, and not by a signal.
    ServerHang,
}

impl Fault {
    pub(super) const ALL: [Self; 11] = [
        Self::Interrupt,
        Self::Kill,
        Self::ServerKill,
        Self::ServerStop,
        Self::MemoryLimit,
        Self::DiskFull,
        Self::StoreReadOnly,
        Self::PortTaken,
        Self::BadProgram,
        Self::SocketGone,
        Self::ServerHang,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "sigint",
            Self::Kill => "kill",
            Self::ServerKill => "server-kill",
            Self::ServerStop => "server-stop",
            Self::MemoryLimit => "memory-limit",
            Self::DiskFull => "disk-full",
            Self::StoreReadOnly => "store-read-only",
            Self::PortTaken => "port-taken",
            Self::BadProgram => "bad-program",
            Self::SocketGone => "socket-gone",
            Self::ServerHang => "server-hang",
        }
    }

    /// What the table calls it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT to rqps",
            Self::Kill => "SIGKILL to rqps",
            Self::ServerKill => "SIGKILL to a server",
            Self::ServerStop => "SIGSTOP to a server",
            Self::MemoryLimit => "memory limit hit",
            Self::DiskFull => "disk full",
            Self::StoreReadOnly => "store read-only",
            Self::PortTaken => "port taken",
            Self::BadProgram => "program replaced",
            Self::SocketGone => "connections refused",
            Self::ServerHang => "a server hangs",
        }
    }

    /// Whether it is a server's, after which the run continues by itself.
    pub(super) fn is_of_server(self) -> bool {
        !matches!(
            self,
            Self::Interrupt | Self::Kill | Self::DiskFull | Self::StoreReadOnly | Self::BadProgram
        )
    }

    /// Whether it can pass unnoticed. A stopped server continues at its next slice, or when it is to stop
    /// for good. A server whose last clients have come refuses nobody. A full disk ends the run, or a step
    /// of a server that waits for room.
    pub(super) fn may_be_unfelt(self) -> bool {
        matches!(self, Self::ServerStop | Self::SocketGone | Self::ServerHang | Self::DiskFull)
    }

    /// Whether the servers are to have a memory limit.
    pub(super) fn needs_memory_limit(self) -> bool {
        self == Self::MemoryLimit
    }

    /// The words by which a report tells it.
    pub(super) fn told_by(self) -> Option<&'static str> {
        match self {
            Self::ServerKill => Some("SIGKILL"),
            // Whatever signal it is ended by then.
            Self::ServerStop => Some("rqps did not send"),
            Self::MemoryLimit => Some("for lack of memory"),
            Self::SocketGone => Some("connect"),
            Self::ServerHang => Some("did not answer within"),
            Self::DiskFull => Some("no space is left"),
            _ => None,
        }
    }

    /// How many steps it may cost: a disk stays full, and each of two servers may meet it.
    pub(super) fn most_failed(self) -> u32 {
        if self == Self::DiskFull { 2 } else { 1 }
    }

    /// Whether the trial's directory is to be a small disk.
    pub(super) fn needs_small_disk(self) -> bool {
        self == Self::DiskFull
    }

    /// Whether the servers are to be started from a directory of their own.
    pub(super) fn needs_own_program(self) -> bool {
        self == Self::BadProgram
    }

    /// The share of a run's length in which it has something to meet: servers are started early.
    pub(super) fn span(self) -> f64 {
        if matches!(self, Self::PortTaken | Self::BadProgram) { 0.3 } else { 1.0 }
    }

    /// Why it cannot be made to happen here.
    pub(super) fn cannot(self) -> Option<&'static str> {
        let needs_root = matches!(
            self,
            Self::DiskFull | Self::StoreReadOnly | Self::MemoryLimit | Self::ServerHang
        );
        if needs_root && !geteuid().is_root() {
            return Some("it takes the right to mount, or to make control groups, which root has");
        }
        (self == Self::ServerHang && hierarchy().is_none())
            .then_some("it takes the second version of control groups")
    }

    /// The exit codes that rqps may end with when this happens; a signal counts as 128 and its number. One
    /// that strikes when everything is done changes nothing.
    pub(super) fn codes(self) -> &'static [i32] {
        match self {
            Self::Interrupt | Self::StoreReadOnly => &[130, 0],
            Self::Kill => &[128 + 9],
            Self::ServerKill | Self::ServerStop | Self::MemoryLimit | Self::DiskFull => &[2, 0],
            Self::PortTaken | Self::BadProgram | Self::SocketGone | Self::ServerHang => &[2, 0],
        }
    }
}
