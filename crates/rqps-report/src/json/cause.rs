//! The cause of a verdict, and the time per operation taken apart.

use std::collections::BTreeMap;

use rqps_analysis::Cell;
use rqps_explain::{Ageing, Change, Quantity, Split};
use rqps_model::Verdict;
use serde::Serialize;

use super::{EstimateJson, estimate};
use crate::causes::sentence;

#[derive(Serialize)]
pub(super) struct CauseJson {
    kind: &'static str,
    words: &'static str,
    direction: Verdict,
    parts: Vec<&'static str>,
    share: Option<f64>,
    change_us: Option<f64>,
    sentence: String,
}

#[derive(Serialize)]
pub(super) struct SplitJson {
    slots: f64,
    time_us: ChangeJson,
    parts_us: BTreeMap<&'static str, ChangeJson>,
    quantities: BTreeMap<String, ChangeJson>,
}

#[derive(Serialize)]
struct ChangeJson {
    base: f64,
    system: f64,
    change: EstimateJson,
    ratio: Option<EstimateJson>,
    /// Of parts alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
}

impl ChangeJson {
    fn of(change: &Change, share: Option<f64>) -> Self {
        Self {
            base: change.base,
            system: change.candidate,
            change: estimate(&change.difference),
            ratio: change.ratio.as_ref().map(estimate),
            share,
        }
    }
}

#[derive(Serialize)]
pub(super) struct AgeingJson {
    ratio: EstimateJson,
    /// Absent for the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    relative: Option<EstimateJson>,
}

/// How a cell has aged.
pub(super) fn ageing(ageing: &Ageing) -> AgeingJson {
    AgeingJson { ratio: estimate(&ageing.ratio), relative: ageing.relative.as_ref().map(estimate) }
}

/// The cause of a cell.
pub(super) fn cause(cell: &Cell) -> Option<CauseJson> {
    let cause = cell.cause()?;
    Some(CauseJson {
        kind: cause.kind.key(),
        words: cause.kind.words(cause.direction),
        direction: cause.direction,
        parts: cause.parts.iter().map(|part| part.key()).collect(),
        share: cause.share,
        change_us: cause.change_us,
        sentence: sentence::of_cell(cell)?,
    })
}

/// The split of a cell.
pub(super) fn split(split: &Split) -> SplitJson {
    let part = |(part, change): &(rqps_explain::TimePart, Change)| {
        (part.key(), ChangeJson::of(change, split.share(*part)))
    };
    let quantity =
        |(quantity, change): &(Quantity, Change)| (name(*quantity), ChangeJson::of(change, None));
    SplitJson {
        slots: split.slots.n,
        time_us: ChangeJson::of(&split.total, None),
        parts_us: split.parts.iter().map(part).collect(),
        quantities: split.quantities.iter().map(quantity).collect(),
    }
}

/// `rows_read`, `log_written_kb`.
fn name(quantity: Quantity) -> String {
    match quantity.unit() {
        "us" => format!("{}_us", quantity.stem()),
        "KB" => format!("{}_kb", quantity.stem()),
        _ => quantity.stem().to_owned(),
    }
}
