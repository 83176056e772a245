//! Why one system is slower or faster than another on a step: the split of an operation's time, and
//! the cause by a small set of rules over it. No IO, no clock.
//!
//! docs/explanation/causes.md has every formula and threshold with its reason. `rqps-report` words causes.

pub mod ageing;
pub mod cause;
mod conclusion;
mod finding;
pub mod part;
pub mod quantity;
mod question;
pub mod reason;
mod rules;
pub mod sides;
pub mod split;
pub mod whose_cpu;
pub mod work;

pub use ageing::Ageing;
pub use cause::{Cause, HostShares, Kind};
pub use part::{Slots, TimePart};
pub use quantity::Quantity;
pub use question::Question;
pub use reason::Reason;
pub use rules::judge;
pub use sides::{Sides, Start, Weights};
pub use split::{Change, Split};
