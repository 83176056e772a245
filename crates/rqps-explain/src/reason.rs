//! Why a verdict is not explained.

/// What keeps a verdict from an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Base and system were measured on different hosts.
    OtherHosts,
    /// They were measured on different kernels.
    OtherKernels,
    /// The clients were held at a rate.
    HeldRate,
    /// Others worked at a rate beside the measured clients, and it is not known which threads serve whom.
    OthersAtRate,
    /// The server's processes are not known.
    UnknownServer,
    /// Others took more CPU from the slower side's slices than its own CPU accounts for.
    TakenUnequally,
    /// The slices differ too much in their time per operation.
    UnequalSlices,
    /// Other processes used more of the host's CPUs meanwhile.
    OtherProcesses,
}
