//! Vectors as servers take them, encoded once before anything is measured.

use rqps_model::{Dbms, Family};
use rqps_vector::Vectors;

/// Vectors in the binary form of a server, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    bytes: Vec<u8>,
    width: usize,
}

impl Encoded {
    /// Vectors for a DBMS.
    #[must_use]
    pub fn of(dbms: Dbms, vectors: &Vectors) -> Self {
        let encode = match dbms.family() {
            Family::Postgres => push_postgres,
            Family::Mysql | Family::Null => push_mysql,
        };
        let mut bytes = Vec::new();
        for vector in vectors.iter() {
            encode(&mut bytes, vector);
        }
        let width = bytes.len() / vectors.len().max(1);
        Self { bytes, width }
    }

    /// How many vectors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.width.max(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A vector's bytes, by its place.
    #[must_use]
    #[inline]
    pub fn get(&self, place: usize) -> &[u8] {
        self.bytes.get(place * self.width..(place + 1) * self.width).unwrap_or(&[])
    }
}

/// MariaDB and MySQL: the components as floats of 32 bits, the least significant byte first.
fn push_mysql(out: &mut Vec<u8>, vector: &[f32]) {
    out.extend(vector.iter().flat_map(|component| component.to_le_bytes()));
}

/// pgvector, `vector_recv`: the number of components and a zero in 16 bits each, then the components as floats of 32 bits,
/// all with the most significant byte first.
fn push_postgres(out: &mut Vec<u8>, vector: &[f32]) {
    let dimension = u16::try_from(vector.len()).unwrap_or(u16::MAX);
    out.extend(dimension.to_be_bytes());
    out.extend([0, 0]);
    out.extend(vector.iter().flat_map(|component| component.to_be_bytes()));
}

/// A vector as an SQL literal.
#[must_use]
pub(super) fn literal(dbms: Dbms, vector: &[f32]) -> String {
    match dbms.family() {
        Family::Postgres => {
            let components: Vec<String> = vector.iter().map(ToString::to_string).collect();
            format!("'[{}]'", components.join(","))
        }
        Family::Mysql | Family::Null => {
            let mut bytes = Vec::new();
            push_mysql(&mut bytes, vector);
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("X'{digits}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_the_form_of_each_server() {
        let vectors = Vectors::new(2, vec![1.0, -2.5, 0.0, 3.0]).unwrap();
        let mysql = Encoded::of(Dbms::Mariadb, &vectors);
        assert_eq!((mysql.len(), mysql.get(0)), (2, &[0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0][..]));
        let postgres = Encoded::of(Dbms::Postgres, &vectors);
        assert_eq!(postgres.get(1), [0, 2, 0, 0, 0, 0, 0, 0, 0x40, 0x40, 0, 0]);
        assert_eq!(postgres.get(2), []);
        assert_eq!(literal(Dbms::Postgres, vectors.get(0)), "'[1,-2.5]'");
        assert_eq!(literal(Dbms::Mariadb, vectors.get(0)), "X'0000803F000020C0'");
    }
}
