//! Files of TEXMEX: fvecs, bvecs and ivecs. Each vector is the number of its components and then these, all with the
//! least significant byte first.

use crate::Vectors;

/// Components of a vector at most: what is larger is no such file.
const MOST: usize = 1 << 20;

/// The vectors of a file whose components are floats.
///
/// # Errors
/// A sentence on what is wrong.
pub(crate) fn floats(bytes: &[u8]) -> Result<Vectors, String> {
    let component = |four: &[u8]| f32::from_le_bytes(four.try_into().unwrap_or_default());
    let (dimension, components) = parse(bytes, 4, component)?;
    Vectors::new(dimension, components)
}

/// The vectors of a file whose components are bytes.
///
/// # Errors
/// A sentence on what is wrong.
pub(crate) fn bytes(bytes: &[u8]) -> Result<Vectors, String> {
    let (dimension, components) = parse(bytes, 1, |one: &[u8]| f32::from(one[0]))?;
    Vectors::new(dimension, components)
}

/// The neighbours of a file of places.
///
/// # Errors
/// A sentence on what is wrong.
pub(crate) fn places(bytes: &[u8]) -> Result<Vec<Vec<u32>>, String> {
    let place = |four: &[u8]| u32::from_le_bytes(four.try_into().unwrap_or_default());
    let (dimension, places) = parse(bytes, 4, place)?;
    Ok(places.chunks_exact(dimension).map(<[u32]>::to_vec).collect())
}

/// The dimension of all vectors, and their components in a row.
fn parse<T>(
    mut rest: &[u8],
    width: usize,
    component: impl Fn(&[u8]) -> T,
) -> Result<(usize, Vec<T>), String> {
    let (mut of_first, mut components, mut n) = (None, Vec::new(), 0_usize);
    while !rest.is_empty() {
        n += 1;
        let cut_off = || format!("vector {n} is cut off");
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(cut_off)?;
        let dimension = usize::try_from(i32::from_le_bytes(*length)).unwrap_or(0);
        if dimension == 0 || dimension > MOST {
            return Err(format!("vector {n} has {} components", i32::from_le_bytes(*length)));
        }
        let first = *of_first.get_or_insert(dimension);
        if first != dimension {
            return Err(format!(
                "vector {n} has {dimension} components, the first one has {first}"
            ));
        }
        let (own, next) = after.split_at_checked(dimension * width).ok_or_else(cut_off)?;
        components.extend(own.chunks_exact(width).map(&component));
        rest = next;
    }
    Ok((of_first.ok_or("it is empty")?, components))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_are_read() {
        let head = 2_i32.to_le_bytes();
        let of_floats = [head, 1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat();
        assert_eq!(floats(&of_floats).unwrap(), Vectors::new(2, vec![1.5, -2.0]).unwrap());
        let of_bytes = [&head[..], &[7, 255]].concat().repeat(2);
        assert_eq!(
            bytes(&of_bytes).unwrap(),
            Vectors::new(2, vec![7.0, 255.0, 7.0, 255.0]).unwrap()
        );
        let of_places = [head, 3_u32.to_le_bytes(), 9_u32.to_le_bytes()].concat();
        assert_eq!(places(&of_places).unwrap(), [[3, 9]]);
    }

    #[test]
    fn broken_files_are_told() {
        let head = |n: i32| n.to_le_bytes();
        assert_eq!(floats(&[]).unwrap_err(), "it is empty");
        assert_eq!(floats(&head(2)).unwrap_err(), "vector 1 is cut off");
        assert_eq!(floats(&[1, 0]).unwrap_err(), "vector 1 is cut off");
        assert_eq!(floats(&head(-1)).unwrap_err(), "vector 1 has -1 components");
        let mixed = [&head(1)[..], &[7], &head(2), &[1, 2]].concat();
        assert_eq!(bytes(&mixed).unwrap_err(), "vector 2 has 2 components, the first one has 1");
    }
}
