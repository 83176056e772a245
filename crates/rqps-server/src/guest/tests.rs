//! Names of rqps's schemas, and what becomes of schemas that are there.

use crate::fake::Fake;

use super::*;

fn maker(name: &str) -> Maker {
    Maker { name: name.to_owned(), version: "0.1.0".to_owned(), results: "/r".to_owned() }
}

fn rows(texts: &[&str]) -> Vec<Vec<String>> {
    texts.iter().map(|text| vec![(*text).to_owned()]).collect()
}

#[test]
fn a_name_is_the_makers_and_no_other_ones() {
    let name = |maker: &str| schema_name(&super::tests::maker(maker), 0);
    assert_eq!(name("20261127-120000-a-0"), name("20261127-120000-a-0"));
    assert_ne!(name("20261127-120000-a-0"), name("20261127-120000-a-1"));
    let maker = maker("a");
    assert_ne!(schema_name(&maker, 0), schema_name(&maker, 1));
    let elsewhere = Maker { results: "/s".to_owned(), ..maker.clone() };
    assert_ne!(schema_name(&maker, 0), schema_name(&elsewhere, 0));
    assert!(is_schema_name(&schema_name(&maker, 0)));
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
        .answering("select @@server_uuid", rows(&["this"]))
        .answering("select server", rows(&["this"]))
        .answering("SET SESSION", Vec::new())
}

fn swept(mut server: Fake) -> (Vec<String>, Vec<String>) {
    let mut told = Vec::new();
    let mut hear = |text: &str| told.push(text.to_owned());
    sweep(Dbms::Mysql, Duration::ZERO, &mut server, &mut hear).unwrap();
    (server.asked, told)
}

#[test]
fn only_what_is_marked_and_free_is_dropped() {
    let all = ["shop", "rqps", "rqps_00c0ffee"];
    let (asked, told) = swept(server(&all, true, true));
    assert_eq!(asked, ["DROP SCHEMA `rqps_00c0ffee`"]);
    assert_eq!(told, ["dropped schema rqps_00c0ffee, which an rqps left when it was killed"]);
    assert_eq!(swept(server(&all, false, true)), (Vec::new(), Vec::new()));
    assert_eq!(swept(server(&all, true, false)), (Vec::new(), Vec::new()));
    assert_eq!(swept(server(&["shop"], true, true)), (Vec::new(), Vec::new()));
}

#[test]
fn what_another_server_made_stays() {
    let there = server(&["rqps_00c0ffee"], true, true);
    // A replica has the primary's marker, and nobody holds its lock there.
    let replica = there.answering("select server", rows(&["the primary"]));
    assert_eq!(swept(replica), (Vec::new(), Vec::new()));
}

fn home() -> Endpoint {
    crate::Dsn::parse("mysql://u@h/shop").unwrap().endpoint
}

#[test]
fn a_schema_of_its_name_without_a_marker_stays() {
    let name = schema_name(&maker("a"), 0);
    let with_tables =
        |n: &str| server(&[&name], false, true).answering("select (select", rows(&[n]));
    let mut there = with_tables("1");
    let made = make(Dbms::Mysql, &maker("a"), &home(), &mut there).unwrap();
    assert_eq!(made, schema_name(&maker("a"), 1));
    assert!(!there.asked.iter().any(|sql| sql.starts_with("DROP")), "{:?}", there.asked);
    assert_eq!(there.asked[0], format!("CREATE SCHEMA IF NOT EXISTS `{made}`"));
    // One that is empty was left between its making and its marker's.
    let mut empty = with_tables("0");
    assert_eq!(make(Dbms::Mysql, &maker("a"), &home(), &mut empty).unwrap(), name);
    assert!(!empty.asked.iter().any(|sql| sql.starts_with("DROP")), "{:?}", empty.asked);
}

#[test]
fn one_that_was_left_is_made_anew() {
    let name = schema_name(&maker("a"), 0);
    let mut there = server(&[&name], true, true);
    assert_eq!(make(Dbms::Mysql, &maker("a"), &home(), &mut there).unwrap(), name);
    assert_eq!(
        there.asked[..2],
        [format!("DROP SCHEMA `{name}`"), format!("CREATE SCHEMA IF NOT EXISTS `{name}`")]
    );
}

#[test]
fn names_that_others_hold_are_left_to_them() {
    let mut busy = server(&[], true, false);
    let error = make(Dbms::Mysql, &maker("a"), &home(), &mut busy).unwrap_err().to_string();
    assert!(error.contains("16 names such as rqps_"), "{error}");
    assert_eq!(busy.asked, Vec::<String>::new());
}

#[test]
fn sessions_begin_in_the_schema() {
    let guest = |dbms| Guest {
        dbms,
        schema: "rqps_00c0ffee".to_owned(),
        home: home(),
        allow_settings: false,
    };
    let mysql = guest(Dbms::Mysql).endpoint();
    assert_eq!((mysql.database.as_str(), mysql.schema), ("rqps_00c0ffee", None));
    let postgres = guest(Dbms::Postgres).endpoint();
    assert_eq!(postgres.database, "shop");
    assert_eq!(postgres.schema.as_deref(), Some("rqps_00c0ffee"));
}
