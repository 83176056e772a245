//! A run that panics while a server is stopped: what it holds is let go as the stack unwinds.
//!
//! No input is known that brings the binary to it. The runner runs in this process instead, with a
//! listener that panics.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use rqps_runner::{Environment, Event, Listener, Nth, PlanFile, Suspension};
use rqps_server::Catalogue;
use rqps_store::Store;

use crate::bench::{Bench, assert_complete, parent, processes};
use crate::fake::{for_each_family, write_plan};
use crate::interleaved_runs::{plan, servers, stored, until};

/// What the panic says.
const WORDS: &str = "a listener panics, as the test wants it";

#[test]
#[ignore = "make test-all: takes long"]
fn a_panic_leaves_nothing_stopped_or_running() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &plan(dbms, version));
        let text = std::fs::read_to_string(bench.path("plan.toml")).unwrap();
        let id = RefCell::new(String::new());
        let mut listen = |event: Event<'_>| match event {
            Event::RunStarted { run, .. } => run.clone_into(&mut id.borrow_mut()),
            Event::Interleaved { block: Nth { idx: 1.., .. }, .. } => {
                let all = servers(&bench, &id.borrow());
                let n_stopped = all.iter().filter(|(_, is_stopped)| *is_stopped).count();
                // One that waits for storage stands still a moment later: the next look will do.
                if (all.len(), n_stopped) == (2, 1) {
                    panic!("{WORDS}");
                }
            }
            _ => {}
        };
        let carried = catch_unwind(AssertUnwindSafe(|| carry_out(&bench, &text, &mut listen)));
        let cause = carried.expect_err("it ended");
        assert_eq!(cause.downcast_ref::<String>().map(String::as_str), Some(WORDS));
        let id = id.into_inner();
        bench.await_no_process(&id);
        let me = std::process::id().cast_signed();
        until("a watchdog is left", || {
            let watchdogs = processes(|text| text.contains("watchdog"));
            watchdogs.into_iter().all(|pid| parent(pid) != Some(me))
        });
        let before = stored(&bench.latest());
        // The command itself resumes it.
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_eq!(run["id"], id.as_str());
        assert_complete(&run, 8);
        let after = stored(&run);
        assert!(!before.is_empty() && before.iter().all(|s| after.contains(s)), "a block was lost");
        bench.assert_tidy(&id);
    });
}

/// What `rqps run plan.toml` does in a bench.
fn carry_out(bench: &Bench, text: &str, listen: &mut Listener<'_>) -> anyhow::Result<()> {
    let results = bench.path("rqps-results");
    let catalogue = Arc::new(Catalogue::builtin()?);
    let plan = PlanFile::parse(text, "plan.toml")?.resolve("plan.toml", &catalogue)?;
    let context = Environment {
        results: results.clone(),
        cache: cache(),
        catalogue,
        temp: std::env::temp_dir(),
        interrupt: Arc::default(),
        stopped_by: Arc::default(),
        command_line: ["rqps", "run", "plan.toml"].map(str::to_owned).to_vec(),
        rqps_version: env!("CARGO_PKG_VERSION").to_owned(),
        new_run: false,
        allow_settings: false,
        suspension: Suspension::default(),
        variables: |_| None,
        drawn_seed: 1,
        watchdog: vec![env!("CARGO_BIN_EXE_rqps").into(), "watchdog".into()],
        trial: rqps_server::Trial::default(),
        templates: None,
        patience: rqps_server::Patience::default(),
        wait_for_quiet: None,
    };
    let store = Store::open(&results)?;
    let (plan, _) = rqps_runner::on_this_host(plan, &store, &context, listen)?;
    let mut listen = |event: Event<'_>| listen(event);
    rqps_runner::run(&plan, &store, &context, &mut listen)?;
    Ok(())
}

/// Where the binary keeps servers.
#[expect(clippy::disallowed_methods, reason = "what the binary reads of the environment")]
fn cache() -> PathBuf {
    let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let set = set.filter(|dir| dir.is_absolute());
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    set.unwrap_or_else(home).join("rqps")
}
