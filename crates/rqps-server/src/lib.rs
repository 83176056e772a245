//! Servers under test: which there are, getting, starting, settling, stopping and removing them.

pub mod catalogue;
pub mod disk;
pub mod dsn;
pub mod error;
pub mod fetch;
pub mod identity;
pub mod installed;
mod library;
mod lock;
pub mod log_text;
mod maven;
pub mod places;
pub mod process;
pub mod profile;
mod tool;
pub mod unpack;
pub mod watch;

pub use catalogue::{Catalogue, Entry};
pub use dsn::Dsn;
pub use error::Error;
pub use identity::Identity;
pub use installed::Installed;
pub use places::{Places, Wishes};
pub use watch::{Progress, Watch};
