//! What decides what a build is.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use rqps_model::SourceBuild;
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::recipe::Recipe;

/// A build's name in the cache: sixteen digits of a hash over all that decides it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub(crate) String);

impl Key {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of a tree of files that is built by a recipe.
    ///
    /// # Errors
    /// When a patch cannot be read.
    pub(crate) fn of(tree: &str, recipe: &Recipe, source: &SourceBuild) -> Result<Self, Error> {
        let mut hash = Sha256::new();
        let mut add = |name: &str, value: &[u8]| {
            hash.update(format!("{name} {}\n", value.len()));
            hash.update(value);
        };
        add("tree", tree.as_bytes());
        add("recipe", &serde_json::to_vec(recipe).unwrap_or_default());
        for compiler in [source.cc().to_owned(), source.cxx()] {
            add("compiler", compiler_version(&compiler).unwrap_or(compiler).as_bytes());
        }
        add("cflags", source.cflags.as_deref().unwrap_or(&recipe.cflags).as_bytes());
        add("lto", &[u8::from(source.lto)]);
        add("rocksdb", &[u8::from(source.rocksdb)]);
        add("build", format!("{:?}", source.build).as_bytes());
        for patch in &source.patches {
            let text = fs::read(patch)
                .map_err(|e| Error::io(format!("read the patch {}", patch.display()), e))?;
            add("patch", &text);
        }
        let mut digits = String::new();
        for byte in &hash.finalize()[..8] {
            let _ = write!(digits, "{byte:02x}");
        }
        Ok(Self(digits))
    }
}

/// The first line of what a compiler says of itself.
pub(crate) fn compiler_version(compiler: &str) -> Option<String> {
    let mut command = Command::new(compiler);
    let output = command.arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(str::to_owned).filter(|_| output.status.success())
}

#[cfg(test)]
mod tests {
    use rqps_model::{BuildType, SourceOrigin};

    use super::*;
    use crate::recipe::Recipes;

    #[test]
    fn everything_that_decides_a_build_changes_its_key() {
        let recipes = Recipes::builtin().unwrap();
        let [recipe, other, ..] = recipes.all.as_slice() else { panic!("{recipes:?}") };
        let dir = tempfile::tempdir().unwrap();
        let patch = dir.path().join("a.patch");
        fs::write(&patch, "x").unwrap();
        let plain = || SourceBuild::of(SourceOrigin::Directory { dir: "/src".into(), tree: None });
        let key = |tree, recipe, source: SourceBuild| Key::of(tree, recipe, &source).unwrap();
        let patched = || SourceBuild { patches: vec![patch.clone()], ..plain() };
        let first = key("t", recipe, plain());
        assert_eq!(first, key("t", recipe, plain()));
        let mut keys = vec![
            first,
            key("u", recipe, plain()),
            key("t", other, plain()),
            key("t", recipe, SourceBuild { cflags: Some("-O3".to_owned()), ..plain() }),
            key("t", recipe, SourceBuild { lto: true, ..plain() }),
            key("t", recipe, SourceBuild { rocksdb: true, ..plain() }),
            key("t", recipe, SourceBuild { build: BuildType::Debug, ..plain() }),
            key("t", recipe, patched()),
        ];
        fs::write(&patch, "y").unwrap();
        keys.push(key("t", recipe, patched()));
        let n = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), n);
        // Written flags that are the recipe's own are no other build.
        let same = SourceBuild { cflags: Some(recipe.cflags.clone()), ..plain() };
        assert_eq!(key("t", recipe, same), key("t", recipe, plain()));
        let none = SourceBuild { patches: vec![dir.path().join("none")], ..plain() };
        assert!(Key::of("t", recipe, &none).is_err());
    }
}
