//! `--charts DIR`: a run's charts as SVG files, and as PNG where this build and this host can draw them.

#[cfg(feature = "png")]
mod png;

use std::path::Path;

use anyhow::{Context as _, Result};
use rqps_analysis::Analysis;

use crate::complain;
use crate::output::say;

/// Writes the charts into `dir`, which is made where it is missing.
pub(crate) fn write(analysis: &Analysis<'_>, dir: &Path) -> Result<()> {
    let charts = rqps_html::charts::render(analysis);
    if charts.is_empty() {
        complain("no chart: no step has a ratio");
        return Ok(());
    }
    std::fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    #[cfg(feature = "png")]
    let painter = png::Painter::of_host();
    #[cfg(feature = "png")]
    if painter.is_none() {
        complain("no PNG: this host has no font; the SVG files are complete");
    }
    #[cfg(not(feature = "png"))]
    complain(
        "no PNG: this build has no PNG support (`make dist` adds it); the SVG files are complete",
    );
    for chart in &charts {
        let path = dir.join(format!("{}.svg", chart.name));
        save(&path, chart.svg.as_bytes())?;
        #[cfg(feature = "png")]
        if let Some(painter) = &painter {
            let png = painter.paint(&chart.svg).with_context(|| format!("draw {}", chart.name))?;
            save(&path.with_extension("png"), &png)?;
        }
    }
    Ok(())
}

fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))?;
    say(&format!("wrote {}\n", path.display()))
}
