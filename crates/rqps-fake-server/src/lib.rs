//! A database server for tests: speaks MySQL's and PostgreSQL's protocols well enough for what rqps asks,
//! answers from small tables, and fails on command.
//!
//! [`Tree`] lays out a server's files as rqps finds a user's own server; the programs in it are one
//! executable that calls [`run`], which acts by the name that it was started under. [`Fault`] and [`When`]
//! say what a server does wrong; a file in the tree tells the server, and may change while it runs. A
//! statement that it does not know is an error that names it.

mod answer;
mod config;
mod fault;
mod faults;
mod log;
mod mysql;
mod place;
mod postgres;
mod program;
mod question;
mod server;
mod settings;
mod statement;
mod store;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod token;
mod tree;

pub use fault::{Fault, When};
pub use nix::sys::signal::Signal;
pub use program::run;
pub use tree::Tree;

/// Which server it pretends to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    Mariadb,
    /// MySQL.
    Mysql,
}

impl Family {
    /// Its name in a plan.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
        }
    }

    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Postgres => &["postgres", "initdb"],
            Self::Mariadb => &["mariadbd"],
            Self::Mysql => &["mysqld"],
        }
    }
}
