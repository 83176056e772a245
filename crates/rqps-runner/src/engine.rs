//! The block engine: measures a step on systems that are up. It knows clients, servers and time; what becomes of
//! what it measures is its observer's matter.

pub(crate) mod bench;
pub(crate) mod blocks;
pub(crate) mod clients;
pub(crate) mod clocks;
pub(crate) mod counted;
pub(crate) mod cut;
pub(crate) mod guard;
pub(crate) mod heartbeat;
pub(crate) mod index;
pub(crate) mod injected_slowdown;
pub(crate) mod observer;
pub(crate) mod populate;
pub(crate) mod precision;
pub(crate) mod shown;
pub(crate) mod stacks;
pub(crate) mod waiting;
pub(crate) mod warnings;
pub(crate) mod window;
