//! Servers under test: which there are, getting, starting, settling, stopping and removing them.

pub mod catalogue;
pub mod disk;
pub mod error;
pub mod identity;
pub mod places;
pub mod process;
pub mod unpack;
pub mod watch;

pub use catalogue::{Catalogue, Entry};
pub use error::Error;
pub use identity::Identity;
pub use places::{Places, Wishes};
pub use watch::{Progress, Watch};
