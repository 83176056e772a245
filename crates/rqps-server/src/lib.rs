//! Servers under test: which there are, getting, starting, settling, stopping and removing them.

pub mod catalogue;
mod certificate;
pub mod disk;
pub mod dsn;
pub mod error;
pub mod fetch;
pub mod identity;
pub mod installed;
pub mod instance;
mod library;
mod lock;
pub mod log_text;
mod maven;
mod mysql;
pub mod places;
mod postgres;
pub mod process;
pub mod profile;
pub mod running;
mod tool;
pub mod unpack;
pub mod watch;

pub use catalogue::{Catalogue, Entry};
pub use dsn::Dsn;
pub use error::Error;
pub use identity::Identity;
pub use installed::Installed;
pub use instance::{Instance, Setup};
pub use places::{Places, Wishes};
pub use profile::{Config, Sizing};
pub use running::{RunningServer, Stopped, connect};
pub use watch::{Progress, Watch};
