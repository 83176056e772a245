//! HOT PATH: the rows of the Insert Benchmark. Budget: 60 ns a row, no allocation after the first
//! statement.

use std::time::{SystemTime, UNIX_EPOCH};

use rqps_client::Params;

use crate::random::Rng;

/// Columns of a row that are given, in this order; transactionid is the server's.
pub(crate) const COLUMNS: &str = "dateandtime,cashregisterid,customerid,productid,price,data";

/// How many.
pub(crate) const N_COLUMNS: usize = 6;

/// Numbers of cash registers, customers, products and prices, each drawn uniformly from 0.
const CASH_REGISTERS: u64 = 1_000;
const CUSTOMERS: u64 = 100_000;
const PRODUCTS: u64 = 10_000;
const PRICES: u64 = 500;

/// Below which the first value of a range query is drawn, in the order of the secondary indexes.
pub(crate) const FIRST_VALUES: [u64; 3] = [PRODUCTS, CASH_REGISTERS, PRICES];

/// Lengths of column data, drawn uniformly.
const DATA_BYTES: std::ops::RangeInclusive<u64> = 10..=20;

/// The characters of base64 (RFC 4648).
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The time of the statement under way, to the second, as text.
#[derive(Debug, Default)]
pub(crate) struct Now {
    unix_s: u64,
    text: Vec<u8>,
}

impl Now {
    /// Looks at the clock; formats the time where it is another second than before.
    #[inline]
    pub(crate) fn look(&mut self) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if since.as_secs() != self.unix_s || self.text.is_empty() {
            self.set(since.as_secs());
        }
    }

    fn set(&mut self, unix_s: u64) {
        self.unix_s = unix_s;
        let (year, month, day) = date(unix_s / 86_400);
        let s = unix_s % 86_400;
        let text = format!(
            "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
            s / 3600,
            s / 60 % 60,
            s % 60
        );
        self.text = text.into_bytes();
    }
}

/// Year, month and day of a day since 1970-01-01, by the Gregorian calendar: years begin in March, so
/// that the day that is added in leap years is the last one.
fn date(day: u64) -> (u64, u64, u64) {
    // 719,468 days from 0000-03-01 to 1970-01-01; 146,097 days in 400 years.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, of_month)
}

/// A row's values; the text of data is drawn when it is written.
struct Draw {
    cash_register: u64,
    customer: u64,
    product: u64,
    price: u64,
    n_data: u64,
}

impl Draw {
    #[inline]
    fn new(rng: &mut Rng) -> Self {
        let span = DATA_BYTES.end() - DATA_BYTES.start() + 1;
        Self {
            cash_register: rng.below(CASH_REGISTERS),
            customer: rng.below(CUSTOMERS),
            product: rng.below(PRODUCTS),
            price: rng.below(PRICES),
            n_data: DATA_BYTES.start() + rng.below(span),
        }
    }
}

/// How much of a text of `n` characters is random. Half of the bytes that base64 stands for, which is three
/// quarters of its characters.
#[inline]
const fn n_random(n: u64) -> u64 {
    n * 3 / 8
}

/// Text that begins with what compresses well and ends with what does not.
#[inline]
fn push_data(n: u64, rng: &mut Rng, out: &mut Vec<u8>) {
    let n_random = n_random(n);
    for _ in n_random..n {
        out.push(b'a');
    }
    // Ten characters of six bits each are had from one draw.
    let mut bits = rng.next_u64();
    for _ in 0..n_random {
        out.push(BASE64[(bits & 63) as usize]);
        bits >>= 6;
    }
}

/// Appends a row as literals in brackets.
#[inline]
pub(crate) fn push_text(now: &Now, rng: &mut Rng, out: &mut Vec<u8>) {
    let draw = Draw::new(rng);
    let mut number = itoa::Buffer::new();
    out.extend_from_slice(b"('");
    out.extend_from_slice(&now.text);
    out.extend_from_slice(b"',");
    for value in [draw.cash_register, draw.customer, draw.product] {
        out.extend_from_slice(number.format(value).as_bytes());
        out.push(b',');
    }
    // The column of prices is whole; the server makes it so of each.
    out.extend_from_slice(number.format(draw.price).as_bytes());
    out.extend_from_slice(b".00,'");
    push_data(draw.n_data, rng, out);
    out.extend_from_slice(b"')");
}

/// Appends a row as parameters.
#[inline]
pub(crate) fn push_params(now: &Now, rng: &mut Rng, params: &mut Params) {
    let draw = Draw::new(rng);
    params.push_text(|out| out.extend_from_slice(&now.text));
    for value in [draw.cash_register, draw.customer, draw.product, draw.price] {
        params.push_int(value.cast_signed());
    }
    params.push_text(|out| push_data(draw.n_data, rng, out));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        for (unix_s, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            (4_107_542_400, "2100-03-01 00:00:00"),
        ] {
            let mut now = Now::default();
            now.set(unix_s);
            assert_eq!(String::from_utf8(now.text).unwrap(), text);
        }
    }

    #[test]
    fn rows_are_what_the_benchmark_says() {
        let mut now = Now::default();
        now.set(0);
        let (mut text, mut rng) = (Vec::new(), Rng::stream(1, 0));
        let mut lengths = [0; 21];
        let mut sums = [0; 4];
        let n = 20_000;
        for _ in 0..n {
            text.clear();
            push_text(&now, &mut rng, &mut text);
            let row = String::from_utf8(text.clone()).unwrap();
            let row = row.strip_prefix("('1970-01-01 00:00:00',").unwrap();
            let fields: Vec<&str> = row.strip_suffix(')').unwrap().split(',').collect();
            assert_eq!(fields.len(), N_COLUMNS - 1);
            for (sum, (field, most)) in sums.iter_mut().zip(fields.iter().zip([
                CASH_REGISTERS,
                CUSTOMERS,
                PRODUCTS,
                PRICES,
            ])) {
                let whole = if most == PRICES { field.strip_suffix(".00").unwrap() } else { field };
                let value: u64 = whole.parse().unwrap();
                assert!(value < most);
                *sum += value;
            }
            let data = fields[4].trim_matches('\'');
            lengths[data.len()] += 1;
            let n_random = data.len() * 3 / 8;
            let (same, random) = data.split_at(data.len() - n_random);
            assert!(random.bytes().all(|byte| BASE64.contains(&byte)));
            assert!(same.bytes().all(|byte| byte == b'a'));
        }
        assert!(lengths[..10].iter().all(|&n| n == 0));
        assert!(lengths[10..].iter().all(|&m| (1600..2050).contains(&m)), "{lengths:?}");
        for (sum, most) in sums.iter().zip([CASH_REGISTERS, CUSTOMERS, PRODUCTS, PRICES]) {
            let mean = *sum as f64 / f64::from(n) / (most - 1) as f64;
            assert!((0.49..0.51).contains(&mean), "{mean} of {most}");
        }
    }

    #[test]
    fn parameters_and_text_are_the_same_rows() {
        let mut now = Now::default();
        now.set(7);
        let (mut params, mut text) = (Params::new(), Vec::new());
        push_params(&now, &mut Rng::stream(3, 1), &mut params);
        push_text(&now, &mut Rng::stream(3, 1), &mut text);
        let written: Vec<String> = params
            .values()
            .iter()
            .enumerate()
            .map(|(idx, value)| match *value {
                rqps_client::Value::Int(number) if idx == N_COLUMNS - 2 => format!("{number}.00"),
                rqps_client::Value::Int(number) => number.to_string(),
                rqps_client::Value::Null => "NULL".to_owned(),
                rqps_client::Value::Text { start, end } => {
                    format!("'{}'", String::from_utf8_lossy(params.text(start, end)))
                }
            })
            .collect();
        assert_eq!(format!("({})", written.join(",")), String::from_utf8(text).unwrap());
    }
}
