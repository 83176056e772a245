//! Why figures cannot be compared, in words.

use rqps_analysis::gate::{NoRatio, Unfit};
use rqps_model::run::Check;
use rqps_text::words::{list_in_short, one_line};

/// What a rate that was set leaves to compare.
pub(crate) const SET_RATE: &str = "a rate was set, and QPS are that rate; compare response times and CPU per operation in the report";

/// What plans that differ from start to start leave of a figure.
pub(crate) const PLANS_VARY: &str = "starts of a server ran different query plans, and the figure is of a mixture; the report has the ratio per plan";

/// What a busy host leaves of a figure.
pub(crate) const HOST_BUSY: &str =
    "other programs or the hypervisor had the host's CPUs; repeat when the host is quiet";

/// Why a figure cannot be compared, whatever it would be compared with.
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

/// Why two cells that both have figures have no ratio.
pub(crate) fn no_ratio(reason: NoRatio) -> &'static str {
    match reason {
        NoRatio::NothingDone => "a slice finished no operation",
        NoRatio::NotBeside => "it was not measured beside the base",
    }
}
