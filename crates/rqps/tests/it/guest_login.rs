//! What is found out at login to a server of somebody else's, before anything is made there.

use crate::guest::{Host, SERVERS};

#[test]
fn a_user_who_may_make_no_schema_is_told_the_grant() {
    for (dbms, grant) in [
        ("mariadb", "GRANT ALL ON `rqps\\_%`.* TO 'poor'@'localhost'"),
        ("postgres", "GRANT CREATE ON DATABASE sbtest TO poor"),
    ] {
        let version = SERVERS.into_iter().find(|(name, _)| *name == dbms).unwrap().1;
        let mut host = Host::new(dbms, version);
        let make = if dbms == "postgres" {
            "CREATE ROLE poor LOGIN PASSWORD 'pw'"
        } else {
            "CREATE USER poor@localhost IDENTIFIED BY 'pw'"
        };
        host.server.admin.query(make).unwrap();
        if dbms == "mariadb" {
            host.address = host.address.replace("/sbtest?", "/?");
        }
        host.address = host.address.replace("//sbtest@", "//poor@");
        host.write_plan("");
        let said = host.run(&[]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains(grant), "{}", said.stderr);
    }
}

/// The other system would be measured for nothing.
#[test]
fn an_address_that_is_refused_ends_the_run_before_anything_is_measured() {
    let mut host = Host::new("mariadb", "10.2.11");
    host.server.admin.query("CREATE USER poor@localhost IDENTIFIED BY 'pw'").unwrap();
    let of_poor = host.address.replace("/sbtest?", "/?").replace("//sbtest@", "//poor@");
    for (candidate, why) in
        [("mariadb://u@127.0.0.1:1/d", "Connection refused"), (&*of_poor, "GRANT ALL ON")]
    {
        let args = ["run", "--base", &host.address, "--vs", candidate, "--size", "tiny"];
        let said = host.bench.run_with(&args, &[("PW", "pw")]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("before the first is measured"), "{}", said.stderr);
        assert!(said.stderr.contains(why), "{}", said.stderr);
        assert!(!said.stderr.contains("inserts/s"), "{}", said.stderr);
    }
}

#[test]
fn an_address_of_the_other_protocol_is_refused() {
    for (dbms, version, scheme) in
        [("mariadb", "10.2.11", "postgres"), ("postgres", "17.4", "mysql")]
    {
        let mut host = Host::new(dbms, version);
        let (_, rest) = host.address.split_once("://").unwrap();
        host.address = format!("{scheme}://{rest}");
        host.write_plan("");
        let said = host.run(&[]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("speaks the protocol of"), "{}", said.stderr);
    }
}

/// Told at connect, by whatever way the address is given and for each suite, so before a user without rights is
/// refused.
#[test]
fn an_address_of_mysql_at_a_server_of_mariadb_is_told() {
    let mut host = Host::new("mariadb", "10.2.11");
    host.server.admin.query("CREATE USER poor@localhost IDENTIFIED BY 'pw'").unwrap();
    host.address = host.address.replace("/sbtest?", "/?").replace("//sbtest@", "//poor@");
    let plan = format!(
        "[[system]]\ndsn = '{}'\n[[suite]]\nkind = 'insert'\nclients = [1]\nrows = 5000\n",
        host.address
    );
    host.bench.write("plan.toml", &plan);
    let address = host.address.as_str();
    for args in [
        &["run", "plan.toml"][..],
        &["run", "--base", address, "--vs", address, "--suite", "insert"],
        &["run", "--base", address, "--vs", address, "--suite", "sysbench"],
    ] {
        let said = host.bench.run_with(args, &[("PW", "pw")]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        let told = "names MySQL, but the server says that it is MariaDB 10.2.11; it is measured as \
                    MariaDB; write mariadb://";
        assert!(said.stderr.contains(told), "{args:?}: {}", said.stderr);
    }
}

#[test]
fn a_server_that_takes_no_writes_is_told_before_anything_is_made() {
    for (dbms, statements, why) in [
        (
            "postgres",
            &["ALTER ROLE sbtest SET default_transaction_read_only = on"][..],
            "default_transaction_read_only is on for this user or database",
        ),
        (
            "mariadb",
            &[
                // Who has it writes all the same.
                "UPDATE mysql.user SET Super_priv = 'N' WHERE User = 'sbtest'",
                "SET GLOBAL read_only = 1",
                "FLUSH PRIVILEGES",
            ],
            "set read_only = OFF there",
        ),
    ] {
        let version = SERVERS.into_iter().find(|(name, _)| *name == dbms).unwrap().1;
        let mut host = Host::new(dbms, version);
        for sql in statements {
            host.server.admin.query(sql).unwrap();
        }
        host.write_plan("");
        let said = host.run(&[]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(
            said.stderr.contains("takes no writes") && said.stderr.contains(why),
            "{}",
            said.stderr
        );
        assert_eq!(host.schemas(), Vec::<String>::new());
    }
}

#[test]
fn addresses_of_other_clients_lead_to_the_same_server() {
    let mut host = Host::new("postgres", "17.4");
    let (_, socket) = host.address.split_once("socket=").unwrap();
    let (socket, _) = socket.split_once('&').unwrap();
    let (dir, port) = socket.rsplit_once("/.s.PGSQL.").unwrap();
    host.address =
        format!("host={dir} port={port} dbname=sbtest user=sbtest sslmode=disable password_env=PW");
    host.write_plan("");
    let said = host.run(&[]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    host.address = host.address.replace("disable", "require");
    host.write_plan("");
    let said = host.run(&[]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("a unix socket is not encrypted"), "{}", said.stderr);
}
