//! What addresses are read as, how they show themselves, and what is refused.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;

use super::*;

#[test]
fn reads_all_parts_and_shows_all_but_the_password() {
    for (text, shown) in [
        ("mysql://u:p@db.example:3307/test", "mysql://u@db.example:3307/test"),
        ("mariadb://u:p%40%3Aq@h/", "mariadb://u@h:3306/"),
        ("postgres://u@[::1]/db", "postgres://u@[::1]:5432/db"),
        ("postgresql:///db?socket=/tmp/.s.PGSQL.5432", "postgres:///db?socket=/tmp/.s.PGSQL.5432"),
        (
            "mysql://u:p@h/d?tls=required&ca=/a%20b.pem",
            "mysql://u@h:3306/d?tls=required&ca=/a%20b.pem",
        ),
        (
            "mysql://u:p@h/d?server_public_key=/a%20b.pem",
            "mysql://u@h:3306/d?server_public_key=/a%20b.pem",
        ),
    ] {
        let dsn = Dsn::parse(text).unwrap();
        assert_eq!(dsn.to_string(), shown);
        assert_eq!(Dsn::parse(shown).unwrap().to_string(), shown);
        assert!(!format!("{dsn:?}").contains("p@"), "{dsn:?}");
    }
    let dsn = Dsn::parse("mariadb://u:p%40%3Aq@h/").unwrap();
    assert_eq!(dsn.endpoint.password.0, "p@:q");
}

#[test]
fn a_servers_key_is_for_mysql_without_tls() {
    let dsn = Dsn::parse("mysql://u@h/d?server_public_key=/key.pem").unwrap();
    assert_eq!(dsn.endpoint.server_public_key, Some("/key.pem".into()));
    assert_eq!(Dsn::parse("mysql://u@h/d").unwrap().endpoint.server_public_key, None);
    for text in [
        "mysql://u@h/d?tls=required&server_public_key=/key.pem",
        "mysql://u@h/d?server_public_key=/key.pem&tls=required&ca=/ca.pem",
        "postgres://u@h/d?server_public_key=/key.pem",
    ] {
        let error = Dsn::parse(text).unwrap_err().to_string();
        assert!(error.contains("server_public_key is for MySQL without TLS"), "{error}");
    }
}

#[test]
fn a_password_can_be_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("p w");
    let path = file.display().to_string().replace(' ', "%20");
    let text = format!("mysql://u@h:1/d?tls=required&password_file={path}");
    let dsn = Dsn::parse(&text).unwrap();
    assert_eq!(Dsn::parse(&dsn.to_string()).unwrap(), dsn);
    let error = dsn.clone().with_password(|_| None).unwrap_err().to_string();
    assert!(error.contains("password_file") && error.contains("p w"), "{error}");
    std::fs::write(&file, "\n").unwrap();
    assert!(dsn.clone().with_password(|_| None).is_err());
    std::fs::write(&file, "s3cret: %40\nnot this\n").unwrap();
    let mode = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    mode(0o640);
    let error = dsn.clone().with_password(|_| None).unwrap_err().to_string();
    assert!(error.contains("others may read it; run chmod 600"), "{error}");
    mode(0o600);
    let dsn = dsn.with_password(|_| None).unwrap();
    assert_eq!(dsn.endpoint.password.0, "s3cret: %40");
    assert!(!dsn.to_string().contains("s3cret"), "{dsn}");
    assert!(Dsn::parse("mysql://u:p@h/d?password_file=/f").is_err());
    let endless = Dsn::parse("mysql://u@h/d?password_file=/dev/zero").unwrap();
    let error = endless.with_password(|_| None).unwrap_err().to_string();
    assert!(error.contains("password_file /dev/zero: it is not a regular file"), "{error}");
}

#[test]
fn a_password_can_be_in_the_environment() {
    let dsn = Dsn::parse("postgres://u@h/d?password_env=DB_PASSWORD").unwrap();
    assert_eq!(dsn.to_string(), "postgres://u@h:5432/d?password_env=DB_PASSWORD");
    assert_eq!(Dsn::parse(&dsn.to_string()).unwrap(), dsn);
    assert!(!dsn.has_password());
    for variables in [(|_| None) as Variables, |_| Some(String::new())] {
        let error = dsn.clone().with_password(variables).unwrap_err().to_string();
        assert!(error.contains("password_env DB_PASSWORD: not set"), "{error}");
    }
    let of_name: Variables = |name| (name == "DB_PASSWORD").then(|| "s3cret".to_owned());
    let dsn = dsn.with_password(of_name).unwrap();
    assert!(dsn.has_password() && dsn.endpoint.password.0 == "s3cret");
    assert!(!dsn.to_string().contains("s3cret"), "{dsn}");
    assert!(Dsn::parse("mysql://u:p@h/d?password_env=A").is_err());
    assert!(Dsn::parse("mysql://u@h/d?password_env=A&password_file=/f").is_err());
}

#[test]
fn errors_do_not_show_the_password() {
    for text in [
        "mysql://u:secret@h:x/",
        "oracle://u:secret@h/",
        "u:secret@h",
        "mysql://u:secret@h/?x=1",
        "mysql://u:sec%ret@h/",
        "mysql://u:secret@h/?socket=/s&tls=required",
        "mysql://u:secret@in@h:x/",
        "mysql://u:secret/in@h/db",
        "mysql://u:12/secret@h/db",
        "mysql://u:secret?in@h/db",
        "mysql://u:in?secret@h/db",
        "mysql://u@h/db?password=secret",
        "mysql://u@h/db?password_env=my-secret",
        "mysql://u@h/db?password_env=1secret",
        "mysql://u@h/db?socket=/s&password_env=secret!",
        "mysql://u:secret",
        "mysql://u:secret/db",
        "mysql://u@h:secret",
        "mysql://[u:secret",
        "mysql://[::1]:secret/db",
        "u:secret@h://x",
    ] {
        let error = Dsn::parse(text).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("secret") && !shown.contains("sec%ret"), "{shown}");
    }
}

proptest! {
    #[test]
    fn never_panics_and_never_shows_the_password(user in "[a-z]{0,4}", rest in "\\PC{0,30}") {
        let text = format!("mysql://{user}:S3CR3T@{rest}");
        match Dsn::parse(&text) {
            Ok(dsn) if !rest.contains('@') => prop_assert!(!dsn.to_string().contains("S3CR3T")),
            Ok(_) => {}
            Err(error) => prop_assert!(!error.to_string().contains("S3CR3T")),
        }
    }

    #[test]
    fn encoding_is_undone(text in "\\PC{0,20}") {
        prop_assert_eq!(decode(&encode(&text)).unwrap(), text);
    }
}

/// What an address of another client's form is shown as, or the error.
fn shown(text: &str) -> String {
    match Dsn::parse(text) {
        Ok(dsn) => dsn.to_string(),
        Err(Error::Dsn { detail, .. }) => detail,
        Err(error) => error.to_string(),
    }
}

#[test]
fn addresses_of_libpq_jdbc_go_and_clouds_are_taken() {
    for (text, meant) in [
        ("postgres://u@h/d?sslmode=require", "postgres://u@h:5432/d?tls=required"),
        ("postgres://u@h/d?sslmode=disable&connect_timeout=5", "postgres://u@h:5432/d"),
        (
            "postgresql://u@h/d?sslmode=require&sslrootcert=/ca.pem",
            "postgres://u@h:5432/d?tls=issued&ca=/ca.pem",
        ),
        (
            "postgres://u@h/d?sslmode=verify-full&sslrootcert=/ca.pem",
            "postgres://u@h:5432/d?tls=required&ca=/ca.pem",
        ),
        (
            "postgresql:///d?host=/run/postgresql&port=5433&user=u",
            "postgres://u@/d?socket=/run/postgresql/.s.PGSQL.5433",
        ),
        (
            "postgresql://u@%2Frun%2Fpostgresql/d",
            "postgres://u@/d?socket=/run/postgresql/.s.PGSQL.5432",
        ),
        (
            "postgresql+psycopg://u@h/d?application_name=x&target_session_attrs=read-write",
            "postgres://u@h:5432/d",
        ),
        (
            "host=db.example port=5433 dbname='my db' user=u sslmode=require",
            "postgres://u@db.example:5433/my%20db?tls=required",
        ),
        ("host=db.example hostaddr=10.0.0.1 dbname=d user=u", "postgres://u@10.0.0.1:5432/d"),
        ("hostaddr=10.0.0.1 host=db.example dbname=d user=u", "postgres://u@10.0.0.1:5432/d"),
        ("dbname = d host = /run/postgresql", "postgres:///d?socket=/run/postgresql/.s.PGSQL.5432"),
        ("jdbc:postgresql://h:5433/d?user=u&sslmode=require", "postgres://u@h:5433/d?tls=required"),
        ("jdbc:mysql://h/d?user=u&serverTimezone=UTC&sslMode=DISABLED", "mysql://u@h:3306/d"),
        (
            "jdbc:mariadb://h:3307/d?user=u&sslMode=verify-ca&serverSslCert=/ca.pem",
            "mariadb://u@h:3307/d?tls=issued&ca=/ca.pem",
        ),
        ("mysql://u@h/d?ssl-mode=REQUIRED", "mysql://u@h:3306/d?tls=required"),
        (
            "mysql+pymysql://u@h/d?charset=utf8mb4&unix_socket=/run/m.sock",
            "mysql://u@/d?socket=/run/m.sock",
        ),
        (
            "mysql://u@h/d?ssl_mode=verify_identity&ssl_ca=/ca.pem",
            "mysql://u@h:3306/d?tls=required&ca=/ca.pem",
        ),
        ("u:p/w?@tcp(h:3307)/d?parseTime=true&tls=skip-verify", "mysql://u@h:3307/d?tls=required"),
        ("u@unix(/run/m.sock)/d?loc=Local", "mysql://u@/d?socket=/run/m.sock"),
        ("tcp([::1]:3306)/d", "mysql://[::1]:3306/d"),
    ] {
        assert!(Dsn::looks_like(text), "{text}");
        assert_eq!(shown(text), meant, "{text}");
        assert_eq!(shown(meant), meant);
    }
    let password = |text: &str| Dsn::parse(text).unwrap().endpoint.password.0;
    assert_eq!(password("u:p/w?@x@tcp(h:3307)/d"), "p/w?@x");
    assert_eq!(password(r"host=h user=u password='it\'s \\'"), r"it's \");
    let timeout = |text: &str| Dsn::parse(text).unwrap().endpoint.connect_timeout;
    assert_eq!(timeout("postgres://h/d?connect_timeout=30"), Duration::from_secs(30));
    assert_eq!(timeout("mysql+pymysql://h/d?connect_timeout=30"), Duration::from_secs(30));
    assert_eq!(timeout("jdbc:mysql://h/d?connectTimeout=1500"), Duration::from_millis(1500));
}

#[test]
fn what_rqps_does_not_do_of_other_clients_addresses_is_named() {
    for (text, part) in [
        ("postgres://u@h/d?sslmode=prefer", "leaves open whether the connection is encrypted"),
        ("mysql://u@h/d?ssl-mode=PREFERRED", "write tls=off or tls=required"),
        ("mysql://u@h/d?useSSL=true", "useSSL: write tls=required&ca=FILE"),
        ("postgres://u@h/d?sslmode=verify-full", "needs ca=FILE"),
        (
            "postgres://u@h/d?tls=required&sslmode=disable",
            "sslmode contradicts another key about TLS",
        ),
        ("postgres://u@h/d?sslmode=require&sslmode=disable", "leave one of them out"),
        ("postgres://u@h/d?autocommit=1", "unknown key autocommit after ?"),
        ("postgres://u@h/%00", "an address cannot contain a NUL"),
        ("jdbc:mysql://address=(host=h)(port=1)(user=u)(password=secret)/d", "write HOST:PORT"),
        ("jdbc:mysql://(host=h,password=secret)/d", "it names several hosts; name one"),
        ("mysql://u@[password=secret]/d", "write HOST:PORT"),
        ("jdbc:sqlserver://h;user=u;password=secret", "unknown scheme"),
        ("postgres://u@h/d?sslrootcert=/ca.pem", "not whether to encrypt; write tls=required"),
        ("mysql://u@h/d?ssl-ca=/ca.pem", "leave ca (sslrootcert, ssl-ca) out"),
        ("mysql://u@h/d?ca=/ca.pem", "not whether to encrypt"),
        (
            "host=/run/postgresql dbname=d sslmode=require user=u",
            "leave tls (sslmode, ssl-mode) out",
        ),
        (
            "host=h hostaddr=10.0.0.1 sslmode=verify-full sslrootcert=/ca.pem user=u",
            "leave hostaddr out, or write tls=issued",
        ),
        (
            "postgres://u@h/d?sslmode=verify-full&sslrootcert=system",
            "sslrootcert=system names no file",
        ),
        ("postgres://u@h/d?sslmode=on", "sslmode is disable, require, verify-ca or verify-full"),
        (
            "postgres://u@h/d?sslmode=require&channel_binding=require",
            "does not support channel binding",
        ),
        (
            "postgres://u@h/d?options=-cwork_mem%3D1GB",
            "options: set session settings on the server",
        ),
        ("postgres://u@h/d?sslcert=/c&sslkey=/k", "sslcert: rqps logs in by password"),
        ("postgres://u@h/d?target_session_attrs=standby", "name a server that takes writes"),
        ("postgres://h1,h2/d", "it names several hosts; name one"),
        ("host=h1,h2 dbname=d", "it names several hosts; name one"),
        ("service=x dbname=d", "service: write the values of the service's entry"),
        ("mysql://u@h:1/db&password=s3cret", "keys begin with a ?"),
        ("mysql://u@h&password=s3cret", "keys begin with a ?"),
        ("service=x", "service: write the values of the service's entry"),
        ("host=h client_encoding=latin1", "client_encoding=latin1: rqps sends UTF-8"),
        ("jdbc:mysql://h/d?characterEncoding=latin1", "characterEncoding=latin1: rqps sends UTF-8"),
        ("jdbc:postgresql://h/d?user=u&password=secret", "password: write password_file=FILE"),
        ("host=h user='u", "a quote is not closed"),
        ("host=h user", "a parameter has no ="),
        ("u:p@cloudsql(project:region:name)/d", "is a name of a proxy: write tcp(HOST:PORT)"),
        ("mysql://u@h/d?ssl=%7B%22rejectUnauthorized%22:true%7D", "ssl: write tls=required"),
        ("postgres://u@h/d?nonsense=1", "unknown key nonsense after ?"),
    ] {
        assert!(shown(text).contains(part), "{text}: {}", shown(text));
    }
}

#[test]
fn errors_on_other_clients_addresses_do_not_show_the_password() {
    for text in [
        "u:secret@tcp(h:x)/d",
        "u:secret@cloudsql(a:b)/d",
        "u:secret@tcp(h:1/d",
        "host=h user=u password=secret options=x",
        "host=h password='secret",
        "jdbc:postgresql://h/d?user=u&password=secret",
        "jdbc:mysql://u:secret@h:x/d",
        "jdbc:mysql://address=(host=h)(port=1)(user=u)(password=secret)/d",
        "mariadb://address=(host=h)(password=secret)/d",
        "jdbc:mysql://(host=h,password=secret)/d",
        "mysql://u@[password=secret]/d",
        "jdbc:sqlserver://h;user=u;password=secret",
        "Server=h;Database=d;Uid=u;Pwd=secret",
        "postgres://u:12secret(3@h:x/d",
        "postgres://u:secret;3@h:x/d",
        "mysql://u@h:1/db&password=secret",
    ] {
        let error = Dsn::parse(text).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("secret"), "{shown}");
    }
}

#[test]
fn names_and_versions_are_no_addresses() {
    for text in
        ["mysql@8.0.33", "postgres@/opt/pg", "postgres@18.6+debian", "host=big", "a = b", ""]
    {
        assert!(!Dsn::looks_like(text), "{text}");
    }
}
