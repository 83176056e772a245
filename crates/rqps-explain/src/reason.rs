//! Why a verdict is not explained.

/// Why a verdict is not explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Base and system were measured on different hosts.
    OtherHosts,
    /// They were measured on different kernels.
    OtherKernels,
    /// The clients worked at a set rate.
    HeldRate,
    /// Other clients worked at a set rate beside the measured ones, and it is not known which
    /// threads serve which clients.
    OthersAtRate,
    /// The server's processes are not known.
    UnknownServer,
    /// Other processes took more CPU from the slower system than in proportion to its own CPU.
    TakenUnequally,
    /// The time per operation varies too much between slices.
    UnequalSlices,
    /// Other processes used more of the host's CPUs during the slower system's slices.
    OtherProcesses,
}
