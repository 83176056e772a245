//! Catalogues read from TOML: checked, templates filled in, the user's own put beside the built-in one.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use rqps_model::{Dbms, Version, serde_in_words};
use serde::Deserialize;
use toml::Spanned;

use super::{Catalogue, Entry, Layout, Library};
use crate::places::short_hash;
use crate::{Error, Source};

/// A catalogue's file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    server: Vec<Spanned<Entry>>,
    #[serde(default)]
    layout: BTreeMap<String, Layout>,
    #[serde(default)]
    library: Vec<Library>,
    #[serde(default)]
    site: BTreeMap<String, Vec<String>>,
}

/// A text and what it is called in messages.
#[derive(Debug, Clone, Copy)]
struct Text<'a> {
    name: &'a str,
    text: &'a str,
}

impl Text<'_> {
    fn refuse(&self, detail: String) -> Error {
        Error::Data { what: self.name.to_owned(), detail }
    }

    /// A flaw of an entry, with its line.
    fn refuse_entry(&self, at: &Range<usize>, entry: &Entry, flaw: &str) -> Error {
        let line = self.text[..at.start].matches('\n').count() + 1;
        let (dbms, version, build) = (entry.dbms, &entry.version, &entry.build);
        self.refuse(format!("line {line}, {dbms} {version} {build}: {flaw}"))
    }

    fn read(&self) -> Result<File, Error> {
        toml::from_str(self.text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start);
            let inside = self.entry_around(at).map_or_else(String::new, |e| format!(" (in {e})"));
            let text = e.to_string();
            // The message ends the text, below the line that is quoted.
            let quoted = text.trim_end().strip_suffix(e.message()).unwrap_or_default();
            self.refuse(format!("{quoted}{}{inside}", serde_in_words(e.message())))
        })
    }

    /// The entry that the text at an offset belongs to, by its own lines: it could not be read.
    fn entry_around(&self, at: usize) -> Option<String> {
        const HEAD: &str = "[[server]]";
        let at = self.text[..at].rfind(HEAD)?;
        let lines = self.text[at + HEAD.len()..].lines();
        let own =
            lines.take_while(|line| !line.starts_with(HEAD) && !line.starts_with("[[server."));
        let own: Vec<&str> = own.collect();
        let value = |key: &str| {
            own.iter().find_map(|line| {
                let (name, value) = line.split_once('=')?;
                (name.trim() == key).then(|| value.trim().trim_matches(['"', '\'']))
            })
        };
        let parts = [value("dbms")?, value("version")?, value("build").unwrap_or_default()];
        Some(parts.join(" ").trim_end().to_owned())
    }
}

impl Catalogue {
    /// The built-in catalogue.
    ///
    /// # Errors
    /// When the files that were compiled in are wrong; a test holds that they are not.
    pub fn builtin() -> Result<Self, Error> {
        let files = [
            ("server catalogue", include_str!("../catalogue.toml")),
            ("server catalogue of PostgreSQL", include_str!("postgres.toml")),
            ("server catalogue of official archives", include_str!("official.toml")),
            ("server catalogue of Debian", include_str!("debian.toml")),
            ("server catalogue of pgvector", include_str!("pgvector.toml")),
        ];
        let mut catalogue = Self::empty();
        for (name, text) in files {
            catalogue.add(Text { name, text }, Path::new("/"), false)?;
        }
        Ok(catalogue)
    }

    /// Reads a catalogue and checks its references.
    ///
    /// # Errors
    /// When the text is no catalogue, or an entry names an unknown layout or library.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut catalogue = Self::empty();
        catalogue.add(Text { name: "server catalogue", text }, Path::new("/"), false)?;
        Ok(catalogue)
    }

    /// This catalogue with the entries of a user's file. They may use its layouts, libraries and sites, and take
    /// the place of entries of the same DBMS, version and build.
    ///
    /// # Errors
    /// [`Error::Data`] with file, line and entry.
    pub fn with_own(mut self, text: &str, path: &Path) -> Result<Self, Error> {
        let name = format!("catalogue {}", path.display());
        let base = path.parent().unwrap_or(Path::new("/"));
        self.add(Text { name: &name, text }, base, true)?;
        Ok(self)
    }

    fn empty() -> Self {
        let (servers, libraries) = (Vec::new(), Vec::new());
        Self { servers, layouts: BTreeMap::new(), libraries, sites: BTreeMap::new() }
    }

    fn add(&mut self, text: Text<'_>, base: &Path, own: bool) -> Result<(), Error> {
        let file = text.read()?;
        for (name, layout) in &file.layout {
            if let Some(what) = leaves(layout) {
                return Err(text.refuse(format!("layout {name}: beside has {what}")));
            }
        }
        self.layouts.extend(file.layout);
        self.sites.extend(file.site);
        // The last word on a library comes first.
        self.libraries.splice(0..0, file.library);
        let mut added: Vec<Entry> = Vec::new();
        for spanned in file.server {
            let at = spanned.span();
            let mut entry = spanned.into_inner();
            entry.own = own;
            let flaw = self.complete(&mut entry, base).or_else(|| {
                let twice = added.iter().any(|other| key(other) == key(&entry));
                twice.then(|| "is listed twice; give one of them another build".to_owned())
            });
            if let Some(flaw) = flaw {
                return Err(text.refuse_entry(&at, &entry, &flaw));
            }
            added.push(entry);
        }
        for mut entry in added {
            match self.servers.iter_mut().find(|old| key(old) == key(&entry)) {
                Some(old) => {
                    entry.shadows = own;
                    *old = entry;
                }
                None => self.servers.push(entry),
            }
        }
        // Stable: builds of one version stay in order.
        self.servers.sort_by(|a, b| (a.dbms, &a.version).cmp(&(b.dbms, &b.version)));
        self.mark();
        Ok(())
    }

    /// Fills in what templates leave open; says what is wrong.
    fn complete(&self, entry: &mut Entry, base: &Path) -> Option<String> {
        let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if entry.build.is_empty() || !entry.build.chars().all(word) {
            return Some(format!("build = {:?} is not a word of letters and digits", entry.build));
        }
        if entry.sources.is_empty() {
            return Some("no source; add a [[server.source]]".to_owned());
        }
        let n_sources = entry.sources.len();
        for (idx, source) in entry.sources.iter_mut().chain(&mut entry.additions).enumerate() {
            if let Source::Url(url) = source
                && let Some(flaw) = url.take_site(&self.sites)
            {
                return Some(format!("{flaw}; known: {}", known(self.sites.keys())));
            }
            source.resolve(&entry.version, base);
            let Some(layout) = self.layouts.get(source.layout()) else {
                let known = known(self.layouts.keys());
                return Some(format!("unknown layout {:?}; known: {known}", source.layout()));
            };
            entry.layout_tags.push(tag(layout));
            if let Some(flaw) = source.flaw() {
                return Some(flaw);
            }
            if idx >= n_sources && matches!(source, Source::Debian(_)) {
                return Some("an addition is no Debian package; name it in `packages`".to_owned());
            }
        }
        let unknown = entry.libraries.iter().find(|soname| self.library(soname).is_none())?;
        Some(format!("unknown library {unknown:?}; add a [[library]]"))
    }

    /// Marks which build of each version is meant when none is named.
    fn mark(&mut self) {
        let mut seen: Vec<(Dbms, Version)> = Vec::new();
        let mut plain = seen.clone();
        for entry in &mut self.servers {
            let version = (entry.dbms, entry.version.clone());
            entry.first = !seen.contains(&version);
            entry.plain = !entry.own && !plain.contains(&version);
            if entry.plain {
                plain.push(version.clone());
            }
            seen.push(version);
        }
    }
}

/// What tells a layout from others; what a layout lacks does not count, so that the tag stays
/// when layouts learn something new.
fn tag(layout: &Layout) -> String {
    let Layout { strip, inner, nested, keep, drop, executable, beside, links } = layout;
    let mut text = format!("{strip} {inner:?} {keep:?} {drop:?} {executable:?}");
    if !nested.is_empty() {
        text.push_str(&format!(" {nested:?}"));
    }
    if !beside.is_empty() {
        text.push_str(&format!(" {beside:?}"));
    }
    if let Some(links) = links {
        text.push_str(&format!(" {links:?}"));
    }
    short_hash(&text)
}

/// What of a layout would be put elsewhere than into the prefix, or could be.
fn leaves(layout: &Layout) -> Option<String> {
    use std::path::Component;
    let is_outside = |part: Component<'_>| !matches!(part, Component::Normal(_));
    layout.beside.iter().find_map(|(start, place)| {
        if Path::new(place).components().any(is_outside) {
            return Some(format!("the place {place:?}, which is outside the prefix"));
        }
        // Of `lib` the path `lib/etc` would leave `/etc`.
        let is_whole = start.ends_with('/');
        (!is_whole).then(|| format!("the path {start:?}; write \"{start}/\""))
    })
}

fn key(entry: &Entry) -> (Dbms, &Version, &str) {
    (entry.dbms, &entry.version, &entry.build)
}

fn known<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
