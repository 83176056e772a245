//! Switches that turn protections off one by one, to show what each of them stops. A build without the
//! feature `trial-switches` has none.

use anyhow::Result;
use rqps_server::{Trial, Variables};

/// What the environment switches off: nothing.
#[cfg(not(feature = "trial-switches"))]
#[expect(clippy::unnecessary_wraps, reason = "as with the feature")]
pub(crate) fn switches(_variable: Variables) -> Result<Trial> {
    Ok(Trial::default())
}

/// What the environment switches off: `RQPS_TRIAL_WALL=none` or `namespaces`, `RQPS_TRIAL_CONFIG=verbatim`.
#[cfg(feature = "trial-switches")]
pub(crate) fn switches(variable: Variables) -> Result<Trial> {
    use anyhow::Context as _;

    let mut trial = Trial::default();
    if let Some(word) = variable("RQPS_TRIAL_WALL") {
        trial.walls = word.parse().context("RQPS_TRIAL_WALL")?;
    }
    match variable("RQPS_TRIAL_CONFIG").as_deref() {
        None => {}
        Some("verbatim") => trial.is_verbatim = true,
        Some(word) => anyhow::bail!("RQPS_TRIAL_CONFIG is verbatim or absent, not {word:?}"),
    }
    Ok(trial)
}
