//! Who learns what the engine measures.

use anyhow::Result;
use rqps_model::{Slice, SystemIdx};

use crate::event::Event;

/// A slice of each system of a step, measured in the same seconds.
pub(crate) type Block = Vec<(SystemIdx, Slice)>;

/// What comes after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another block, where the step has one left.
    Block,
    /// Nothing: the step is as precise as it is to be.
    Enough,
}

/// Who learns what the engine measures.
pub(crate) trait Observer {
    /// Shows how far something has come.
    fn tell(&mut self, event: Event<'_>);

    /// Takes a block as it ends; all servers run meanwhile.
    fn keep(&mut self, block: Block) -> Result<Next>;
}
