//! A page of its own for the stacks of one step, with all frames: a file beside the run.

use maud::{DOCTYPE, PreEscaped, html};
use rqps_stacks::flame;

use crate::{STYLE, policy, stacks};
use rqps_analysis::Analysis;
use rqps_text::words::one_line;

/// Narrowest frames, as a share of the width: half a pixel of a wide screen, until it is zoomed in.
const LEAST_SHARE: f64 = 0.0003;

/// The page of the step at `step_at` in [`Analysis::steps`]; `None` where no stacks of it were recorded.
#[must_use]
pub fn render(analysis: &Analysis<'_>, step_at: usize) -> Option<String> {
    let found = analysis.stacks.iter().find(|stacks| stacks.step_at == step_at)?;
    let step = analysis.steps.get(step_at)?;
    let title = format!("{}: stacks of {}", one_line(&analysis.run.name), one_line(&step.title));
    let style = [STYLE, flame::STYLE].concat();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::render(&style, &[flame::SCRIPT]));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(&style)) }
            }
            body {
                header { h1 { (title) } }
                main {
                    p.hint { (rqps_report::stacks::LEGEND) }
                    (stacks::graphs(analysis, step, found, LEAST_SHARE))
                    (stacks::tables(analysis, step, found))
                    (stacks::rest(analysis, step, found))
                }
                script { (PreEscaped(flame::SCRIPT)) }
            }
        }
    };
    let mut out = page.into_string();
    out.push('\n');
    Some(out)
}
