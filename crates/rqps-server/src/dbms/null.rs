//! The null client, which has no server: nothing to ask and nothing to do.

use std::collections::BTreeMap;

use super::driver::{Driver, FilePart};
use super::guest_driver::{Drops, GuestDriver};
use super::own_guard;

pub(super) const DRIVER: Driver = Driver {
    recognise: |_| None,
    tells_version_at_login: true,
    keep_session_sql: || None,
    settings: |_| Ok(BTreeMap::new()),
    session: |_| Ok(BTreeMap::new()),
    origins: |_, _| BTreeMap::new(),
    build: |_, _, _| BTreeMap::new(),
    own_schema: "",
    tables: |_| Ok(Vec::new()),
    table_bytes: |_, _, _| Ok(Some(0)),
    thread_sql: |_| None,
    has_process_per_connection: false,
    connection_bytes: 0,
    counters: &[],
    explain: Err("the null client has no plans"),
    settle: |_, _, _, _, _| Ok(Vec::new()),
    debt: |_| Ok(BTreeMap::new()),
    table_state: |_, _| Ok(BTreeMap::new()),
    durability: |_, _| Vec::new(),
    page_codecs: |_, _| Ok(Vec::new()),
    has_one_page_codec: false,
    part_of_file: |_| FilePart::Data,
    guest: GUEST,
    own_guard: own_guard::NOT_STARTED,
    own: None,
};

/// It is never entered as a guest.
const GUEST: GuestDriver = GuestDriver {
    endpoint: |home, _| home,
    quote: str::to_owned,
    schemas_sql: "",
    use_schema_sql: |_| String::new(),
    current_schema_sql: "",
    count_tables_sql: |_, _| String::new(),
    session_id_sql: None,
    makes_schema_whole: false,
    count_objects_sql: |_| String::new(),
    server_id_sql: &[],
    changes_settings: false,
    drops: Drops::OneByOne,
    refused_texts: &[],
    read_write_sql: "",
    limit_waits_sql: |_| String::new(),
    lock: None,
    require_writes: |_, _| Ok(()),
    refused_write: |_, _| None,
    lacks_right: |_| false,
    grant: |_| None,
};
