//! HOT PATH: prepared statements and the values bound to them. Budget per execution: a copy of each
//! value.

use rqps_client::{Error, ParamType, Params, StatementId};

use super::{FAILED, Rows, Worker};
use crate::console::Level;
use crate::sql::failure::Failure;
use crate::sql::place::Driver;

/// A statement of one connection.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) link: usize,
    sql: Box<str>,
    id: StatementId,
    /// The slots whose values are its parameters, in order.
    order: Vec<u32>,
    types: Vec<ParamType>,
    params: Params,
    /// Whether it can be executed: its parameters are bound, or it has none.
    ready: bool,
}

impl Statement {
    /// The slots of its parameters, each once.
    pub(super) fn into_slots(self) -> Vec<u32> {
        let mut slots = self.order;
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}

/// A value that scripts set and statements read.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    kind: ParamType,
    /// Bytes of a text that are sent at most.
    max_bytes: usize,
    value: SlotValue,
}

#[derive(Debug, Clone)]
enum SlotValue {
    Null,
    Int(i64),
    Text(Vec<u8>),
}

impl Worker {
    /// Prepares a statement. Its number, or `None` after telling why not.
    pub(crate) fn prepare(&mut self, link: usize, sql: &str) -> Option<usize> {
        let text_only = self.settings.text_only;
        let Some(Some(open)) = self.links.get_mut(link) else {
            self.closed();
            return None;
        };
        let driver = open.driver;
        let has_params = sql.contains('?');
        let opened = match (text_only, has_params) {
            (false, _) => open.connection.open_statement(sql),
            (true, false) => open.connection.text_statement(sql, &[]),
            (true, true) => Ok(StatementId(u32::MAX)),
        };
        let id = match opened {
            Ok(id) => id,
            Err(error) => {
                self.not_prepared(driver, &error, sql);
                return None;
            }
        };
        let statement = Statement {
            link,
            sql: sql.into(),
            id,
            order: Vec::new(),
            types: Vec::new(),
            params: Params::new(),
            ready: !has_params,
        };
        let free = self.statements.iter().position(Option::is_none);
        let idx = free.unwrap_or(self.statements.len());
        match self.statements.get_mut(idx) {
            Some(place) => *place = Some(statement),
            None => self.statements.push(Some(statement)),
        }
        Some(idx)
    }

    fn not_prepared(&mut self, driver: Driver, error: &Error, sql: &str) {
        let failure = Failure::new(driver, error);
        if failure.lost_statement {
            self.tell_lost_statement(&failure);
            self.failure = None;
            return;
        }
        if matches!(error, Error::Usage { .. }) {
            self.wrong_number(driver);
            return;
        }
        let console = &self.settings.console;
        match driver {
            Driver::Mysql => {
                console.log(Level::Fatal, "mysql_stmt_prepare() failed");
                let Failure { errno, message, .. } = &failure;
                console.log(Level::Fatal, &format!("MySQL error: {errno} \"{message}\""));
            }
            Driver::Pgsql => {
                let text = failure.libpq_text(sql);
                console.log(Level::Fatal, &format!("PQprepare() failed: {text}"));
            }
        }
        self.failure = None;
    }

    /// Tells of more or fewer parameters than a statement has.
    fn wrong_number(&mut self, driver: Driver) {
        let console = &self.settings.console;
        match driver {
            Driver::Mysql => {
                console.log(Level::Fatal, "Wrong number of parameters to mysql_stmt_bind_param");
            }
            Driver::Pgsql => {
                console.log(Level::Alert, "wrong number of parameters in prepared statement");
            }
        }
        self.failure = None;
    }

    /// A new slot for values of a kind, of whose texts so many bytes are sent at most.
    pub(crate) fn new_slot(&mut self, kind: ParamType, max_bytes: Option<usize>) -> u32 {
        let max_bytes = max_bytes.unwrap_or(usize::MAX);
        let slot = Slot { kind, max_bytes, value: SlotValue::Null };
        if let Some(free) = self.free_slots.pop()
            && let Some(place) = self.slots.get_mut(free as usize)
        {
            *place = slot;
            return free;
        }
        self.slots.push(slot);
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    /// Makes slots the parameters of a statement; false after telling why not.
    pub(crate) fn bind(&mut self, link: usize, statement: usize, order: &[u32]) -> bool {
        let kind_of = |slot: &u32| {
            self.slots.get(*slot as usize).map_or(ParamType::Inferred, |slot| slot.kind)
        };
        let types: Vec<ParamType> = order.iter().map(kind_of).collect();
        let Some(Some(it)) = self.statements.get_mut(statement) else { return false };
        let Some(Some(open)) = self.links.get_mut(link) else { return false };
        if it.link != link {
            return false;
        }
        let declared = if self.settings.text_only {
            open.connection.text_statement(&it.sql, &types).map(|id| it.id = id)
        } else {
            open.connection.declare(it.id, &types)
        };
        match declared {
            Ok(()) => {
                it.order = order.to_vec();
                it.types = types;
                it.ready = true;
                true
            }
            Err(error) => {
                let (driver, sql) = (open.driver, it.sql.clone());
                self.not_prepared(driver, &error, &sql);
                false
            }
        }
    }

    /// Sets a slot to an integer.
    #[inline]
    pub(crate) fn set_int(&mut self, slot: u32, value: i64) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.value = SlotValue::Int(value);
        }
    }

    /// Sets a slot to NULL.
    pub(crate) fn set_null(&mut self, slot: u32) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.value = SlotValue::Null;
        }
    }

    /// Sets a slot to a text, cut to its length.
    #[inline]
    pub(crate) fn set_text(&mut self, slot: u32, text: &[u8]) {
        if let Some(TextSlot { buffer, max_bytes }) = text_of(&mut self.slots, slot) {
            buffer.extend_from_slice(text.get(..max_bytes).unwrap_or(text));
        }
    }

    /// Sets a slot to a random text of a format, cut to its length.
    #[inline]
    pub(crate) fn set_random_text(&mut self, slot: u32, format: &[u8]) {
        if let Some(TextSlot { buffer, max_bytes }) = text_of(&mut self.slots, slot) {
            self.random.push_text(format.get(..max_bytes).unwrap_or(format), buffer);
        }
    }

    /// Executes a statement of a connection with the values that its slots have now.
    #[inline]
    pub(crate) fn execute(&mut self, link: usize, statement: usize) -> Rows {
        let Some(Some(it)) = self.statements.get_mut(statement) else { return self.no_statement() };
        // The place of a statement whose connection was closed may be another one's.
        if it.link != link {
            return self.no_statement();
        }
        if !it.ready {
            return self.not_bound();
        }
        it.params.clear();
        for slot in &it.order {
            match self.slots.get(*slot as usize).map(|slot| &slot.value) {
                Some(SlotValue::Int(value)) => it.params.push_int(*value),
                Some(SlotValue::Text(text)) => {
                    it.params.push_text(|arena| arena.extend_from_slice(text));
                }
                Some(SlotValue::Null) | None => it.params.push_null(),
            }
        }
        let Some(Some(open)) = self.links.get_mut(link) else { return self.closed() };
        let executed = open.connection.execute(it.id, &it.params);
        let had_result = open.connection.had_result();
        if self.settings.db_debug {
            let sql = it.sql.clone();
            self.show_statement(sql.as_bytes());
        }
        match executed {
            Ok(outcome) => self.count(&outcome, had_result),
            Err(error) => {
                let sql = match self.statements.get(statement) {
                    Some(Some(it)) => it.sql.clone(),
                    _ => "".into(),
                };
                self.failed(link, &error, "mysql_stmt_execute()", sql.as_bytes())
            }
        }
    }

    #[cold]
    fn no_statement(&mut self) -> Rows {
        self.settings.console.log(Level::Alert, "attempt to use an already closed statement");
        self.failure = None;
        FAILED
    }

    #[cold]
    fn not_bound(&mut self) -> Rows {
        let text = "attempt to execute a statement whose parameters were not bound";
        self.settings.console.log(Level::Alert, text);
        self.failure = None;
        FAILED
    }

    /// Forgets a statement of a connection and its slots.
    pub(crate) fn close_statement(&mut self, link: usize, statement: usize, slots: &[u32]) {
        let Some(place) = self.statements.get_mut(statement) else { return };
        let Some(it) = place.take_if(|it| it.link == link) else { return };
        self.free_slots.extend_from_slice(slots);
        if let Some(Some(open)) = self.links.get_mut(it.link)
            && it.id != StatementId(u32::MAX)
        {
            // A connection that is lost is found out by the next statement.
            let _ = open.connection.forget(it.id);
        }
    }

    /// Prepares the statements of a new connection; false after telling why not.
    pub(super) fn prepare_again(&mut self, link: usize) -> bool {
        for idx in 0..self.statements.len() {
            let Some(Some(it)) = self.statements.get_mut(idx) else { continue };
            if it.link != link || (self.settings.text_only && !it.ready) {
                continue;
            }
            let Some(Some(open)) = self.links.get_mut(link) else { return false };
            let opened = if self.settings.text_only {
                open.connection.text_statement(&it.sql, &it.types)
            } else {
                open.connection.open_statement(&it.sql)
            };
            let declares = !self.settings.text_only && !it.types.is_empty();
            let opened = opened.and_then(|id| {
                it.id = id;
                if declares { open.connection.declare(id, &it.types) } else { Ok(()) }
            });
            if let Err(error) = opened {
                let (driver, sql) = (open.driver, it.sql.clone());
                self.not_prepared(driver, &error, &sql);
                return false;
            }
        }
        true
    }
}

/// The emptied text of a slot.
struct TextSlot<'a> {
    buffer: &'a mut Vec<u8>,
    max_bytes: usize,
}

/// The text of a slot, made one where it is none.
#[inline]
fn text_of(slots: &mut [Slot], slot: u32) -> Option<TextSlot<'_>> {
    let Slot { value, max_bytes, .. } = slots.get_mut(slot as usize)?;
    if !matches!(value, SlotValue::Text(_)) {
        *value = SlotValue::Text(Vec::new());
    }
    match value {
        SlotValue::Text(buffer) => {
            buffer.clear();
            Some(TextSlot { buffer, max_bytes: *max_bytes })
        }
        _ => None,
    }
}
