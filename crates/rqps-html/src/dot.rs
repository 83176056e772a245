//! The marks of the systems in a chart: each has a shape of its own, whatever colours its reader tells apart.

use maud::{Markup, html};

/// How many shapes there are.
const SHAPES: usize = 8;

/// An upright cross.
const CROSS: &str = "M-1.5,-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5V-1.5H-1.5Z";

/// The mark of a chart's system `lane`, around (0, 0); from the ninth on shapes begin anew.
pub(crate) fn dot(lane: usize) -> Markup {
    html! {
        @match lane % SHAPES {
            0 => { circle r="4.5" {} }
            1 => { rect x="-4" y="-4" width="8" height="8" {} }
            2 => { path d="M0,-5.5L5.5,0L0,5.5L-5.5,0Z" {} }
            3 => { path d="M0,-5L5,4H-5Z" {} }
            4 => { path d="M0,5L5,-4H-5Z" {} }
            5 => { path d=(CROSS) {} }
            6 => { path d=(CROSS) transform="rotate(45)" {} }
            // Two triangles that meet.
            _ => { path d="M-5,-5V5L5,-5V5Z" {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use rqps_text::values::MANY;

    /// Systems that share rows of a chart are told apart without any colour.
    #[test]
    fn shapes_are_enough_for_a_chart_without_names() {
        let shapes: BTreeSet<String> = (0..MANY).map(|lane| dot(lane).into_string()).collect();
        assert_eq!(shapes.len(), MANY);
        assert_eq!(dot(0).into_string(), dot(SHAPES).into_string());
    }
}
