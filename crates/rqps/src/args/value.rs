//! Values of options: numbers in a range, and addresses. What is expected is said in words of users.

use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads a whole number of a range.
pub(crate) fn whole<N>(range: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> + Clone
where
    N: FromStr + PartialOrd + Display + Copy + Send + Sync + 'static,
{
    move |text| {
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            format!("expected a whole number from {} to {}", range.start(), range.end())
        })
    }
}

/// Reads a number of a range.
pub(crate) fn number(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("expected a number from {} to {}", range.start(), range.end()))
    }
}

/// Reads where to listen.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected ADDRESS:PORT with an address of this host, such as 127.0.0.1:7477";
    text.parse().map_err(|_| expected.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_is_said() {
        let clients = whole::<u32>(1..=4096);
        assert_eq!((clients("1"), clients("4096")), (Ok(1), Ok(4096)));
        let expected = "expected a whole number from 1 to 4096";
        for bad in ["", "x", "0", "4097", "1.5", "99999999999999999999"] {
            assert_eq!(clients(bad).unwrap_err(), expected, "{bad}");
        }
        assert_eq!(number(0.5..=20.0)("2.5"), Ok(2.5));
        for bad in ["x", "NaN", "inf", "0.4"] {
            assert_eq!(number(0.5..=20.0)(bad).unwrap_err(), "expected a number from 0.5 to 20");
        }
        assert!(address("[::1]:80").is_ok() && address("localhost:80").is_err());
    }
}
