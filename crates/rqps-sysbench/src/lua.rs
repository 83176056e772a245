//! LuaJIT: the state in which a thread's script runs, and what it finds there.

mod border;
mod functions;
mod options;
mod path;
mod script;
mod state;

pub(crate) use border::{install, retire};
pub(crate) use path::rock;
pub(crate) use script::{Place, Script};
pub(crate) use state::{ReportList, SYSBENCH_VERSION, State};
