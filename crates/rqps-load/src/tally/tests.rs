//! Tallies by hand: slices, clients, blocks.

use std::time::Duration;

use super::*;
use crate::{Pace, Stop};

fn order() -> Order {
    Order { pace: Pace::Closed, stop: Stop::Time(Duration::from_secs(2)), seed: 1 }
}

#[test]
fn counts_by_hand() {
    let mut tally = Tally::for_order(&order());
    tally.statement(5_000_000, 1, 10);
    tally.event(5_000_000, 5_000_000);
    tally.statement(25_000_000, 1, 10);
    tally.event(20_000_000, 25_000_000);
    tally.error(1_500_000_000, "1213".to_owned());
    tally.statement(2_500_000_000, 1, 0);
    tally.finish(2_000_000_000);
    assert_eq!((tally.n_events, tally.n_queries, tally.n_rows), (2, 3, 20));
    assert_eq!(tally.windows.counts.len(), 100);
    assert_eq!(tally.windows.counts[..2], [1, 1]);
    assert_eq!(tally.series.len(), 2);
    assert_eq!(tally.series[0].sum_ns, 25_000_000);
    assert_eq!(tally.series[1].errors, 1);
    // Three statements until the last answer at 2.5 s.
    assert!((tally.operations_per_s() - 1.2).abs() < 1e-9);
    assert_eq!(tally.duration_ns(), 2_500_000_000);
}

#[test]
fn merging_adds_rates() {
    let mut first = Tally::for_order(&order());
    first.statement(2_000_000_000, 20, 0);
    first.finish(2_000_000_000);
    let mut second = Tally::for_order(&order());
    second.statement(4_000_000_000, 20, 0);
    second.finish(2_000_000_000);
    first.merge(&second);
    assert!((first.operations_per_s() - 15.0).abs() < 1e-9);
    assert_eq!(first.n_operations, 40);
    assert_eq!(first.duration_ns(), 2_666_666_667);
}

#[test]
fn clients_without_operations_take_part_with_a_rate_of_zero() {
    let whole_ns = 2_000_000_000;
    let idle = || {
        let mut tally = Tally::for_order(&order());
        // It met deadlocks only.
        tally.error(1_900_000_000, "1213".to_owned());
        tally.finish(whole_ns);
        tally
    };
    // Nobody made any: measured for 2 s, nothing done.
    let mut nothing = idle();
    nothing.merge(&idle());
    assert_eq!((nothing.n_operations, nothing.duration_ns()), (0, whole_ns));
    // One of two made 20 in 2 s.
    let mut half = idle();
    let mut busy = Tally::for_order(&order());
    busy.statement(whole_ns, 20, 0);
    busy.finish(whole_ns);
    half.merge(&busy);
    assert!((half.operations_per_s() - 10.0).abs() < 1e-9);
    assert_eq!(half.duration_ns(), whole_ns);
    // The other's only query took twenty times the slice: 1 in 40 s beside 20 in 2 s.
    let mut slow = Tally::for_order(&order());
    slow.statement(20 * whole_ns, 1, 0);
    slow.finish(whole_ns);
    slow.merge(&busy);
    assert!((slow.operations_per_s() - 10.025).abs() < 1e-9);
    assert_eq!(slow.windows.counts.len(), 100);
    // Alone, it has its own rate.
    let mut alone = Tally::for_order(&order());
    alone.statement(20 * whole_ns, 1, 0);
    alone.finish(whole_ns);
    assert_eq!(alone.duration_ns(), 20 * whole_ns);
    // Fewer events than clients: the second client had nothing to do, and no time.
    let mut none = Tally::for_order(&order());
    none.finish(0);
    none.merge(&{
        let mut one = Tally::for_order(&order());
        one.statement(500, 1, 0);
        one.finish(0);
        one
    });
    assert_eq!(none.duration_ns(), 500);
}

#[test]
fn slices_that_follow_one_another_make_a_block() {
    let short = Order { stop: Stop::Time(Duration::from_millis(400)), ..order() };
    let slice = |n: u64| {
        let mut tally = Tally::for_order(&short);
        for i in 1..=n {
            tally.statement(i * 500_000_000 / n, 1, 0);
            tally.event(500_000_000 / n, i * 500_000_000 / n);
        }
        tally.finish(400_000_000);
        tally
    };
    let mut block = Tally::empty(&short);
    for n in [10, 20, 30] {
        block.append(&slice(n));
    }
    // Each took until its last answer at 0.5 s.
    assert_eq!((block.n_operations, block.n_events), (60, 60));
    assert_eq!(block.duration_ns(), 1_500_000_000);
    assert_eq!(block.windows.counts.len(), 3 * 20);
    let queries: Vec<u32> = block.series.iter().map(|p| p.queries).collect();
    assert_eq!(queries, [30, 30], "two slices began in the first second, one in the next");
    assert_eq!(block.series[0].max_ns, 50_000_000);
    assert_eq!(block.response_times.len(), 60);
}

#[test]
fn what_a_client_waited_for_an_error_is_its_time() {
    let mut tally = Tally::for_order(&order());
    tally.statement(1_000_000_000, 1, 0);
    tally.error(3_000_000_000, "40P01".to_owned());
    tally.finish(2_000_000_000);
    assert_eq!(tally.duration_ns(), 3_000_000_000);
}

#[test]
fn a_slice_in_which_one_client_waits_counts_with_the_time_that_it_waited() {
    let ms = 1_000_000;
    let one_slice = Order { stop: Stop::Time(Duration::from_millis(20)), ..order() };
    let client = |n: u64, until_ms: u64| {
        let mut tally = Tally::for_order(&one_slice);
        (1..=n).for_each(|i| tally.statement(i * until_ms * ms / n, 1, 0));
        tally.finish(20 * ms);
        tally
    };
    let mut block = Tally::empty(&one_slice);
    for slice in 0..10 {
        let mut both = client(20, 20);
        // One answer of the second client takes 100 ms, once.
        both.merge(&if slice == 3 { client(1, 100) } else { client(20, 20) });
        block.append(&both);
    }
    // The first did 200 in 0.2 s and the second 181 in 0.28 s. The slices' own rates would make 1897/s of it.
    assert!((block.operations_per_s() - (1000.0 + 181.0 / 0.28)).abs() < 1e-6);
    assert_eq!((block.n_operations, block.span_ns), (381, 280 * ms));
    assert_eq!(block.duration_ns(), 231_409_978);
    // Seconds are of the time that the rate is over: 10 blocks of it are 2.3 s.
    (0..90).for_each(|_| block.append(&client(20, 20)));
    assert_eq!(block.series.len() as u64, block.duration_ns().div_ceil(1_000_000_000));
    assert_eq!(block.series.iter().map(|p| u64::from(p.queries)).sum::<u64>(), block.n_queries);
}

#[test]
fn slices_somewhat_longer_than_a_second_leave_no_second_empty() {
    let one_slice = Order { stop: Stop::Time(Duration::from_secs(1)), ..order() };
    let slice = |took_ns: u64| {
        let mut tally = Tally::for_order(&one_slice);
        for i in 1..=106 {
            tally.statement(i * took_ns / 106, 1, 0);
            tally.event(1_000_000, i * took_ns / 106);
        }
        tally.finish(1_000_000_000);
        tally
    };
    let mut block = Tally::empty(&one_slice);
    (0..40).for_each(|_| block.append(&slice(1_060_000_000)));
    assert_eq!(block.series.len(), 43);
    let whole = &block.series[..42];
    assert!(whole.iter().all(|p| (99..=101).contains(&p.queries)), "{whole:?}");
    let sum = |f: fn(&SeriesPoint) -> u64| block.series.iter().map(f).sum::<u64>();
    assert_eq!(sum(|p| p.queries.into()), 40 * 106);
    assert_eq!(sum(|p| p.sum_ns), 40 * 106 * 1_000_000);
    // One that stalls shows as such.
    block.append(&slice(10_000_000_000));
    assert!(block.series[44..52].iter().all(|p| p.queries <= 11), "{:?}", &block.series[42..]);
}

#[test]
fn time_that_passed_on_the_clock_counts_for_who_is_on_it() {
    let mut tally = Tally::for_order(&order());
    tally.statement(900_000_000, 100, 0);
    tally.finish_on_clock(1_000_000_000, 1_060_000_000);
    assert_eq!(tally.duration_ns(), 1_060_000_000);
    assert_eq!(tally.series.len(), 1);
}

#[test]
fn a_slice_in_which_nothing_was_due_took_its_time() {
    let mut tally = Tally::for_order(&order());
    tally.finish(2_000_000_000);
    assert_eq!(tally.duration_ns(), 2_000_000_000);
}
