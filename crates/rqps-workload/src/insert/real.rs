//! Whether a server answers, or the null client does.

use rqps_client::Connection;

/// Whether answers are a server's. The null client never says that it changed a row.
pub(super) fn is_real<C: Connection>(connection: &C) -> bool {
    !matches!(connection.session().transport.as_str(), "" | "null")
}
