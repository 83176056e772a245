//! A candidate against the base: all ratios with their tests.

use std::collections::BTreeMap;

use rqps_model::Verdict;
use serde::Serialize;

use super::EstimateJson;
use crate::response::percentile_heading;
use crate::settle;
use rqps_analysis::{Comparison, Judged, Settle};

#[derive(Serialize)]
pub(super) struct ComparisonJson {
    rqps: JudgedJson,
    verdict_alone: Option<Verdict>,
    to_settle: Option<SettleJson>,
    server_cpu: Option<JudgedJson>,
    steady_rate: Option<JudgedJson>,
    response_times: BTreeMap<String, ResponseRatioJson>,
}

#[derive(Serialize)]
struct JudgedJson {
    #[serde(flatten)]
    estimate: EstimateJson,
    half_width: Option<f64>,
    p: Option<f64>,
    adjusted_p: Option<f64>,
    is_significant: bool,
    starts: u32,
    holds_starts: bool,
    start_sd: Option<f64>,
    assumed_start_sd: Option<f64>,
}

#[derive(Serialize)]
struct SettleJson {
    words: String,
    seconds: Option<f64>,
    starts: Option<u32>,
}

#[derive(Serialize)]
struct ResponseRatioJson {
    ratio: Option<JudgedJson>,
    fewest_responses: u64,
    needed_responses: u64,
}

/// The comparison of a cell.
pub(super) fn comparison(comparison: &Comparison) -> ComparisonJson {
    let Comparison { rqps, decision, kept_share: _, left_out: _, server_cpu, steady, responses } =
        comparison;
    let response = |ratio: &rqps_analysis::ResponseRatio| {
        let json = ResponseRatioJson {
            ratio: ratio.judged.as_ref().map(judged),
            fewest_responses: ratio.n_fewest,
            needed_responses: ratio.n_needed,
        };
        (percentile_heading(ratio.percentile), json)
    };
    ComparisonJson {
        rqps: judged(rqps),
        verdict_alone: decision.map(|found| found.alone),
        to_settle: decision.and_then(|found| found.settle).as_ref().map(to_settle),
        server_cpu: server_cpu.as_ref().map(judged),
        steady_rate: steady.as_ref().map(judged),
        response_times: responses.iter().map(response).collect(),
    }
}

fn judged(judged: &Judged) -> JudgedJson {
    let (found, estimate) = (judged.found, judged.estimate());
    JudgedJson {
        estimate: super::estimate(&estimate),
        half_width: estimate.half_width(),
        p: found.tested.p,
        adjusted_p: judged.adjusted_p,
        is_significant: judged.is_significant(),
        starts: found.starts,
        holds_starts: found.holds_starts,
        start_sd: found.start_sd,
        assumed_start_sd: found.prior.map(|prior| prior.sd),
    }
}

fn to_settle(settle: &Settle) -> SettleJson {
    SettleJson { words: settle::words(settle), seconds: settle.seconds(), starts: settle.starts() }
}
