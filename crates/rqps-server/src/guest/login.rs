//! What is asked of somebody else's server at login: which DBMS it is, and whether sessions are one's own.

use rqps_client::{Connection, Endpoint, ServerError, probe_dbms};
use rqps_model::Dbms;

use crate::answer::{query, rows};
use crate::dbms::guest_driver::GuestDriver;
use crate::dbms::{Told, recognise};
use crate::{Error, Refusal, connect};

/// The DBMS that a server reports. `named` is the address's DBMS, which decides the protocol.
///
/// # Errors
/// [`Refusal::OtherProtocol`]; [`Error::Client`] where it cannot be asked.
pub fn told_dbms(named: Dbms, endpoint: &Endpoint) -> Result<Told, Error> {
    let mut connection = match connect(named, endpoint) {
        Ok(connection) => connection,
        Err(error) => return Err(other_protocol(named, endpoint).unwrap_or(error)),
    };
    connection
        .set_timeout(Some(endpoint.connect_timeout))
        .map_err(|e| Error::client("set a timeout", e))?;
    recognise(named, connection.as_mut())
}

fn other_protocol(named: Dbms, endpoint: &Endpoint) -> Option<Error> {
    let found = probe_dbms(endpoint).filter(|found| found.family() != named.family())?;
    let address = endpoint.address.to_string();
    let (spoken, scheme) = (found.family().servers(), found.to_string());
    Some(Refusal::OtherProtocol { address, spoken, scheme }.into())
}

/// Refuses a pooler that lends a session to one client after the other: neither a lock nor a schema would stay with
/// the client.
pub(super) fn require_own_session(
    dbms: Dbms,
    guest: &GuestDriver,
    home: &Endpoint,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let Some(sql) = guest.session_id_sql else { return Ok(()) };
    let address = || home.address.to_string();
    let first = match connection.query(sql) {
        Ok(first) => first,
        Err(rqps_client::Error::Server(said)) if !is_passing(&said) => {
            let said = rows(connection, "select version()").into_iter().flatten().next();
            let (said, statement) = (said.unwrap_or_default(), sql.to_owned());
            return Err(Refusal::UnknownDbms { address: address(), said, statement }.into());
        }
        Err(error) => return Err(Error::client(sql, error)),
    };
    let session_id = |connection: &mut dyn Connection| -> Result<Option<String>, Error> {
        Ok(query(connection, sql, sql)?.scalar().map(str::to_owned))
    };
    let first = first.scalar().map(str::to_owned);
    let mut other = connect(dbms, home)?;
    other.set_timeout(Some(home.connect_timeout)).map_err(|e| Error::client("set a timeout", e))?;
    let second = session_id(other.as_mut())?;
    let is_own = first != second
        && session_id(connection)? == first
        && session_id(other.as_mut())? == second;
    if is_own { Ok(()) } else { Err(Refusal::SharedSessions { address: address() }.into()) }
}

/// Whether an error says nothing of what the server is: connections (08), resources (53), limits (54), the operator's
/// doing (57), the system (58), a login or right (28, 42501).
fn is_passing(said: &ServerError) -> bool {
    ["08", "28", "53", "54", "57", "58", "42501"].iter().any(|of| said.sqlstate.starts_with(of))
}

/// An error of making a schema, with the statement that helps where the user lacks the right.
pub(super) fn refusal(
    guest: &GuestDriver,
    home: &Endpoint,
    error: Error,
    connection: &mut dyn Connection,
) -> Error {
    let Error::Client { doing, source: rqps_client::Error::Server(said) } = &error else {
        return error;
    };
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
