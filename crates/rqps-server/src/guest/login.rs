//! What is asked of somebody else's server at login: which DBMS it is, and whether sessions are one's own.

use rqps_client::{Connection, Endpoint, ServerProtocol, probe_protocol};
use rqps_model::{Dbms, Family};

use crate::dbms::driver;
use crate::{Error, Refusal, connect};

/// What a server says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The DBMS.
    pub dbms: Dbms,
    /// Its version as people write it: `10.11.19`. Empty where it was not asked.
    pub version: String,
}

/// The DBMS that a server says it is. `named` is what its address says, which decides the protocol.
///
/// # Errors
/// [`Refusal::OtherProtocol`]; [`Error::Client`] where it cannot be asked.
pub fn told_dbms(named: Dbms, endpoint: &Endpoint) -> Result<Told, Error> {
    let mut connection = match connect(named, endpoint) {
        Ok(connection) => connection,
        Err(error) => return Err(other_protocol(named, endpoint).unwrap_or(error)),
    };
    if !named.is_mysql_family() {
        return Ok(Told { dbms: named, version: String::new() });
    }
    connection
        .set_timeout(Some(endpoint.connect_timeout))
        .map_err(|e| Error::client("set a timeout", e))?;
    // A proxy may greet with words of its own.
    let sql = "select version(), @@version_comment";
    let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
    let mut texts = vec![connection.session().server_version_text.clone()];
    texts.extend(result.rows.into_iter().flatten().flatten());
    let version = texts.get(1).map_or_else(String::new, |text| version_of(text).to_owned());
    Ok(Told { dbms: dbms_of(&texts), version })
}

/// The numbers of a version's text: 10.11.19 of `10.11.19-MariaDB-0+deb12u1`.
fn version_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    &text[..end]
}

/// MariaDB has its name in its version or in the comment on it.
fn dbms_of(texts: &[String]) -> Dbms {
    let is_mariadb = texts.iter().any(|text| text.to_ascii_lowercase().contains("mariadb"));
    if is_mariadb { Dbms::Mariadb } else { Dbms::Mysql }
}

fn other_protocol(named: Dbms, endpoint: &Endpoint) -> Option<Error> {
    let (spoken, scheme) = match (probe_protocol(endpoint)?, named.family()) {
        (ServerProtocol::Mysql, Family::Postgres) => ("MySQL and MariaDB", "mysql"),
        (ServerProtocol::Mariadb, Family::Postgres) => ("MySQL and MariaDB", "mariadb"),
        (ServerProtocol::Postgres, Family::Mysql) => ("PostgreSQL", "postgres"),
        _ => return None,
    };
    let address = endpoint.address.to_string();
    Some(Refusal::OtherProtocol { address, spoken, scheme }.into())
}

/// An error of making a schema, with the statement that helps where the user lacks the right.
pub(super) fn refusal(
    dbms: Dbms,
    home: &Endpoint,
    error: Error,
    connection: &mut dyn Connection,
) -> Error {
    let Error::Client { doing, source: rqps_client::Error::Server(said) } = &error else {
        return error;
    };
    let guest = &driver(dbms).guest;
    if let Some(error) = (guest.refused_write)(home, said) {
        return error;
    }
    let Some(grant) = (guest.lacks_right)(said).then(|| (guest.grant)(connection)).flatten() else {
        return error;
    };
    let server = format!("the server at {}", home.address);
    let (statement, said) = (doing.clone(), said.to_string());
    Refusal::SchemaRefused { server, statement, said, grant }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_itself_says_which_dbms_it_is() {
        let dbms = |texts: &[&str]| dbms_of(&texts.map_owned());
        assert_eq!(dbms(&["5.5.5-10.11.5-MariaDB", "10.11.5-MariaDB", ""]), Dbms::Mariadb);
        assert_eq!(dbms(&["8.0.33", "8.0.33", "MySQL Community Server - GPL"]), Dbms::Mysql);
        // A user has set the version's text.
        assert_eq!(dbms(&["5.7.1", "5.7.1", "mariadb.org binary distribution"]), Dbms::Mariadb);
    }

    #[test]
    fn versions_as_people_write_them() {
        assert_eq!(version_of("10.11.19-MariaDB-0+deb12u1"), "10.11.19");
        assert_eq!(version_of("8.0.33"), "8.0.33");
        assert_eq!(version_of(""), "");
    }

    trait MapOwned {
        fn map_owned(&self) -> Vec<String>;
    }

    impl MapOwned for &[&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|text| (*text).to_owned()).collect()
        }
    }
}
