//! Vector search on real servers: recall from the answers, and candidates at equal recall.

use serde_json::Value;

use crate::bench::Bench;

/// Systems of a plan, and a suite of a thousand vectors.
fn plan(systems: &str, suite: &str) -> String {
    format!(
        "name = 'vectors'\n{systems}\n[[suite]]\nkind = 'vector'\nsize = 'tiny'\nvectors = 1000\n\
         dimension = 24\nqueries = 100\nm = [4]\nef_search = [10, 100]\n\
         seconds = {{ read = 0.3, warm_up = 0.05 }}\n{suite}\n[schedule]\nstarts = 1\nslices = 2\n"
    )
}

const PGVECTOR: &str = "[[system]]\ndbms = 'postgres'\nversion = '18.6'\nbuild = 'pypi'\n";

const MARIADB: &str = "[[system]]\ndbms = 'mariadb'\nversion = '11.8.9'\n";

/// The mean recall of a step on a system.
fn recall(run: &Value, step: &str, system: usize) -> f64 {
    let steps = run["steps"].as_array().unwrap();
    let step = steps.iter().find(|own| own["info"]["name"] == step).unwrap();
    step["systems"][system]["recalls"]["0"]["mean"].as_f64().unwrap()
}

#[test]
#[ignore = "make test-all: real servers"]
fn searches_have_a_recall_and_are_compared_at_equal_recall() {
    let bench = Bench::new();
    let base = format!("{PGVECTOR}label = 'a'\n");
    let systems = format!("{base}{}{MARIADB}", base.replace("'a'", "'b'"));
    bench.write("plan.toml", &plan(&systems, ""));
    let said = bench.run(&["run", "plan.toml", "--allow-busy-host"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    for system in 0..3 {
        // All distances are computed.
        let exact = recall(&run, "search.exact", system);
        assert!((exact - 1.0).abs() < 1e-9, "{exact}");
        let [few, many] =
            ["ef=10", "ef=100"].map(|ef| recall(&run, &format!("search.m=4.{ef}"), system));
        assert!(few < many && many > 0.9, "{system}: {few}, {many}");
    }
    let report = bench.output(&["report", "--summary"]);
    for told in
        ["At equal recall: 10 nearest vectors, 100 queries, 1 client", "Best QPS at a recall"]
    {
        assert!(report.contains(told), "{report}");
    }
    let page = std::fs::read_to_string(
        bench.path(&format!("rqps-results/{}.html", run["id"].as_str().unwrap())),
    );
    assert!(page.unwrap().contains("QPS against recall of 3 systems"));
}

#[test]
#[ignore = "make test-all: real servers"]
fn lists_are_searched_by_cosine() {
    let bench = Bench::new();
    bench
        .write("plan.toml", &plan(PGVECTOR, "distance = 'cosine'\nlists = [10]\nprobes = [1, 10]"));
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    let all = recall(&run, "search.lists=10.probes=10", 0);
    let one = recall(&run, "search.lists=10.probes=1", 0);
    assert!(one < all && (all - 1.0).abs() < 1e-9, "{one}, {all}");
}

#[test]
fn what_a_server_cannot_do_is_refused_before_anything_is_fetched() {
    let bench = Bench::new();
    let mysql = "[[system]]\ndbms = 'mysql'\nversion = '9.7.4'\n";
    for (systems, suite, said) in [
        (mysql, "", "mysql has no index of vectors; measure MariaDB since 11.8"),
        (MARIADB, "distance = 'inner-product'", "mariadb has no distance inner-product"),
        (MARIADB, "lists = [10]", "mariadb has no IVFFlat index; leave lists out"),
        (PGVECTOR, "distance = 'manhattan'", "manhattan"),
        (PGVECTOR, "k = 0", "k = 0; give 1 to 1000"),
        (PGVECTOR, "rows = 5", "the suite \"vector\" has no key rows"),
        (PGVECTOR, "probes = [5]", "probes has no index; write lists"),
        (PGVECTOR, "query_data = 'x.fvecs'", "name the file of the vectors with data"),
        (PGVECTOR, "reuse_tables = true", "the suite \"vector\" has no key reuse_tables"),
    ] {
        bench.write("plan.toml", &plan(systems, suite));
        let refused = bench.run(&["run", "plan.toml"]);
        assert_eq!(refused.code(), 2, "{suite}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{suite}: {}", refused.stderr);
    }
}
