//! Where servers of both families are, by options.

use std::path::PathBuf;

use rqps_client::{Address, Tls};

use super::*;
use crate::options::cmdline;

fn options(words: &str) -> Options {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    cmdline::parse(&words).unwrap().options
}

fn of(driver: Driver, words: &str) -> Result<Vec<Place>, Error> {
    places(driver, &options(words), &Environment::default())
}

#[test]
fn hosts_ports_and_sockets() {
    let called = |driver, words: &str| -> Vec<String> {
        of(driver, words).unwrap().into_iter().map(|place| place.called).collect()
    };
    assert_eq!(
        called(Driver::Mysql, "--mysql-host=a,b --mysql-port=1,2"),
        [("a", 1), ("b", 1), ("a", 2), ("b", 2)].map(|(h, p)| format!("host '{h}', port {p}"))
    );
    assert_eq!(called(Driver::Mysql, "--mysql-socket=/x --mysql-host=a"), ["socket '/x'"]);
    let unix = of(Driver::Pgsql, "--pgsql-host=/run/pg --pgsql-port=7").unwrap();
    assert_eq!(unix[0].endpoint.address, Address::Unix("/run/pg/.s.PGSQL.7".into()));
    assert!(of(Driver::Mysql, "--mysql-port=x").is_err());
}

#[test]
fn what_is_not_done_is_refused() {
    for words in ["--mysql-compression=on", "--mysql-ssl-cipher=x", "--mysql-ssl=VERIFY_CA"] {
        assert!(of(Driver::Mysql, words).is_err(), "{words}");
    }
    assert!(of(Driver::Pgsql, "--pgsql-sslmode=verify-full").is_err());
    assert!(of(Driver::Mysql, "--mysql-compression").is_err());
    let no_host = of(Driver::Mysql, "--mysql-host=").unwrap_err().to_string();
    assert_eq!(no_host, "No MySQL hosts specified, aborting");
}

#[test]
fn tls_is_required_preferred_or_off() {
    let of = |driver, words: &str| {
        let place = of(driver, words).unwrap().remove(0);
        (place.endpoint.tls == Tls::Required { ca: None }, place.prefers_tls)
    };
    for (words, expected) in [
        ("", (false, false)),
        // In sysbench 1.0 it is a switch.
        ("--mysql-ssl", (true, false)),
        ("--mysql-ssl=on", (true, false)),
        ("--mysql_ssl=off", (false, false)),
        ("--mysql-ssl=REQUIRED", (true, false)),
        ("--mysql-ssl=preferred", (false, true)),
        ("--mysql-ssl=preferred --mysql-socket=/s", (false, false)),
    ] {
        let words = format!("--mysql-host=h {words}");
        assert_eq!(of(Driver::Mysql, &words), expected, "{words}");
    }
    let with_ca = |mode: &str| {
        let words = format!("--mysql-host=h --mysql-ssl-ca=/ca --mysql-ssl={mode}");
        let mut places = places(Driver::Mysql, &options(&words), &Environment::default());
        places.as_mut().unwrap().remove(0).endpoint.tls
    };
    let ca = PathBuf::from("/ca");
    assert_eq!(with_ca("VERIFY_CA"), Tls::Issued { ca: ca.clone() });
    assert_eq!(with_ca("REQUIRED"), Tls::Issued { ca: ca.clone() });
    assert_eq!(with_ca("VERIFY_IDENTITY"), Tls::Required { ca: Some(ca) });
    // As libpq does, and with it sysbench.
    assert_eq!(of(Driver::Pgsql, "--pgsql-host=h"), (false, true));
    assert_eq!(of(Driver::Pgsql, "--pgsql-host=/run/pg"), (false, false));
    assert_eq!(of(Driver::Pgsql, "--pgsql-host=h --pgsql-sslmode=disable"), (false, false));
    assert_eq!(of(Driver::Pgsql, "--pgsql-host=h --pgsql-sslmode=require"), (true, false));
}
