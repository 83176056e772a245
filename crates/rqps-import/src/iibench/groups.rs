//! Groups of systems, each with a base of its own, over all tables of a directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::step::StepName;
use super::table::{Row, Table};
use crate::Error;

/// Systems that are compared with the first of them.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Their labels in the order of the tables.
    pub(super) labels: Vec<String>,
    /// Their lines by step.
    pub(super) steps: Vec<StepRows>,
}

/// The lines of a step.
#[derive(Debug)]
pub(super) struct StepRows {
    pub(super) name: StepName,
    pub(super) rows: Vec<Row>,
}

impl Group {
    /// Adds a table's lines. A second line of a system in one step is not taken.
    fn add(&mut self, name: &StepName, rows: Vec<Row>, path: &Path, skipped: &mut Vec<Error>) {
        if self.steps.last().is_none_or(|last| last.name != *name) {
            self.steps.push(StepRows { name: name.clone(), rows: Vec::new() });
        }
        let Some(step) = self.steps.last_mut() else { return };
        for row in rows {
            if let Some(known) = step.rows.iter().find(|known| known.tag == row.tag) {
                if known.values != row.values {
                    let tag = &row.tag;
                    let problem = format!("system {tag} occurs twice: give each line its own tag");
                    skipped.push(Error::file(path, problem));
                }
                continue;
            }
            if !self.labels.contains(&row.tag) {
                self.labels.push(row.tag.clone());
            }
            step.rows.push(row);
        }
    }
}

/// By system the base of its group, as far as it is another.
#[derive(Debug, Default)]
struct Bases(BTreeMap<String, String>);

impl Bases {
    fn from_tables(tables: &[Table]) -> Self {
        let mut bases = Self::default();
        for table in tables {
            let firsts: Vec<&str> = table.groups.iter().filter_map(|rows| first(rows)).collect();
            for rows in &table.groups {
                let Some(base) = first(rows).map(|tag| bases.base_of(tag).to_owned()) else {
                    continue;
                };
                // What begins another group of the same table is the base of that one.
                for row in rows.iter().filter(|row| !firsts.contains(&row.tag.as_str())) {
                    if row.tag != base {
                        bases.0.entry(row.tag.clone()).or_insert_with(|| base.clone());
                    }
                }
            }
        }
        bases
    }

    /// The base of the group that begins with `tag`: itself, or the one that it stands below elsewhere.
    fn base_of<'b>(&'b self, tag: &'b str) -> &'b str {
        let mut tag = tag;
        while let Some(base) = self.0.get(tag) {
            tag = base;
        }
        tag
    }
}

fn first(rows: &[Row]) -> Option<&str> {
    rows.first().map(|row| row.tag.as_str())
}

/// Two systems, in the order of their tags.
type Pair<'t> = (&'t str, &'t str);

/// The pairs of systems that a table has in one group.
fn joined(table: &Table) -> BTreeSet<Pair<'_>> {
    let mut pairs = BTreeSet::new();
    for rows in &table.groups {
        let tags: Vec<&str> = rows.iter().map(|row| row.tag.as_str()).collect();
        for (at, a) in tags.iter().enumerate() {
            pairs.extend(tags[at + 1..].iter().map(|b| if a < b { (*a, *b) } else { (*b, *a) }));
        }
    }
    pairs
}

/// How a table groups its systems.
struct Grouping<'t> {
    table: &'t Table,
    tags: BTreeSet<&'t str>,
    joined: BTreeSet<Pair<'t>>,
}

impl<'t> Grouping<'t> {
    fn of(table: &'t Table) -> Self {
        let tags = table.groups.iter().flatten().map(|row| row.tag.as_str()).collect();
        Self { table, tags, joined: joined(table) }
    }

    /// Whether it has both systems in one group; `None` where it lacks one of them, or has groups of one system
    /// alone, which separate nothing.
    fn joins(&self, pair: Pair<'_>) -> Option<bool> {
        let has_both = self.tags.contains(pair.0) && self.tags.contains(pair.1);
        let is_split = self.table.groups.iter().any(|rows| rows.len() > 1);
        (has_both && is_split).then(|| self.joined.contains(&pair))
    }
}

/// Why a table's groups are not those of most others, by its index. Of as many tables on either side those that
/// separate the systems count.
fn find_misgrouped(tables: &[Table]) -> BTreeMap<usize, Error> {
    let groupings: Vec<Grouping<'_>> = tables.iter().map(Grouping::of).collect();
    let pairs: BTreeSet<Pair<'_>> =
        groupings.iter().flat_map(|grouping| grouping.joined.iter().copied()).collect();
    let mut found = BTreeMap::new();
    for pair in pairs {
        let side = |joins: bool| -> Vec<usize> {
            let own = groupings.iter().enumerate().filter(|(_, g)| g.joins(pair) == Some(joins));
            own.map(|(idx, _)| idx).collect()
        };
        let (joining, separating) = (side(true), side(false));
        if joining.is_empty() || separating.is_empty() {
            continue;
        }
        let is_joined = joining.len() > separating.len();
        let (few, most) = if is_joined { (separating, joining) } else { (joining, separating) };
        let names: Vec<String> = most.iter().map(|idx| tables[*idx].file_name()).collect();
        let (a, b) = pair;
        let (own, other, remedy) = match is_joined {
            true => ("two groups", "one", "remove the line - between them"),
            false => ("one group", "two", "put a line - between the groups"),
        };
        for idx in few {
            found.entry(idx).or_insert_with(|| {
                let names = names.join(", ");
                let problem = format!(
                    "it has {a} and {b} in {own}, but {names} has them in {other}: {remedy}"
                );
                Error::file(&tables[idx].path, problem)
            });
        }
    }
    found
}

/// Leaves out the tables whose groups are not those of the others.
fn refuse_misgrouped(tables: Vec<Table>, skipped: &mut Vec<Error>) -> Vec<Table> {
    let mut misgrouped = find_misgrouped(&tables);
    let own = |(idx, table)| match misgrouped.remove(&idx) {
        None => Some(table),
        Some(problem) => {
            skipped.push(problem);
            None
        }
    };
    tables.into_iter().enumerate().filter_map(own).collect()
}

/// The groups of all tables. There is one where `is_one` says so or every group is of one system.
pub(super) fn split_groups(
    tables: Vec<Table>,
    is_one: bool,
    skipped: &mut Vec<Error>,
) -> Vec<Group> {
    let is_one = is_one || tables.iter().flat_map(|table| &table.groups).all(|rows| rows.len() < 2);
    let tables = if is_one { tables } else { refuse_misgrouped(tables, skipped) };
    let bases = Bases::from_tables(&tables);
    let mut groups: Vec<(String, Group)> = Vec::new();
    for Table { step, path, groups: own, .. } in tables {
        for rows in own {
            let base = first(&rows).map_or("", |tag| bases.base_of(tag));
            let known = groups.iter().position(|(known, _)| is_one || known == base);
            let at = known.unwrap_or_else(|| {
                groups.push((base.to_owned(), Group::default()));
                groups.len() - 1
            });
            groups[at].1.add(&step, rows, &path, skipped);
        }
    }
    // A base that was not run in the first step is still the base.
    for (base, group) in groups.iter_mut().filter(|_| !is_one) {
        if let Some(at) = group.labels.iter().position(|label| label == base) {
            group.labels[..=at].rotate_right(1);
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
