//! How values of the model stand in columns: words and JSON as text, seeds as decimal text.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value of an enum without data, as the word that serde gives it: `interrupted`.
#[derive(Debug)]
pub(crate) struct Word<T>(pub(crate) T);

/// A value as JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// A value that is written by `Display` and read by `FromStr`: versions, and seeds, which use all
/// 64 bits where SQLite's integers have 63.
#[derive(Debug)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Serialize> ToSql for Word<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match serde_json::to_value(&self.0).map_err(unstorable)? {
            serde_json::Value::String(word) => Ok(word.into()),
            other => Err(unstorable(format!("{other} is not a word"))),
        }
    }
}

impl<T: DeserializeOwned> FromSql for Word<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = serde_json::Value::String(value.as_str()?.to_owned());
        serde_json::from_value(word).map(Self).map_err(FromSqlError::other)
    }
}

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(serde_json::to_string(&self.0).map_err(unstorable)?.into())
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

impl<T: ToString> ToSql for Text<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_string().into())
    }
}

impl<T> FromSql for Text<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map(Self).map_err(FromSqlError::other)
    }
}

/// An error of a value that cannot be stored.
pub(crate) fn unstorable(
    error: impl Into<Box<dyn std::error::Error + Send + Sync + 'static>>,
) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

/// A word in column `first` that this version does not know.
pub(crate) fn unknown_word(what: &str, word: &str) -> rusqlite::Error {
    let problem = format!("unknown {what} {word:?}");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, problem.into())
}
