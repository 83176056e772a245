//! HDF5 files of ann-benchmarks: `train`, `test`, and mostly `neighbors`; the attribute `distance` says which one.

use std::path::Path;

use hdf5_reader::{Dataset, Hdf5File};

use crate::{Distance, Given, Vectors};

/// What a file has.
pub(crate) struct Contents {
    pub(crate) vectors: Vectors,
    pub(crate) queries: Vectors,
    pub(crate) distance: Option<Distance>,
    pub(crate) given: Option<Given>,
}

/// Reads a file.
///
/// # Errors
/// A sentence on what is wrong.
pub(crate) fn read(path: &Path) -> Result<Contents, String> {
    let file = Hdf5File::open(path).map_err(|error| error.to_string())?;
    let vectors_of = |name: &str| {
        let set = file.dataset(name).map_err(|error| {
            format!("it has no vectors {name:?} as files of ann-benchmarks have ({error})")
        })?;
        let dimension = columns(&set, name)?;
        Vectors::new(dimension, numbers(&set)?).map_err(|detail| format!("{name}: {detail}"))
    };
    let (vectors, queries) = (vectors_of("train")?, vectors_of("test")?);
    let distance = match distance(&file) {
        Some(name) => Some(known(&name)?),
        None => None,
    };
    let given = file.dataset("neighbors").ok().map(|set| places(&set)).transpose()?;
    Ok(Contents { vectors, queries, distance, given })
}

/// The distance that a file names.
fn distance(file: &Hdf5File) -> Option<String> {
    file.root_group().ok()?.attribute("distance").ok()?.read_string().ok()
}

fn known(name: &str) -> Result<Distance, String> {
    match name.trim_end_matches('\0') {
        "euclidean" => Ok(Distance::Euclidean),
        "angular" | "cosine" => Ok(Distance::Cosine),
        "ip" | "dot" => Ok(Distance::InnerProduct),
        other => {
            Err(format!("its distance is {other:?}; euclidean, angular and ip can be searched for"))
        }
    }
}

/// The second of two dimensions.
fn columns(set: &Dataset, name: &str) -> Result<usize, String> {
    match set.shape() {
        [_, columns] => usize::try_from(*columns).map_err(|error| error.to_string()),
        shape => Err(format!("{name} has {} dimensions; 2 are wanted", shape.len())),
    }
}

/// All numbers of a set, whatever their type.
fn numbers(set: &Dataset) -> Result<Vec<f32>, String> {
    if let Ok(found) = set.read_array::<f32>() {
        return Ok(found.into_iter().collect());
    }
    if let Ok(found) = set.read_array::<u8>() {
        return Ok(found.into_iter().map(f32::from).collect());
    }
    #[expect(clippy::cast_possible_truncation, reason = "servers store numbers of 32 bits")]
    match set.read_array::<f64>() {
        Ok(found) => Ok(found.into_iter().map(|value| value as f32).collect()),
        Err(error) => Err(error.to_string()),
    }
}

fn places(set: &Dataset) -> Result<Given, String> {
    let columns = columns(set, "neighbors")?;
    let found = match set.read_array::<i32>() {
        Ok(found) => found.into_iter().map(i64::from).collect(),
        Err(_) => set
            .read_array::<i64>()
            .map_err(|error| error.to_string())?
            .into_iter()
            .collect::<Vec<_>>(),
    };
    let places: Result<Vec<u32>, _> = found.into_iter().map(u32::try_from).collect();
    let places = places.map_err(|_| "neighbors has places below 0".to_owned())?;
    Ok(Given { neighbours: places.chunks(columns.max(1)).map(<[u32]>::to_vec).collect() })
}
