//! Names of rqps's schemas, and what becomes of schemas that are there.

use crate::fake::Fake;

use super::*;

fn maker(name: &str) -> Maker {
    Maker { name: name.to_owned(), version: "0.1.0".to_owned(), results: "/r".to_owned() }
}

fn terms(maker: &Maker) -> Terms<'_> {
    Terms { maker, allow_settings: true, patience: Patience::default() }
}

fn rows(texts: &[&str]) -> Vec<Vec<String>> {
    texts.iter().map(|text| vec![(*text).to_owned()]).collect()
}

#[test]
fn a_name_is_the_makers_and_no_other_ones() {
    let names = |server: &str, results: &str| {
        names_on(server, &Maker { results: results.to_owned(), ..maker("a") })
    };
    let here = names("this", "/r");
    assert_eq!(here, names_on("this", &maker("another run")));
    assert_eq!(here.iter().collect::<std::collections::BTreeSet<_>>().len(), 16);
    for others in [names("a replica", "/r"), names("this", "/s")] {
        assert!(!others.iter().any(|name| here.contains(name)), "{others:?}");
    }
    assert!(here.iter().all(|name| is_schema_name(name)), "{here:?}");
    for other in ["rqps", "rqps_", "rqps_00C0FFEE", "rqps_00c0ffee1", "rqps_results1", "shop"] {
        assert!(!is_schema_name(other), "{other}");
    }
}

/// A server with some schemas, which have a marker or not and whose locks are free or not.
fn server(schemas: &[&str], has_marker: bool, is_free: bool) -> Fake {
    let word = |is: bool| rows(&[if is { "1" } else { "0" }]);
    Fake::default()
        .answering("select schema_name", rows(schemas))
        .answering("select count(*)", word(has_marker))
        .answering("select get_lock", word(is_free))
        .answering("select release_lock", word(true))
        .answering("select host, pid", Vec::new())
        .answering("select name, owners", Vec::new())
        .answering("select nonce", rows(&["n"]))
        .answering("select distinct concat('table '", Vec::new())
        .answering("select table_name", Vec::new())
        .answering("select @@server_uuid", rows(&["this"]))
        .answering("select server", rows(&["this"]))
        .answering("SET SESSION", Vec::new())
}

fn swept(mut server: Fake) -> (Vec<String>, Vec<String>) {
    let mut told = Vec::new();
    let mut hear = |text: &str| told.push(text.to_owned());
    let maker = maker("a");
    let broom = Broom { terms: terms(&maker), session_wait: Duration::ZERO };
    sweep(Dbms::Mysql, broom, &mut server, &mut hear).unwrap();
    (server.asked, told)
}

#[test]
fn only_what_is_marked_and_free_is_dropped() {
    let all = ["shop", "rqps", "rqps_00c0ffee"];
    let (asked, told) = swept(server(&all, true, true));
    assert_eq!(asked, ["DROP SCHEMA `rqps_00c0ffee`"]);
    assert_eq!(told, ["dropped schema rqps_00c0ffee, left by an earlier rqps"]);
    assert_eq!(swept(server(&all, false, true)), (Vec::new(), Vec::new()));
    assert_eq!(swept(server(&all, true, false)), (Vec::new(), Vec::new()));
    assert_eq!(swept(server(&["shop"], true, true)), (Vec::new(), Vec::new()));
}

#[test]
fn settings_are_restored_before_their_schema_goes() {
    let row = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
    let written = vec![row(["innodb_io_capacity", "200", "20000"]), row(["x", "1", "2"])];
    let left = server(&["rqps_00c0ffee"], true, true)
        .answering("select name, owners", written)
        .answering("select @@global.innodb_io_capacity", rows(&["20000"]))
        .answering("select @@global.x", rows(&["7"]));
    let (asked, told) = swept(left);
    assert_eq!(asked, ["SET GLOBAL innodb_io_capacity = 200", "DROP SCHEMA `rqps_00c0ffee`"]);
    assert_eq!(told[1], "restored settings that the earlier rqps had changed: innodb_io_capacity");
}

#[test]
fn what_another_server_made_stays() {
    let there = server(&["rqps_00c0ffee"], true, true);
    // A replica has the primary's marker, and nobody holds its lock there.
    let replica = there.answering("select server", rows(&["the primary"]));
    assert_eq!(swept(replica), (Vec::new(), Vec::new()));
}

/// Who this process is, as a marker has it.
fn this_process(started: u64) -> Vec<Vec<String>> {
    let pid = std::process::id();
    vec![vec![marker::place(), pid.to_string(), started.to_string()]]
}

#[test]
fn what_a_live_process_made_stays_without_a_lock() {
    let name = own_names()[0].clone();
    let started = crate::process::started(std::process::id().cast_signed()).unwrap();
    let by =
        |started| server(&[&name], true, true).answering("select host, pid", this_process(started));
    assert_eq!(swept(by(started)), (Vec::new(), Vec::new()));
    let mut there = by(started);
    assert_ne!(make(Dbms::Mysql, terms(&maker("a")), &home(), &mut there).unwrap().schema, name);
    // The process has ended, and another one has its id.
    assert_eq!(swept(by(started + 1)).0, [format!("DROP SCHEMA `{name}`")]);
}

#[test]
fn only_who_holds_a_schema_drops_it() {
    let left = |has_lock: &str, is_free: bool, nonce: &str| {
        let mut there = server(&[], true, is_free)
            .answering("select is_used_lock", rows(&[has_lock]))
            .answering("select nonce", rows(&[nonce]))
            .answering("ROLLBACK", Vec::new());
        let left = guest(Dbms::Mysql).leave(&mut there, &mut |_| {});
        (left.map_err(|error| error.to_string()), there.asked)
    };
    let dropped = (Ok(()), vec!["DROP SCHEMA `rqps_00c0ffee`".to_owned()]);
    assert_eq!(left("1", false, "n"), dropped);
    assert_eq!(left("0", true, "n"), dropped);
    for has_lock in ["0", "1"] {
        let (error, asked) = left(has_lock, true, "another");
        assert!(error.unwrap_err().contains("this run no longer holds schema"));
        assert_eq!(asked, Vec::<String>::new());
    }
}

/// The names that [`maker`] tries on [`server`].
fn own_names() -> Vec<String> {
    names_on("this", &maker("a"))
}

#[test]
fn one_that_was_begun_is_dropped_by_those_of_the_same_results() {
    let begun = own_names()[3].clone();
    let there = |is_free| {
        server(&[&begun, "rqps_00c0ffee"], false, is_free).answering("select (select", rows(&["0"]))
    };
    let (asked, _) = swept(there(true));
    assert!(asked[0].starts_with(&format!("CREATE SCHEMA IF NOT EXISTS `{begun}`")), "{asked:?}");
    assert!(!asked.iter().any(|sql| sql.contains("00c0ffee")), "{asked:?}");
    // Another process is about to make the marker.
    assert_eq!(swept(there(false)), (Vec::new(), Vec::new()));
}

fn home() -> Endpoint {
    crate::Dsn::parse("mysql://u@h/shop").unwrap().endpoint
}

#[test]
fn a_schema_of_its_name_without_a_marker_stays() {
    let [name, next, ..] = &own_names()[..] else { panic!() };
    let with_tables =
        |n: &str| server(&[name], false, true).answering("select (select", rows(&[n]));
    let mut there = with_tables("1");
    let made = make(Dbms::Mysql, terms(&maker("a")), &home(), &mut there).unwrap().schema;
    assert_eq!(made, *next);
    assert!(!there.asked.iter().any(|sql| sql.starts_with("DROP")), "{:?}", there.asked);
    assert_eq!(there.asked[0], format!("CREATE SCHEMA IF NOT EXISTS `{made}`"));
    // One that is empty was left between its making and its marker's.
    let mut empty = with_tables("0");
    assert_eq!(make(Dbms::Mysql, terms(&maker("a")), &home(), &mut empty).unwrap().schema, *name);
    assert!(!empty.asked.iter().any(|sql| sql.starts_with("DROP")), "{:?}", empty.asked);
}

#[test]
fn one_that_was_left_is_made_anew() {
    let name = &own_names()[0];
    let mut there = server(&[name], true, true);
    assert_eq!(make(Dbms::Mysql, terms(&maker("a")), &home(), &mut there).unwrap().schema, *name);
    assert_eq!(
        there.asked[..2],
        [format!("DROP SCHEMA `{name}`"), format!("CREATE SCHEMA IF NOT EXISTS `{name}`")]
    );
}

#[test]
fn names_that_others_hold_are_left_to_them() {
    let mut busy = server(&[], true, false);
    let error =
        make(Dbms::Mysql, terms(&maker("a")), &home(), &mut busy).err().unwrap().to_string();
    assert!(error.contains("16 names such as rqps_"), "{error}");
    assert_eq!(busy.asked, Vec::<String>::new());
}

fn guest(dbms: Dbms) -> Guest {
    Guest {
        dbms,
        schema: "rqps_00c0ffee".to_owned(),
        nonce: "n".to_owned(),
        maker: maker("a"),
        patience: Patience::default(),
        home: home(),
        allow_settings: false,
    }
}

#[test]
fn sessions_begin_in_the_schema() {
    let mysql = guest(Dbms::Mysql).endpoint();
    assert_eq!((mysql.database.as_str(), mysql.on_login), ("rqps_00c0ffee", None));
    let postgres = guest(Dbms::Postgres).endpoint();
    assert_eq!(postgres.database, "shop");
    let path = "SET search_path TO \"rqps_00c0ffee\"";
    assert_eq!(postgres.on_login.as_deref(), Some(path));
}

#[test]
fn without_locks_a_schema_of_another_host_stays() {
    let swept = |marker: Vec<Vec<String>>| {
        let mut there = server(&["rqps_00c0ffee"], true, true)
            .answering("SET LOCK_TIMEOUT", Vec::new())
            .answering("select server", rows(&[""]))
            .answering("select table_name", Vec::new())
            .answering("select (select", rows(&["1"]))
            .answering("select nonce", rows(&["n"]))
            .answering("select host, pid", marker);
        let maker = maker("a");
        let broom = Broom { terms: terms(&maker), session_wait: Duration::ZERO };
        sweep(Dbms::H2, broom, &mut there, &mut |_| {}).unwrap();
        there.asked
    };
    let row = |host: &str| vec![vec![host.to_owned(), "1".to_owned(), "0".to_owned()]];
    assert_eq!(swept(row("another")), Vec::<String>::new());
    let here = row(&marker::place());
    assert_eq!(swept(here).last().unwrap(), "DROP SCHEMA \"rqps_00c0ffee\" RESTRICT");
}

#[test]
fn a_server_that_makes_tables_elsewhere_is_refused() {
    let mut there = Fake::default().answering("select current_schema()", rows(&["public"]));
    let refused = require_current(Dbms::Postgres, "rqps_00c0ffee", &mut there).unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains("creates tables in \"public\""), "{refused}");
    let mut there = Fake::default().answering("select current_schema()", rows(&["rqps_00c0ffee"]));
    require_current(Dbms::Postgres, "rqps_00c0ffee", &mut there).unwrap();
}
