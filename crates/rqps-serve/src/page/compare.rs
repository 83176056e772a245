//! Systems of any runs in one report.

use hyper::StatusCode;
use maud::{Markup, html};
use rqps_analysis::{Analysis, Joined};
use rqps_model::{Run, Scope};
use rqps_stats::DEFAULT_BOUND;
use rqps_store::{Error, RunRef};
use rqps_text::words::one_line;

use super::report::{has_figures, nothing};
use super::shell::with_links;
use crate::asked::{Asked, query_of};
use crate::desk::Desk;
use crate::reply::Reply;

/// The most systems in one comparison, and the most runs that they are of: each is read as a whole.
const MOST: (usize, usize) = (24, 12);

/// A system that was ticked: its run, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticked<'a> {
    run: &'a str,
    system: usize,
}

impl<'a> Ticked<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (run, system) = text.split_once(':')?;
        Some(Self { run, system: system.parse().ok()? })
    }

    fn text(self) -> String {
        format!("{}:{}", self.run, self.system)
    }
}

/// Shows a comparison.
pub(crate) fn show(desk: &Desk, asked: &Asked) -> Result<Reply, Error> {
    let wrong = |sentence: &str| Ok(Reply::problem(StatusCode::UNPROCESSABLE_ENTITY, sentence));
    let ticked: Option<Vec<Ticked<'_>>> = asked.query.all("s").map(Ticked::parse).collect();
    let Some(mut ticked) = ticked else { return wrong("A system is named by its run and number.") };
    ticked.dedup();
    if ticked.len() < 2 {
        return wrong("Tick two systems or more in the list of runs, of one run or of several.");
    }
    let mut ids: Vec<&str> = Vec::new();
    ticked.iter().for_each(|one| {
        if !ids.contains(&one.run) {
            ids.push(one.run)
        }
    });
    if ticked.len() > MOST.0 || ids.len() > MOST.1 {
        return wrong("At most 24 systems of at most 12 runs are compared at once.");
    }
    let base = Ticked::parse(asked.query.get("base")).filter(|base| ticked.contains(base));
    let base = base.unwrap_or(ticked[0]);
    let mut runs = Vec::new();
    for id in &ids {
        let run = desk.store_of(id)?.select_run(&RunRef::Id((*id).to_owned()))?;
        let systems: Vec<usize> =
            ticked.iter().filter(|one| one.run == *id).map(|one| one.system).collect();
        let own_base = (base.run == *id).then_some(base.system);
        let Some(run) = only(run, &systems, own_base) else {
            return wrong("A run has no such system.");
        };
        runs.push(run);
    }
    if !runs.iter().any(has_figures) {
        return Ok(nothing());
    }
    let links = links(&ticked, base, &runs);
    let page = match <[Run; 1]>::try_from(runs) {
        Ok([run]) => rqps_html::render(&Analysis::of(&run, DEFAULT_BOUND)),
        Err(runs) => {
            let at = runs.iter().find(|run| run.id == base.run);
            let label = at.and_then(|run| run.systems.get(run.base)).map(|s| s.spec.label.as_str());
            let name = format!("{}:{}", base.run, label.unwrap_or_default());
            let command = [&["rqps", "compare"], ids.as_slice(), &["--base", &name]].concat();
            let command: Vec<String> = command.into_iter().map(str::to_owned).collect();
            match Joined::of(runs, Some(&name), &command) {
                Ok(joined) => rqps_html::render(&Analysis::of_joined(&joined, DEFAULT_BOUND)),
                Err(error) => return wrong(&error.to_string()),
            }
        }
    };
    Ok(Reply::whole_page(with_links(page, &links)))
}

/// A run with some of its systems alone; its base is `base`, else its own where that is among them, else
/// the first of them.
fn only(mut run: Run, systems: &[usize], base: Option<usize>) -> Option<Run> {
    let mut kept: Vec<usize> = systems.to_vec();
    kept.sort_unstable();
    kept.dedup();
    if kept.iter().any(|&idx| idx >= run.systems.len()) {
        return None;
    }
    let base = base.unwrap_or(run.base);
    run.base = kept.iter().position(|&idx| idx == base).unwrap_or(0);
    let is_kept = |idx: &usize| kept.contains(idx);
    run.systems = retain(std::mem::take(&mut run.systems), is_kept);
    for step in &mut run.steps {
        step.systems = retain(std::mem::take(&mut step.systems), is_kept);
    }
    // What happened to one of them is known by its place.
    run.warnings.retain_mut(|warning| {
        let Scope::System(idx) = &mut warning.scope else { return true };
        let place = kept.iter().position(|known| known == idx);
        *idx = place.unwrap_or(*idx);
        place.is_some()
    });
    Some(run)
}

fn retain<T>(all: Vec<T>, is_kept: impl Fn(&usize) -> bool) -> Vec<T> {
    all.into_iter().enumerate().filter(|(idx, _)| is_kept(idx)).map(|(_, one)| one).collect()
}

/// The way back, and to the same with another base.
fn links(ticked: &[Ticked<'_>], base: Ticked<'_>, runs: &[Run]) -> Markup {
    let label = |one: &Ticked<'_>| {
        let run = runs.iter().find(|run| run.id == one.run)?;
        // Its place among those that are kept.
        let mut kept: Vec<usize> =
            ticked.iter().filter(|t| t.run == one.run).map(|t| t.system).collect();
        kept.sort_unstable();
        kept.dedup();
        let at = kept.iter().position(|&idx| idx == one.system)?;
        let label = run.systems.get(at)?.spec.label.as_str();
        Some(if runs.len() > 1 { format!("{label} of {}", run.id) } else { label.to_owned() })
    };
    let texts: Vec<String> = ticked.iter().map(|one| one.text()).collect();
    let link = |base: &str| {
        let pairs = texts.iter().map(|text| ("s", text.as_str()));
        format!("/compare?{}", query_of(pairs.chain([("base", base)])))
    };
    html! {
        nav.pages aria-label="Pages" {
            a href="/" { "All runs" }
            span { "Compare with:" }
            @for (one, text) in ticked.iter().zip(&texts) {
                @let label = label(one).unwrap_or_default();
                @if *one == base { strong { bdi { (one_line(&label)) } } }
                @else { a href=(link(text)) { bdi { (one_line(&label)) } } }
            }
            span { "Verdicts are decided among the ratios of this page; a run's report decides among all of its own." }
        }
    }
}
