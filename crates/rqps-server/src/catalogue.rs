//! The servers that rqps can fetch, as data: `catalogue.toml` read, checked and searched.

use std::collections::BTreeMap;

use rqps_model::{Dbms, Engine, Version};
use serde::Deserialize;

use crate::{Error, Source};

/// One server that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its family.
    pub dbms: Dbms,
    /// Its version.
    pub version: Version,
    /// Which build of the version it is: `official`, `zonky`.
    pub build: String,
    /// How it was compiled, for the reader of a comparison.
    pub compiled: String,
    /// Size of what is kept of it, MB (10^6 bytes).
    pub unpacked_mb: u64,
    /// Shared libraries that neither the archive nor every host has.
    pub libraries: Vec<String>,
    /// Engines besides the family's own.
    #[serde(default)]
    pub engines: Vec<Engine>,
    /// Where it can be had, tried in order.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    /// Whether another build of the version comes first in the catalogue.
    #[serde(skip)]
    secondary: bool,
}

/// How an archive becomes a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Path in front of everything that is kept; `{version}` stands for the server's.
    #[serde(default)]
    pub strip: String,
    /// Name of a tar.xz inside the archive that holds the tree.
    pub inner: Option<String>,
    /// Names of zips inside the archive that hold more of the tree; nothing is stripped from theirs.
    #[serde(default)]
    pub nested: Vec<String>,
    /// Beginnings of the paths that are kept.
    pub keep: Vec<String>,
    /// Beginnings of the paths that are left out all the same.
    pub drop: Vec<String>,
    /// Beginnings of the paths whose files become executable.
    pub executable: Vec<String>,
}

/// A shared library and who packages it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The name that the server asks for: `libaio.so.1`.
    pub soname: String,
    /// Debian's and Ubuntu's packages, tried in order.
    pub packages: Vec<String>,
    /// The package's name on distributions without apt, for the error message.
    pub elsewhere: String,
}

/// The whole catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    #[serde(rename = "server")]
    servers: Vec<Entry>,
    #[serde(rename = "layout")]
    layouts: BTreeMap<String, Layout>,
    #[serde(rename = "library")]
    libraries: Vec<Library>,
}

/// The built-in catalogue; of two builds of one version, the one of the earlier file is the first.
const BUILTIN: &str =
    concat!(include_str!("catalogue.toml"), "\n", include_str!("catalogue/debian.toml"));

impl Catalogue {
    /// The built-in catalogue.
    ///
    /// # Errors
    /// When the file that was compiled in is wrong; a test holds that it is not.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(BUILTIN)
    }

    /// Reads a catalogue and checks that it refers to nothing that it does not hold.
    ///
    /// # Errors
    /// When the text is no catalogue, or an entry names an unknown layout or library.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = |detail: String| Error::Data { what: "server catalogue".to_owned(), detail };
        let mut catalogue: Self = toml::from_str(text).map_err(|e| bad(e.to_string()))?;
        for entry in &catalogue.servers {
            let name = entry.name();
            if entry.sources.is_empty() {
                return Err(bad(format!("{name}: no source")));
            }
            for source in &entry.sources {
                if !catalogue.layouts.contains_key(source.layout()) {
                    return Err(bad(format!("{name}: unknown layout {:?}", source.layout())));
                }
                if let Some(flaw) = source.flaw() {
                    return Err(bad(format!("{name}: {flaw}")));
                }
            }
            if let Some(soname) =
                entry.libraries.iter().find(|soname| catalogue.library(soname).is_none())
            {
                return Err(bad(format!("{name}: unknown library {soname:?}")));
            }
        }
        // Stable: builds of one version stay in the file's order.
        catalogue.servers.sort_by(|a, b| (a.dbms, &a.version).cmp(&(b.dbms, &b.version)));
        for idx in 1..catalogue.servers.len() {
            let (before, entry) = (&catalogue.servers[idx - 1], &catalogue.servers[idx]);
            catalogue.servers[idx].secondary =
                (before.dbms, &before.version) == (entry.dbms, &entry.version);
        }
        Ok(catalogue)
    }

    /// All entries, by family and version.
    #[must_use]
    pub fn servers(&self) -> &[Entry] {
        &self.servers
    }

    /// The entry for a version: the very one, or the newest that begins with the same numbers
    /// (`8.0` finds 8.0.33). Without a build, the first one of the catalogue.
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] with the nearest versions that there are,
    /// [`Error::UnknownBuild`] with the builds of the version.
    pub fn find(
        &self,
        dbms: Dbms,
        version: &Version,
        build: Option<&str>,
    ) -> Result<&Entry, Error> {
        let exact = |entry: &&Entry| entry.version == *version;
        let begins = |entry: &&Entry| {
            version.pre.is_empty() && entry.version.numbers.starts_with(&version.numbers)
        };
        let of_dbms = || self.servers.iter().filter(|entry| entry.dbms == dbms);
        let wanted = |entry: &&Entry| match build {
            Some(build) => entry.build == build,
            None => !entry.secondary,
        };
        let found = of_dbms().filter(exact).find(wanted);
        if let Some(entry) = found.or_else(|| of_dbms().filter(begins).rfind(wanted)) {
            return Ok(entry);
        }
        let mut builds: Vec<&str> =
            of_dbms().filter(|e| exact(e) || begins(e)).map(|e| e.build.as_str()).collect();
        builds.dedup();
        match build {
            Some(build) if !builds.is_empty() => Err(Error::UnknownBuild {
                dbms,
                version: version.to_string(),
                build: build.to_owned(),
                known: builds.join(", "),
            }),
            _ => Err(Error::UnknownVersion {
                dbms,
                version: version.to_string(),
                nearest: self.nearest(dbms, version),
            }),
        }
    }

    /// How one asks for the servers that have an engine besides their family's own.
    #[must_use]
    pub fn selectors_with(&self, engine: Engine) -> Vec<String> {
        let has_it = self.servers.iter().filter(|entry| entry.engines.contains(&engine));
        has_it.map(Entry::selector).collect()
    }

    /// How a source's archive is unpacked.
    #[must_use]
    pub fn layout(&self, source: &Source) -> Option<&Layout> {
        self.layouts.get(source.layout())
    }

    /// Who packages a library.
    #[must_use]
    pub fn library(&self, soname: &str) -> Option<&Library> {
        self.libraries.iter().find(|library| library.soname == soname)
    }

    /// The last two versions below and the first two above, separated by commas.
    fn nearest(&self, dbms: Dbms, version: &Version) -> String {
        let (below, above): (Vec<_>, Vec<_>) = self
            .servers
            .iter()
            .filter(|entry| entry.dbms == dbms)
            .map(|entry| &entry.version)
            .partition(|known| *known < version);
        let names: Vec<String> = below
            .iter()
            .skip(below.len().saturating_sub(2))
            .chain(above.iter().take(2))
            .map(ToString::to_string)
            .collect();
        names.join(", ")
    }
}

impl Entry {
    /// Its name in the cache and in messages: `mysql-8.0.33`, and `postgres-18.6-debian` for a
    /// build that is not the version's first.
    #[must_use]
    pub fn name(&self) -> String {
        let build = if self.secondary { format!("-{}", self.build) } else { String::new() };
        format!("{}-{}{build}", self.dbms, self.version)
    }

    /// How one asks for it: `mysql@8.0.33`, `postgres@18.6+debian`.
    #[must_use]
    pub fn selector(&self) -> String {
        let build = if self.secondary { format!("+{}", self.build) } else { String::new() };
        format!("{}@{}{build}", self.dbms, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(dbms: Dbms, version: &str) -> Result<String, String> {
        let catalogue = Catalogue::builtin().unwrap();
        let found = catalogue.find(dbms, &version.parse().unwrap(), None);
        found.map(Entry::name).map_err(|e| e.to_string())
    }

    #[test]
    fn has_what_the_project_promises() {
        for (dbms, versions) in [
            (Dbms::Mysql, "5.5.9 5.5.34 5.6.14 8.0.33 9.7.4"),
            (Dbms::Mariadb, "10.1.23 10.2.11 10.5.23 10.11.5 10.11.19 11.4.5 11.8.6 11.8.9"),
            (
                Dbms::Postgres,
                "9.6.24 10.23 11.22 12.22 13.23 14.24 15.19 15.20 16.15 17.4 17.11 17.12 18.0 18.6 19rc1",
            ),
        ] {
            for version in versions.split(' ') {
                assert_eq!(find(dbms, version).unwrap(), format!("{dbms}-{version}"));
            }
        }
    }

    #[test]
    fn a_short_version_is_the_newest_of_its_kind() {
        assert_eq!(find(Dbms::Mysql, "8.0").unwrap(), "mysql-8.0.33");
        assert_eq!(find(Dbms::Postgres, "17").unwrap(), "postgres-17.12");
        assert_eq!(find(Dbms::Mariadb, "10").unwrap(), "mariadb-10.11.19");
    }

    #[test]
    fn an_unknown_version_names_the_nearest() {
        expect_test::expect![[r#"mysql 5.7.44 is not in the catalogue; the nearest are 5.5.34, 5.6.14, 8.0.33, 9.7.4 (or give basedir = "DIR" for a server that is installed)"#]]
            .assert_eq(&find(Dbms::Mysql, "5.7.44").unwrap_err());
        // 17.1 is not a beginning of 17.11.
        assert!(find(Dbms::Postgres, "17.1").unwrap_err().contains("16.15, 17.4"));
    }

    #[test]
    fn a_build_can_be_named() {
        let text = BUILTIN;
        // A second build of 18.0, before the first in no list.
        let second = text.split("[[server]]").find(|part| part.contains("version = \"18.0\""));
        let second = second.unwrap().replace("\"zonky\"\ncompiled", "\"other\"\ncompiled");
        let catalogue = Catalogue::parse(&format!("{text}\n[[server]]{second}")).unwrap();
        let find = |build| catalogue.find(Dbms::Postgres, &"18.0".parse().unwrap(), build);
        assert_eq!(find(None).unwrap().selector(), "postgres@18.0");
        assert_eq!(find(Some("zonky")).unwrap().name(), "postgres-18.0");
        assert_eq!(find(Some("other")).unwrap().name(), "postgres-18.0-other");
        assert_eq!(find(Some("other")).unwrap().selector(), "postgres@18.0+other");
        let error = find(Some("nope")).unwrap_err().to_string();
        expect_test::expect![[
            r#"postgres 18.0 has no build "nope" in the catalogue; its builds: zonky, other"#
        ]]
        .assert_eq(&error);
    }

    #[test]
    fn refuses_dangling_references() {
        let text = BUILTIN;
        let error = |from: &str, to: &str| {
            Catalogue::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(error("layout = \"zonky\"", "layout = \"nope\"").contains("unknown layout"));
        assert!(error("[\"libaio.so.1\"]", "[\"libx\"]").contains("unknown library \"libx\""));
        assert!(error("compiled = ", "colour = ").contains("colour"));
    }
}
