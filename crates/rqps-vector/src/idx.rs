//! IDX files, as MNIST and Fashion-MNIST have them: images are vectors of their pixels.
//!
//! Two bytes of 0, the type of the numbers, how many dimensions, the dimensions as numbers of 32 bits (the first one is
//! the number of images), then the numbers, all with the most significant byte first.

use crate::Vectors;

/// The type of bytes without a sign, which images have, and of numbers of 32 bits with a point.
const BYTES: u8 = 0x08;
const FLOATS: u8 = 0x0d;

/// The vectors of a file.
///
/// # Errors
/// A sentence on what is wrong.
pub(crate) fn parse(bytes: &[u8]) -> Result<Vectors, String> {
    let [0, 0, kind, n_dimensions, rest @ ..] = bytes else {
        return Err("it does not begin as an IDX file does".to_owned());
    };
    let n_dimensions = usize::from(*n_dimensions);
    if n_dimensions < 2 {
        return Err(format!(
            "it has {n_dimensions} dimensions, as files of labels have; images have two or more"
        ));
    }
    let sizes: Vec<usize> = rest
        .chunks_exact(4)
        .take(n_dimensions)
        .map(|size| size.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)))
        .collect();
    let values = rest.get(4 * n_dimensions..).ok_or("it ends within its dimensions")?;
    let dimension = sizes[1..].iter().try_fold(1_usize, |all, size| all.checked_mul(*size));
    let wanted = dimension.and_then(|own| own.checked_mul(sizes[0]));
    let (Some(dimension), Some(wanted)) = (dimension, wanted) else {
        return Err("its dimensions are too large".to_owned());
    };
    let components: Vec<f32> = match *kind {
        BYTES => values.iter().map(|byte| f32::from(*byte)).collect(),
        FLOATS => values
            .chunks_exact(4)
            .map(|four| f32::from_be_bytes(four.try_into().unwrap_or_default()))
            .collect(),
        other => {
            return Err(format!(
                "its numbers are of type {other:#04x}; bytes (0x08) and floats (0x0d) can be read"
            ));
        }
    };
    if components.len() != wanted {
        return Err(format!("it has {} numbers of {wanted}", components.len()));
    }
    Vectors::new(dimension, components)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_vectors() {
        let mut file = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3];
        file.extend([1, 2, 3, 4, 5, 255]);
        let found = parse(&file).unwrap();
        assert_eq!(found, Vectors::new(3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 255.0]).unwrap());
        file.pop();
        assert_eq!(parse(&file).unwrap_err(), "it has 5 numbers of 6");
    }

    #[test]
    fn other_files_are_told() {
        let said = |file: &[u8]| parse(file).unwrap_err();
        assert!(said(b"\x89PNG").contains("does not begin as an IDX file"));
        assert!(said(&[0, 0, 8, 1, 0, 0, 0, 1, 7]).contains("files of labels"));
        assert!(said(&[0, 0, 8, 2, 0, 0]).contains("ends within its dimensions"));
        assert!(said(&[0, 0, 9, 2, 0, 0, 0, 1, 0, 0, 0, 1, 1]).contains("0x09"));
        assert!(
            said(&[0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255])
                .contains("too large")
        );
    }
}
