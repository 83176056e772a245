//! Steps of the Insert Benchmark by the names of their tables.

use rqps_model::{Figure, Group, StepInfo, StepKind};

/// A step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepName {
    /// Inserts or the creation of indexes: `l.i0`, `l.x`.
    Load(String),
    /// Queries beside inserts at a rate: `qr100.L1`, of older versions `q100.1`, `q100` or `q.L1.ips100`.
    Query {
        /// The whole name.
        name: String,
        /// Inserts per second and client.
        inserts_per_s: u32,
        /// Place in the order of the steps, where the name says it: 1 of `qr100.L1`.
        level: u32,
    },
}

impl StepName {
    /// Reads a name; `None` for any other table.
    pub(super) fn parse(name: &str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix("l.") {
            let is_insert = rest.strip_prefix('i').is_some_and(|n| n.parse::<u8>().is_ok());
            return (is_insert || rest == "x").then(|| Self::Load(name.to_owned()));
        }
        let (rate, level) = match name.strip_prefix("q.") {
            Some(rest) => {
                let (level, rate) = rest.split_once('.')?;
                (rate.strip_prefix("ips")?, level)
            }
            None => {
                let rest = name.strip_prefix('q')?;
                let rest = rest.strip_prefix(['r', 'p']).unwrap_or(rest);
                rest.split_once('.').unwrap_or((rest, "0"))
            }
        };
        let inserts_per_s = rate.parse().ok().filter(|n| *n > 0)?;
        let level = level.strip_prefix('L').unwrap_or(level).parse().ok()?;
        Some(Self::Query { name: name.to_owned(), inserts_per_s, level })
    }

    /// The name.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Load(name) | Self::Query { name, .. } => name,
        }
    }

    /// Inserts per second and client beside queries.
    pub(super) fn inserts_per_s(&self) -> Option<u32> {
        match self {
            Self::Load(_) => None,
            Self::Query { inserts_per_s, .. } => Some(*inserts_per_s),
        }
    }

    /// Whether queries are by the primary key, where the name says it.
    pub(super) fn is_point_query(&self) -> Option<bool> {
        match self.as_str().get(..2) {
            Some("qp") => Some(true),
            Some("qr") => Some(false),
            _ => None,
        }
    }

    /// By which steps are sorted as they ran: the loads, then queries by level and rate, range queries
    /// before point queries.
    pub(super) fn order(&self) -> (u64, u32, u32, &str) {
        match self {
            // Indexes are made after the first load.
            Self::Load(name) if name == "l.x" => (0, 0, 1, name),
            Self::Load(name) if name == "l.i0" => (0, 0, 0, name),
            Self::Load(name) => (0, 0, 2, name),
            Self::Query { name, inserts_per_s, level } => (
                1 + u64::from(*level),
                *inserts_per_s,
                u32::from(self.is_point_query() == Some(true)),
                name,
            ),
        }
    }

    /// What reports need to know: kind, group and figure are those of the step that rqps measures itself.
    pub(super) fn info(&self) -> StepInfo {
        let (kind, group, figure) = match self {
            Self::Load(name) if name == "l.x" => {
                (StepKind::Index, Group::Write, Figure::RowsIndexed)
            }
            Self::Load(_) => (StepKind::Insert, Group::Write, Figure::RowsInserted),
            Self::Query { .. } if self.is_point_query() == Some(true) => {
                (StepKind::Mixed, Group::Point, Figure::Queries)
            }
            Self::Query { .. } => (StepKind::Mixed, Group::Range, Figure::Queries),
        };
        let name = self.as_str();
        // l.i0, l.i1 and l.i2 are of one family.
        let family = match self {
            Self::Load(name) => name.trim_end_matches(|c: char| c.is_ascii_digit()),
            Self::Query { name, .. } => name,
        };
        StepInfo {
            name: name.to_owned(),
            family: family.to_owned(),
            n: None,
            kind,
            group,
            figure,
            what: format!("{name} in the imported files."),
        }
    }
}

/// The heading of a step's figure.
pub(super) fn figure_heading(step: &StepName) -> &'static str {
    match step {
        StepName::Load(_) => "ips",
        StepName::Query { .. } => "qps",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions_in_the_order_of_a_run() {
        let sorted = |names: &[&str]| {
            let mut steps: Vec<StepName> =
                names.iter().map(|name| StepName::parse(name).unwrap()).collect();
            steps.sort_by(|a, b| a.order().cmp(&b.order()));
            steps.iter().map(|step| step.as_str().to_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(sorted(&["l.i1", "l.i2", "l.x", "l.i0"]), "l.i0 l.x l.i1 l.i2");
        let levels = ["qp1000.L6", "qr1000.L5", "qp100.L2", "qr100.L1"];
        assert_eq!(sorted(&levels), "qr100.L1 qp100.L2 qr1000.L5 qp1000.L6");
        assert_eq!(sorted(&["q1000.1", "q100.2", "q100.1"]), "q100.1 q1000.1 q100.2");
        assert_eq!(
            sorted(&["qp100", "qr500", "qr100", "q.L1.ips100"]),
            "qr100 qp100 qr500 q.L1.ips100"
        );
        let step = StepName::parse("q.L2.ips200").unwrap();
        assert_eq!(step.inserts_per_s(), Some(200));
        assert_eq!(sorted(&["qr100.L4294967295", "l.i0"]), "l.i0 qr100.L4294967295");
    }

    #[test]
    fn names_of_no_step() {
        for name in ["l.y", "l.i", "q", "qr.L1", "q100.a", "qr0.L1", "qr100.L1.rt", "x100"] {
            assert_eq!(StepName::parse(name), None, "{name}");
        }
    }
}
