//! The inverse of a small covariance matrix.

/// A square matrix, row by row.
pub(crate) type Matrix = Vec<Vec<f64>>;

/// Inverse and logarithm of the determinant of a symmetric positive definite matrix, by Cholesky's factors; `None` for
/// any other.
pub(crate) fn invert(matrix: &Matrix) -> Option<(Matrix, f64)> {
    let n = matrix.len();
    let mut factor = vec![vec![0.0; n]; n];
    let mut log_det = 0.0;
    for row in 0..n {
        for col in 0..=row {
            let done: f64 = (0..col).map(|k| factor[row][k] * factor[col][k]).sum();
            let rest = matrix[row][col] - done;
            if row != col {
                factor[row][col] = rest / factor[col][col];
            } else if rest > 0.0 {
                factor[row][row] = rest.sqrt();
                log_det += rest.ln();
            } else {
                return None;
            }
        }
    }
    let mut inverse = vec![vec![0.0; n]; n];
    for col in 0..n {
        let mut unit = vec![0.0; n];
        unit[col] = 1.0;
        for row in 0..n {
            let done: f64 = (0..row).map(|k| factor[row][k] * unit[k]).sum();
            unit[row] = (unit[row] - done) / factor[row][row];
        }
        for row in (0..n).rev() {
            let done: f64 = (row + 1..n).map(|k| factor[k][row] * unit[k]).sum();
            unit[row] = (unit[row] - done) / factor[row][row];
        }
        for (row, value) in unit.into_iter().enumerate() {
            inverse[row][col] = value;
        }
    }
    Some((inverse, log_det))
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A matrix times a vector.
pub(crate) fn times(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let matrix = vec![vec![4.0, 2.0, 0.6], vec![2.0, 3.0, 0.4], vec![0.6, 0.4, 2.0]];
        let (inverse, log_det) = invert(&matrix).unwrap();
        for (idx, row) in matrix.iter().enumerate() {
            for col in 0..3 {
                let column: Vec<f64> = inverse.iter().map(|row| row[col]).collect();
                let wanted = f64::from(u8::from(idx == col));
                assert!((dot(row, &column) - wanted).abs() < 1e-12);
            }
        }
        // 4 (6 - 0.16) - 2 (4 - 0.24) + 0.6 (0.8 - 1.8)
        assert!((log_det.exp() - 15.24).abs() < 1e-9);
        assert_eq!(invert(&vec![vec![1.0, 2.0], vec![2.0, 1.0]]), None);
    }
}
