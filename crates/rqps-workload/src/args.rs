//! Arguments of a suite: tables, clients, times; and the sizes that set them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rqps_client::Protocol;
use rqps_model::UnknownWord;

use crate::{Distribution, SuiteError};

/// The largest id: the column is a signed integer of 32 bits.
const MAX_ROWS: u64 = i32::MAX as u64;
/// As many as anyone runs, and few enough for one prepared statement each.
const MAX_TABLES: u32 = 1000;

/// Most clients of a step: each is a thread of rqps and a connection of the server.
pub const MAX_CLIENTS: u32 = 4096;

/// How long slices and warm-ups take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceTimes {
    /// A slice of a step that reads, and of a warm-up step without a time of its own.
    pub read: Duration,
    /// A slice of a step that writes.
    pub write: Duration,
    /// A slice of a step that inserts and so makes the tables larger.
    pub insert: Duration,
    /// The warm-up before a step, which is not counted.
    pub warm_up: Duration,
    /// The longest time of a step with a time of its own (60 s for the scans that warm).
    pub fixed_at_most: Duration,
}

/// The arguments of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteArgs {
    /// Tables `sbtest1` to `sbtestN`.
    pub tables: u32,
    /// Rows of each table after the load.
    pub rows: u64,
    /// Numbers of clients; each step runs with each of them.
    pub clients: Vec<u32>,
    /// How long slices take.
    pub times: SliceTimes,
    /// Distribution of ids in place of uniform, for steps that do not fix their own.
    pub distribution: Option<Distribution>,
    /// How statements are sent, except those that are always text (scan and insert).
    pub protocol: Protocol,
    /// Leaves BEGIN and COMMIT out.
    pub skip_trx: bool,
    /// A plain index on id in place of the primary key.
    pub secondary: bool,
}

/// Bytes that a row takes with its index on k: 188 of columns, and what InnoDB's pages add when rows
/// come in the order of the key (2M rows in MariaDB 10.11.19: DATA_LENGTH + INDEX_LENGTH = 482 MB).
const ROW_BYTES_ON_DISK: u64 = 240;

impl SuiteArgs {
    /// Approximate size of the tables without compression, bytes.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.rows.saturating_mul(u64::from(self.tables)).saturating_mul(ROW_BYTES_ON_DISK)
    }

    /// Checks what can be checked without a step.
    ///
    /// # Errors
    /// The first argument that is out of range, and its range.
    pub fn check(&self) -> Result<(), SuiteError> {
        let refuse = |key, value: String, remedy: &str| {
            Err(SuiteError::Argument { key, value, remedy: remedy.to_owned() })
        };
        if self.tables == 0 || self.tables > MAX_TABLES {
            return refuse("tables", self.tables.to_string(), "give 1 to 1000");
        }
        if self.rows == 0 || self.rows > MAX_ROWS {
            return refuse("rows", self.rows.to_string(), "give 1 to 2147483647 rows per table");
        }
        if self.clients.is_empty() {
            return refuse("clients", "[]".to_owned(), "give at least one number of clients");
        }
        for (idx, &clients) in self.clients.iter().enumerate() {
            if clients == 0 || clients > MAX_CLIENTS {
                return refuse("clients", clients.to_string(), "give numbers from 1 to 4096");
            }
            if self.clients[..idx].contains(&clients) {
                let twice = format!("{clients} twice");
                return refuse("clients", twice, "give each number once; slices repeat a step");
            }
        }
        for (key, time) in [
            ("seconds.read", self.times.read),
            ("seconds.write", self.times.write),
            ("seconds.insert", self.times.insert),
            ("seconds.fixed_at_most", self.times.fixed_at_most),
        ] {
            if time.is_zero() {
                return refuse(key, "0".to_owned(), "give a time above zero");
            }
        }
        Ok(())
    }
}

/// Ready-made arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Size {
    /// One table of 100,000 rows and slices of 1 s: a whole suite in minutes.
    #[default]
    Tiny,
    /// One table of 1,000,000 rows and slices of 10 s.
    Small,
    /// Four tables of 5,000,000 rows and slices of 10 s.
    Medium,
}

impl Size {
    /// The arguments of this size, for one client.
    #[must_use]
    pub fn args(self) -> SuiteArgs {
        let (tables, rows, slice_s, warm_up_s, fixed_s) = match self {
            Self::Tiny => (1, 100_000, 1, 1, 1),
            Self::Small => (1, 1_000_000, 10, 5, 20),
            Self::Medium => (4, 5_000_000, 10, 5, 60),
        };
        let slice = Duration::from_secs(slice_s);
        SuiteArgs {
            tables,
            rows,
            clients: vec![1],
            times: SliceTimes {
                read: slice,
                write: slice,
                insert: slice,
                warm_up: Duration::from_secs(warm_up_s),
                fixed_at_most: Duration::from_secs(fixed_s),
            },
            distribution: None,
            protocol: Protocol::Prepared,
            skip_trx: false,
            secondary: false,
        }
    }
}

impl FromStr for Size {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "tiny" => Ok(Self::Tiny),
            "small" => Ok(Self::Small),
            "medium" => Ok(Self::Medium),
            _ => Err(UnknownWord {
                what: "size",
                value: text.to_owned(),
                known: "tiny, small, medium",
            }),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tiny => "tiny",
            Self::Small => "small",
            Self::Medium => "medium",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_possible_and_named() {
        for size in [Size::Tiny, Size::Small, Size::Medium] {
            size.args().check().unwrap();
            assert_eq!(size.to_string().parse(), Ok(size));
        }
        assert!("huge".parse::<Size>().unwrap_err().to_string().contains("tiny, small, medium"));
    }

    #[test]
    fn impossible_arguments_are_named_with_what_is_possible() {
        let said = |change: fn(&mut SuiteArgs)| {
            let mut args = Size::Tiny.args();
            change(&mut args);
            args.check().unwrap_err().to_string()
        };
        assert_eq!(said(|a| a.tables = 0), "tables = 0: give 1 to 1000");
        assert_eq!(
            said(|a| a.rows = 3_000_000_000),
            "rows = 3000000000: give 1 to 2147483647 rows per table"
        );
        assert_eq!(
            said(|a| a.clients = vec![1, 100_000]),
            "clients = 100000: give numbers from 1 to 4096"
        );
        assert_eq!(
            said(|a| a.clients = vec![2, 1, 2]),
            "clients = 2 twice: give each number once; slices repeat a step"
        );
        assert_eq!(
            said(|a| a.clients.clear()),
            "clients = []: give at least one number of clients"
        );
        assert_eq!(said(|a| a.clients.push(0)), "clients = 0: give numbers from 1 to 4096");
        assert_eq!(
            said(|a| a.times.write = Duration::ZERO),
            "seconds.write = 0: give a time above zero"
        );
    }
}
