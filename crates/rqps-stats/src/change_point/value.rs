//! A value of a series and how far it may be off: by the noise of its blocks and by what a start of
//! the servers draws.
//!
//! A start of a server draws a memory layout that all its blocks share ([`crate::starts`]), so that
//! blocks alone say too little of how far values of two runs lie apart where nothing changed. Ratios
//! of one run share the starts of their base.

use std::collections::BTreeSet;

use rqps_model::Estimate;

use crate::starts::StartsEstimate;
use crate::{CONFIDENCE, student};

/// Standard deviation of a ratio's logarithm from start to start that is assumed where it was not
/// measured: the same server under two labels differs by 1 to 2%, and by the same for as long as
/// both are up (docs/explanation/method.md, "Starts of the servers").
pub const START_SD: f64 = 0.015;

/// Degrees of freedom that this assumption is worth. Of a standard deviation that was measured with
/// ten the 95% interval would be 1.0 to 2.6%. A stretch of a series that has as many of its own is
/// believed instead.
pub const START_DF: f64 = 10.0;

/// A value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    pub(super) log: f64,
    /// The run that a ratio is of: those of one run share their base.
    run: Option<usize>,
    is_base: bool,
    uncertainty: Option<Uncertainty>,
}

impl Value {
    /// A value above 0 of which nothing else is known.
    #[must_use]
    pub fn alone(point: f64) -> Self {
        Self { log: point.ln(), run: None, is_base: false, uncertainty: None }
    }

    /// A value above 0 of which more is known.
    #[must_use]
    pub fn known(point: f64, uncertainty: Uncertainty) -> Self {
        Self { uncertainty: Some(uncertainty), ..Self::alone(point) }
    }

    /// What ratios are relative to: 1 by definition. How far it is off is in each of them.
    #[must_use]
    pub fn base() -> Self {
        Self { is_base: true, ..Self::alone(1.0) }
    }

    /// The same as a ratio of the run `run`.
    #[must_use]
    pub fn of_run(self, run: usize) -> Self {
        Self { run: Some(run), ..self }
    }

    /// Whether all that moves it is known, so that it can be a level by itself.
    pub(super) fn is_whole(&self) -> bool {
        let knows = |uncertainty: Uncertainty| uncertainty.starts != Starts::Unknown;
        self.is_base || self.uncertainty.is_some_and(knows)
    }
}

/// How far the logarithm of a value may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uncertainty {
    /// Its variance by the noise of the blocks.
    pub blocks: f64,
    /// Degrees of freedom of what was measured of its variance.
    pub df: f64,
    /// What is known of the starts of its servers.
    pub starts: Starts,
}

/// What is known of how much further the starts of its servers move a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Starts {
    /// Nothing, nor of what the host does from run to run: only the spread of several values tells.
    Unknown,
    /// It is of one start, and this standard deviation is assumed: [`START_SD`], or what its interval assumes where that is
    /// more.
    Assumed(f64),
    /// It is of several: the variance of its logarithm that they leave.
    Measured(f64),
}

impl Uncertainty {
    /// That of a ratio; `None` without an interval.
    #[must_use]
    pub fn of_ratio(found: &StartsEstimate) -> Option<Self> {
        let by_interval = found.unassuming.error()?.powi(2);
        let (Some(error), Some(start_sd)) = (found.error, found.start_sd) else {
            let df = found.unassuming.df?;
            let sd = found.prior.map_or(START_SD, |prior| prior.sd.max(START_SD));
            return Some(Self { blocks: by_interval, df, starts: Starts::Assumed(sd) });
        };
        // The error by the model: two starts that happen to agree have an interval that is narrower.
        let all = error.powi(2).max(by_interval);
        let starts = (start_sd.powi(2) / f64::from(found.starts)).min(all);
        let df = f64::from(found.starts) - 1.0;
        Some(Self { blocks: all - starts, df, starts: Starts::Measured(starts) })
    }

    /// That of a rate, whose interval is Student's t of its slices or starts; `None` without an interval,
    /// and for a rate that is not above 0.
    ///
    /// A mean has an interval that lies evenly around it and with two starts easily reaches below 0: its
    /// error is a share of the mean, which is that of its logarithm (the delta method). A total has one that
    /// is even on the logarithmic scale. Of either, the other way's width is the larger.
    #[must_use]
    pub fn of_figure(figure: &Estimate) -> Option<Self> {
        let is_fit = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        let (low, high) = figure.interval.filter(is_fit)?;
        if figure.point.is_nan() || figure.point <= 0.0 {
            return None;
        }
        let of_total = if low > 0.0 { high.ln() - low.ln() } else { f64::INFINITY };
        let width = of_total.min((high - low) / figure.point);
        let df = (f64::from(figure.n) - 1.0).max(1.0);
        let error = 0.5 * width / student::quantile(CONFIDENCE, df);
        Some(Self { blocks: error.powi(2), df, starts: Starts::Unknown })
    }
}

/// What values say themselves of how far the difference of two levels may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Told {
    /// Variance of the difference of the mean logarithms.
    pub(super) variance: f64,
    /// Its degrees of freedom (Satterthwaite 1946).
    pub(super) df: f64,
    /// Whether that is all that moves the values.
    pub(super) is_whole: bool,
}

/// What the values of two levels say themselves; without what is only assumed of starts unless
/// `is_assumed`.
///
/// Half of what starts draw is the base's, which the ratios of one run share: it cancels between
/// two of them and does not average out against the base itself. How much of the blocks' noise is the
/// base's is not known: the part that makes the difference less sure.
pub(super) fn told(before: &[Value], after: &[Value], is_assumed: bool) -> Told {
    let (mut measured, mut of_assumed, mut squares_by_df) = (0.0, 0.0, 0.0);
    for group in groups(before, after) {
        let n = group.len() as f64;
        let shared = group.iter().map(|(w, _)| w).sum::<f64>().powi(2) / n;
        let squares: f64 = group.iter().map(|(w, _)| w * w).sum();
        for (weight, Uncertainty { blocks, df, starts }) in group {
            let own = weight * weight;
            let of_starts = 0.5 * (own + shared);
            let mut part = blocks * if shared * n > squares { shared } else { own };
            match starts {
                Starts::Unknown => {}
                Starts::Assumed(sd) if is_assumed => of_assumed += of_starts * sd.powi(2),
                Starts::Assumed(_) => {}
                Starts::Measured(variance) => part += of_starts * variance,
            }
            measured += part;
            squares_by_df += part * part / df;
        }
    }
    let variance = measured + of_assumed;
    squares_by_df += of_assumed * of_assumed / START_DF;
    let df = if squares_by_df > 0.0 { variance * variance / squares_by_df } else { f64::INFINITY };
    Told { variance, df, is_whole: before.iter().chain(after).all(Value::is_whole) }
}

/// How many starts of a base stand behind the values: one for each run, and one for each value of none.
pub(super) fn n_draws(before: &[Value], after: &[Value]) -> f64 {
    let all = || before.iter().chain(after);
    let runs: BTreeSet<usize> = all().filter_map(|value| value.run).collect();
    let of_none = all().filter(|value| value.run.is_none()).count();
    (runs.len() + of_none) as f64
}

/// Values of one run that know how far they are off, with their weights in the difference.
type Group = Vec<(f64, Uncertainty)>;

/// The values by run; one of no run is alone.
fn groups(before: &[Value], after: &[Value]) -> Vec<Group> {
    let mut groups: Vec<(Option<usize>, Group)> = Vec::new();
    for (values, sign) in [(before, -1.0), (after, 1.0)] {
        for value in values {
            let Some(uncertainty) = value.uncertainty else { continue };
            let member = (sign / values.len() as f64, uncertainty);
            let known = groups.iter_mut().find(|(run, _)| run.is_some() && *run == value.run);
            match known {
                Some((_, members)) => members.push(member),
                None => groups.push((value.run, vec![member])),
            }
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starts::of_starts;

    const ASSUMED: Uncertainty =
        Uncertainty { blocks: 1e-4, df: 5.0, starts: Starts::Assumed(START_SD) };

    fn ratio(run: usize) -> Value {
        Value::known(1.0, ASSUMED).of_run(run)
    }

    fn variance(before: &[Value], after: &[Value]) -> f64 {
        told(before, after, true).variance
    }

    #[test]
    fn ratios_of_one_run_share_their_base() {
        let (blocks, starts) = (1e-4, START_SD * START_SD);
        let is = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found}");
        // Against the base: all of one ratio, and of the mean of four half of the starts' part.
        is(variance(&[Value::base()], &[ratio(0)]), blocks + starts);
        is(variance(&[Value::base()], &[ratio(0); 4]), blocks + starts * (0.5 + 0.5 / 4.0));
        // Of four runs each has starts of its own.
        let four = [ratio(0), ratio(1), ratio(2), ratio(3)];
        is(variance(&[Value::base()], &four), (blocks + starts) / 4.0);
        // Between two of one run the base cancels; between two runs it counts on both sides.
        is(variance(&[ratio(0)], &[ratio(0)]), 2.0 * blocks + starts);
        is(variance(&[ratio(0)], &[ratio(1)]), 2.0 * (blocks + starts));
        is(
            variance(&[Value::known(1.0, ASSUMED)], &[Value::known(1.0, ASSUMED)]),
            2.0 * (blocks + starts),
        );
        // Without the assumed part of the variance.
        is(told(&[ratio(0)], &[ratio(1)], false).variance, 2.0 * blocks);
    }

    #[test]
    fn degrees_of_freedom_are_those_of_what_was_measured() {
        let found = told(&[ratio(0)], &[ratio(1)], false);
        assert!((found.df - 10.0).abs() < 1e-9 && found.is_whole, "{found:?}");
        // Blocks known for certain leave those of the assumption.
        let sure = Uncertainty { blocks: 0.0, ..ASSUMED };
        let found = told(&[Value::base()], &[Value::known(1.0, sure)], true);
        assert!((found.df - START_DF).abs() < 1e-9);
        assert!(!told(&[Value::base()], &[Value::alone(1.0)], true).is_whole);
    }

    #[test]
    fn several_starts_have_the_degrees_of_freedom_of_starts() {
        // Three starts of twelve blocks: with 35 in place of 2 their variance would come out 4.5 times
        // as large.
        let noise = [0.001, -0.001].repeat(6);
        let starts: Vec<Vec<f64>> =
            [0.0, 0.01, 0.02].iter().map(|m| noise.iter().map(|e| m + e).collect()).collect();
        let found = Uncertainty::of_ratio(&of_starts(&starts).unwrap()).unwrap();
        let Starts::Measured(of_starts) = found.starts else { panic!("{found:?}") };
        assert!((found.df - 2.0).abs() < 1e-12, "{found:?}");
        assert!((found.blocks + of_starts - 1e-4 / 3.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn two_starts_that_agree_are_no_surer_than_their_blocks() {
        let blocks = [0.01, -0.01].repeat(6);
        let found = of_starts(&[blocks.clone(), blocks]).unwrap();
        let known = Uncertainty::of_ratio(&found).unwrap();
        assert!((known.df - 1.0).abs() < 1e-12, "{known:?}");
        assert!((known.blocks - found.error.unwrap().powi(2)).abs() < 1e-9, "{known:?}");
    }

    #[test]
    fn one_start_is_assumed_to_differ_from_another() {
        let found = of_starts(&[vec![0.0, 0.1, 0.2]]).unwrap();
        let known = Uncertainty::of_ratio(&found).unwrap();
        assert_eq!(known.starts, Starts::Assumed(START_SD));
        // What the interval assumes, where that is more.
        let of = |sd: f64| {
            let prior = crate::starts::StartPrior { sd, df: 4.0 };
            let one = crate::starts::of_starts_with(&[vec![0.0, 0.1, 0.2]], Some(prior)).unwrap();
            Uncertainty::of_ratio(&one).unwrap().starts
        };
        assert_eq!([of(0.035), of(0.011)], [0.035, START_SD].map(Starts::Assumed));
        assert!((known.df - 2.0).abs() < 1e-9 && (known.blocks - 0.01 / 3.0).abs() < 1e-7);
        assert!(Uncertainty::of_ratio(&of_starts(&[vec![0.1]]).unwrap()).is_none());
        assert!(Uncertainty::of_figure(&Estimate::single(1.0)).is_none());
    }

    #[test]
    fn a_figure_whose_interval_reaches_below_0_is_known_as_well() {
        // Two starts: 100 and 130, mean 115, error 15; t(1) = 12.706, so from -75.6. The other reaches to 0.5.
        for (starts, error) in [([100.0, 130.0], 15.0 / 115.0), ([100.0, 117.0], 8.5 / 108.5)] {
            let known = Uncertainty::of_figure(&crate::mean(&starts).unwrap()).unwrap();
            assert!((known.blocks.sqrt() - error).abs() < 1e-9, "{known:?}");
            assert!((known.df - 1.0).abs() < 1e-12 && known.starts == Starts::Unknown);
            // The mean of two nights less that of two others: four quarters of the variance, and as many
            // degrees of freedom as starts beyond the first of each night.
            let night = Value::known(115.0, known);
            let found = told(&[night; 2], &[night; 2], false);
            assert!((found.variance - error * error).abs() < 1e-9, "{found:?}");
            assert!((found.df - 4.0).abs() < 1e-9 && !found.is_whole, "{found:?}");
        }
    }

    #[test]
    fn the_error_of_a_total_is_that_of_its_logarithm() {
        // Three parts, from half to twice the point; t(2) = 4.303.
        let total = Estimate { point: 100.0, interval: Some((50.0, 200.0)), n: 3 };
        let known = Uncertainty::of_figure(&total).unwrap();
        assert!((known.blocks.sqrt() - 2.0_f64.ln() / 4.302_652_7).abs() < 1e-6, "{known:?}");
        assert!(Uncertainty::of_figure(&Estimate { point: 0.0, ..total }).is_none());
    }
}
