//! LuaJIT: the state in which a thread's script runs, and what it finds there.

mod border;
mod functions;
mod options;
mod state;

pub(crate) use border::{install, retire};
pub(crate) use state::{Place, SYSBENCH_VERSION, Script, State};
