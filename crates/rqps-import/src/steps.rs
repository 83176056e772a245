//! Steps as the field's files name them, and by which names rqps knows them.

use rqps_model::{Figure, Group, StepInfo, StepKind};
use rqps_workload::{Step, Suite};

use crate::Error;
use crate::sheet::OwnName;

/// A step as a file names it: `point-query.pre` with range or in-list length 100.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileStep {
    /// The part before the range: `point-query.pre`.
    pub(crate) family: String,
    /// The range that the file gives, for steps that do not use one, too.
    pub(crate) range: Option<u32>,
    /// Whether it is the filling of the tables before a step (`sb.prepare.*`).
    pub(crate) is_load: bool,
}

impl FileStep {
    /// Reads `point-query.pre_range=100`, as tables of QPS have it.
    pub(crate) fn of_row(text: &str) -> Self {
        let (family, range) = match text.rsplit_once("_range=") {
            Some((family, range)) => (family, range.parse().ok()),
            None => (text, None),
        };
        let family = if range.is_none() { text } else { family };
        Self { family: family.to_owned(), range, is_load: false }
    }

    /// Whether it scans the table: its figure has a unit that its files do not name.
    pub(crate) fn is_scan(&self) -> bool {
        self.family == "scan" || self.family.starts_with("scan.")
    }

    /// What its files call it.
    pub(crate) fn own_name(&self) -> OwnName {
        let row = self.row_name();
        let short = if self.is_load { format!("load.{row}") } else { row };
        OwnName { full: short.clone(), short, n: self.range }
    }

    /// As tables of QPS have it.
    pub(crate) fn row_name(&self) -> String {
        match self.range {
            Some(range) => format!("{}_range={range}", self.family),
            None => self.family.clone(),
        }
    }
}

/// A step with what else the name of a file says: `point-query.pre.range100.pk1.dop1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileName {
    /// The step.
    pub(crate) step: FileStep,
    /// Whether the table has a primary key, by the files 1 or 0.
    pub(crate) pk: Option<u32>,
    /// Client threads.
    pub(crate) clients: Option<u32>,
}

impl FileName {
    /// What its files call it.
    pub(crate) fn own_name(&self) -> OwnName {
        let own = self.step.own_name();
        let part =
            |word: &str, n: Option<u32>| n.map_or_else(String::new, |n| format!(".{word}{n}"));
        let full = format!("{}{}{}", own.short, part("pk", self.pk), part("dop", self.clients));
        OwnName { full, ..own }
    }

    /// Reads what stands between `sb.met.` (or `sb.o.` and the like) and the name's end.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mut family, mut range, mut pk, mut clients) = (Vec::new(), None, None, None);
        for part in text.split('.') {
            let number = |word: &str| part.strip_prefix(word)?.parse::<u32>().ok();
            if let Some(n) = number("range") {
                range = Some(n);
            } else if let Some(n) = number("dop") {
                clients = Some(n).filter(|n| *n > 0);
            } else if let Some(n) = number("pk") {
                pk = Some(n);
            } else {
                family.push(part);
            }
        }
        let family = family.join(".");
        let is_named = !family.is_empty();
        is_named.then_some(Self { step: FileStep { family, range, is_load: false }, pk, clients })
    }
}

/// The names by which rqps knows steps.
#[derive(Debug)]
pub(crate) struct Names {
    known: Vec<Step>,
}

impl Names {
    /// The steps of the sysbench suite.
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self { known: Suite::sysbench()?.steps })
    }

    /// What reports need to know of a step of a file.
    ///
    /// A step that the suite has, with the same range, gets its name, so that runs of rqps can be compared
    /// with it. Any other keeps that of the file.
    pub(crate) fn info(&self, step: &FileStep) -> StepInfo {
        let own = step.row_name();
        if step.is_load {
            let what = format!("Creates and fills the tables, before {own}.");
            return StepInfo {
                name: "load".to_owned(),
                family: "load".to_owned(),
                n: None,
                kind: StepKind::Load,
                group: Group::Other,
                figure: Figure::RowsInserted,
                what,
            };
        }
        let of_family = || self.known.iter().filter(|info| info.family == step.family);
        let same = of_family().find(|info| info.n == step.range || info.n.is_none());
        let like = same.or_else(|| of_family().next());
        // A scan's figure has a unit that its files do not name: rows, thousands of them or millions.
        let is_scan = step.is_scan();
        let (name, n) = match same.filter(|_| !is_scan) {
            Some(info) => (info.name.clone(), info.n),
            None => (own.clone(), step.range),
        };
        StepInfo {
            what: format!("{own} in the imported files."),
            name,
            family: step.family.clone(),
            n,
            // Warm-ups have figures in these files, and are shown.
            kind: match like.map(|info| info.kind) {
                None if group(&step.family) == Group::Write => StepKind::Write,
                None | Some(StepKind::WarmUp | StepKind::Load) => StepKind::Read,
                Some(kind) => kind,
            },
            group: like.map_or_else(|| group(&step.family), |info| self.group_of(info)),
            figure: if is_scan { Figure::AsStated } else { Figure::Queries },
        }
    }

    /// What reports need to know of a step that is named by a script of sysbench or by the user.
    pub(crate) fn of_script(&self, name: &str) -> StepInfo {
        let known = self.known.iter().find(|step| step.name == name);
        let start = ["oltp_", "select_"].iter().find_map(|start| name.strip_prefix(start));
        let plain = start.unwrap_or(name);
        let group = known.map_or_else(|| group(&plain.replace('_', "-")), |step| step.group);
        // Logs count queries. What rqps counts otherwise, as the rows of a scan, is no step of that name.
        let is_other = known.is_some_and(|step| step.figure != Figure::Queries);
        StepInfo {
            name: if is_other { format!("{name} (queries)") } else { name.to_owned() },
            family: name.to_owned(),
            n: known.and_then(|step| step.n),
            kind: if group == Group::Write { StepKind::Write } else { StepKind::Read },
            group,
            figure: Figure::Queries,
            what: format!("{name} in the imported logs."),
        }
    }

    /// The group of a step, which warming shares with what it warms.
    fn group_of(&self, info: &Step) -> Group {
        let warmed = info.family.split('.').next().unwrap_or_default();
        let same = self.known.iter().find(|other| other.family == warmed);
        match same {
            Some(other) if info.kind == StepKind::WarmUp => other.group,
            _ => info.group,
        }
    }
}

/// The group of a step that the suite does not have, by how the field names its like. `oltp`, `oltp_simple` and
/// `select` are scripts of sysbench 0.4 and 0.5.
fn group(family: &str) -> Group {
    let begins = |words: &[&str]| words.iter().any(|word| family.starts_with(word));
    if begins(&["point", "random-points", "hot-points", "inlist"])
        || ["select", "simple"].contains(&family)
    {
        Group::Point
    } else if begins(&["read-only"]) {
        Group::RangeAggregate
    } else if begins(&["range", "random-ranges", "scan"]) {
        Group::Range
    } else if begins(&["update", "insert", "bulk-insert", "delete", "write", "read-write", "tpcc"])
        || family == "oltp"
    {
        Group::Write
    } else {
        Group::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_get_the_names_of_the_suite() {
        let names = Names::new().unwrap();
        let told = |row: &str| {
            let info = names.info(&FileStep::of_row(row));
            format!("{row}: {} ({:?}), {:?}, {}", info.name, info.n, info.group, info.figure)
        };
        let rows = [
            "point-query_range=100",
            "point-query.pre_range=100",
            "random-points_range=10",
            "random-points_range=7",
            "read-only.pre_range=10000",
            "scan.warm_range=100",
            "points-covered-si.warm_range=100",
            "update-nonindex-special_range=100",
            "mystery",
        ];
        expect_test::expect![[r#"
            point-query_range=100: point-query (None), Point, queries/s
            point-query.pre_range=100: point-query.pre (None), Point, queries/s
            random-points_range=10: random-points_range=10 (Some(10)), Point, queries/s
            random-points_range=7: random-points_range=7 (Some(7)), Point, queries/s
            read-only.pre_range=10000: read-only.pre_range=10000 (Some(10000)), RangeAggregate, queries/s
            scan.warm_range=100: scan.warm_range=100 (Some(100)), Range, as stated
            points-covered-si.warm_range=100: points-covered-si.warm (Some(100)), Point, queries/s
            update-nonindex-special_range=100: update-nonindex-special_range=100 (Some(100)), Write, queries/s
            mystery: mystery (None), Other, queries/s"#]].assert_eq(&rows.map(told).join("\n"));
    }

    #[test]
    fn scripts_of_sysbench_have_their_groups() {
        let names = Names::new().unwrap();
        let told = |script: &str| {
            let info = names.of_script(script);
            format!("{script}: {:?}, {:?}", info.group, info.kind)
        };
        let scripts = [
            "oltp_read_only",
            "oltp_read_write",
            "oltp_write_only",
            "oltp_point_select",
            "oltp_insert",
            "oltp_delete",
            "oltp_update_index",
            "oltp_update_non_index",
            "select_random_points",
            "select_random_ranges",
            "bulk_insert",
            "tpcc",
            "oltp",
            "oltp_simple",
            "select",
            "update_non_index",
            "selectivity",
        ];
        expect_test::expect![[r#"
            oltp_read_only: RangeAggregate, Read
            oltp_read_write: Write, Write
            oltp_write_only: Write, Write
            oltp_point_select: Point, Read
            oltp_insert: Write, Write
            oltp_delete: Write, Write
            oltp_update_index: Write, Write
            oltp_update_non_index: Write, Write
            select_random_points: Point, Read
            select_random_ranges: Range, Read
            bulk_insert: Write, Write
            tpcc: Write, Write
            oltp: Write, Write
            oltp_simple: Point, Read
            select: Point, Read
            update_non_index: Write, Write
            selectivity: Other, Read"#]]
        .assert_eq(&scripts.map(told).join("\n"));
    }

    #[test]
    fn names_of_files() {
        let name = FileName::parse("point-query.pre.range100.pk1.dop4").unwrap();
        assert_eq!(name.step, FileStep::of_row("point-query.pre_range=100"));
        assert_eq!(name.clients, Some(4));
        let name = FileName::parse("point-query.warm.range100.pk1").unwrap();
        assert_eq!(
            (name.step.row_name().as_str(), name.clients),
            ("point-query.warm_range=100", None)
        );
        assert_eq!(FileName::parse("range100"), None);
        assert_eq!(FileName::parse("scan.dop0").unwrap().clients, None);
    }
}
