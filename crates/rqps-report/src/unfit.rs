//! Why results cannot be compared, in words.

use rqps_analysis::gate::{NoRatio, Unfit};
use rqps_model::run::Check;
use rqps_text::words::{list_in_short, one_line};

/// Why results at a set rate are not compared.
pub(crate) const SET_RATE: &str = "a rate was set, so QPS are that rate; compare response times and CPU per operation in the report";

/// Why results of starts with different plans are not compared.
pub(crate) const PLANS_VARY: &str =
    "a server ran different query plans, so QPS mix them; the report has the ratio per plan";

/// Why results of a busy host are not compared.
pub(crate) const HOST_BUSY: &str =
    "other programs or the hypervisor had the host's CPUs; repeat when the host is quiet";

/// Why a result cannot be compared with any other.
pub(crate) fn words(unfit: &Unfit) -> String {
    match unfit {
        Unfit::Checks(checks) => checks_failed(checks),
        Unfit::SetRate => SET_RATE.to_owned(),
        Unfit::PlansVary => PLANS_VARY.to_owned(),
        Unfit::HostBusy => HOST_BUSY.to_owned(),
    }
}

/// That checks of a step's work failed.
pub(crate) fn checks_failed(checks: &[Check]) -> String {
    let words = |check: &Check| one_line(&format!("{}, {}", check.name, check.found));
    let failed: Vec<String> = checks.iter().map(words).collect();
    format!("a check of its work failed ({})", list_in_short(&failed))
}

/// Why two cells with results have no ratio.
pub(crate) fn no_ratio(reason: NoRatio) -> &'static str {
    match reason {
        NoRatio::NothingDone => "a slice finished no operation",
        NoRatio::NotBeside => "it was not measured beside the base",
    }
}
