//! Whether tables filled with the same rows have about the same size. Known only after the load.

use rqps_model::{SystemSource, SystemSpec};

use super::{Finding, Severity};
use rqps_text::number;
use rqps_text::words::{list_in_short, one_line};

/// Tables of one engine that are larger than others by this share may not fit where those do.
const LARGER: f64 = 1.25;

/// Tables that are this many times as large are not the same tables: a cache that holds the ones holds
/// half of the others, and each scan reads twice as much.
const FAR_LARGER: f64 = 2.0;

/// A system whose tables were filled.
#[derive(Debug, Clone, Copy)]
pub struct Filled<'a> {
    /// The system.
    pub spec: &'a SystemSpec,
    /// Size of its tables and indexes, bytes.
    pub bytes: u64,
}

impl Filled<'_> {
    /// How many times the base's these tables are.
    fn ratio_to(self, base: Self) -> f64 {
        self.bytes as f64 / base.bytes as f64
    }

    /// Whether the rows are kept in the same way, so that they may be expected to take the same room.
    fn is_like(self, base: Self) -> bool {
        let kept = |one: Self| (one.spec.engine, one.spec.variant.compression);
        kept(self) == kept(base)
    }

    /// Whether the size is not rqps's own measure: some versions of other people's servers tell an
    /// estimate, and files of another tool do not tell the engine.
    fn is_hearsay(self) -> bool {
        matches!(self.spec.source, SystemSource::External { .. } | SystemSource::Imported)
    }
}

fn is_apart(ratio: f64, by: f64) -> bool {
    ratio >= by || ratio <= 1.0 / by
}

/// The finding that tables are larger or smaller than the base's. Only systems with the engine and
/// compression of the base are compared. `None` without a difference.
#[must_use]
pub fn data_size(base: Filled<'_>, others: &[Filled<'_>]) -> Option<Finding> {
    if base.bytes == 0 {
        return None;
    }
    let apart = || {
        let like = others.iter().filter(|one| one.is_like(base));
        like.filter(|one| is_apart(one.ratio_to(base), LARGER))
    };
    let told: Vec<String> = apart()
        .map(|one| {
            let (bytes, label) = (number::bytes(one.bytes), one_line(one.spec.label.as_str()));
            format!("{bytes} on {label} ({} times)", number::plain_ratio(one.ratio_to(base)))
        })
        .collect();
    if told.is_empty() {
        return None;
    }
    let is_sure = |one: &Filled<'_>| !one.is_hearsay() && !base.is_hearsay();
    let is_severe = apart().any(|one| is_sure(one) && is_apart(one.ratio_to(base), FAR_LARGER));
    Some(Finding {
        severity: if is_severe { Severity::Severe } else { Severity::Notable },
        name: "data size".to_owned(),
        text: format!(
            "Tables with the same rows differ in size: {} on the base, {}. Where caches hold only \
             the smaller tables, storage decides.",
            number::bytes(base.bytes),
            list_in_short(&told)
        ),
        remedy: "give all systems the same page size, row format, fill factor and indexes"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use rqps_model::{Dbms, Engine};

    use super::*;
    use crate::tests::system;

    #[test]
    fn tables_of_one_engine_are_to_be_of_one_size() {
        let (a, b) = (system("a", Dbms::Mysql, &[]).spec, system("b", Dbms::Mariadb, &[]).spec);
        let found = |b: &SystemSpec, mb: u64, other_mb: u64| {
            let base = Filled { spec: &a, bytes: mb << 20 };
            data_size(base, &[Filled { spec: b, bytes: other_mb << 20 }])
        };
        let severity = |b: &SystemSpec, mb, other_mb| found(b, mb, other_mb).map(|f| f.severity);
        assert_eq!(severity(&b, 256, 276), None);
        assert_eq!(severity(&b, 0, 276), None);
        for (mb, other_mb, wanted) in [
            (100, 130, Severity::Notable),
            (130, 100, Severity::Notable),
            (100, 200, Severity::Severe),
            (200, 100, Severity::Severe),
        ] {
            assert_eq!(severity(&b, mb, other_mb), Some(wanted), "{mb} and {other_mb}");
        }
        let mut external = b.clone();
        external.source = SystemSource::External { dsn: "mysql://root@far/db".to_owned() };
        assert_eq!(severity(&external, 100, 200), Some(Severity::Notable));
        let mut rocksdb = b.clone();
        rocksdb.engine = Engine::Rocksdb;
        assert_eq!(severity(&rocksdb, 100, 200), None);
        expect!["Severe: Tables with the same rows differ in size: 100 MB on the base, 200 MB on b (2.00 times). Where caches hold only the smaller tables, storage decides."]
            .assert_eq(&found(&b, 100, 200).unwrap().sentence());
    }
}
