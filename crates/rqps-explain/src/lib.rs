//! Why one system is slower or faster than another on a step: the split of an operation's time, and
//! the cause by a small set of rules over it. No IO, no clock.
//!
//! docs/causes.md has every formula and threshold with its reason. What other parts of rqps find
//! (query plans, settings, profiles) comes in as [`Evidence`].

pub mod ageing;
pub mod cause;
pub mod evidence;
mod finding;
mod number;
pub mod part;
pub mod quantity;
mod question;
mod rules;
mod sentence;
pub mod sides;
pub mod split;
pub mod summary;
pub mod work;

pub use ageing::Ageing;
pub use cause::{Cause, Kind};
pub use evidence::{Evidence, Hint, Moves};
pub use part::{Slots, TimePart};
pub use quantity::Quantity;
pub use question::Question;
pub use rules::judge;
pub use sides::{Sides, Start, Weights};
pub use split::{Change, Split};
