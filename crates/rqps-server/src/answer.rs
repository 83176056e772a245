//! What a server answers to a question, as plain values.

use std::collections::BTreeMap;

use rqps_client::{Connection, ResultSet};

use crate::Error;

/// Asks, where the server must answer.
pub(crate) fn query(
    connection: &mut dyn Connection,
    doing: &str,
    sql: &str,
) -> Result<ResultSet, Error> {
    connection.query(sql).map_err(|e| Error::client(doing, e))
}

/// Asks, where the server may refuse.
pub(crate) fn ask(
    connection: &mut dyn Connection,
    doing: &str,
    sql: &str,
) -> Result<Option<ResultSet>, Error> {
    match connection.query(sql) {
        Ok(result) => Ok(Some(result)),
        Err(rqps_client::Error::Server(_)) => Ok(None),
        Err(e) => Err(Error::client(doing, e)),
    }
}

/// The rows of a question's answer; none where the server refuses it. NULL is an empty text.
pub(crate) fn rows(connection: &mut dyn Connection, sql: &str) -> Vec<Vec<String>> {
    let ResultSet { rows, .. } = connection.query(sql).unwrap_or_default();
    rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect()
}

/// The first two columns of a result as a map; NULL is an empty text.
pub(crate) fn pairs(result: ResultSet) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for mut row in result.rows {
        if row.len() >= 2 {
            let (name, value) = (row[0].take(), row[1].take());
            map.insert(name.unwrap_or_default(), value.unwrap_or_default());
        }
    }
    map
}
