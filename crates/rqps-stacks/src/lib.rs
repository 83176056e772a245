//! Stacks of a server: folded, compared in microseconds of CPU per operation, drawn. Pure.
//!
//! ```text
//!  perf script ─▶ perf_text ─▶ Stacks ─┬─▶ function   self and inclusive time, and how they differ
//!  /proc/PID/task ──────────▶ Stacks ─┴─▶ tree ─▶ layout ─▶ flame   (differential) flame graphs
//! ```
//!
//! No IO and no clock: recording is the runner's and the samplers' business. Differences are inclusive:
//! a frame's difference is that of everything below it on the stack's leaf side together.

pub mod counter_text;
pub mod flame;
pub mod function;
pub mod layout;
pub mod name;
pub mod perf_text;
pub mod profile;
pub mod stacks;
pub mod thread_place;
pub mod time;
pub mod tree;

pub use counter_text::Counter;
pub use function::{Change, FunctionChange, FunctionTime, Presence};
pub use layout::Frame;
pub use perf_text::{Script, ScriptError, ScriptReader};
pub use profile::{Sampled, StackProfile};
pub use stacks::{FoldError, Stacks};
pub use thread_place::ThreadPlace;
pub use tree::CallTree;
