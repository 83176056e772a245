//! The tests that are known by name: our own script of the field's OLTP workloads, one text for all.

/// The tests and what each event does.
pub(crate) const TESTS: [(&str, &str); 11] = [
    ("bulk_insert", "inserts of many rows at once, a table per thread"),
    ("oltp_delete", "deletes by primary key"),
    ("oltp_insert", "inserts of one row"),
    ("oltp_point_select", "reads by primary key"),
    ("oltp_read_only", "transactions of reads"),
    ("oltp_read_write", "transactions of reads and writes"),
    ("oltp_update_index", "updates of an indexed column"),
    ("oltp_update_non_index", "updates of a column without index"),
    ("oltp_write_only", "transactions of writes"),
    ("select_random_points", "reads of random rows by a list of values of k"),
    ("select_random_ranges", "counts over random ranges of k"),
];

/// The script of a test.
pub(crate) fn script(name: &str) -> Option<String> {
    let is_known = TESTS.iter().any(|(test, _)| *test == name);
    is_known.then(|| format!("local test = {name:?}; {}", include_str!("builtin/oltp.lua")))
}
