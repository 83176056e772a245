//! Which systems of which runs make one series, and what they are relative to.

use rqps_model::{Run, RunSystem, SystemSource};

use super::line_name::{BaseName, LineName, SystemKind};
use super::member::Member;
use super::{Because, Choice, LeftOut, Order};

/// The systems of one series, in order of time.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) name: LineName,
    pub(super) members: Vec<Member>,
    /// What they are relative to; absent where their runs have no system in common.
    pub(super) base: Option<Base>,
}

/// A system that all runs of a line have.
#[derive(Debug, Clone)]
pub(super) struct Base {
    pub(super) name: BaseName,
    /// Run and system, one per run.
    places: Vec<Member>,
}

impl Line {
    /// The base's place among the systems of a run.
    pub(super) fn base_in(&self, run_idx: usize) -> Option<usize> {
        let places = &self.base.as_ref()?.places;
        places.iter().find(|place| place.run_idx == run_idx).map(|place| place.system_idx)
    }
}

/// The lines of all runs (which are in order of time), and the order of their points.
pub(super) fn collect(
    runs: &[Run],
    choice: Choice<'_>,
    left_out: &mut Vec<LeftOut>,
) -> (Order, Vec<Line>) {
    let members: Vec<Member> = (0..runs.len())
        .flat_map(|run_idx| {
            let systems = 0..runs[run_idx].systems.len();
            systems.map(move |system_idx| Member { run_idx, system_idx })
        })
        .filter(|m| !system(runs, *m).spec.is_null_arm && (choice.system)(system(runs, *m)))
        .collect();
    let order = choice.order.unwrap_or_else(|| order(runs, &members));
    let mut lines: Vec<Line> = Vec::new();
    for member in members {
        let own = system(runs, member);
        if order == Order::Version && own.known_version().is_none() {
            left_out.push(LeftOut {
                run_id: runs[member.run_idx].id.clone(),
                what: vec![own.spec.label.0.clone()],
                because: Because::NoVersion,
            });
            continue;
        }
        let name = match order {
            Order::Version => LineName::Kind(Box::new(SystemKind::of(&own.spec))),
            Order::Time => LineName::of_label(&own.spec),
        };
        let is_like = |line: &&mut Line| match order {
            Order::Version => system(runs, line.members[0]).spec.is_of_kind(&own.spec),
            Order::Time => line.name == name,
        };
        match lines.iter_mut().find(is_like) {
            Some(line) => line.members.push(member),
            None => {
                lines.push(Line { name, members: vec![member], base: None });
            }
        }
    }
    if order == Order::Time {
        lines.retain(|line| !is_only_base(runs, line));
    }
    for line in &mut lines {
        line.base = common_base(runs, line, order);
    }
    (order, lines)
}

fn system(runs: &[Run], member: Member) -> &RunSystem {
    &runs[member.run_idx].systems[member.system_idx]
}

/// Name and version of a system's server.
pub(super) fn server(system: &RunSystem) -> String {
    system.server_name().unwrap_or_else(|| system.spec.dbms.name().to_owned())
}

/// By version where any kind of system has several versions or commits.
fn order(runs: &[Run], members: &[Member]) -> Order {
    let known: Vec<&RunSystem> = members
        .iter()
        .map(|member| system(runs, *member))
        .filter(|system| system.known_version().is_some())
        .collect();
    let commit = |system: &RunSystem| system.commit().map(|commit| commit.hash.to_owned());
    let differ = |a: &RunSystem, b: &RunSystem| {
        (a.known_version() != b.known_version() || commit(a) != commit(b))
            && a.spec.is_of_kind(&b.spec)
    };
    let several = known.iter().any(|a| known.iter().any(|b| differ(a, b)));
    if several { Order::Version } else { Order::Time }
}

/// Whether two are one system over runs: of its kind, as the server says what it is and where it comes from.
fn are_one_system(a: &RunSystem, b: &RunSystem) -> bool {
    // Of what was imported it is the files that were read. A directory of one's own has one origin for all that
    // is ever built in it.
    let is_of_one_origin = a.spec.source == SystemSource::Imported || a.origin == b.origin;
    let program = "program_sha256";
    // Of a commit, hash and compiler tell what it is. Each cache has a build of its own.
    let is_of_commit =
        a.commit().zip(b.commit()).is_some_and(|(a, b)| !a.is_changed && !b.is_changed);
    let is_one_program = if is_of_commit {
        a.build.get("built_by") == b.build.get("built_by")
    } else {
        is_of_one_origin && a.build.get(program) == b.build.get(program)
    };
    a.spec.is_of_kind(&b.spec)
        && a.spec.source.is_same_server(&b.spec.source)
        && a.version_text == b.version_text
        && is_one_program
}

/// Whether all its systems are what others of their runs are compared with: by time that is no series.
fn is_only_base(runs: &[Run], line: &Line) -> bool {
    line.members.iter().all(|m| {
        let run = &runs[m.run_idx];
        run.base == m.system_idx && run.systems.len() > 1
    })
}

/// The system that all runs of the line have and most of them compare with; it must be the base of
/// one, and not all of the line.
fn common_base(runs: &[Run], line: &Line, order: Order) -> Option<Base> {
    let mut run_idxs: Vec<usize> = line.members.iter().map(|m| m.run_idx).collect();
    run_idxs.dedup();
    let mut best: Option<(usize, Base)> = None;
    let mut seen: Vec<&RunSystem> = Vec::new();
    for &at in run_idxs.iter().rev() {
        let Some(candidate) = runs[at].systems.get(runs[at].base) else { continue };
        if seen.iter().any(|known| are_one_system(known, candidate)) {
            continue;
        }
        seen.push(candidate);
        let places: Option<Vec<Member>> = run_idxs
            .iter()
            .map(|&run_idx| {
                let mut systems = runs[run_idx].systems.iter();
                let system_idx = systems.position(|s| are_one_system(s, candidate))?;
                Some(Member { run_idx, system_idx })
            })
            .collect();
        let Some(places) = places else { continue };
        let n_in_line = line.members.iter().filter(|m| places.contains(m)).count();
        let is_fit = match order {
            Order::Version => n_in_line < line.members.len(),
            Order::Time => n_in_line == 0,
        };
        let n_bases = places.iter().filter(|p| runs[p.run_idx].base == p.system_idx).count();
        if is_fit && best.as_ref().is_none_or(|(n, _)| n_bases > *n) {
            let name =
                BaseName { server: server(candidate), kind: SystemKind::of(&candidate.spec) };
            best = Some((n_bases, Base { name, places }));
        }
    }
    best.map(|(_, base)| base)
}
