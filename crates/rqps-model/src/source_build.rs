//! Servers that are built from source: from which files, and how they are compiled.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::UnknownWord;

/// Where the source is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceOrigin {
    /// A commit of a git repository.
    Commit {
        /// The repository.
        repo: PathBuf,
        /// A hash, tag, branch, or `REL_17_STABLE~3`.
        revision: String,
        /// The full hash that the revision had when the run began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<String>,
    },
    /// The files of a directory as they lie there.
    Directory {
        /// The directory.
        dir: PathBuf,
        /// The hash of the files when the run began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
    },
}

/// For whom a server is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildType {
    /// For use: no assertions.
    #[default]
    Release,
    /// For its developers: with assertions.
    Debug,
}

impl std::str::FromStr for BuildType {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "release" => Ok(Self::Release),
            "debug" => Ok(Self::Debug),
            _ => {
                Err(UnknownWord { what: "build", value: text.to_owned(), known: "release, debug" })
            }
        }
    }
}

/// How a server is built from source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceBuild {
    /// Where the source is.
    pub origin: SourceOrigin,
    /// A recipe of the user's; by DBMS and version when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<PathBuf>,
    /// The C compiler; the one for C++ follows. `cc` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Options of the compilers; those of the recipe when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cflags: Option<String>,
    /// Whether it is optimised across files as it is linked.
    #[serde(default)]
    pub lto: bool,
    /// Whether the engine RocksDB is built too, which takes long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rocksdb: bool,
    /// For whom it is built.
    #[serde(default)]
    pub build: BuildType,
    /// Patches, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<PathBuf>,
}

impl SourceBuild {
    /// A release build by the compiler of the host and the options of the recipe.
    #[must_use]
    pub fn of(origin: SourceOrigin) -> Self {
        Self {
            origin,
            recipe: None,
            cc: None,
            cflags: None,
            lto: false,
            rocksdb: false,
            build: BuildType::default(),
            patches: Vec::new(),
        }
    }

    /// The C compiler.
    #[must_use]
    pub fn cc(&self) -> &str {
        self.cc.as_deref().unwrap_or("cc")
    }

    /// The C++ compiler that belongs to it: `g++-12` to `gcc-12`.
    #[must_use]
    pub fn cxx(&self) -> String {
        let cc = self.cc();
        let (dir, name) = cc.rfind('/').map_or(("", cc), |at| cc.split_at(at + 1));
        let name = if name.contains("clang") {
            name.replacen("clang", "clang++", 1)
        } else if name.contains("gcc") {
            name.replacen("gcc", "g++", 1)
        } else {
            name.replacen("cc", "c++", 1)
        };
        format!("{dir}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_for_cxx_belongs_to_the_one_for_c() {
        for (cc, cxx) in [
            (None, "c++"),
            (Some("gcc-12"), "g++-12"),
            (Some("/opt/llvm/bin/clang"), "/opt/llvm/bin/clang++"),
            (Some("x86_64-linux-gnu-gcc"), "x86_64-linux-gnu-g++"),
        ] {
            let origin = SourceOrigin::Directory { dir: "/src".into(), tree: None };
            let source = SourceBuild { cc: cc.map(str::to_owned), ..SourceBuild::of(origin) };
            assert_eq!(source.cxx(), cxx);
        }
    }
}
