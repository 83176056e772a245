//! `--charts DIR`: a run's charts as SVG files.

use std::path::Path;

use anyhow::{Context as _, Result};
use rqps_report::Analysis;

use crate::complain;
use crate::output::print;

/// Writes the charts into `dir`, which is made where it is missing.
pub(crate) fn write(analysis: &Analysis<'_>, dir: &Path) -> Result<()> {
    let charts = rqps_report::charts::render(analysis);
    if charts.is_empty() {
        complain("no chart: no step has a ratio");
        return Ok(());
    }
    std::fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    for chart in &charts {
        save(&dir.join(format!("{}.svg", chart.name)), chart.svg.as_bytes())?;
    }
    Ok(())
}

fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))?;
    print(&format!("wrote {}\n", path.display()))
}
