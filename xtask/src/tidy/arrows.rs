//! Arrows between the files of a crate: no circles but a parent with its children, and no type whose methods lie
//! all over it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::modules::{Arrow, Crate};

/// Files outside its own folder that may have an `impl` block of a type.
const MOST_IMPLS: usize = 3;

/// The files of a crate, and below which directory their paths are shown.
pub(super) struct Files<'a> {
    root: &'a Path,
    read: Crate,
}

impl<'a> Files<'a> {
    /// Reads a crate from its first file.
    pub(super) fn read(root: &'a Path, first_file: &Path) -> Result<Self> {
        Ok(Self { root, read: Crate::read(first_file)? })
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).display().to_string()
    }

    /// A finding for each circle.
    pub(super) fn circles(&self) -> Vec<String> {
        let arrows = self.read.arrows();
        let told = |circle: &BTreeSet<PathBuf>| {
            let is_inside =
                |arrow: &&Arrow| circle.contains(&arrow.from) && circle.contains(&arrow.to);
            let mut names: BTreeMap<(&Path, &Path), Vec<&str>> = BTreeMap::new();
            for Arrow { from, to, name } in arrows.iter().filter(is_inside) {
                names.entry((from, to)).or_default().push(name);
            }
            let line = |((from, to), names): ((&Path, &Path), Vec<&str>)| {
                format!("\n  {} -> {}: {}", self.shown(from), self.shown(to), names.join(", "))
            };
            format!(
                "{}: {} files in a circle; move what ties them into a file below{}",
                circle.first().map(|path| self.shown(path)).unwrap_or_default(),
                circle.len(),
                names.into_iter().map(line).collect::<String>()
            )
        };
        circles(&arrows).iter().map(told).collect()
    }

    /// A finding for each arrow from one of the layers of a crate to a layer above it. Layers are folders below `src`,
    /// uppermost first.
    pub(super) fn upward(&self, src: &Path, layers: &[&str]) -> Vec<String> {
        let layer_of = |file: &Path| {
            let top = file.strip_prefix(src).ok()?.components().next()?;
            let name = Path::new(top.as_os_str()).with_extension("");
            layers.iter().position(|layer| Path::new(layer) == name)
        };
        let told = |arrow: &Arrow| {
            let (from, to) = (layer_of(&arrow.from)?, layer_of(&arrow.to)?);
            (to < from).then(|| {
                format!(
                    "{}: names {} of {}, a layer above; hand it down, or move it into a layer below",
                    self.shown(&arrow.from),
                    arrow.name,
                    self.shown(&arrow.to)
                )
            })
        };
        self.read.arrows().iter().filter_map(told).collect()
    }

    /// A finding for each type whose methods lie all over the crate.
    pub(super) fn spread(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (name, files) in &self.read.impls {
            let Some(home) = self.read.file_of(name) else { continue };
            let folder = home.with_extension("");
            let is_elsewhere = |file: &&PathBuf| *file != home && !file.starts_with(&folder);
            let n_elsewhere = files.iter().filter(is_elsewhere).count();
            if n_elsewhere > MOST_IMPLS {
                findings.push(format!(
                    "{}: {name} has impl blocks in {n_elsewhere} files outside its folder (at most {MOST_IMPLS})",
                    self.shown(home)
                ));
            }
        }
        findings
    }
}

/// Groups of files each of which reaches the others along arrows.
fn circles(arrows: &[Arrow]) -> Vec<BTreeSet<PathBuf>> {
    let files: BTreeSet<&Path> = arrows.iter().flat_map(|a| [&*a.from, &*a.to]).collect();
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        files.iter().map(|file| (*file, reached_from(file, arrows))).collect();
    let mut found: Vec<BTreeSet<PathBuf>> = Vec::new();
    for (file, ahead) in &reached {
        if !ahead.contains(file) || found.iter().any(|circle| circle.contains(*file)) {
            continue;
        }
        let comes_back =
            |other: &&&Path| reached.get(**other).is_some_and(|ahead| ahead.contains(file));
        found.push(ahead.iter().filter(comes_back).map(|path| path.to_path_buf()).collect());
    }
    found
}

fn reached_from<'a>(file: &Path, arrows: &'a [Arrow]) -> BTreeSet<&'a Path> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![file];
    while let Some(at) = ahead.pop() {
        for arrow in arrows.iter().filter(|arrow| arrow.from == at) {
            if reached.insert(&*arrow.to) {
                ahead.push(&arrow.to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let files = Files::read(dir.path(), &dir.path().join("lib.rs")).unwrap();
        [files.circles(), files.spread()].concat()
    }

    #[test]
    fn files_that_name_each_other_are_a_circle() {
        let found = findings(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "pub struct B; fn f() { let x = vec![super::c::C]; }"),
            ("c.rs", "pub struct C; fn f(a: crate::a::A) {}"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("3 files in a circle"), "{}", found[0]);
        assert!(found[0].contains("a.rs -> b.rs: B"), "{}", found[0]);
    }

    #[test]
    fn a_layer_names_none_above_it() {
        let dir = tempfile::tempdir().unwrap();
        let src = dir.path();
        let files = [
            ("lib.rs", "mod top; mod bottom;"),
            ("top.rs", "use crate::bottom::deep::D; pub struct T;"),
            ("bottom.rs", "pub mod deep; use crate::top::T;"),
            ("bottom/deep.rs", "pub struct D;"),
        ];
        for (name, text) in files {
            fs::create_dir_all(src.join(name).parent().unwrap()).unwrap();
            fs::write(src.join(name), text).unwrap();
        }
        let read = Files::read(src, &src.join("lib.rs")).unwrap();
        let found = read.upward(src, &["top", "bottom"]);
        let wanted = [
            "bottom.rs: names T of top.rs, a layer above; hand it down, or move it into a layer below",
        ];
        assert_eq!(found, wanted);
        assert_eq!(read.upward(src, &["bottom", "top"]).len(), 1);
    }

    #[test]
    fn a_parent_and_its_children_are_none_nor_is_a_name_that_is_handed_on() {
        let found = findings(&[
            ("lib.rs", "mod a; pub use a::low::Low; mod high;"),
            ("a.rs", "pub(crate) mod low; mod other; pub struct A; fn f() { other::g(); }"),
            ("a/low.rs", "use super::A; pub struct Low;"),
            ("a/other.rs", "use crate::Low; pub(super) fn g() {}"),
            ("high.rs", "use crate::Low; #[cfg(test)] mod tests { use crate::a::A; }"),
        ]);
        assert_eq!(found, Vec::<String>::new());
        // Siblings through their parent's names.
        let found = findings(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod one; pub use one::One;"),
            ("a/one.rs", "pub struct One; use crate::b::B;"),
            ("b.rs", "pub struct B; use crate::a::One;"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_type_with_methods_everywhere_is_told() {
        let files =
            ["b", "c", "d", "e"].map(|name| (format!("{name}.rs"), "use crate::a::A; impl A {}"));
        let mut all =
            vec![("lib.rs", "mod a; mod b; mod c; mod d; mod e;"), ("a.rs", "pub struct A;")];
        all.extend(files.iter().map(|(name, text)| (name.as_str(), *text)));
        let found = findings(&all);
        assert_eq!(found, ["a.rs: A has impl blocks in 4 files outside its folder (at most 3)"]);
    }
}
