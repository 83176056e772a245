//! The state of the tables of a step, after earlier steps and the server's background work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The state of a system's tables: sums over all of them. A fact that the server does not report is
/// absent.
pub type TableState = BTreeMap<TableFact, u64>;

/// A fact of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableFact {
    /// Events of a step that writes, up to its end, warm-up and uncounted events included.
    Writes,
    /// Levels of the B-trees above their leaves, added over the indexes.
    IndexLevels,
    /// Rows, as the server estimates them.
    Rows,
    /// Versions of rows that vacuum has to remove.
    DeadRows,
    /// Updates since the tables were made.
    Updates,
    /// Updates since the tables were made that needed no new entry in an index.
    HotUpdates,
    /// How often autovacuum has vacuumed or analysed the tables.
    Autovacuums,
    /// Bytes of the tables; of InnoDB and MyRocks with their indexes.
    TableBytes,
    /// Bytes of the indexes, where they are separate.
    IndexBytes,
    /// Age of the oldest snapshot that a session holds, transactions.
    SnapshotAge,
    /// InnoDB's history list: transactions whose old versions of rows are kept.
    HistoryList,
    /// Pages of InnoDB's change buffer.
    ChangeBufferPages,
    /// Bytes that MyRocks has to compact.
    CompactionBytes,
}

/// A fact in which the tables of two systems differ enough to move a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDifference {
    /// The fact.
    pub fact: TableFact,
    /// Its value on the base.
    pub base: u64,
    /// Its value on the system.
    pub own: u64,
    /// Starts of the servers with such a difference.
    pub n_starts: usize,
}
