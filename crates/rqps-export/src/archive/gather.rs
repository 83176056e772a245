//! Histograms of response times, added up.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use rqps_model::histogram::decode;
use rqps_store::Gathered;

/// Significant digits of the histograms that runs have.
const DIGITS: u8 = 3;

/// One histogram of several, each in its V2 format, deflated; `None` where one is missing or cannot be read,
/// or there is nothing to add up.
pub(super) fn gather(histograms: &[&[u8]]) -> Option<Gathered> {
    if histograms.len() < 2 {
        return None;
    }
    let mut all = Histogram::<u64>::new(DIGITS).ok()?;
    for bytes in histograms {
        all.add(&decode(bytes)?).ok()?;
    }
    Some(Gathered { all: encoded(&all)?, empty: encoded(&Histogram::new(DIGITS).ok()?)? })
}

fn encoded(histogram: &Histogram<u64>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).ok().map(|_| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: std::ops::Range<u64>) -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new(DIGITS).unwrap();
        values.for_each(|value| histogram.record(value * 1000).unwrap());
        encoded(&histogram).unwrap()
    }

    #[test]
    fn all_values_are_in_the_one() {
        let (low, high) = (histogram(1..501), histogram(501..1001));
        let Gathered { all, empty } = gather(&[&low, &high]).unwrap();
        assert_eq!(decode(&all), decode(&histogram(1..1001)));
        assert!(decode(&empty).unwrap().is_empty());
        assert_eq!(gather(&[&all, &empty]).unwrap().all, all);
    }

    #[test]
    fn what_cannot_be_read_stays_as_it_is() {
        let one = histogram(1..10);
        assert_eq!(gather(&[&one]), None);
        assert_eq!(gather(&[&one, &[]]), None);
        assert_eq!(gather(&[&one, &one[..8]]), None);
    }
}
