//! Which parameters count, by where they were given, and which are refused.

use super::*;
use crate::options::cmdline;

/// A home directory, and what is set besides.
struct Around {
    dir: tempfile::TempDir,
    environment: Environment,
}

impl Around {
    fn new(variables: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut environment = Environment { user: Some("me".to_owned()), ..Environment::default() };
        let pairs = variables.split('|').filter_map(|text| text.split_once('='));
        let home = ("HOME", dir.path().to_str().unwrap());
        for (name, value) in pairs.chain([home]) {
            environment.variables.insert(name.to_owned(), value.to_owned());
        }
        Self { dir, environment }
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn places(&self, words: &[&str]) -> Result<Vec<Place>, Error> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        places(&cmdline::parse(&words).unwrap().options, &self.environment)
    }

    fn place(&self, words: &[&str]) -> Place {
        let mut places = self.places(words).unwrap();
        assert_eq!(places.len(), 1);
        places.remove(0)
    }

    fn refusal(&self, words: &[&str]) -> String {
        self.places(words).unwrap_err().to_string()
    }
}

fn sent(place: &Place) -> Vec<String> {
    let parameters = &place.endpoint.startup.parameters;
    parameters.iter().map(|one| format!("{}={}", one.name, one.value)).collect()
}

#[test]
fn settings_of_the_environment_reach_the_server() {
    let around = Around::new(
        "PGOPTIONS=-c synchronous_commit=off|PGTZ=UTC|PGAPPNAME=mine|PGDATESTYLE=ISO|PGGEQO=off|\
         PGCLIENTENCODING=latin1",
    );
    let expected = [
        "client_encoding=latin1",
        "options=-c synchronous_commit=off",
        "application_name=mine",
        "timezone=UTC",
        "datestyle=ISO",
        "geqo=off",
    ];
    assert_eq!(sent(&around.place(&[])), expected);
    assert_eq!(sent(&Around::new("").place(&[])), Vec::<String>::new());
}

#[test]
fn options_go_before_connection_strings_and_those_before_services_and_the_environment() {
    let around = Around::new("PGPORT=4|PGUSER=env|PGSERVICE=mine|PGDATABASE=env|PGHOST=env");
    around.write(".pg_service.conf", "[mine]\nhost=service\nuser=service\nport=3\n", 0o644);
    let place = around.place(&["--pgsql-host=", "--pgsql-port=", "--pgsql-user=", "--pgsql-db="]);
    assert_eq!(place.called, "host 'service', port 3");
    assert_eq!((&*place.endpoint.user, &*place.endpoint.database), ("service", "env"));
    let text = "--pgsql-db=dbname=text port=2 user=text options='-c work_mem=64MB'";
    let place = around.place(&["--pgsql-host=typed", "--pgsql-port=", "--pgsql-user=", text]);
    assert_eq!(place.called, "host 'typed', port 2");
    assert_eq!((&*place.endpoint.user, &*place.endpoint.database), ("text", "text"));
    assert_eq!(sent(&place), ["options=-c work_mem=64MB"]);
    // Sysbench's own defaults count as options.
    let place = around.place(&[]);
    assert_eq!(place.called, "host 'localhost', port 5432");
    assert_eq!((&*place.endpoint.user, &*place.endpoint.database), ("sbtest", "sbtest"));
    let bare = ["--pgsql-host=", "--pgsql-port=", "--pgsql-user=", "--pgsql-db="];
    let place = Around::new("").place(&bare);
    assert!(matches!(place.endpoint.address, Address::Unix(_)), "{place:?}");
    assert_eq!((&*place.endpoint.user, &*place.endpoint.database), ("me", "me"));
}

#[test]
fn addresses_go_before_names_and_ports_belong_to_hosts() {
    let place = Around::new("PGHOSTADDR=127.0.0.9").place(&[]);
    assert_eq!(place.endpoint.address, Address::Tcp { host: "127.0.0.9".into(), port: 5432 });
    let all = Around::new("").places(&["--pgsql-host=a,b", "--pgsql-port=1,2"]).unwrap();
    let called: Vec<&str> = all.iter().map(|place| place.called.as_str()).collect();
    assert_eq!(called, ["host 'a', port 1", "host 'b', port 2"]);
    assert!(Around::new("").places(&["--pgsql-host=a,b,c", "--pgsql-port=1,2"]).is_err());
    assert!(Around::new("").places(&["--pgsql-host=@abstract"]).is_err());
}

#[test]
fn passwords_come_from_the_environment_or_a_file() {
    let password = |around: &Around, words: &[&str]| around.place(words).endpoint.password.0;
    assert_eq!(password(&Around::new("PGPASSWORD=env"), &[]), "env");
    assert_eq!(password(&Around::new("PGPASSWORD=env"), &["--pgsql-password=typed"]), "typed");
    let around = Around::new("");
    around.write(".pgpass", "localhost:5432:*:sbtest:file\nh:*:*:*:other\n", 0o600);
    assert_eq!(password(&around, &[]), "file");
    assert_eq!(password(&around, &["--pgsql-host=/tmp"]), "file");
    assert_eq!(password(&around, &["--pgsql-host=h"]), "other");
    assert_eq!(password(&around, &["--pgsql-host=nowhere"]), "");
    around.write("elsewhere", "*:*:*:*:named\n", 0o600);
    let named = format!("--pgsql-db=passfile={}/elsewhere", around.dir.path().display());
    assert_eq!(password(&around, &[&named]), "named");
    around.write(".pgpass", "*:*:*:*:file\n", 0o640);
    assert!(around.refusal(&[]).contains("chmod 600"));
}

#[test]
fn tls_that_is_required_is_never_skipped() {
    let tls = |variables: &str| {
        let place = Around::new(variables).place(&["--pgsql-host=h"]);
        (place.endpoint.tls, place.prefers_tls)
    };
    let required = Tls::Required { ca: None };
    assert_eq!(tls("PGSSLMODE=require"), (required.clone(), false));
    assert_eq!(tls("PGREQUIRESSL=1"), (required, false));
    assert_eq!(tls("PGSSLMODE=disable"), (Tls::Off, false));
    assert_eq!(tls(""), (Tls::Off, true));
    let ca = PathBuf::from("/ca");
    let with_ca = "|PGSSLROOTCERT=/ca";
    for mode in ["require", "verify-ca"] {
        let of_mode = format!("PGSSLMODE={mode}{with_ca}");
        assert_eq!(tls(&of_mode), (Tls::Issued { ca: ca.clone() }, false));
    }
    let full = format!("PGSSLMODE=verify-full{with_ca}");
    assert_eq!(tls(&full), (Tls::Required { ca: Some(ca) }, false));
    // On a unix socket there is no TLS.
    let said = Around::new("PGSSLMODE=require").refusal(&["--pgsql-host=/run"]);
    assert_eq!(
        said,
        "PGSSLMODE cannot be used: a unix socket is not encrypted; leave it out, or name a host"
    );
    let place = Around::new("PGSSLMODE=disable").place(&["--pgsql-host=/run"]);
    assert_eq!((place.endpoint.tls, place.prefers_tls), (Tls::Off, false));
}

#[test]
fn what_is_not_done_is_refused_by_name() {
    for variable in [
        "PGSSLMODE=verify-full",
        "PGSSLMODE=sometimes",
        "PGSSLROOTCERT=system",
        "PGSSLCERT=/cert",
        "PGSSLNEGOTIATION=direct",
        "PGSSLMAXPROTOCOLVERSION=TLSv1.2",
        "PGREQUIREAUTH=scram-sha-256",
        "PGCHANNELBINDING=require",
        "PGGSSENCMODE=require",
        "PGTARGETSESSIONATTRS=read-write",
        "PGLOADBALANCEHOSTS=random",
        "PGCLIENTENCODING=SJIS",
        "PGOPTIONS=-c standard_conforming_strings=off",
        "PGCONNECT_TIMEOUT=soon",
    ] {
        let (name, _) = variable.split_once('=').unwrap();
        let said = Around::new(variable).refusal(&["--pgsql-host=h"]);
        assert!(said.starts_with(name) && said.contains("cannot be used"), "{said}");
    }
    for variable in ["PGCHANNELBINDING=prefer", "PGTARGETSESSIONATTRS=any", "PGSSLSNI=0"] {
        assert!(Around::new(variable).places(&[]).is_ok(), "{variable}");
    }
    let around = Around::new("PGSERVICE=nosuch");
    assert_eq!(around.refusal(&[]), "definition of service \"nosuch\" not found");
    let around = Around::new("PGSERVICE=mine|PGSERVICEFILE=/nosuch");
    assert_eq!(around.refusal(&[]), "service file \"/nosuch\" of PGSERVICEFILE not found");
    let said = Around::new("PGSSLMODE=").refusal(&["--pgsql-host=h"]);
    assert!(said.starts_with("PGSSLMODE is set and empty: unset it"), "{said}");
    assert!(Around::new("PGSSLMODE=").places(&["--pgsql-db=sslmode=disable"]).is_ok());
    let wrong = Around::new("").refusal(&["--pgsql-db=nosuch=1"]);
    assert_eq!(wrong, "--pgsql-db: invalid connection option, the 1 of 1");
    let ports = Around::new("PGPORT=abc").refusal(&["--pgsql-port="]);
    assert_eq!(ports, "PGPORT cannot be used: it is not a port number");
}

#[test]
fn parts_of_a_password_are_not_shown() {
    for text in [
        "postgres://u:s?kr3=1@h/db?x",
        "postgres://u:kr3/t@h/db",
        "dbname=d password=abc kr3=x",
        "postgres://u:p@h/db?kr3=1",
    ] {
        let said = Around::new("").refusal(&["--pgsql-port=", &format!("--pgsql-db={text}")]);
        assert!(!said.contains("kr3"), "{text}: {said}");
    }
    let place = Around::new("").place(&["--pgsql-host=", "--pgsql-db=postgres://u:p?w=1@h/db"]);
    assert_eq!(place.endpoint.password.0, "p?w=1");
}

#[test]
fn a_certificates_name_is_never_checked_against_an_address_in_place_of_the_host() {
    let around = Around::new("PGHOSTADDR=127.0.0.1|PGSSLMODE=verify-full|PGSSLROOTCERT=/ca");
    let said = around.refusal(&["--pgsql-host=db.example"]);
    assert!(said.starts_with("PGHOSTADDR cannot be used: verify-full"), "{said}");
    let around = Around::new("PGHOSTADDR=127.0.0.1|PGSSLMODE=verify-ca|PGSSLROOTCERT=/ca");
    assert!(around.places(&["--pgsql-host=db.example"]).is_ok());
}
