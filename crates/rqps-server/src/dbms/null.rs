//! The null client, which has no server: nothing to ask and nothing to do.

use std::collections::BTreeMap;

use super::driver::{Driver, FilePart};
use super::mysql;

pub(super) const DRIVER: Driver = Driver {
    recognise: |_| None,
    keep_session_sql: || None,
    settings: |_| Ok(BTreeMap::new()),
    session: |_| Ok(BTreeMap::new()),
    origins: |_, _| BTreeMap::new(),
    build: |_, _, _| BTreeMap::new(),
    tables: |_| Ok(Vec::new()),
    table_bytes: |_, _, _| Ok(Some(0)),
    thread_sql: |_| None,
    connection_bytes: 0,
    counters: &[],
    explain: None,
    settle: |_, _, _, _, _| Ok(Vec::new()),
    debt: |_| Ok(BTreeMap::new()),
    durability: |_, _| Vec::new(),
    page_codecs: |_, _| Ok(Vec::new()),
    part_of_file: |_| FilePart::Data,
    own: None,
    ..mysql::DRIVER
};
