//! The columns of causes and of the parts of the time per operation.

use rqps_explain::{Change, Split, TimePart};

use crate::causes::sentence;

use super::{Column, Row, column, number, words};

/// The columns.
pub(super) fn columns() -> Vec<Column> {
    let mut all = vec![
        column(
            "cause",
            "cause of a verdict slower or faster: cpu-overhead, more-work, waiting, storage-reads, \
             storage-writes, plan-change, client-limited, host-limited, background-work, several \
             or not-explained; empty for other verdicts",
            |r| r.cell.cause().map_or_else(String::new, |c| c.kind.key().to_owned()),
        ),
        column("cause_share", "share of the change that the cause explains; 0.9 is 90%", |r| {
            number(r.cell.cause().and_then(|cause| cause.share))
        }),
        column("cause_sentence", "the cause as a sentence with its numbers", |r| {
            sentence::of_cell(r.cell).map_or_else(String::new, |text| words(&text))
        }),
    ];
    all.extend(change_columns("time", "time per operation (slots / rate)", |split| {
        Some(&split.total)
    }));
    all.extend(super::estimate_columns(
        "ageing",
        "`figure` / that of the `.pre` step, before the steps that write; below 1 is slower",
        |cell| cell.ageing.map(|ageing| ageing.ratio),
    ));
    all.extend(super::estimate_columns("ageing_ratio", "`ageing` / that of the base", |cell| {
        cell.ageing.and_then(|ageing| ageing.relative)
    }));
    for part in TimePart::ALL {
        let name = format!("time_{}", part.key());
        all.extend(change_columns(&name, part.meaning(), move |split| split.part(part)));
    }
    all
}

/// A value per operation on both sides and its change.
fn change_columns(
    name: &str,
    meaning: &str,
    pick: impl Fn(&Split) -> Option<&Change> + Copy + 'static,
) -> Vec<Column> {
    let of = move |r: &Row<'_, '_>| r.cell.split().and_then(pick).copied();
    let end = move |upper: bool| {
        move |r: &Row<'_, '_>| {
            let ends = of(r).and_then(|change| change.difference.interval);
            number(ends.map(|(low, high)| if upper { high } else { low }))
        }
    };
    vec![
        column(
            format!("{name}_us_per_operation"),
            format!("{meaning}; µs, mean over slices; empty for the base"),
            move |r| number(of(r).map(|change| change.candidate)),
        ),
        column(
            format!("{name}_change_us"),
            "difference from the base, µs per operation",
            move |r| number(of(r).map(|change| change.difference.point)),
        ),
        column(format!("{name}_change_us_low"), "lower end of the 95% interval", end(false)),
        column(format!("{name}_change_us_high"), "upper end of the 95% interval", end(true)),
    ]
}
