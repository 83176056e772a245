//! Sets from files: HDF5 of ann-benchmarks, fvecs and bvecs of TEXMEX, IDX of Fashion-MNIST.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::hdf5::Contents;
use crate::{DataError, DataSet, Distance, Given, Vectors, hdf5, idx, vecs};

/// The largest file that is read, unpacked: what is larger does not fit beside servers in memory.
const MOST_BYTES: u64 = 8 << 30;

/// The files of a set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// The vectors; an HDF5 file has the rest, too.
    pub vectors: PathBuf,
    /// The queries.
    pub queries: Option<PathBuf>,
    /// The neighbours, as ivecs.
    pub neighbours: Option<PathBuf>,
}

/// The forms of files, by their endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Hdf5,
    Fvecs,
    Bvecs,
    Idx,
}

impl Form {
    /// The form of a file of this name, without `.gz`.
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let ending = name.rsplit('.').next().unwrap_or_default();
        match ending {
            "hdf5" | "h5" => Some(Self::Hdf5),
            "fvecs" => Some(Self::Fvecs),
            "bvecs" => Some(Self::Bvecs),
            _ if ending == "idx" || name.contains("-idx") => Some(Self::Idx),
            _ => None,
        }
    }
}

/// Reads a set. Its distance is the one that is given, else that of the file, else the Euclidean one.
///
/// # Errors
/// When a file cannot be read, has another form than its name says, or lacks what a set needs.
pub fn read(files: &Files, distance: Option<Distance>) -> Result<DataSet, DataError> {
    let path = &files.vectors;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default().to_owned();
    let set = if form(path)? == Form::Hdf5 {
        of_hdf5(files, distance, name)?
    } else {
        let Some(queries) = &files.queries else {
            let detail = "it has vectors alone; name the file of the queries with `queries`";
            return Err(DataError::content(path, detail));
        };
        let given = files.neighbours.as_ref().map(|path| {
            let neighbours = vecs::places(&bytes(path)?);
            neighbours
                .map(|neighbours| Given { neighbours })
                .map_err(|detail| DataError::content(path, detail))
        });
        DataSet {
            name,
            vectors: vectors(path)?,
            queries: vectors(queries)?,
            distance: distance.unwrap_or_default(),
            given: given.transpose()?,
        }
    };
    set.check()?;
    Ok(set)
}

fn of_hdf5(files: &Files, distance: Option<Distance>, name: String) -> Result<DataSet, DataError> {
    let path = &files.vectors;
    if let Some(other) = files.queries.as_ref().or(files.neighbours.as_ref()) {
        let detail =
            format!("{} has queries and neighbours itself; leave this file out", path.display());
        return Err(DataError::content(other, detail));
    }
    // The library says less of a file that is not there.
    drop(File::open(path).map_err(|error| DataError::Read { path: path.clone(), error })?);
    let Contents { vectors, queries, distance: own, given } =
        hdf5::read(path).map_err(|detail| DataError::content(path, detail))?;
    let wanted = distance.or(own).unwrap_or_default();
    // Neighbours by another distance are others.
    let given = given.filter(|_| own.is_none_or(|own| own == wanted));
    Ok(DataSet { name, vectors, queries, distance: wanted, given })
}

fn form(path: &Path) -> Result<Form, DataError> {
    Form::of(path).ok_or_else(|| {
        let known = "vectors are read from .hdf5, .fvecs, .bvecs and .idx files (also ...-idx3-ubyte), and .gz of these";
        DataError::content(path, known)
    })
}

fn vectors(path: &Path) -> Result<Vectors, DataError> {
    let parse: fn(&[u8]) -> Result<Vectors, String> = match form(path)? {
        Form::Fvecs => vecs::floats,
        Form::Bvecs => vecs::bytes,
        Form::Idx => idx::parse,
        Form::Hdf5 => {
            return Err(DataError::content(path, "an HDF5 file is given alone, as the vectors"));
        }
    };
    parse(&bytes(path)?).map_err(|detail| DataError::content(path, detail))
}

/// What is in a file, unpacked where its name ends in `.gz`.
fn bytes(path: &Path) -> Result<Vec<u8>, DataError> {
    let failed = |error| DataError::Read { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mut content = Vec::new();
    let is_packed = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let read = if is_packed {
        GzDecoder::new(file).take(MOST_BYTES + 1).read_to_end(&mut content)
    } else {
        file.take(MOST_BYTES + 1).read_to_end(&mut content)
    };
    read.map_err(failed)?;
    if content.len() as u64 > MOST_BYTES {
        return Err(DataError::content(path, "it has more than 8 GB; take a part of it"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn fvecs(vectors: &[[f32; 2]]) -> Vec<u8> {
        let one = |vector: &[f32; 2]| {
            let components = vector.iter().flat_map(|component| component.to_le_bytes());
            2_i32.to_le_bytes().into_iter().chain(components).collect::<Vec<u8>>()
        };
        vectors.iter().flat_map(one).collect()
    }

    #[test]
    fn a_set_is_read_from_its_files_packed_or_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("base.fvecs"), fvecs(&[[1.0, 2.0], [3.0, 4.0]])).unwrap();
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&fvecs(&[[1.0, 1.0]])).unwrap();
        fs::write(path("query.fvecs.gz"), packed.finish().unwrap()).unwrap();
        let files = Files {
            vectors: path("base.fvecs"),
            queries: Some(path("query.fvecs.gz")),
            neighbours: None,
        };
        let set = read(&files, Some(Distance::Cosine)).unwrap();
        assert_eq!((set.name.as_str(), set.vectors.len(), set.queries.len()), ("base", 2, 1));
        assert_eq!((set.distance, set.given), (Distance::Cosine, None));
        let alone = Files { queries: None, ..files };
        assert!(read(&alone, None).unwrap_err().to_string().contains("`queries`"));
    }

    #[test]
    fn a_file_of_ann_benchmarks_is_read() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/small.hdf5");
        let files = Files { vectors: file, ..Files::default() };
        let set = read(&files, None).unwrap();
        assert_eq!((set.vectors.dimension(), set.vectors.len(), set.queries.len()), (3, 40, 5));
        assert_eq!(set.distance, Distance::Cosine);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let truth = crate::Truth::of(&set, 10, &stop).unwrap();
        let given = &set.given.as_ref().unwrap().neighbours;
        assert_eq!((given.len(), truth.first_difference(&set, given)), (5, None));
        // Neighbours by another distance are others.
        assert_eq!(read(&files, Some(Distance::Euclidean)).unwrap().given, None);
    }

    #[test]
    fn forms_are_known_by_names() {
        for (name, form) in [
            ("train-images-idx3-ubyte.gz", Some(Form::Idx)),
            ("a.idx", Some(Form::Idx)),
            ("fashion-mnist-784-euclidean.hdf5", Some(Form::Hdf5)),
            ("sift_base.FVECS", Some(Form::Fvecs)),
            ("x.bvecs.gz", Some(Form::Bvecs)),
            ("x.csv", None),
        ] {
            assert_eq!(Form::of(Path::new(name)), form, "{name}");
        }
        let files = Files { vectors: "nosuch.hdf5".into(), ..Files::default() };
        assert!(read(&files, None).unwrap_err().to_string().starts_with("read nosuch.hdf5: "));
    }
}
