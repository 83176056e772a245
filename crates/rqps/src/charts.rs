//! `--charts DIR`: a run's charts as SVG files, and as PNG where this host has a font to write with.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use rqps_report::Analysis;

use crate::complain;
use crate::output::say;

/// Pixels of a PNG for one of the SVG: sharp on dense screens.
const SCALE: f32 = 2.0;

/// Writes the charts into `dir`, which is made where it is missing.
pub(crate) fn write(analysis: &Analysis<'_>, dir: &Path) -> Result<()> {
    let charts = rqps_report::charts::render(analysis);
    if charts.is_empty() {
        complain("no chart: no step has a ratio");
        return Ok(());
    }
    std::fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let has_font = !fonts.is_empty();
    if !has_font {
        complain("no PNG: this host has no font; the SVG files are complete");
    }
    let fonts = Arc::new(fonts);
    for chart in &charts {
        let path = dir.join(format!("{}.svg", chart.name));
        save(&path, chart.svg.as_bytes())?;
        if has_font {
            let png = png(&chart.svg, &fonts).with_context(|| format!("draw {}", chart.name))?;
            save(&path.with_extension("png"), &png)?;
        }
    }
    Ok(())
}

fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))?;
    say(&format!("wrote {}\n", path.display()))
}

fn png(svg: &str, fonts: &Arc<Database>) -> Result<Vec<u8>> {
    // The family that stands for all that are not there: the first of this host.
    let family = fonts.faces().find_map(|face| Some(face.families.first()?.0.clone()));
    let options = Options {
        font_family: family.unwrap_or_default(),
        fontdb: Arc::clone(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).context("read the chart")?;
    let size = tree.size().to_int_size().scale_by(SCALE).context("scale the chart")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).context("make room for the chart")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().context("write the PNG")
}
