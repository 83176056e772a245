//! A table as an Apache Parquet file: one row group, plain encoding, no compression.
//!
//! The format is that of <https://parquet.apache.org/docs/file-format/>: a column's values in one data page,
//! and the description of the file behind them in Thrift's compact protocol. This much of it takes two small
//! files; the official library would bring a hundred crates for encodings that tables of some thousand rows do
//! not need.

mod thrift;

use rqps_store::Table;
use rqps_store::tables::{Kind, Value};

use thrift::Struct;

/// First and last bytes of a file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Numbers of the format's enumerations (parquet.thrift): types, how often a field comes, encodings.
const INT64: i64 = 2;
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
const OPTIONAL: i64 = 1;
const UTF8: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const UNCOMPRESSED: i64 = 0;
const DATA_PAGE: i64 = 0;

/// A column's chunk in the file.
struct Chunk {
    name: String,
    kind: Kind,
    offset: usize,
    length: usize,
}

/// The table as a file. `created_by` names the program.
#[must_use]
pub fn render(table: &Table, created_by: &str) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for (at, column) in table.columns.iter().enumerate() {
        let values: Vec<&Value> = table.rows.iter().filter_map(|row| row.get(at)).collect();
        let page = page(column.kind, &values);
        let header = page_header(page.len(), values.len());
        let (name, offset) = (column.name.clone(), out.len());
        out.extend(&header);
        out.extend(&page);
        chunks.push(Chunk { name, kind: column.kind, offset, length: header.len() + page.len() });
    }
    let footer = footer(table, &chunks, created_by);
    out.extend(&footer);
    out.extend(u32::try_from(footer.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(MAGIC);
    out
}

/// Which values are there, then those that are.
fn page(kind: Kind, values: &[&Value]) -> Vec<u8> {
    let levels = levels(values);
    let mut out = u32::try_from(levels.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    out.extend(levels);
    for value in values {
        let bytes: &[u8] = match (kind, value) {
            (_, Value::Null) => continue,
            (Kind::Integer, Value::Integer(n)) => {
                out.extend(n.to_le_bytes());
                continue;
            }
            (Kind::Real, Value::Real(x)) => {
                out.extend(x.to_le_bytes());
                continue;
            }
            // A column of real numbers has whole ones as they are.
            (Kind::Real, Value::Integer(n)) => {
                out.extend((*n as f64).to_le_bytes());
                continue;
            }
            (_, Value::Text(text)) => text.as_bytes(),
            (_, Value::Blob(bytes)) => bytes,
            (Kind::Integer, Value::Real(_)) | (Kind::Text | Kind::Blob, _) => &[],
        };
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(bytes);
    }
    out
}

/// 1 for a value that is there, 0 for one that is not, as runs of equal ones: the run's length and the value.
fn levels(values: &[&Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for run in values.chunk_by(|a, b| is_there(a) == is_there(b)) {
        thrift::varint(&mut out, (run.len() as u64) << 1);
        out.push(u8::from(run.first().is_some_and(|value| is_there(value))));
    }
    out
}

fn is_there(value: &Value) -> bool {
    !matches!(value, Value::Null)
}

fn page_header(page_bytes: usize, n_values: usize) -> Vec<u8> {
    let mut data = Struct::default();
    data.int32(1, n_values as i64);
    data.int32(2, PLAIN);
    data.int32(3, RLE);
    data.int32(4, RLE);
    let mut header = Struct::default();
    header.int32(1, DATA_PAGE);
    header.int32(2, page_bytes as i64);
    header.int32(3, page_bytes as i64);
    header.structure(5, data);
    header.end()
}

fn footer(table: &Table, chunks: &[Chunk], created_by: &str) -> Vec<u8> {
    let n_rows = table.rows.len() as i64;
    let mut root = Struct::default();
    root.text(4, &table.name);
    root.int32(5, chunks.len() as i64);
    let schema = std::iter::once(root).chain(chunks.iter().map(element)).collect();
    let bytes: usize = chunks.iter().map(|chunk| chunk.length).sum();
    let mut group = Struct::default();
    group.structures(1, chunks.iter().map(|chunk| column_chunk(chunk, n_rows)).collect());
    group.int64(2, bytes as i64);
    group.int64(3, n_rows);
    let mut file = Struct::default();
    file.int32(1, 1);
    file.structures(2, schema);
    file.int64(3, n_rows);
    file.structures(4, vec![group]);
    file.text(6, created_by);
    file.end()
}

/// A column of the schema.
fn element(chunk: &Chunk) -> Struct {
    let mut element = Struct::default();
    element.int32(1, physical(chunk.kind));
    element.int32(3, OPTIONAL);
    element.text(4, &chunk.name);
    if chunk.kind == Kind::Text {
        element.int32(6, UTF8);
    }
    element
}

fn column_chunk(chunk: &Chunk, n_values: i64) -> Struct {
    let mut meta = Struct::default();
    meta.int32(1, physical(chunk.kind));
    meta.int32s(2, &[PLAIN, RLE]);
    meta.texts(3, &[&chunk.name]);
    meta.int32(4, UNCOMPRESSED);
    meta.int64(5, n_values);
    meta.int64(6, chunk.length as i64);
    meta.int64(7, chunk.length as i64);
    meta.int64(9, chunk.offset as i64);
    let mut out = Struct::default();
    out.int64(2, chunk.offset as i64);
    out.structure(3, meta);
    out
}

fn physical(kind: Kind) -> i64 {
    match kind {
        Kind::Integer => INT64,
        Kind::Real => DOUBLE,
        Kind::Text | Kind::Blob => BYTE_ARRAY,
    }
}
