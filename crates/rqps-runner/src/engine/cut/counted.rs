//! Blocks of a number of slices that is known before: parts of a fixed amount of work, seconds in which a rate is
//! held, whole slices of a system that has the host to itself.

use std::time::Duration;

use rqps_load::Stop;
use rqps_model::Schedule;
use rqps_workload::insert::{InsertStep, Work};
use rqps_workload::{InsertArgs, LoadCut, SuiteArgs};

/// Blocks of a step that does a fixed amount of work: enough for an interval, few enough for a store.
const N_BLOCKS: u64 = 20;

/// Rows and statements of a slice of such a step, at most: half a second to a few seconds.
const ROWS_OF_SLICE: u64 = 200_000;
const STATEMENTS_OF_SLICE: u64 = 5_000;

/// A slice of a step that queries while rows are inserted at a rate: rates are held by the second.
const SLICE: Duration = Duration::from_secs(1);

/// Fewest and most blocks of such a step.
const N_QUERY_BLOCKS: (u32, u32) = (8, 40);

/// How a step is cut into blocks of a known number of slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountedCut {
    /// Blocks in all.
    pub(crate) n_blocks: u32,
    /// Slices of all blocks.
    n_slices: u32,
    what: What,
    /// Whether a rate's clock goes on from slice to slice; else each slice begins one.
    pub(crate) keeps_clock: bool,
}

/// Statements that a step's work is done with.
struct Statements {
    /// Of all clients.
    all: u64,
    /// Of each client that inserts.
    of_client: u64,
    /// Rows of all of them.
    rows: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Statements of all clients that insert, in the whole step.
    Statements(u64),
    /// Length of a slice.
    Time(Duration),
}

impl CountedCut {
    /// Slices of a system that has the host to itself, each of which is a block.
    pub(crate) fn alone(n_slices: u32, slice_time: Duration) -> Self {
        Self { n_blocks: n_slices, n_slices, what: What::Time(slice_time), keeps_clock: false }
    }

    /// A step of the Insert Benchmark. One that queries is measured on so many starts.
    pub(crate) fn of(
        step: &InsertStep,
        args: &InsertArgs,
        schedule: Schedule,
        n_starts: u32,
    ) -> Self {
        let statements: u64 =
            (0..args.clients).filter_map(|client| step.statements(args, client)).sum();
        if let Work::Query { .. } = step.work {
            return match schedule {
                // Nobody waits: the clock of the rates goes on through a whole slice.
                Schedule::Sequential { slices } => {
                    let n = slices.div_ceil(n_starts).max(1);
                    let what = What::Time(args.query_time);
                    Self { n_blocks: n, n_slices: n, what, keeps_clock: true }
                }
                Schedule::Interleaved { .. } => {
                    let total = schedule.at_most(args.query_time) / n_starts;
                    let seconds = u32::try_from(total.as_secs()).unwrap_or(u32::MAX).max(1);
                    let (least, most) = N_QUERY_BLOCKS;
                    let least = least.div_ceil(n_starts);
                    let most = most.div_ceil(n_starts).max(least);
                    let n_blocks = (seconds / 2).clamp(least, most).min(seconds);
                    let what = What::Time(SLICE);
                    Self { n_blocks, n_slices: seconds, what, keeps_clock: true }
                }
            };
        }
        // Every slice has at least a statement of each client.
        let of_client = statements / u64::from(args.clients).max(1);
        let n_blocks = N_BLOCKS.min(of_client).max(1);
        let rows = statements * u64::from(step.rows_per_commit);
        Self::of_work(n_blocks, Statements { all: statements, of_client, rows })
    }

    /// A load of a suite file by so many clients.
    pub(crate) fn of_load(args: &SuiteArgs, clients: u32) -> Self {
        Self::of_parts(LoadCut::of(args.tables, args.rows, clients), args.tables, args.rows)
    }

    /// A load of so many tables, each of `rows` rows.
    pub(crate) fn of_parts(cut: LoadCut, tables: u32, rows: u64) -> Self {
        let tables = u64::from(tables);
        Self::of_work(
            cut.n_blocks.into(),
            Statements {
                all: cut.inserts_per_table * tables,
                of_client: cut.inserts_per_table / cut.loaders_per_table,
                rows: rows * tables,
            },
        )
    }

    /// Blocks of a fixed amount of work, in slices of about a second.
    fn of_work(n_blocks: u64, statements: Statements) -> Self {
        let Statements { all, of_client, rows } = statements;
        let most_slices = of_client / n_blocks;
        let wanted = rows.div_ceil(ROWS_OF_SLICE).max(all.div_ceil(STATEMENTS_OF_SLICE));
        let of_block = wanted.div_ceil(n_blocks).min(most_slices).max(1);
        Self {
            n_blocks: u32::try_from(n_blocks).unwrap_or(1),
            n_slices: u32::try_from(n_blocks * of_block).unwrap_or(u32::MAX),
            what: What::Statements(all),
            keeps_clock: true,
        }
    }

    /// Slices of a block. Those of all blocks are as many as the step's time has: some blocks have one more than
    /// others.
    pub(crate) fn slices_of(&self, block: u32) -> u32 {
        self.slices_before(block + 1) - self.slices_before(block)
    }

    /// Slices of the blocks before this one.
    fn slices_before(&self, block: u32) -> u32 {
        let n = u64::from(self.n_slices) * u64::from(block) / u64::from(self.n_blocks);
        u32::try_from(n).unwrap_or(u32::MAX)
    }

    /// When a slice of a block ends.
    pub(crate) fn stop(&self, block: u32, nth: u32) -> Stop {
        match self.what {
            What::Time(time) => Stop::Time(time),
            What::Statements(all) => {
                let n = u128::from(self.n_slices);
                let at = u128::from(self.slices_before(block)) + u128::from(nth);
                let upto = |at: u128| u64::try_from(u128::from(all) * at / n).unwrap_or(u64::MAX);
                Stop::Part { from: upto(at), to: upto(at + 1) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rqps_workload::Size;
    use rqps_workload::insert::{InsertSize, steps};

    use super::*;

    const SCHEDULE: Schedule = Schedule::interleaved(100, 6);

    #[test]
    fn all_statements_are_in_some_slice() {
        for (size, rows) in [(Size::Tiny, 200_000), (Size::Tiny, 2000), (Size::Medium, 20_000_000)]
        {
            let args =
                InsertArgs { rows, rows_later: rows / 2, clients: 3, ..InsertSize::args(size) };
            for step in steps(&args) {
                let cut = CountedCut::of(&step, &args, SCHEDULE, 1);
                let Some(of_client) = step.statements(&args, 0) else { continue };
                let mut end = 0;
                for block in 0..cut.n_blocks {
                    for nth in 0..cut.slices_of(block) {
                        let Stop::Part { from, to } = cut.stop(block, nth) else {
                            panic!("{cut:?}")
                        };
                        assert!(from == end && to >= from + 3, "{} {cut:?}", step.name);
                        end = to;
                    }
                }
                assert_eq!(end, of_client * 3, "{} {cut:?}", step.name);
            }
        }
    }

    #[test]
    fn the_slices_of_all_blocks_take_the_time_that_was_asked_for() {
        for (seconds, slices, n_blocks) in
            [(9, 1, 8), (27, 3, 40), (30, 6, 40), (3, 1, 3), (1, 1, 1)]
        {
            let args = InsertArgs {
                query_time: Duration::from_secs(seconds),
                ..InsertSize::args(Size::Tiny)
            };
            let cut = CountedCut::of(&steps(&args)[4], &args, Schedule::interleaved(20, slices), 1);
            assert_eq!(cut.n_blocks, n_blocks);
            let of_blocks: Vec<u32> = (0..cut.n_blocks).map(|block| cut.slices_of(block)).collect();
            assert_eq!(u64::from(of_blocks.iter().sum::<u32>()), seconds * u64::from(slices));
            let span = of_blocks.iter().max().unwrap() - of_blocks.iter().min().unwrap();
            assert!(span <= 1, "{of_blocks:?}");
        }
    }

    #[test]
    fn queries_take_slices_of_a_second_unless_alone() {
        let args = InsertSize::args(Size::Tiny);
        let step = &steps(&args)[4];
        let cut = CountedCut::of(step, &args, SCHEDULE, 1);
        assert_eq!((cut.n_blocks, cut.n_slices), (9, 18));
        assert_eq!(cut.stop(0, 0), Stop::Time(SLICE));
        let alone = CountedCut::of(step, &args, Schedule::Sequential { slices: 3 }, 1);
        assert_eq!((alone.n_blocks, alone.slices_of(0)), (3, 1));
        assert_eq!(alone.stop(0, 0), Stop::Time(args.query_time));
    }
}
