//! Stacks of one system, or of two, as one tree of calls: what each frame has of its own and in all.
//!
//! Stacks of two systems are laid over one another frame by frame from the outermost on. The samples
//! of a frame *in all* are those of every stack that passes through it, on each side by itself: so the
//! difference of an inner frame is that of everything below it.

use std::collections::HashMap;

use crate::Stacks;

/// A frame of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The frame that calls it; its own index for the root.
    pub parent: usize,
    /// Frames from the root.
    pub depth: usize,
    /// Samples with it as the innermost frame: base, candidate.
    pub own: [u64; 2],
    /// Samples of all stacks through it: base, candidate.
    pub all: [u64; 2],
    /// The frames that it calls, by name.
    pub children: Vec<usize>,
}

/// A tree of calls. A caller's index is below those of all that it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTree {
    nodes: Vec<Node>,
}

impl CallTree {
    /// Of one system: its samples are those of the base.
    #[must_use]
    pub fn of(stacks: &Stacks) -> Self {
        Self::of_sides(&[stacks])
    }

    /// Of a base and a candidate.
    #[must_use]
    pub fn of_pair(base: &Stacks, candidate: &Stacks) -> Self {
        Self::of_sides(&[base, candidate])
    }

    fn of_sides(sides: &[&Stacks]) -> Self {
        let root = Node {
            name: "all".to_owned(),
            parent: 0,
            depth: 0,
            own: [0; 2],
            all: [0; 2],
            children: Vec::new(),
        };
        let mut nodes = vec![root];
        let mut known: HashMap<(usize, &str), usize> = HashMap::new();
        for (side, stacks) in sides.iter().enumerate().take(2) {
            for (frames, n) in stacks.iter() {
                let mut at = 0;
                nodes[at].all[side] = nodes[at].all[side].saturating_add(n);
                for name in frames {
                    let next = *known.entry((at, name)).or_insert_with(|| {
                        let depth = nodes[at].depth + 1;
                        let name = name.to_owned();
                        let (own, all) = ([0; 2], [0; 2]);
                        nodes.push(Node {
                            name,
                            parent: at,
                            depth,
                            own,
                            all,
                            children: Vec::new(),
                        });
                        nodes.len() - 1
                    });
                    at = next;
                    nodes[at].all[side] = nodes[at].all[side].saturating_add(n);
                }
                nodes[at].own[side] = nodes[at].own[side].saturating_add(n);
            }
        }
        for idx in 1..nodes.len() {
            let parent = nodes[idx].parent;
            nodes[parent].children.push(idx);
        }
        // By name, so that the same frames are at the same place whatever was seen first.
        for idx in 0..nodes.len() {
            let mut children = std::mem::take(&mut nodes[idx].children);
            children.sort_by(|a, b| nodes[*a].name.cmp(&nodes[*b].name));
            nodes[idx].children = children;
        }
        Self { nodes }
    }

    /// All frames, the root first, callers before what they call.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_frames_have_all_that_is_below_them_on_each_side() {
        let base = Stacks::parse("main;a;x 40\nmain;a 5\nmain;b 20\n").unwrap();
        let candidate = Stacks::parse("main;a;x 10\nmain;a;y 50\nmain;c 1\n").unwrap();
        let tree = CallTree::of_pair(&base, &candidate);
        let rows: Vec<String> = tree
            .nodes()
            .iter()
            .map(|n| format!("{} {} {:?} {:?}", n.depth, n.name, n.own, n.all))
            .collect();
        let expected = [
            "0 all [0, 0] [65, 61]",
            "1 main [0, 0] [65, 61]",
            "2 a [5, 0] [45, 60]",
            "3 x [40, 10] [40, 10]",
            "2 b [20, 0] [20, 0]",
            "3 y [0, 50] [0, 50]",
            "2 c [0, 1] [0, 1]",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn counts_beyond_all_numbers_stay_at_the_largest() {
        let stacks = Stacks::parse(&format!("a;b {0}\na;c {0}\nb {0}\n", u64::MAX)).unwrap();
        let tree = CallTree::of(&stacks);
        assert!(tree.nodes()[..2].iter().all(|node| node.all[0] == u64::MAX));
        let sampled = crate::Sampled { stacks: &stacks, us_per_sample: 1.0 };
        let times = crate::function::times(&sampled);
        assert!(times.iter().all(|time| time.all_us >= u64::MAX as f64));
    }

    #[test]
    fn no_stack_is_a_root_alone() {
        let tree = CallTree::of(&Stacks::default());
        assert_eq!((tree.nodes().len(), tree.nodes()[0].all), (1, [0, 0]));
    }
}
