//! SVG charts drawn as PNG.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Pixels of a PNG for one of the SVG: sharp on dense screens.
const SCALE: f32 = 2.0;

/// Draws with the fonts of this host.
pub(super) struct Painter {
    fonts: Arc<Database>,
    /// The family that stands for all that are not there: the first of this host.
    family: String,
}

impl Painter {
    /// `None` where the host has no font.
    pub(super) fn of_host() -> Option<Self> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let family = fonts.faces().find_map(|face| Some(face.families.first()?.0.clone()))?;
        Some(Self { fonts: Arc::new(fonts), family })
    }

    pub(super) fn paint(&self, svg: &str) -> Result<Vec<u8>> {
        let options = Options {
            font_family: self.family.clone(),
            fontdb: Arc::clone(&self.fonts),
            ..Options::default()
        };
        let tree = Tree::from_str(svg, &options).context("read the chart")?;
        let size = tree.size().to_int_size().scale_by(SCALE).context("scale the chart")?;
        let mut pixels =
            Pixmap::new(size.width(), size.height()).context("make room for the chart")?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().context("write the PNG")
    }
}
