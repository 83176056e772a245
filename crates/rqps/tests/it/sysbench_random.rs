//! Random numbers of `rqps sysbench` beside those that the real sysbench draws.

use std::process::Command;

use crate::bench::Bench;
use crate::sysbench_sandbox::has_sysbench;

#[test]
fn unique_numbers_of_0_5_are_unique_in_their_range() {
    let script = "function event() end\nfunction prepare()\n  for _, high in ipairs { 10, 1000000000 } do\n    \
                  local seen, n = {}, 0\n    for i = 1, math.min(high, 100000) do\n      local v = sb_rand_uniq(1, high)\n      \
                  assert(v >= 1 and v <= high)\n      if not seen[v] then n = n + 1 end\n      seen[v] = true\n    end\n    \
                  print(n)\n  end\nend\n";
    let bench = Bench::new();
    bench.write("unique.lua", script);
    let said = bench.run(&["sysbench", "./unique.lua", "--verbosity=1", "prepare"]);
    assert_eq!(said.stdout, "10\n100000\n");
}

#[test]
fn ranges_of_unique_numbers_do_not_disturb_each_other() {
    let script = "function event() end\nfunction prepare()\n  local seen, n = {}, 0\n  for i = 1, 1000 do\n    \
                  local v = sb_rand_uniq(1, 1000)\n    sb_rand_uniq(1, 100000)\n    sb_rand_uniq(2, 1001)\n    \
                  if not seen[v] then n = n + 1 end\n    seen[v] = true\n  end\n  print(n)\nend\n";
    let bench = Bench::new();
    bench.write("unique.lua", script);
    let said = bench.run(&["sysbench", "./unique.lua", "--verbosity=1", "prepare"]);
    assert_eq!(said.stdout, "1000\n");
}

/// Prints the share of draws of each value of a small range, in thousandths.
const HISTOGRAM: &str = "sysbench.cmdline.options = { kind = { 'distribution', 'special' }, high = { 'range', 10 } }\n\
                         function event() end\nfunction prepare()\n  local o, counts = sysbench.opt, {}\n  \
                         local n = 200000\n  for i = 1, n do\n    local v = tonumber(sysbench.rand[o.kind](1, o.high))\n    \
                         counts[v] = (counts[v] or 0) + 1\n  end\n  for v = 1, o.high do io.write(math.floor((counts[v] or 0) \
                         * 1000 / n + 0.5), ' ') end\nend\n";

#[test]
fn distributions_are_those_that_the_real_sysbench_draws() {
    if !has_sysbench() {
        return;
    }
    let bench = Bench::new();
    bench.write("draw.lua", HISTOGRAM);
    for args in [
        "--kind=special",
        "--kind=default",
        "--kind=default --rand-type=gaussian",
        "--kind=default --rand-type=pareto --rand-pareto-h=0.4",
        "--high=3",
        "--high=20 --rand-spec-pct=50 --rand-spec-res=75",
        "--high=20 --rand-spec-pct=30 --rand-spec-res=99",
        "--high=20 --rand-spec-res=0 --rand-spec-iter=3",
        "--kind=uniform",
        "--kind=gaussian",
        "--kind=gaussian --rand-spec-iter=2",
        "--kind=pareto",
    ] {
        let mut words = vec!["sysbench", "./draw.lua", "--verbosity=1"];
        words.extend(args.split_whitespace());
        words.push("prepare");
        let ours = bench.run(&words).stdout;
        let mut command = Command::new("sysbench");
        let theirs = command.current_dir(bench.dir()).args(&words[1..]).output().unwrap();
        let theirs = String::from_utf8(theirs.stdout).unwrap();
        let shares = |text: &str| -> Vec<i64> {
            text.split_whitespace().map(|share| share.parse().unwrap()).collect()
        };
        let (ours, theirs) = (shares(&ours), shares(&theirs));
        assert_eq!(ours.len(), theirs.len(), "{args}");
        // Five standard deviations of the greatest share are 6 thousandths, and both are random.
        let are_near = ours.iter().zip(&theirs).all(|(ours, theirs)| (ours - theirs).abs() <= 8);
        assert!(are_near, "{args}:\n{ours:?}\n{theirs:?}");
    }
}
