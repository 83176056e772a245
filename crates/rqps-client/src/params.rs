//! HOT PATH: parameters of one execution, kept in buffers that are reused. Budget: no allocation
//! after the first event, one copy of each string.

/// A parameter's type, fixed when the statement is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParamType {
    /// A 32-bit integer: MySQL LONG, PostgreSQL int4.
    Int,
    /// A 64-bit integer: MySQL LONGLONG, PostgreSQL int8.
    BigInt,
    /// A string: MySQL VAR_STRING, PostgreSQL text.
    Text,
    /// A string that becomes what the statement needs there, such as a date or a number: MySQL
    /// VAR_STRING, in PostgreSQL of the type that the server infers.
    Inferred,
    /// Bytes in the binary form of what the statement needs there, such as a vector: MySQL BLOB, in PostgreSQL of the
    /// type that the server infers. PostgreSQL takes none in text.
    Binary,
}

/// A parameter's value. Text lies in the arena of its [`Params`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// An integer of either width; it must fit the declared type.
    Int(i64),
    /// NULL, whatever the declared type.
    Null,
    /// Text, from `start` to `end` in the arena.
    Text {
        /// First byte.
        start: u32,
        /// One past the last byte.
        end: u32,
    },
}

/// The parameters of one execution, in order.
#[derive(Debug, Clone, Default)]
pub struct Params {
    values: Vec<Value>,
    arena: Vec<u8>,
}

impl Params {
    /// No parameters, and no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.arena.clear();
    }

    /// Adds an integer.
    #[inline]
    pub fn push_int(&mut self, value: i64) {
        self.values.push(Value::Int(value));
    }

    /// Adds a NULL.
    #[inline]
    pub fn push_null(&mut self) {
        self.values.push(Value::Null);
    }

    /// Adds a string that `fill` appends to the arena.
    #[inline]
    pub fn push_text(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.arena.len();
        fill(&mut self.arena);
        let end = self.arena.len();
        // An event's strings are a few hundred bytes; 4 GiB is out of reach.
        self.values.push(Value::Text {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
        });
    }

    /// The values in order.
    #[must_use]
    #[inline]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The bytes of a text value of these parameters; empty when the range is not theirs.
    #[must_use]
    #[inline]
    pub fn text(&self, start: u32, end: u32) -> &[u8] {
        self.arena.get(start as usize..end as usize).unwrap_or(&[])
    }
}
