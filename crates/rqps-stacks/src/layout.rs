//! Where the frames of a flame graph go, and what each has: the numbers behind the picture.
//!
//! A graph of one system is as wide as its CPU time per operation. A differential one shows both sides
//! at once: a frame is as wide as the longer of its own two times and all that it calls together. What
//! the candidate no longer calls keeps its width, and what only it calls has its own; a frame and what
//! it calls never overlap. The whole is therefore at least as wide as the longer of the two totals.

use std::collections::HashMap;

use crate::function::{Change, Presence};
use crate::tree::CallTree;

/// Deepest row that is drawn: no server's stacks come near it.
const MAX_DEPTH: usize = 250;

/// A frame of a flame graph. Times are µs per operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// Its row, 0 for the whole.
    pub depth: usize,
    /// Where it begins.
    pub x_us: f64,
    /// How wide it is.
    pub width_us: f64,
    /// Its own time.
    pub own: Change,
    /// Its inclusive time.
    pub all: Change,
    /// Whether only one side has the function.
    pub presence: Presence,
}

/// Which functions one side alone has, wherever they are called from: a frame that was moved is not new.
fn presences(tree: &CallTree) -> HashMap<&str, Presence> {
    let mut counts: HashMap<&str, [u64; 2]> = HashMap::new();
    for (idx, node) in tree.nodes().iter().enumerate() {
        // The samples of a function that calls itself are those of its outermost call.
        if has_caller_of_its_name(tree, idx) {
            continue;
        }
        let [base, candidate] = counts.entry(node.name.as_str()).or_default();
        *base = base.saturating_add(node.all[0]);
        *candidate = candidate.saturating_add(node.all[1]);
    }
    counts.into_iter().map(|(name, counts)| (name, Presence::of(counts))).collect()
}

fn has_caller_of_its_name(tree: &CallTree, idx: usize) -> bool {
    let nodes = tree.nodes();
    let mut at = idx;
    // The root, which is its own caller, stands for no function.
    while nodes[at].parent != 0 {
        at = nodes[at].parent;
        if nodes[at].name == nodes[idx].name {
            return true;
        }
    }
    false
}

/// The frames that are at least `least_share` of the whole wide, callers before what they call.
#[must_use]
pub fn layout(tree: &CallTree, us_per_sample: [f64; 2], least_share: f64) -> Vec<Frame> {
    let nodes = tree.nodes();
    let presences = presences(tree);
    let own_us = |idx: usize| {
        let [base, candidate] =
            [0, 1].map(|side| nodes[idx].own[side] as f64 * us_per_sample[side]);
        base.max(candidate)
    };
    let mut widths: Vec<f64> = (0..nodes.len()).map(own_us).collect();
    // What is called has a higher index than its caller.
    for idx in (1..nodes.len()).rev() {
        widths[nodes[idx].parent] += widths[idx];
    }
    let total_us = widths[0];
    let mut starts: Vec<Option<f64>> = vec![None; nodes.len()];
    starts[0] = Some(0.0);
    let mut frames = Vec::new();
    for (idx, node) in nodes.iter().enumerate() {
        let is_drawn = total_us > 0.0 && widths[idx] >= least_share * total_us;
        let Some(x_us) = starts[idx].filter(|_| is_drawn && node.depth <= MAX_DEPTH) else {
            continue;
        };
        let mut next = x_us;
        for &child in &node.children {
            starts[child] = Some(next);
            next += widths[child];
        }
        frames.push(Frame {
            name: node.name.clone(),
            depth: node.depth,
            x_us,
            width_us: widths[idx],
            own: Change::of(node.own, us_per_sample),
            all: Change::of(node.all, us_per_sample),
            presence: presences.get(node.name.as_str()).copied().unwrap_or(Presence::Both),
        });
    }
    frames
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::Stacks;

    fn rows(frames: &[Frame]) -> String {
        let row = |f: &Frame| {
            let row = format!(
                "{:<7}row {} from {:>4.1} width {:>4.1}: own {:.1} -> {:.1}, all {:.1} -> {:.1} ({:+.1}) {}",
                f.name,
                f.depth,
                f.x_us,
                f.width_us,
                f.own.base_us,
                f.own.candidate_us,
                f.all.base_us,
                f.all.candidate_us,
                f.all.difference_us(),
                f.presence.word(),
            );
            format!("{}\n", row.trim_end())
        };
        frames.iter().map(row).collect()
    }

    /// By hand, in µs. A sample is 0.1 µs of the base and 0.2 µs of the candidate; a frame is as wide as
    /// the longer of its own two times and all that it calls.
    ///
    /// ```text
    ///               base           candidate       inclusive
    ///            own  inclusive   own  inclusive   difference   width
    /// main         1         10     0         20          +10   1 + 2 + 18 + 4 = 25
    ///   cache      2          2     -          -           -2   2, vanished
    ///   parse      0          7     0         16           +9   0 + 6 + 4 + 8 = 18
    ///     check    -          -     6          6           +6   6, new
    ///     lex      4          4     2          2           -2   4
    ///     tree     3          3     6          8           +5   6 + 2 = 8
    ///       copy   -          -     2          2           +2   2, new
    ///   send       -          -     4          4           +4   4, new
    /// ```
    #[test]
    fn a_differential_graph_equals_the_one_made_by_hand() {
        let base = "main 10\nmain;parse;lex 40\nmain;parse;tree 30\nmain;cache 20\n";
        let candidate = "main;parse;lex 10\nmain;parse;tree 30\nmain;parse;tree;copy 10\n\
                         main;parse;check 30\nmain;send 20\n";
        let (base, candidate) = (Stacks::parse(base).unwrap(), Stacks::parse(candidate).unwrap());
        let tree = CallTree::of_pair(&base, &candidate);
        expect![[r#"
            all    row 0 from  0.0 width 25.0: own 0.0 -> 0.0, all 10.0 -> 20.0 (+10.0)
            main   row 1 from  0.0 width 25.0: own 1.0 -> 0.0, all 10.0 -> 20.0 (+10.0)
            cache  row 2 from  0.0 width  2.0: own 2.0 -> 0.0, all 2.0 -> 0.0 (-2.0) vanished
            parse  row 2 from  2.0 width 18.0: own 0.0 -> 0.0, all 7.0 -> 16.0 (+9.0)
            lex    row 3 from  8.0 width  4.0: own 4.0 -> 2.0, all 4.0 -> 2.0 (-2.0)
            tree   row 3 from 12.0 width  8.0: own 3.0 -> 6.0, all 3.0 -> 8.0 (+5.0)
            check  row 3 from  2.0 width  6.0: own 0.0 -> 6.0, all 0.0 -> 6.0 (+6.0) new
            copy   row 4 from 12.0 width  2.0: own 0.0 -> 2.0, all 0.0 -> 2.0 (+2.0) new
            send   row 2 from 20.0 width  4.0: own 0.0 -> 4.0, all 0.0 -> 4.0 (+4.0) new
        "#]]
        .assert_eq(&rows(&layout(&tree, [0.1, 0.2], 0.0)));
    }

    /// f is in 4 samples of the candidate, three times in each: too few to call it new.
    #[test]
    fn graph_and_table_agree_on_a_function_that_calls_itself() {
        let base = Stacks::parse("main;g 10\n").unwrap();
        let candidate = Stacks::parse("main;f;f;g;f 4\nmain;h;h 6\n").unwrap();
        let frames = layout(&CallTree::of_pair(&base, &candidate), [1.0, 1.0], 0.0);
        let sampled = |stacks| crate::Sampled { stacks, us_per_sample: 1.0 };
        let table = crate::function::changes(&sampled(&base), &sampled(&candidate));
        for frame in frames.iter().filter(|frame| frame.depth > 0) {
            let row = table.iter().find(|row| row.name == frame.name).unwrap();
            assert_eq!(row.presence, frame.presence, "{}", frame.name);
        }
        let of = |name: &str| frames.iter().find(|f| f.name == name).unwrap().presence;
        assert_eq!((of("f"), of("h")), (Presence::Both, Presence::New));
    }

    #[test]
    fn one_system_is_as_wide_as_its_time() {
        let stacks = Stacks::parse("main;a 30\nmain;b 69\nmain;c 1\n").unwrap();
        let frames = layout(&CallTree::of(&stacks), [0.5, 0.0], 0.02);
        let shown: Vec<_> = frames.iter().map(|f| (f.name.as_str(), f.x_us, f.width_us)).collect();
        // c is 1% of the whole.
        let expected =
            [("all", 0.0, 50.0), ("main", 0.0, 50.0), ("a", 0.0, 15.0), ("b", 15.0, 34.5)];
        assert_eq!(shown, expected);
    }

    #[test]
    fn very_deep_stacks_and_none_at_all_are_drawn() {
        let deep = vec!["f"; 100_000].join(";");
        let stacks = Stacks::parse(&format!("{deep} 1\n")).unwrap();
        let frames = layout(&CallTree::of(&stacks), [1.0, 0.0], 0.0);
        assert_eq!(frames.len(), MAX_DEPTH + 1);
        assert!(layout(&CallTree::of(&Stacks::default()), [1.0, 1.0], 0.0).is_empty());
    }

    proptest! {
        /// No frame leaves its caller, none lies over its neighbour, and no side is wider than its frame.
        #[test]
        fn frames_fit(a in "([a-c](;[a-c]){0,3} [1-9]\n){0,8}", b in "([a-c](;[a-c]){0,3} [1-9]\n){1,8}") {
            let (a, b) = (Stacks::parse(&a).unwrap(), Stacks::parse(&b).unwrap());
            let frames = layout(&CallTree::of_pair(&a, &b), [0.5, 0.75], 0.0);
            for frame in &frames {
                let longer = frame.all.base_us.max(frame.all.candidate_us);
                prop_assert!(longer <= frame.width_us + 1e-9, "{frame:?}");
                if frame.depth > 0 {
                    let end = frame.x_us + frame.width_us;
                    let callers = frames.iter().filter(|f| f.depth + 1 == frame.depth);
                    let holds = |f: &Frame| f.x_us <= frame.x_us + 1e-9 && end <= f.x_us + f.width_us + 1e-9;
                    prop_assert_eq!(callers.filter(|f| holds(f)).count(), 1);
                }
            }
        }
    }
}
