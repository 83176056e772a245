//! The field's tables as grids, shared by the text and markdown formats.
//! A long file: every table in one place.
//!
//! Layouts follow the published reports: absolute rates and ratios per step and system, and the
//! per-operation metrics in the order cpu/o cs/o r/o rKB/o wKB/o o/s dbms, with our own columns
//! before the last, or in a separate table.

use rqps_model::{Estimate, Host, Metric, PerOperation, Sizes, StepKind, Verdict};

use crate::comparison;
use crate::grid::{Grid, GridCell, Side, plain, toned};
use crate::response::{percentile_heading, time_unit};
use crate::tone::Tone;
use rqps_analysis::response;
use rqps_analysis::{Analysis, Cell, CellState, StepAnalysis};
use rqps_text::number::{self, NOTHING};
use rqps_text::words::{NAME_COLUMNS, clip, shorten, shorten_apart};

/// The metrics that we add to the field's.
fn our_metrics() -> Vec<Metric> {
    Metric::ALL.into_iter().filter(|metric| !Metric::OF_FIELD.contains(metric)).collect()
}

/// A name in as many columns as tables give it.
pub(crate) fn name(text: &str) -> String {
    shorten(text, NAME_COLUMNS)
}

/// A step's name with the unit of its figure where that is not queries per second.
pub(crate) fn step_name(step: &StepAnalysis<'_>) -> String {
    let unit = step.step.info.figure.unit();
    let unit = if unit == "queries/s" { String::new() } else { format!(" ({unit})") };
    format!("{}{unit}", shorten(&step.step.info.name, NAME_COLUMNS - unit.len()))
}

/// The number of clients, where steps differ in it.
fn clients(step: &StepAnalysis<'_>) -> GridCell {
    let is_told = step.title != step.step.info.name;
    plain(if is_told { step.step.clients.to_string() } else { String::new() })
}

/// The digits of a rate: those of its file where it was imported.
#[must_use]
pub fn digits(cell: &Cell, figure: &Estimate) -> String {
    if cell.is_stated { figure.point.to_string() } else { number::figure(figure) }
}

/// A figure, or the word that stands for it.
pub(crate) fn figure(cell: &Cell) -> GridCell {
    match (&cell.state, cell.figure()) {
        (CellState::Failed { .. }, _) => toned("failed", Tone::Failed),
        (CellState::TablesReused, _) => toned("tables reused", Tone::Faint),
        (CellState::Pending, _) | (_, None) => toned("not run", Tone::Faint),
        (CellState::Measured(_), Some(figure)) => plain(digits(cell, &figure)),
    }
}

/// A candidate's rQPS, or the word that stands for it.
pub(crate) fn rqps(cell: &Cell) -> GridCell {
    match &cell.rqps() {
        Some(ratio) => toned(number::ratio(ratio), ratio_tone(cell, ratio.point)),
        None if cell.state.is_measured() => plain(NOTHING),
        None => figure(cell),
    }
}

/// The colour of a candidate's ratio: none where it is barred.
fn ratio_tone(cell: &Cell, ratio: f64) -> Tone {
    if cell.is_barred() { Tone::Unheld } else { Tone::of_ratio(ratio) }
}

/// The interval of an rQPS; `n=1` without one.
pub(crate) fn interval(cell: &Cell) -> GridCell {
    cell.rqps().as_ref().map_or_else(GridCell::default, |ratio| {
        plain(number::interval(ratio).unwrap_or_else(|| "n=1".to_owned()))
    })
}

/// The verdict's word, and what it leaves open.
pub(crate) fn verdict(cell: &Cell) -> GridCell {
    match comparison::verdict(cell) {
        Some(words) => plain(words),
        None => cell.bar().map_or_else(GridCell::default, |bar| plain(comparison::bar(bar))),
    }
}

/// Server CPU per operation relative to the base.
pub(crate) fn server_cpu(cell: &Cell) -> GridCell {
    cell.server_cpu_ratio().as_ref().map_or_else(GridCell::default, |r| plain(number::ratio(r)))
}

/// The summary of all steps for some candidates: base figure, then four columns per candidate, the
/// step's name last. `head` names the columns of system `idx`.
pub(crate) fn summary(
    analysis: &Analysis<'_>,
    candidates: &[usize],
    head: impl Fn(usize) -> String,
) -> Grid {
    let mut heads = vec![(head(analysis.base), Side::Point), (String::new(), Side::Left)];
    for &idx in candidates {
        heads.push((head(idx), Side::Point));
        heads.push(("95% interval".to_owned(), Side::Left));
        heads.push(("verdict".to_owned(), Side::Left));
        heads.push((String::new(), Side::Left));
        heads.push(("srvcpu/o".to_owned(), Side::Point));
    }
    heads.push(("cl".to_owned(), Side::Right));
    heads.push(("step".to_owned(), Side::Left));
    let heads: Vec<(&str, Side)> = heads.iter().map(|(h, s)| (h.as_str(), *s)).collect();
    let mut grid = Grid::new(&heads);
    for group in rqps_analysis::GROUPS {
        for (place, step) in analysis.steps_of(group).enumerate() {
            if place == 0 {
                grid.split();
            }
            let mut row = base_cells(analysis, step);
            for cell in candidates.iter().filter_map(|&idx| step.cells.get(idx)) {
                let letters = plain(analysis.letters(cell));
                row.extend([rqps(cell), interval(cell), verdict(cell), letters, server_cpu(cell)]);
            }
            row.extend([clients(step), plain(step_name(step))]);
            grid.row(row);
        }
    }
    grid
}

/// All steps with one column per candidate: rQPS and the verdict's sign.
pub(crate) fn matrix(
    analysis: &Analysis<'_>,
    candidates: &[usize],
    head: impl Fn(usize) -> String,
) -> Grid {
    let mut heads = vec![(head(analysis.base), Side::Point), (String::new(), Side::Left)];
    for &idx in candidates {
        heads.extend([(head(idx), Side::Point), (String::new(), Side::Left)]);
    }
    heads.push(("cl".to_owned(), Side::Right));
    heads.push(("step".to_owned(), Side::Left));
    let heads: Vec<(&str, Side)> = heads.iter().map(|(h, s)| (h.as_str(), *s)).collect();
    let mut grid = Grid::new(&heads);
    for group in rqps_analysis::GROUPS {
        for (place, step) in analysis.steps_of(group).enumerate() {
            if place == 0 {
                grid.split();
            }
            let mut row = base_cells(analysis, step);
            for cell in candidates.iter().filter_map(|&idx| step.cells.get(idx)) {
                let sign = cell_sign(cell);
                let letters = analysis.letters(cell);
                row.extend([rqps(cell), plain(format!("{sign} {letters}"))]);
            }
            row.extend([clients(step), plain(step_name(step))]);
            grid.row(row);
        }
    }
    grid
}

/// The base's figure and its footnotes.
fn base_cells(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Vec<GridCell> {
    let base = step.cells.get(analysis.base);
    base.map_or_else(Vec::new, |cell| vec![figure(cell), plain(analysis.letters(cell))])
}

/// A cell's verdict in ASCII characters: `=<` is the same, and slower beyond chance; `!` where it
/// is barred.
pub(crate) fn cell_sign(cell: &Cell) -> String {
    let verdict = cell.verdict().map_or(if cell.is_barred() { "!" } else { "" }, sign);
    format!("{verdict}{}", comparison::lean(cell).unwrap_or_default())
}

/// The verdict in one ASCII character.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "<",
        Verdict::Faster => ">",
        Verdict::Same => "=",
        Verdict::Unclear => "?",
    }
}

/// One step as the field writes it: QPS, ratio, system; with interval and verdict behind.
pub(crate) fn step_figures(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Grid {
    let unit = step.step.info.figure.unit();
    let mut grid = Grid::new(&[
        (if unit == "queries/s" { "QPS" } else { unit }, Side::Point),
        ("ratio", Side::Point),
        ("system", Side::Left),
        ("95% interval", Side::Left),
        ("verdict", Side::Left),
        ("", Side::Left),
    ]);
    for (idx, cell) in step.cells.iter().enumerate() {
        let is_base = idx == analysis.base && cell.figure().is_some();
        let ratio = match &cell.rqps() {
            Some(r) => toned(number::ratio(r), ratio_tone(cell, r.point)),
            None => plain(if is_base { "1.00" } else { NOTHING }),
        };
        let system = plain(name(analysis.label(idx)));
        let letters = plain(analysis.letters(cell));
        grid.row(vec![figure(cell), ratio, system, interval(cell), verdict(cell), letters]);
    }
    grid
}

/// Which columns a table of metrics has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricColumns {
    /// All of them.
    All,
    /// The field's.
    Field,
    /// Our own.
    Ours,
}

fn metric_heads(columns: MetricColumns) -> Vec<(&'static str, Side)> {
    let field = Metric::OF_FIELD.iter().map(|m| (m.heading(), Side::Point));
    let field = field.chain([("o/s", Side::Point)]);
    let ours = our_metrics().into_iter().map(|m| (m.heading(), Side::Point));
    let ours = ours.chain([("rss", Side::Right)]);
    let mut heads: Vec<_> = field.filter(|_| columns != MetricColumns::Ours).collect();
    heads.extend(ours.filter(|_| columns != MetricColumns::Field));
    heads.push(("dbms", Side::Left));
    heads
}

/// The columns that imported files have, and the system.
fn stated_heads(metrics: &[Metric]) -> Vec<(&'static str, Side)> {
    let heads = metrics.iter().map(|m| (m.heading(), Side::Point));
    heads.chain([("dbms", Side::Left)]).collect()
}

/// One step's metrics as imported files state them: absolute, then relative to the base. `None` where
/// no file has any.
pub(crate) fn stated_metrics(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
) -> Option<(Grid, Grid)> {
    let metrics = analysis.metrics();
    let heads = stated_heads(&metrics);
    let (mut absolute, mut relative) = (Grid::new(&heads), Grid::new(&heads));
    for (idx, cell) in step.cells.iter().enumerate() {
        let label = plain(name(analysis.label(idx)));
        if cell.measurement().is_none_or(|own| own.per_operation.values.is_empty()) {
            continue;
        }
        let value = |m: &Metric| {
            let value = cell.per_operation(*m);
            plain(value.map_or_else(|| NOTHING.to_owned(), |v| number::stated(*m, v)))
        };
        absolute.row(metrics.iter().map(value).chain([label.clone()]).collect());
        if cell.relative().is_some() {
            let ratio = |m: &Metric| plain(stated_ratio(cell, *m));
            relative.row(metrics.iter().map(ratio).chain([label]).collect());
        }
    }
    (!absolute.is_empty()).then_some((absolute, relative))
}

/// A metric over the base's as the field writes it: two decimals, a bare 1 for 0/0, `inf` for x/0.
#[must_use]
pub fn stated_ratio(cell: &Cell, metric: Metric) -> String {
    let ratio = cell.relative().and_then(|relative| relative.get(metric));
    let is_nothing = cell.per_operation(metric) == Some(0.0);
    match ratio {
        None => NOTHING.to_owned(),
        // Nothing of something is 0, so this is nothing of nothing.
        Some(ratio) if is_nothing && ratio > 0.0 => "1".to_owned(),
        Some(ratio) => number::plain_ratio(ratio),
    }
}

fn metric_row(
    columns: MetricColumns,
    values: &PerOperation,
    (rate, rss): (GridCell, Option<String>),
    label: &str,
    show: fn(f64) -> String,
) -> Vec<GridCell> {
    let cell = |m: &Metric| plain(values.get(*m).map_or_else(|| NOTHING.to_owned(), show));
    let mut row = Vec::new();
    if columns != MetricColumns::Ours {
        row.extend(Metric::OF_FIELD.iter().map(cell));
        row.push(rate);
    }
    if columns != MetricColumns::Field {
        row.extend(our_metrics().iter().map(cell));
        row.push(plain(rss.unwrap_or_else(|| NOTHING.to_owned())));
    }
    row.push(plain(name(label)));
    row
}

/// Metrics per operation of one step; CPU in microseconds.
pub(crate) fn metrics_absolute(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    columns: MetricColumns,
) -> Grid {
    let mut grid = Grid::new(&metric_heads(columns));
    for (idx, cell) in step.cells.iter().enumerate().filter(|(_, c)| c.figure().is_some()) {
        let Some(own) = cell.measurement() else { continue };
        let label = analysis.label(idx);
        let rss = own.server_rss_bytes.map(number::megabytes);
        let beside = (figure(cell), rss);
        let show = number::per_operation;
        grid.row(metric_row(columns, &own.per_operation, beside, label, show));
    }
    grid
}

/// Metrics per operation of one step's candidates relative to the base.
pub(crate) fn metrics_relative(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    columns: MetricColumns,
) -> Grid {
    let mut grid = Grid::new(&metric_heads(columns));
    for (idx, cell) in step.cells.iter().enumerate() {
        if let Some(against) = &cell.against {
            let beside = (rqps(cell), against.server_rss_ratio.map(number::plain_ratio));
            let (label, show) = (analysis.label(idx), number::plain_ratio);
            grid.row(metric_row(columns, &against.relative, beside, label, show));
        }
    }
    grid
}

/// Response times of one step's events and the unit they are in; `None` without any.
pub(crate) fn response_times(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
) -> Option<(Grid, &'static str)> {
    let measured =
        || step.cells.iter().enumerate().filter_map(|(idx, c)| Some((idx, c.response()?)));
    let smallest = measured().map(|(_, r)| r.typical_ns()).reduce(f64::min)?;
    let (unit, unit_ns) = time_unit(smallest);
    let percentiles: Vec<String> = response::PERCENTILES.map(percentile_heading).to_vec();
    let mut heads = vec![("mean", Side::Right)];
    heads.extend(percentiles.iter().map(|p| (p.as_str(), Side::Right)));
    heads.extend([("max", Side::Right), ("responses", Side::Right), ("dbms", Side::Left)]);
    let mut grid = Grid::new(&heads);
    for (idx, times) in measured() {
        let show = |ns: f64| number::duration_in(ns, unit_ns);
        let mut row = vec![plain(times.mean_ns.map_or_else(|| NOTHING.to_owned(), show))];
        row.extend(
            times
                .percentiles_ns
                .iter()
                .map(|p| plain(p.map_or_else(|| NOTHING.to_owned(), |ns| show(ns as f64)))),
        );
        row.push(plain(show(times.max_ns as f64)));
        row.push(plain(times.n.to_string()));
        row.push(plain(name(analysis.label(idx))));
        grid.row(row);
    }
    Some((grid, unit))
}

/// How a set rate was held, and the unit of the delays: one row per system that had one.
pub(crate) fn starts(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
) -> Option<(Grid, &'static str)> {
    let paced = || step.cells.iter().enumerate().filter_map(|(idx, c)| Some((idx, c.lateness()?)));
    let smallest = paced().map(|(_, l)| l.mean_ns().unwrap_or(0.0)).reduce(f64::min)?;
    let (unit, unit_ns) = time_unit(smallest);
    let mut grid = Grid::new(&[
        ("due", Side::Right),
        ("late", Side::Right),
        ("missed", Side::Right),
        ("mean", Side::Right),
        ("max", Side::Right),
        ("dbms", Side::Left),
    ]);
    for (idx, starts) in paced() {
        let show = |ns: f64| number::duration_in(ns, unit_ns);
        grid.row(vec![
            plain(starts.n_due.to_string()),
            plain(starts.n_late.to_string()),
            plain(starts.n_missed.to_string()),
            plain(starts.mean_ns().map_or_else(|| NOTHING.to_owned(), show)),
            plain(show(starts.max_ns as f64)),
            plain(name(analysis.label(idx))),
        ]);
    }
    Some((grid, unit))
}

/// Resident memory of the servers, MB, and what their allocators are; `None` without a reading.
pub(crate) fn memory(analysis: &Analysis<'_>) -> Option<Grid> {
    if analysis.memory.is_empty() {
        return None;
    }
    let mut grid = Grid::new(&[
        ("load", Side::Right),
        ("most", Side::Right),
        ("end", Side::Right),
        ("end/base", Side::Point),
        ("system", Side::Left),
        ("allocator", Side::Left),
    ]);
    let mb = |bytes: Option<u64>| plain(bytes.map_or(NOTHING.to_owned(), number::megabytes));
    for memory in &analysis.memory {
        let idx = memory.system_idx;
        let ratio =
            memory.ratio.map_or_else(GridCell::default, |ratio| plain(number::plain_ratio(ratio)));
        grid.row(vec![
            mb(memory.after_load),
            mb(Some(memory.largest.0)),
            mb(memory.last),
            ratio,
            plain(name(analysis.label(idx))),
            plain(clip(allocator(analysis, idx), NAME_COLUMNS)),
        ]);
    }
    Some(grid)
}

/// The limits that are the same for all systems, in words; others are reported as differences.
#[must_use]
pub fn shared_limits(analysis: &Analysis<'_>) -> Vec<String> {
    let systems = &analysis.run.systems;
    let shared = |(name, what): (&str, &str)| {
        let value = systems.first()?.process.get(name)?;
        let is_shared = systems.iter().all(|s| s.process.get(name) == Some(value));
        let of = if systems.len() == 1 { "the system" } else { "every system" };
        is_shared.then(|| format!("{what} of {of}: {}", clip(value, 60)))
    };
    [("memory_limit", "memory limit"), ("cpus", "CPUs")].into_iter().filter_map(shared).collect()
}

/// A server's allocator; empty where it is not known.
#[must_use]
pub fn allocator<'a>(analysis: &'a Analysis<'_>, idx: usize) -> &'a str {
    analysis.run.systems[idx].process.get("malloc").map_or("", String::as_str)
}

/// Columns of a server's name and version, with its commit.
const VERSION_COLUMNS: usize = 32;

/// The systems: label, version, engine, transport, configuration and where they come from.
pub(crate) fn systems(analysis: &Analysis<'_>) -> Grid {
    let left = |h| (h, Side::Left);
    let mut grid = Grid::new(&[
        left("system"),
        left("version"),
        left("engine"),
        left("transport"),
        left("config"),
        left(""),
    ]);
    let systems = &analysis.run.systems;
    let configs: Vec<&str> = systems.iter().map(|system| system.spec.config.as_str()).collect();
    let configs = shorten_apart(&configs, 24);
    for (idx, config) in configs.iter().enumerate() {
        grid.row(vec![
            plain(analysis.short_label(idx)),
            plain(clip(&version(analysis, idx), VERSION_COLUMNS)),
            plain(engine(analysis, idx)),
            plain(transport(analysis, idx)),
            plain(config),
            plain(if idx == analysis.base { "base" } else { "" }),
        ]);
    }
    grid
}

/// The engine of a system's tables, where it is known.
#[must_use]
pub fn engine(analysis: &Analysis<'_>, idx: usize) -> String {
    let engine = analysis.run.systems[idx].spec.engine;
    if analysis.is_imported(idx) { NOTHING.to_owned() } else { engine.to_string() }
}

/// How connections reached a system, where it is known.
#[must_use]
pub fn transport(analysis: &Analysis<'_>, idx: usize) -> String {
    let transport = analysis.run.systems[idx].spec.transport;
    if analysis.is_imported(idx) { NOTHING.to_owned() } else { transport.to_string() }
}

/// Where the threads of a step ran, where it is known.
#[must_use]
pub fn placement(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> String {
    if analysis.is_all_imported() {
        "placement not stated".to_owned()
    } else {
        format!("placement {}", step.step.placement)
    }
}

/// The host in a line: of an imported run where it was taken from.
pub(crate) fn host(analysis: &Analysis<'_>) -> String {
    let host = analysis.host();
    if let Some(imported) = analysis.imported() {
        return format!("{imported}, host {}", host.hostname);
    }
    format!(
        "{}: {} CPUs {}, {}, kernel {}",
        host.hostname,
        host.n_cpus,
        host.cpu_model,
        number::bytes(host.memory_bytes),
        host.kernel
    )
}

/// Where a host had the data: `ext4 on /dev/vda, read-ahead 128 KB`, this where it is known.
#[must_use]
pub fn storage(host: &Host) -> String {
    let ahead = host.read_ahead_kb.map(|kb| format!(", read-ahead {}", number::kb(kb)));
    host.storage.clone() + &ahead.unwrap_or_default()
}

/// `MySQL 8.0.33`, or what is known of it.
#[must_use]
pub fn version(analysis: &Analysis<'_>, idx: usize) -> String {
    let system = &analysis.run.systems[idx];
    system.server_name().unwrap_or_else(|| system.spec.dbms.name().to_owned())
}

/// Where a server comes from; of a commit its date, subject and distance from the base.
#[must_use]
pub fn origin(analysis: &Analysis<'_>, idx: usize) -> String {
    let system = &analysis.run.systems[idx];
    let Some(commit) = system.commit() else { return system.origin.clone() };
    let n = commit.after_base.map(|n| {
        let commits =
            number::count(usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX), "commit");
        format!(", {commits} {} the base", if n < 0 { "before" } else { "after" })
    });
    let after = n.unwrap_or_default();
    format!("{} ({}{after}): {}", system.origin, commit.day(), commit.subject)
}

/// The commits that systems were built from, each with its label.
pub(crate) fn commits(analysis: &Analysis<'_>) -> Vec<String> {
    let systems = analysis.run.systems.iter().enumerate();
    systems
        .filter(|(_, system)| system.commit().is_some())
        .map(|(idx, _)| format!("{}: {}", analysis.label(idx), origin(analysis, idx)))
        .collect()
}

/// Which columns a table of sizes has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeColumns {
    /// All of them.
    All,
    /// Those of tables and indexes.
    Tables,
    /// Those of the data directory.
    DataDir,
}

/// What the data took: per system after the first step and at the end, growth, and the end relative
/// to the base. `None` when no size was recorded.
pub(crate) fn sizes(analysis: &Analysis<'_>, columns: SizeColumns) -> Option<Grid> {
    if analysis.sizes.iter().all(|s| s.last.is_none()) {
        return None;
    }
    let tables = ["filled", "/ base", "at end", "growth", "/ base"];
    let data_dir = ["data dir", "/ base", "redo", "binlog"];
    let (has_tables, has_data_dir) =
        (columns != SizeColumns::DataDir, columns != SizeColumns::Tables);
    let mut heads = vec![("system", Side::Left)];
    heads.extend(tables.into_iter().filter(|_| has_tables).map(|h| (h, Side::Right)));
    heads.extend(data_dir.into_iter().filter(|_| has_data_dir).map(|h| (h, Side::Right)));
    let mut grid = Grid::new(&heads);
    let ratio = |r: Option<f64>| plain(r.map_or_else(String::new, number::plain_ratio));
    for (idx, sizes) in analysis.sizes.iter().enumerate() {
        let (first, last) = (sizes.first.map(|e| e.1), sizes.last.map(|e| e.1));
        let of = |end: Option<Sizes>, part: fn(Sizes) -> Option<u64>| {
            plain(end.and_then(part).map_or_else(String::new, number::bytes))
        };
        let mut row = vec![plain(name(analysis.label(idx)))];
        if has_tables {
            row.extend([
                of(first, |s| s.database_bytes),
                ratio(sizes.filled_ratio),
                of(last, |s| s.database_bytes),
                ratio(sizes.growth),
                ratio(sizes.database_ratio),
            ]);
        }
        if has_data_dir {
            row.extend([
                of(last, |s| s.data_dir_bytes),
                ratio(sizes.data_dir_ratio),
                of(last, |s| s.redo_bytes),
                of(last, |s| s.binlog_bytes),
            ]);
        }
        grid.row(row);
    }
    Some(grid)
}

/// The legend of [`sizes`].
#[must_use]
pub fn sizes_legend(analysis: &Analysis<'_>) -> String {
    let step = |end: fn(&rqps_analysis::SystemSizes) -> Option<(usize, Sizes)>| {
        let mut all = analysis.sizes.iter().filter_map(end).map(|(at, _)| at);
        let at = all.next();
        let step = at.and_then(|at| analysis.run.steps.get(at));
        match step {
            Some(step) if all.all(|other| Some(other) == at) => {
                format!("after {}", clip(&step.info.name, NAME_COLUMNS))
            }
            // Systems that have no step in common.
            _ => "after each system's own step".to_owned(),
        }
    };
    format!(
        "filled: tables and indexes {}; at end: {}; / base: relative to {}. data dir: \
         blocks that the data directory takes at the end, redo and binary logs included.{}",
        step(|s| s.first),
        step(|s| s.last),
        shorten(analysis.base_label(), 60),
        growth(analysis)
    )
}

/// That systems end with unlike numbers of rows, where steps insert for a time and not so many rows.
fn growth(analysis: &Analysis<'_>) -> String {
    let inserting = || analysis.run.steps.iter().filter(|s| s.info.kind == StepKind::Insert);
    if inserting().all(|step| step.info.has_blocks_of_work()) {
        return String::new();
    }
    let but = if analysis.insert.is_some() { " (except the Insert Benchmark's)" } else { "" };
    format!(" Steps that insert are timed{but}, so a faster system has more rows at the end.")
}
