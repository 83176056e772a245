//! Plans that name servers by their address.

use rqps_model::Transport;

use super::*;

fn plan(text: &str) -> Plan {
    PlanFile::parse(text, "test")
        .unwrap()
        .resolve("test", &rqps_server::Catalogue::builtin().unwrap())
        .unwrap()
}

#[test]
fn a_server_given_by_address_is_reached_as_the_address_says() {
    for (dsn, transport) in [
        ("postgres://u@h/db", Transport::Tcp),
        ("mysql://u@h/db?tls=required", Transport::Tls),
        ("mysql://u@/db?socket=/s", Transport::Socket),
    ] {
        let plan = plan(&format!("[[system]]\ndsn = {dsn:?}\n"));
        assert_eq!(plan.systems[0].transport, transport, "{dsn}");
        // What is stored says the same when it is read again.
        let again = PlanFile::parse(&plan.to_toml(), "test")
            .unwrap()
            .resolve("test", &rqps_server::Catalogue::builtin().unwrap())
            .unwrap();
        assert_eq!(again.systems, plan.systems);
    }
}

#[test]
fn statements_after_the_load_are_the_systems_own_and_need_tables() {
    let text = "[[system]]\ndbms = 'mariadb'\nversion = '10.11.5'\n\
                sql_after_load = ['ALTER TABLE sbtest1 DROP INDEX k_1']\n";
    let altered = plan(text);
    assert_eq!(altered.systems[0].variant.sql_after_load, ["ALTER TABLE sbtest1 DROP INDEX k_1"]);
    assert_eq!(altered.systems[0].label.as_str(), "ma101105.small-altered");
    assert_eq!(plan(&altered.to_toml()).systems, altered.systems);
    let refused = |text: &str| {
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        PlanFile::parse(text, "test").unwrap().resolve("test", &catalogue).unwrap_err().to_string()
    };
    let insert = refused(&format!("{text}[[suite]]\nkind = 'insert'\n"));
    assert!(insert.contains("step by step"), "{insert}");
    assert!(refused(&text.replace("ALTER TABLE sbtest1 DROP INDEX k_1", " ")).contains("empty"));
    let null = "[[system]]\ndbms = 'null'\nsql_after_load = ['x']\n";
    assert!(refused(null).contains("has no sql_after_load"), "{}", refused(null));
}

#[test]
fn servers_given_by_address_get_labels_of_their_own() {
    let plan = plan(
        "[[system]]\ndsn = 'mysql://u:a@h/x'\n[[system]]\ndsn = 'mysql://u:b@h/y'\n\
         [[system]]\ndsn = 'postgres://u@h/z'\n",
    );
    let labels: Vec<&str> = plan.systems.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels, ["my-external", "my-external-2", "pg-external"]);
    assert!(plan.dsns[&plan.systems[1].label].contains(":b@"));
}

fn refusal(text: &str) -> String {
    let catalogue = rqps_server::Catalogue::builtin().unwrap();
    PlanFile::parse(text, "test").unwrap().resolve("test", &catalogue).unwrap_err().to_string()
}

#[test]
fn a_value_of_another_kind_is_told_with_those_that_are_taken() {
    let text = "[[system]]\ndbms = 'mysql'\nversion = '8.0.33'\noptions = { log_bin = ['a'] }\n";
    let told = |text: &str| PlanFile::parse(text, "plan.toml").unwrap_err().to_string();
    let error = told(text);
    assert!(error.contains("an option takes a text, a number, true or false"), "{error}");
    let error = told("profile = 3\n");
    assert!(error.contains("profile takes true, false or a table"), "{error}");
}

#[test]
fn a_injected_slowdown_that_would_be_none_is_refused() {
    let of = |value: &str| {
        format!("[[system]]\ndbms = 'postgres'\nversion = '17.4'\ninjected_slowdown = {value}\n")
    };
    for value in ["0.004", "0.0099", "-1", "50.1", "nan"] {
        let error = refusal(&of(value));
        assert!(error.contains("is out of range; write percent from 0.01 to 50"), "{error}");
    }
    for (value, bp) in [("0", 0), ("0.01", 1), ("5", 500), ("50", 5000)] {
        assert_eq!(plan(&of(value)).systems[0].variant.injected_slowdown_bp, bp);
    }
    let error = refusal("[[system]]\ndbms = 'null'\ninjected_slowdown = 5\n");
    let words =
        "dbms \"null\" is a part of rqps and has no injected_slowdown; leave out injected_slowdown";
    assert!(error.contains(words), "{error}");
}

#[test]
fn precision_is_refused_where_no_step_could_end_by_it() {
    let of = |suites: &str| {
        let pg = "[[system]]\ndbms = 'postgres'\nversion = '17.4'\n";
        format!("{pg}{pg}label = 'b'\n{suites}[schedule]\nprecision = '1%'\n")
    };
    let insert = "[[suite]]\nname = 'i'\nkind = 'insert'\n";
    let error = refusal(&of(insert));
    assert!(error.contains("no step of the Insert Benchmark can end early"), "{error}");
    assert!(plan(&of(&format!("{insert}[[suite]]\n"))).schedule.half_width().is_some());
}

#[test]
fn audits_warn_unless_a_plan_is_strict() {
    let text =
        |audit: &str| format!("{audit}\n[[system]]\ndbms = \"postgres\"\nversion = \"17.4\"\n");
    let usual = plan(&text(""));
    assert_eq!(usual.audit, AuditRule::Warn);
    // Unwritten, so that plans of older runs can still be resumed.
    assert!(!usual.to_toml().contains("audit"), "{}", usual.to_toml());
    let strict = plan(&text("audit = \"strict\""));
    assert_eq!(strict.audit, AuditRule::Strict);
    assert_eq!(plan(&strict.to_toml()).audit, AuditRule::Strict);
    let file = PlanFile::parse(&text("audit = \"lax\""), "test").unwrap();
    let error = file.resolve("test", &Catalogue::builtin().unwrap()).unwrap_err().to_string();
    assert_eq!(error, "test: unknown audit \"lax\" (known: warn, strict); write one of them");
}

#[test]
fn a_single_bracket_is_told_what_to_write() {
    for (text, wanted) in [
        ("[system]\ndbms = 'null'\n", "expected tables [[system]]"),
        ("[[system]]\ndbms = 'null'\n[suite]\nrows = 1000\n", "expected tables [[suite]]"),
        ("[[system]]\ndbms = 'null'\n[[suite]]\nrows = []\n", "rows"),
    ] {
        let said = PlanFile::parse(text, "test").unwrap_err().to_string();
        assert!(said.contains(wanted), "{said}");
    }
}
