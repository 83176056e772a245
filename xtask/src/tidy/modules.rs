//! The modules of a crate: which file each is in, what it defines, and what its files name of each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, ImplItem, Item, ItemUse, TraitItem, Type, UseTree};

/// A path of modules from the crate's root: `["wire", "mysql"]`.
type Names = Vec<String>;

/// A module, in a file of its own or inside of one.
#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    defined: BTreeSet<String>,
    /// Paths from the crate's root by the name that stands for each.
    imported: BTreeMap<String, Names>,
    children: BTreeSet<String>,
}

/// What names what: a name of `to` stands in `from`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
    pub(super) name: String,
}

/// Where items stand: their file, and the directory of the modules below them.
#[derive(Clone, Copy)]
struct Place<'a> {
    dir: &'a Path,
    file: &'a Path,
}

/// A crate as its files show it, without its tests.
#[derive(Debug, Default)]
pub(super) struct Crate {
    modules: BTreeMap<Names, Module>,
    /// Paths that stand in a module, from the crate's root.
    named: BTreeSet<(Names, Names)>,
    /// Names of types and the files with an `impl` block of their own.
    pub(super) impls: BTreeMap<String, BTreeSet<PathBuf>>,
}

impl Crate {
    /// Reads a crate from its first file.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let mut read = Self::default();
        let dir = file.parent().unwrap_or(Path::new("")).to_path_buf();
        read.read_file(file, &dir, Vec::new())?;
        Ok(read)
    }

    /// The file in which a type of this name is defined.
    pub(super) fn file_of(&self, name: &str) -> Option<&Path> {
        let mut found = self.modules.values().filter(|module| module.defined.contains(name));
        let first = found.next()?;
        found.next().is_none().then_some(first.file.as_path())
    }

    /// Arrows between files; none from a file to itself or to the module that it is a part of.
    pub(super) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = BTreeSet::new();
        for (from, path) in &self.named {
            let Some(to) = self.owner(path, 0) else { continue };
            let (Some(source), Some(target)) = (self.modules.get(from), self.modules.get(&to))
            else {
                continue;
            };
            if source.file != target.file && !from.starts_with(&to) {
                arrows.insert(Arrow {
                    from: source.file.clone(),
                    to: target.file.clone(),
                    name: path.last().cloned().unwrap_or_default(),
                });
            }
        }
        arrows.into_iter().collect()
    }

    /// The module that defines what a path names; through what modules hand on.
    fn owner(&self, path: &[String], depth: usize) -> Option<Names> {
        let n_modules = (0..=path.len()).rev().find(|n| self.modules.contains_key(&path[..*n]))?;
        let (at, rest) = path.split_at(n_modules);
        let module = self.modules.get(at)?;
        let Some(name) = rest.first() else { return Some(at.to_vec()) };
        match module.imported.get(name) {
            Some(origin) if !module.defined.contains(name) && depth < 20 => {
                let whole: Names = origin.iter().chain(&rest[1..]).cloned().collect();
                self.owner(&whole, depth + 1)
            }
            _ => Some(at.to_vec()),
        }
    }

    /// Reads a module's file; its children are below `dir`.
    fn read_file(&mut self, file: &Path, dir: &Path, at: Names) -> Result<()> {
        let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("parse {}", file.display()))?;
        self.modules.insert(at.clone(), Module { file: file.to_path_buf(), ..Module::default() });
        self.read_items(&parsed.items, Place { dir, file }, &at)
    }

    fn read_items(
        &mut self,
        items: &[Item],
        Place { dir, file }: Place<'_>,
        at: &Names,
    ) -> Result<()> {
        for item in items {
            if is_test(attributes(item)) {
                continue;
            }
            match item {
                Item::Mod(module) => {
                    let name = module.ident.to_string();
                    let path: Names = at.iter().cloned().chain([name.clone()]).collect();
                    self.module(at).children.insert(name.clone());
                    let below = dir.join(&name);
                    if let Some((_, items)) = &module.content {
                        let inner = Module { file: file.to_path_buf(), ..Module::default() };
                        self.modules.insert(path.clone(), inner);
                        self.read_items(items, Place { dir: &below, file }, &path)?;
                    } else if let Some(own) = path_of(&module.attrs) {
                        self.read_file(&dir.join(own), &below, path)?;
                    } else {
                        let flat = dir.join(format!("{name}.rs"));
                        let nested = below.join("mod.rs");
                        let file = if flat.exists() { flat } else { nested };
                        self.read_file(&file, &below, path)?;
                    }
                }
                Item::Use(item) => self.read_use(item, at),
                Item::Impl(item) => {
                    if item.trait_.is_none()
                        && let Type::Path(path) = &*item.self_ty
                        && let Some(last) = path.path.segments.last()
                    {
                        let files = self.impls.entry(last.ident.to_string()).or_default();
                        files.insert(file.to_path_buf());
                    }
                    for part in &item.items {
                        let attributes: &[Attribute] = match part {
                            ImplItem::Fn(part) => &part.attrs,
                            ImplItem::Const(part) => &part.attrs,
                            _ => &[],
                        };
                        if !is_test(attributes) {
                            self.read_paths(part.to_token_stream(), at);
                        }
                    }
                    self.read_paths(item.self_ty.to_token_stream(), at);
                    self.read_paths(item.generics.to_token_stream(), at);
                    if let Some((_, path, _)) = &item.trait_ {
                        self.read_paths(path.to_token_stream(), at);
                    }
                }
                Item::Trait(item) => {
                    self.module(at).defined.insert(item.ident.to_string());
                    for part in &item.items {
                        if let TraitItem::Fn(part) = part {
                            self.read_paths(part.to_token_stream(), at);
                        }
                    }
                }
                item => {
                    self.module(at).defined.extend(defined_by(item));
                    self.read_paths(item.to_token_stream(), at);
                }
            }
        }
        Ok(())
    }

    fn module(&mut self, at: &Names) -> &mut Module {
        self.modules.entry(at.clone()).or_default()
    }

    fn read_use(&mut self, item: &ItemUse, at: &Names) {
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found);
        for Used { path, name } in found {
            let Some(path) = self.absolute(&path, at) else { continue };
            self.named.insert((at.clone(), path.clone()));
            self.module(at).imported.insert(name, path);
        }
    }

    /// The paths of two and more names in code, macros' arguments included.
    fn read_paths(&mut self, tokens: TokenStream, at: &Names) {
        let mut path: Names = Vec::new();
        let mut n_colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if n_colons != 2 {
                        self.name_path(&path, at);
                        path.clear();
                    }
                    path.push(ident.to_string());
                    n_colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => n_colons += 1,
                other => {
                    self.name_path(&path, at);
                    path.clear();
                    n_colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.read_paths(group.stream(), at);
                    }
                }
            }
        }
        self.name_path(&path, at);
    }

    fn name_path(&mut self, path: &[String], at: &Names) {
        if path.len() < 2 {
            return;
        }
        let Some(path) = self.absolute(path, at) else { return };
        self.named.insert((at.clone(), path));
    }

    /// A path from the crate's root; `None` for what is not this crate's.
    fn absolute(&self, path: &[String], at: &Names) -> Option<Names> {
        let (first, rest) = path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => Vec::new(),
            "self" => at.clone(),
            "super" => at[..at.len().checked_sub(1)?].to_vec(),
            name => {
                let module = self.modules.get(at)?;
                if module.children.contains(name) {
                    at.iter().cloned().chain([first.clone()]).collect()
                } else {
                    module.imported.get(name)?.clone()
                }
            }
        };
        for name in rest {
            if name == "super" {
                base.pop();
            } else {
                base.push(name.clone());
            }
        }
        Some(base)
    }
}

/// A name that a `use` brings, and where it is from.
struct Used {
    path: Names,
    name: String,
}

fn flatten(tree: &UseTree, prefix: &mut Names, found: &mut Vec<Used>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            let name = prefix.last().cloned().unwrap_or_default();
            found.push(Used { path: prefix.clone(), name });
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let path = prefix.iter().cloned().chain([name.clone()]).collect();
            found.push(Used { path, name });
        }
        UseTree::Rename(rename) => {
            let path = prefix.iter().cloned().chain([rename.ident.to_string()]).collect();
            found.push(Used { path, name: rename.rename.to_string() });
        }
        UseTree::Glob(_) => found.push(Used { path: prefix.clone(), name: "*".to_owned() }),
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, prefix, found);
            }
        }
    }
}

fn defined_by(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item stands in tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        text.contains("cfg (test)") || text.contains("cfg(test)")
    })
}

/// The file that a `#[path]` names.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let text = attribute.to_token_stream().to_string();
    Some(text.split('"').nth(1)?.to_owned())
}
