//! A table as an Apache Parquet file with one row group. Text is UTF-8; every column may be null.

use std::sync::Arc;

use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use rqps_store::Table;
use rqps_store::tables::{Column, Kind, Value};

use crate::Error;

/// The table as a file. `created_by` names the program.
///
/// # Errors
/// When a value is not of its column's kind.
pub fn render(table: &Table, created_by: &str) -> Result<Vec<u8>, Error> {
    write(table, created_by)
        .map_err(|source| Error::Parquet { table: table.name.clone(), source: Box::new(source) })
}

fn write(table: &Table, created_by: &str) -> Result<Vec<u8>, ParquetError> {
    let fields = table.columns.iter().map(|column| column_type(column).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder(&table.name).with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_created_by(created_by.to_owned()).build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut row_group = file.next_row_group()?;
    for (idx, column) in table.columns.iter().enumerate() {
        let values: Vec<&Value> = table.rows.iter().filter_map(|row| row.get(idx)).collect();
        if let Some(mut writer) = row_group.next_column()? {
            write_column(&mut writer, column, &values)?;
            writer.close()?;
        }
    }
    row_group.close()?;
    file.into_inner()
}

fn column_type(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Integer => (PhysicalType::INT64, None),
        Kind::Real => (PhysicalType::DOUBLE, None),
        Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Blob => (PhysicalType::BYTE_ARRAY, None),
    };
    // A column is optional unless said otherwise.
    Type::primitive_type_builder(&column.name, physical).with_logical_type(logical).build()
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column,
    values: &[&Value],
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(**value != Value::Null)).collect();
    match column.kind {
        Kind::Integer => {
            let values = present(column, values, integer)?;
            writer.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?
        }
        Kind::Real => {
            let values = present(column, values, real)?;
            writer.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?
        }
        Kind::Text | Kind::Blob => {
            let values = present(column, values, bytes)?;
            writer.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?
        }
    };
    Ok(())
}

/// The values that are not null.
fn present<T>(
    column: &Column,
    values: &[&Value],
    convert: fn(&Value) -> Option<T>,
) -> Result<Vec<T>, ParquetError> {
    let convert = |value: &&Value| {
        let problem = || {
            let Column { name, kind } = column;
            ParquetError::General(format!("column {name} is {kind:?} and holds {value:?}"))
        };
        convert(value).ok_or_else(problem)
    };
    values.iter().filter(|value| ***value != Value::Null).map(convert).collect()
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(n) => Some(*n),
        _ => None,
    }
}

/// A column of real numbers holds whole ones as integers.
fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Real(x) => Some(*x),
        Value::Integer(n) => Some(*n as f64),
        _ => None,
    }
}

fn bytes(value: &Value) -> Option<ByteArray> {
    match value {
        Value::Text(text) => Some(ByteArray::from(text.as_str())),
        Value::Blob(bytes) => Some(ByteArray::from(bytes.clone())),
        _ => None,
    }
}
