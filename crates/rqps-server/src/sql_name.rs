//! Names of tables and schemas as SQL takes them.

use rqps_model::Dbms;

/// A name as SQL takes it whatever is in it.
pub(crate) fn quoted(dbms: Dbms, name: &str) -> String {
    if dbms.is_postgres_family() {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}
