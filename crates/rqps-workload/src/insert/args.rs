//! Arguments of the Insert Benchmark: sizes, clients, rates, times; and ready-made ones.

use std::time::Duration;

use rqps_client::Protocol;
use rqps_model::{Dbms, Role};

use crate::dialect::dialect;
use crate::{Size, SuiteError};

/// Most clients: each has up to three connections.
const MAX_CLIENTS: u32 = 1024;

/// Fewest rows of a table: of fewer, ids drawn for one query meet so often that it fetches fewer than ten.
const LEAST_ROWS: u64 = 5000;

/// Most rows that one statement may insert or delete: parameters of a prepared statement are numbered
/// with 16 bits, and a row has six.
const MAX_ROWS_PER_STATEMENT: u32 = 10_000;

/// How the statements of the Insert Benchmark are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsertProtocol {
    /// As the original client does: as text, except PostgreSQL's queries, which are prepared.
    Original,
    /// All in one way.
    All(Protocol),
}

impl InsertProtocol {
    /// How the statements of a role are sent to this DBMS.
    #[must_use]
    pub fn for_role(self, role: Role, dbms: Dbms) -> Protocol {
        match self {
            Self::All(protocol) => protocol,
            Self::Original if role == Role::Query => dialect(dbms).insert_queries,
            Self::Original => Protocol::Text,
        }
    }
}

/// The arguments of the Insert Benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertArgs {
    /// Clients. Each has a table of its own unless they share one.
    pub clients: u32,
    /// Whether all clients work on one table.
    pub shared_table: bool,
    /// Rows that l.i0 inserts into each table, or into the shared table.
    pub rows: u64,
    /// Rows that l.i1 (four fifths) and l.i2 (one fifth) insert into each table, and delete from it.
    pub rows_later: u64,
    /// Rows per statement, which is a transaction, of l.i0, l.i1, l.i2, and of the steps that query: there at
    /// most those of a second.
    pub rows_per_commit: [u32; 4],
    /// Background inserts per second and client of the steps that query, one pair of steps (ranges,
    /// then points) for each.
    pub rates: Vec<u32>,
    /// Time of a slice of each step that queries. A schedule has six slices by default: with
    /// medium, 1800 s.
    pub query_time: Duration,
    /// How long the server idles after l.i2, once it has settled; absent: by the tables' size.
    pub wait: Option<Duration>,
    /// How statements are sent.
    pub protocol: InsertProtocol,
    /// Partitions of each table by transactionid; 0 for none.
    pub partitions: u32,
    /// Whether MyRocks fills its tables (l.i0) by bulk load; without effect on other engines.
    pub bulk_load: bool,
    /// How long an extra connection holds each of its transactions open, in the steps that query.
    pub hold: Option<Duration>,
}

impl InsertArgs {
    /// Number of tables.
    #[must_use]
    pub fn tables(&self) -> u32 {
        if self.shared_table { 1 } else { self.clients }
    }

    /// The table (from 1) that a client (from 0) works on.
    #[must_use]
    pub fn table_of(&self, client_idx: u32) -> u32 {
        if self.shared_table { 1 } else { client_idx + 1 }
    }

    /// The client's part of `rows` of its table.
    #[must_use]
    pub fn part_of(&self, client_idx: u32, rows: u64) -> u64 {
        if !self.shared_table {
            return rows;
        }
        let clients = u64::from(self.clients);
        rows / clients + u64::from(u64::from(client_idx) < rows % clients)
    }

    /// Rows that l.i1 is to insert into a table: four fifths of the later rows, to the nearest.
    #[must_use]
    pub(crate) fn rows_of_l_i1(&self) -> u64 {
        (self.rows_later * 4 + 2) / 5
    }

    /// Rows that l.i2 is to insert into a table: the rest of the later rows.
    #[must_use]
    pub(crate) fn rows_of_l_i2(&self) -> u64 {
        self.rows_later - self.rows_of_l_i1()
    }

    /// How long the server idles after l.i2: `wait`, else a second per 100,000 rows of all tables,
    /// 5 s to 20 minutes. The more rows, the more pages are still to be written and purged.
    #[must_use]
    pub fn wait(&self) -> Duration {
        let rows = self.rows.saturating_mul(u64::from(self.tables()));
        self.wait.unwrap_or_else(|| Duration::from_secs((rows / 100_000).clamp(5, 1200)))
    }

    /// Approximate size of the tables, bytes: rows of 80 bytes and three secondary indexes of 30
    /// each, with the free space of pages that were filled out of order.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        const ROW_BYTES: u64 = 250;
        self.rows.saturating_mul(u64::from(self.tables())).saturating_mul(ROW_BYTES)
    }

    /// Checks what can be checked without a server.
    ///
    /// # Errors
    /// The first argument that is out of range, and its range.
    pub fn check(&self) -> Result<(), SuiteError> {
        let refuse = |key, value: String, remedy: &str| {
            Err(SuiteError::Argument { key, value, remedy: remedy.to_owned() })
        };
        if self.clients == 0 || self.clients > MAX_CLIENTS {
            return refuse("clients", self.clients.to_string(), "give 1 to 1024");
        }
        let rows_per_commit = self.rows_per_commit;
        for n in rows_per_commit {
            if n == 0 || n > MAX_ROWS_PER_STATEMENT {
                return refuse("rows_per_commit", n.to_string(), "give 1 to 10000");
            }
        }
        let least = u64::from(rows_per_commit.into_iter().max().unwrap_or(1)) * 20;
        let least = least * if self.shared_table { u64::from(self.clients) } else { 1 };
        let both =
            [("rows", self.rows, least.max(LEAST_ROWS)), ("rows_later", self.rows_later, least)];
        for (key, rows, least) in both {
            if rows < least || rows > 1 << 40 {
                let remedy = format!(
                    "give {least} to 2^40: at least 20 statements of each client, and {LEAST_ROWS} \
                     rows to draw ten from"
                );
                return refuse(key, rows.to_string(), &remedy);
            }
        }
        if self.rates.is_empty() || self.rates.contains(&0) {
            return refuse("rates", format!("{:?}", self.rates), "give inserts per second above 0");
        }
        if let Some(twice) = self
            .rates
            .iter()
            .enumerate()
            .find_map(|(idx, rate)| self.rates[..idx].contains(rate).then_some(rate))
        {
            return refuse("rates", format!("{twice} twice"), "give each rate once");
        }
        if self.query_time < Duration::from_secs(1) {
            let given = format!("{} s", self.query_time.as_secs_f64());
            return refuse("seconds.query", given, "give at least 1 s: rates are per second");
        }
        if self.partitions == 1 || self.partitions > 1024 {
            let remedy = "give 2 to 1024, or 0 for none";
            return refuse("partitions", self.partitions.to_string(), remedy);
        }
        if self.bulk_load && self.shared_table && self.clients > 1 {
            let remedy = "give each client its own table, or leave it out: a bulk load needs rows \
                          in the order of the primary key";
            return refuse("bulk_load", "true with shared_table".to_owned(), remedy);
        }
        if self.hold.is_some_and(|hold| hold.is_zero()) {
            return refuse("hold", "0".to_owned(), "give seconds above 0, or leave it out");
        }
        Ok(())
    }
}

/// Ready-made arguments.
#[derive(Debug, Clone, Copy)]
pub struct InsertSize;

impl InsertSize {
    /// The arguments of a size, for one client: tiny is done in minutes, medium in hours.
    #[must_use]
    pub fn args(size: Size) -> InsertArgs {
        let (rows, rows_later, seconds) = match size {
            Size::Tiny => (200_000, 50_000, 3),
            Size::Small => (2_000_000, 400_000, 30),
            Size::Medium => (20_000_000, 4_000_000, 300),
        };
        InsertArgs {
            clients: 1,
            shared_table: false,
            rows,
            rows_later,
            rows_per_commit: [100, 50, 5, 50],
            rates: vec![100, 500, 1000],
            query_time: Duration::from_secs(seconds),
            wait: None,
            protocol: InsertProtocol::Original,
            partitions: 0,
            bulk_load: false,
            hold: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> InsertArgs {
        InsertSize::args(Size::Tiny)
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_remedy() {
        assert!(tiny().check().is_ok());
        let refused = |change: fn(&mut InsertArgs)| {
            let mut args = tiny();
            change(&mut args);
            args.check().unwrap_err().to_string()
        };
        for (said, word) in [
            (refused(|a| a.clients = 0), "clients"),
            (refused(|a| a.rows = 100), "rows"),
            (refused(|a| a.rows_per_commit[2] = 0), "rows_per_commit"),
            (refused(|a| a.rates = vec![]), "rates"),
            (refused(|a| a.rates = vec![100, 100]), "100 twice"),
            (refused(|a| a.query_time = Duration::from_millis(10)), "seconds.query"),
            (refused(|a| a.partitions = 1), "partitions"),
            (refused(|a| (a.bulk_load, a.shared_table, a.clients) = (true, true, 2)), "bulk_load"),
            (refused(|a| a.hold = Some(Duration::ZERO)), "hold"),
        ] {
            assert!(said.contains(word) && said.contains("give"), "{said}");
        }
    }

    #[test]
    fn clients_share_the_rows_of_a_shared_table() {
        let args = InsertArgs { clients: 3, shared_table: true, ..tiny() };
        assert_eq!((args.tables(), args.table_of(2)), (1, 1));
        let parts: Vec<u64> = (0..3).map(|client| args.part_of(client, 1000)).collect();
        assert_eq!(parts, [334, 333, 333]);
        let own = InsertArgs { clients: 3, ..tiny() };
        assert_eq!((own.tables(), own.table_of(2), own.part_of(2, 1000)), (3, 3, 1000));
        assert_eq!(own.rows_of_l_i1() + own.rows_of_l_i2(), own.rows_later);
    }

    #[test]
    fn fifths_of_the_later_rows_are_rounded_to_the_nearest() {
        for (rows_later, l_i1, l_i2) in [(2023, 1618, 405), (2022, 1618, 404), (2021, 1617, 404)] {
            let args = InsertArgs { rows_later, ..tiny() };
            assert_eq!((args.rows_of_l_i1(), args.rows_of_l_i2()), (l_i1, l_i2));
        }
    }

    #[test]
    fn statements_travel_as_those_of_the_original() {
        let original = tiny().protocol;
        for role in [Role::Insert, Role::Delete, Role::Query] {
            let of = |dbms| original.for_role(role, dbms);
            assert_eq!([of(Dbms::Mysql), of(Dbms::Mariadb)], [Protocol::Text; 2]);
            let in_postgres = if role == Role::Query { Protocol::Prepared } else { Protocol::Text };
            assert_eq!(of(Dbms::Postgres), in_postgres);
            let all = InsertProtocol::All(Protocol::Prepared);
            assert_eq!(all.for_role(role, Dbms::Mysql), Protocol::Prepared);
        }
    }
}
