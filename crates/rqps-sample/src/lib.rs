//! Samplers of host, server, client and storage: pure parsers of /proc with thin readers.
//!
//! Files named `*_text.rs` turn text into values and touch nothing; the others read. A [`Sampler`]
//! takes one [`rqps_model::Sample`]; a [`Background`] takes one each second and, between them, one
//! at each exact moment that is asked for. Nothing here knows what a sample will be used for.
//!
//! [`given_file`] reads what no kernel wrote: files that a user names, for the crates above.

pub mod background;
pub mod busy;
pub mod cgroup_text;
pub mod clock;
pub mod condition;
pub mod error;
pub mod given_file;
pub mod host_info;
pub mod host_text;
pub mod memory_text;
pub mod mount_text;
pub mod place_text;
pub mod process_text;
pub mod sampler;
pub mod speed;
pub mod stat_text;
pub mod storage_text;
pub mod wait_text;
pub mod waits;

mod existing_part;
mod host;
mod memory_bound;
mod own;
mod proc_file;
mod process;
mod read_ahead;
mod scratch;
mod storage;
mod tally;
mod tasks;
mod tree;
mod watched;

pub use background::Background;
pub use busy::{Busy, busy};
pub use condition::{Condition, condition};
pub use error::{Error, Missing, TextError};
pub use host_info::host_info;
pub use read_ahead::read_ahead_file;
pub use sampler::{End, MAX_OPEN_FILES, Sampler, Target};
pub use waits::{WaitSampler, Waits};
