//! Histograms of response times as slices hold them, read without trust in the size that they
//! state.

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// What a histogram in the V2 format of HdrHistogram begins with.
const PLAIN: u32 = 0x1c84_9313;

/// What one begins with that is deflated.
const DEFLATED: u32 = 0x1c84_9314;

/// Bytes before the counters: the mark, their length, an offset, digits, bounds, a ratio.
const HEADER_BYTES: usize = 40;

/// Most bytes of counters: three digits up to the largest value make 57,344 counters of at most nine bytes.
const MAX_BYTES: usize = 1 << 20;

/// Significant digits of all histograms that rqps writes.
const DIGITS: u32 = 3;

/// The lower bound of all histograms that rqps writes.
const LOWEST: u64 = 1;

/// A histogram in its V2 format, deflated; `None` where it is missing, cannot be read, or is not
/// one that rqps writes.
///
/// The library takes as much memory as a histogram says that it needs: a few bytes can say 4 GiB.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Histogram<u64>> {
    let n_deflated = usize::try_from(u32_at(bytes, 4)?).ok()?;
    let deflated = bytes.get(8..)?.get(..n_deflated)?;
    if u32_at(bytes, 0)? != DEFLATED {
        return None;
    }
    let most = u64::try_from(HEADER_BYTES + MAX_BYTES).ok()?;
    let mut plain = Vec::new();
    ZlibDecoder::new(deflated).take(most).read_to_end(&mut plain).ok()?;
    let n_there = plain.len().checked_sub(HEADER_BYTES)?;
    let n_said = usize::try_from(u32_at(&plain, 4)?).ok()?;
    let is_ours = u32_at(&plain, 0)? == PLAIN
        && n_said <= n_there
        && u32_at(&plain, 12)? == DIGITS
        && u64_at(&plain, 16)? == LOWEST;
    if !is_ours {
        return None;
    }
    Deserializer::new().deserialize(&mut plain.as_slice()).ok()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|four| u32::from_be_bytes(*four))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|eight| u64::from_be_bytes(*eight))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

    use super::*;

    /// A histogram that says that it has so many bytes of counters and so many digits, with these bytes.
    fn made_up(n_said: u32, digits: u32, lowest: u64, counters: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        for word in [PLAIN, n_said, 0, digits] {
            plain.extend(word.to_be_bytes());
        }
        plain.extend(lowest.to_be_bytes());
        plain.extend(3_600_000_000_000_u64.to_be_bytes());
        plain.extend(1.0_f64.to_be_bytes());
        plain.extend(counters);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&plain).unwrap();
        let deflated = encoder.finish().unwrap();
        let n_deflated = u32::try_from(deflated.len()).unwrap();
        let mut bytes = Vec::from(DEFLATED.to_be_bytes());
        bytes.extend(n_deflated.to_be_bytes());
        bytes.extend(deflated);
        bytes
    }

    #[test]
    fn what_was_written_is_read() {
        let mut bounded = Histogram::<u32>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
        let mut free = Histogram::<u64>::new(3).unwrap();
        for value in [1, 1000, 1_000_000, 3_599_000_000_000] {
            bounded.record(value).unwrap();
            free.record(value).unwrap();
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&bounded, &mut bytes).unwrap();
        assert_eq!(decode(&bytes).unwrap().len(), 4);
        for cut in [0, 3, 8, 20, bytes.len() - 1] {
            assert!(decode(&bytes[..cut]).is_none(), "cut at {cut}");
        }
        bytes.clear();
        V2DeflateSerializer::new().serialize(&free, &mut bytes).unwrap();
        assert_eq!(decode(&bytes).unwrap(), free);
    }

    #[test]
    fn what_asks_for_more_memory_than_it_can_need_is_refused() {
        assert_eq!(decode(&made_up(2, 3, 1, &[2, 4])).unwrap().len(), 3);
        // Other digits, another lower bound, counters that are not there, and more than any histogram has.
        for (digits, lowest) in [(5, 1), (2, 1), (3, 1024)] {
            assert!(decode(&made_up(2, digits, lowest, &[2, 4])).is_none());
        }
        assert!(decode(&made_up(0xffff_fff0, 3, 1, &[])).is_none());
        let zeros = vec![0; 2 << 20];
        let n_zeros = u32::try_from(zeros.len()).unwrap();
        assert!(decode(&made_up(n_zeros, 3, 1, &zeros)).is_none());
    }
}
