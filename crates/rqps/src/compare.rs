//! `rqps compare`: systems of several runs in one report.

use anyhow::{Result, bail};
use rqps_analysis::{Analysis, Joined};
use rqps_report::TextOptions;
use rqps_store::{RunRef, Store};

use crate::Surroundings;
use crate::args::{CompareArgs, Format};
use crate::opened::Opened;
use crate::output::{text_width, write};
use crate::report::{detail_of, judging_of, render_analysis, write_tables};

/// Carries out `rqps compare ...`.
pub(crate) fn run(args: &CompareArgs, around: &Surroundings) -> Result<()> {
    let judging = judging_of(&args.judging)?;
    let format = Format::of(args.format, args.output.as_deref())?;
    let detail = detail_of(format, args.summary, args.full)?;
    let select = |run: &String| {
        let opened = Opened::of(run, around)?;
        let selected = opened.store().select_run(opened.run())?;
        around.go_on()?;
        Ok(selected)
    };
    let runs = args.runs.iter().map(select).collect::<Result<Vec<_>>>()?;
    if format == Format::Text {
        if args.base.is_some() {
            bail!(
                "--base cannot be used with --format text: each run is relative to its own base; leave \
                 out --base, or choose another format"
            );
        }
        return write_tables(&runs, judging, args.output.as_deref());
    }
    let base = args.base.as_deref().map(|base| with_id(base, around)).transpose()?;
    let joined = Joined::of(runs, base.as_deref(), &around.command_line)?;
    let analysis = Analysis::of_joined(&joined, judging);
    if let Some(dir) = &args.charts {
        return crate::charts::write(&analysis, dir);
    }
    let colour = around.colour && args.output.is_none();
    let options = TextOptions { colour, detail, width: text_width() };
    let text = render_analysis(&analysis, format, options);
    around.go_on()?;
    write(args.output.as_deref(), &text)
}

/// `latest:LABEL` with the run's id; anything else as it is.
fn with_id(base: &str, around: &Surroundings) -> Result<String> {
    let Some(label) = base.strip_prefix("latest:") else { return Ok(base.to_owned()) };
    let store = Store::open_existing(&around.results)?;
    Ok(format!("{}:{label}", store.resolve(&RunRef::Latest)?))
}
