//! Which systems of which runs make one series, and what they are relative to.

use rqps_model::{Run, RunSystem, SystemSource, SystemSpec};

use super::member::{Member, version_of};
use super::{Because, Choice, LeftOut, Order};
use rqps_text::number::{bytes, exact_percent};
use rqps_text::words::one_line;

/// The systems of one series, in order of time.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// For people: `MySQL, innodb, small`, or the label.
    pub(super) name: String,
    pub(super) members: Vec<Member>,
    /// What they are relative to; absent where their runs have no system in common.
    pub(super) base: Option<Base>,
}

/// A system that all runs of a line have.
#[derive(Debug, Clone)]
pub(super) struct Base {
    /// For people: `MySQL 5.6.14, innodb, small`.
    pub(super) name: String,
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
        .filter(|m| (choice.system)(system(runs, *m)))
        .collect();
    let order = choice.order.unwrap_or_else(|| order(runs, &members));
    let mut lines: Vec<(String, Line)> = Vec::new();
    for member in members {
        let own = system(runs, member);
        if order == Order::Version && version_of(own).is_none() {
            left_out.push(LeftOut {
                run_id: runs[member.run_idx].id.clone(),
                what: one_line(own.spec.label.as_str()),
                because: Because::NoVersion,
            });
            continue;
        }
        let (key, name) = match order {
            Order::Version => (kind(&own.spec), kind_name(&own.spec)),
            Order::Time => labelled(&own.spec),
        };
        match lines.iter_mut().find(|(known, _)| *known == key) {
            Some((_, line)) => line.members.push(member),
            None => lines.push((key, Line { name, members: vec![member], base: None })),
        }
    }
    let mut lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
    if order == Order::Time {
        lines.retain(|line| !is_only_base(runs, line));
    }
    for line in &mut lines {
        line.base = common_base(runs, line, order);
    }
    tell_apart(&mut lines);
    (order, lines)
}

fn system(runs: &[Run], member: Member) -> &RunSystem {
    &runs[member.run_idx].systems[member.system_idx]
}

/// By version where any kind of system has several.
fn order(runs: &[Run], members: &[Member]) -> Order {
    let of = |m: &Member| {
        let system = system(runs, *m);
        Some((kind(&system.spec), version_of(system)?))
    };
    let known: Vec<_> = members.iter().filter_map(of).collect();
    let several = known.iter().any(|(kind, version)| {
        known.iter().any(|(other_kind, other)| other_kind == kind && other != version)
    });
    if several { Order::Version } else { Order::Time }
}

/// What systems of several versions have in common: all that a plan says but version and build.
fn kind(spec: &SystemSpec) -> String {
    let SystemSpec { label: _, dbms, source: _, engine, config, options, transport, variant } =
        spec;
    format!("{dbms:?} {engine:?} {config:?} {options:?} {transport:?} {variant:?}")
}

/// One system over runs: its kind, what the server says it is and where it comes from.
fn identity(system: &RunSystem) -> String {
    let RunSystem { spec, version_text, origin, build, .. } = system;
    // Of what was imported it is the files that were read. A directory of one's own has one origin for all that
    // is ever built in it.
    let origin = if spec.source == SystemSource::Imported { "" } else { origin.as_str() };
    let program = build.get("program_sha256");
    format!("{} {version_text:?} {:?} {origin} {program:?}", kind(spec), spec.source)
}

/// `MySQL, innodb, small, innodb_flush_method=fsync, jemalloc`.
fn kind_name(spec: &SystemSpec) -> String {
    let variant = &spec.variant;
    let mut words = vec![spec.dbms.name().to_owned()];
    // The engine of imported systems is not known.
    words.extend((spec.source != SystemSource::Imported).then(|| spec.engine.to_string()));
    words.push(spec.config.clone());
    words.extend(spec.options.iter().map(|(name, value)| format!("{name}={value}")));
    if variant.malloc != rqps_model::Malloc::default() {
        words.push(variant.malloc.to_string());
    }
    if variant.durability != rqps_model::Durability::default() {
        words.push(format!("durability {}", variant.durability));
    }
    if variant.compression != rqps_model::Compression::default() {
        words.push(format!("compression {}", variant.compression));
    }
    let limits = &variant.limits;
    words.extend(limits.cpus.as_ref().map(|cpus| format!("CPUs {cpus}")));
    words.extend(limits.memory_bytes.map(|n| format!("memory {}", bytes(n))));
    words.extend(injected_slowdown(spec));
    one_line(&words.join(", "))
}

/// A system over time: key and name, its label. One that is slowed down on purpose is another system.
fn labelled(spec: &SystemSpec) -> (String, String) {
    let words: Vec<String> =
        std::iter::once(spec.label.0.clone()).chain(injected_slowdown(spec)).collect();
    let name = words.join(", ");
    (name.clone(), one_line(&name))
}

fn injected_slowdown(spec: &SystemSpec) -> Option<String> {
    let share = f64::from(spec.variant.injected_slowdown_bp) / 1e4;
    (share > 0.0).then(|| format!("injected slowdown {}", exact_percent(share)))
}

/// Lines that differ in what their names do not say get a number.
fn tell_apart(lines: &mut [Line]) {
    for at in 1..lines.len() {
        let n = lines[..at].iter().filter(|line| line.name == lines[at].name).count();
        if n > 0 {
            let name = format!("{} ({})", lines[at].name, n + 1);
            lines[at].name = name;
        }
    }
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
    let mut seen: Vec<String> = Vec::new();
    for &at in run_idxs.iter().rev() {
        let Some(candidate) = runs[at].systems.get(runs[at].base) else { continue };
        let wanted = identity(candidate);
        if seen.contains(&wanted) {
            continue;
        }
        seen.push(wanted.clone());
        let places: Option<Vec<Member>> = run_idxs
            .iter()
            .map(|&run_idx| {
                let mut systems = runs[run_idx].systems.iter();
                let system_idx = systems.position(|s| identity(s) == wanted)?;
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
            let version = version_of(candidate).map_or(String::new(), |v| format!(" {v}"));
            let kind = kind_name(&candidate.spec);
            let (dbms, rest) = kind.split_once(", ").unwrap_or((&kind, ""));
            best = Some((n_bases, Base { name: format!("{dbms}{version}, {rest}"), places }));
        }
    }
    best.map(|(_, base)| base)
}
