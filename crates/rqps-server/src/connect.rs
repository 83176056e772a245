//! Opening a connection to a server of any family.

use rqps_client::{AnyConnection, Connection, Endpoint};
use rqps_model::Dbms;

use crate::Error;

/// Opens a connection of the right protocol.
///
/// # Errors
/// [`Error::Client`] with the address.
pub fn connect(dbms: Dbms, endpoint: &Endpoint) -> Result<Box<dyn Connection>, Error> {
    let connection = AnyConnection::open(dbms, endpoint).map(|c| Box::new(c) as _);
    connection.map_err(|e| {
        let doing = match e {
            // It names the address itself.
            rqps_client::Error::Connect { .. } => format!("open a connection to {}", dbms.name()),
            _ => format!("connect to {}", endpoint.address),
        };
        Error::client(doing, e)
    })
}
