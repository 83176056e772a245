//! What is asked of somebody else's server at login: which DBMS it is, and whether sessions are one's own.

use rqps_client::{Connection, Endpoint, ServerProtocol, probe_protocol};
use rqps_model::Dbms;

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
    let (spoken, scheme) = match (probe_protocol(endpoint)?, named) {
        (ServerProtocol::Mysql, Dbms::Postgres) => ("MySQL and MariaDB", "mysql"),
        (ServerProtocol::Mariadb, Dbms::Postgres) => ("MySQL and MariaDB", "mariadb"),
        (ServerProtocol::Postgres, Dbms::Mysql | Dbms::Mariadb) => ("PostgreSQL", "postgres"),
        _ => return None,
    };
    let address = endpoint.address.to_string();
    Some(Refusal::OtherProtocol { address, spoken, scheme }.into())
}

/// Refuses a pooler that lends a server's process to one client after the other: neither a lock nor a
/// `search_path` would stay with the client.
pub(super) fn require_own_session(
    dbms: Dbms,
    home: &Endpoint,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    if dbms != Dbms::Postgres {
        return Ok(());
    }
    let sql = "select pg_backend_pid()";
    let ask = |connection: &mut dyn Connection| -> Result<Option<String>, Error> {
        let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
        Ok(result.scalar().map(str::to_owned))
    };
    let first = ask(connection)?;
    let mut other = connect(dbms, home)?;
    other.set_timeout(Some(home.connect_timeout)).map_err(|e| Error::client("set a timeout", e))?;
    let second = ask(other.as_mut())?;
    if first != second && ask(connection)? == first && ask(other.as_mut())? == second {
        return Ok(());
    }
    Err(Refusal::SharedSessions { address: home.address.to_string() }.into())
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
    if let Some(error) = super::writes::refused_write(home, said) {
        return error;
    }
    // MySQL 1044 (ER_DBACCESS_DENIED_ERROR), 1142 (ER_TABLEACCESS_DENIED_ERROR), 1227
    // (ER_SPECIFIC_ACCESS_DENIED_ERROR); PostgreSQL 42501 (insufficient_privilege).
    let is_right = match dbms {
        Dbms::Postgres => said.sqlstate == "42501",
        _ => matches!(said.errno, 1044 | 1142 | 1227),
    };
    if !is_right {
        return error;
    }
    let sql = match dbms {
        Dbms::Postgres => "select quote_ident(current_database()), quote_ident(current_user::text)",
        _ => "select current_user()",
    };
    let row = connection.query(sql).ok().and_then(|result| result.rows.into_iter().next());
    let texts: Vec<String> = row.into_iter().flatten().map(Option::unwrap_or_default).collect();
    let grant = match texts.as_slice() {
        [database, user] => format!("GRANT CREATE ON DATABASE {database} TO {user}"),
        [account] => {
            let (user, host) = account.rsplit_once('@').unwrap_or((account, "%"));
            format!("GRANT ALL ON `rqps\\_%`.* TO '{user}'@'{host}'")
        }
        _ => return error,
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
