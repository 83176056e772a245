//! What is known of the Insert Benchmark's tables of a system between steps.

use rqps_workload::InsertArgs;

/// What is known of a system's tables between steps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tables {
    /// Rows that each should have, in order.
    pub(crate) rows: Vec<u64>,
    /// Whether they have their secondary indexes.
    pub(crate) are_indexed: bool,
}

impl Tables {
    /// Tables whose rows were counted.
    pub(crate) fn counted(rows: Vec<u64>, are_indexed: bool) -> Self {
        Self { rows, are_indexed }
    }

    /// Counts the rows that each client of a step has inserted and deleted.
    pub(crate) fn exchange(
        &mut self,
        args: &InsertArgs,
        exchanged: impl Iterator<Item = (u64, u64)>,
    ) {
        for (client, (inserted, deleted)) in (0..).zip(exchanged) {
            // Of the null client nothing is known.
            let Some(rows) = self.rows.get_mut(args.table_of(client) as usize - 1) else {
                continue;
            };
            *rows = (*rows + inserted).saturating_sub(deleted);
        }
    }
}

#[cfg(test)]
mod tests {
    use rqps_workload::Size;
    use rqps_workload::insert::InsertSize;

    use super::*;

    #[test]
    fn what_was_inserted_and_deleted_is_in_the_table_of_the_client() {
        let args = InsertArgs { clients: 2, shared_table: false, ..InsertSize::args(Size::Tiny) };
        let mut tables = Tables { rows: vec![1000, 1000], ..Tables::default() };
        tables.exchange(&args, [(30, 20), (5, 15)].into_iter());
        assert_eq!(tables.rows, [1010, 990]);
        let shared = InsertArgs { shared_table: true, ..args };
        let mut tables = Tables { rows: vec![1000], ..Tables::default() };
        tables.exchange(&shared, [(30, 20), (5, 10)].into_iter());
        assert_eq!(tables.rows, [1005]);
        // The null client has no tables that count.
        Tables::default().exchange(&shared, [(1, 1)].into_iter());
    }
}
