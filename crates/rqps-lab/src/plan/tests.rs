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
fn servers_given_by_address_get_labels_of_their_own() {
    let plan = plan(
        "[[system]]\ndsn = 'mysql://u:a@h/x'\n[[system]]\ndsn = 'mysql://u:b@h/y'\n\
         [[system]]\ndsn = 'postgres://u@h/z'\n",
    );
    let labels: Vec<&str> = plan.systems.iter().map(|s| s.label.as_str()).collect();
    assert_eq!(labels, ["my-external", "my-external-2", "pg-external"]);
    assert!(plan.dsns[&plan.systems[1].label].contains(":b@"));
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
