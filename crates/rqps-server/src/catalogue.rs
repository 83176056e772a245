//! The servers that rqps can fetch, as data: the built-in ones and the user's own, searched.

mod read;

use std::collections::BTreeMap;

use rqps_model::{Dbms, Engine, Version};
use serde::Deserialize;

use crate::{Error, Source};

/// One server that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its DBMS.
    pub dbms: Dbms,
    /// Its version.
    pub version: Version,
    /// Which build of the version it is: `official`, `zonky`.
    pub build: String,
    /// The packager's name and release, or that of a part: `Percona Server 8.0.20-11`. Shown, never compared.
    #[serde(default)]
    pub packaged: Option<String>,
    /// How it was compiled, for the reader of a comparison.
    pub compiled: String,
    /// Unpacked size, MB (10^6 bytes).
    pub unpacked_mb: u64,
    /// Shared libraries that neither the archive nor every host has.
    pub libraries: Vec<String>,
    /// Engines besides the DBMS's own.
    #[serde(default)]
    pub engines: Vec<Engine>,
    /// False if nobody has started it yet: layout and recipe follow from what is published.
    #[serde(default = "yes")]
    pub tried: bool,
    /// The machine that it runs on, as `uname -m` says.
    #[serde(default = "x86_64")]
    pub arch: String,
    /// Its sources, tried in order.
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    /// Archives that are unpacked into its tree: extensions.
    #[serde(rename = "addition", default)]
    pub additions: Vec<Source>,
    /// Whether it is the build that is meant when none is named.
    #[serde(skip)]
    first: bool,
    /// Whether its name in the cache is without its build: the first of the built-in ones.
    #[serde(skip)]
    plain: bool,
    /// Whether it comes from a file of the user's.
    #[serde(skip)]
    own: bool,
    /// Whether it takes the place of a built-in one.
    #[serde(skip)]
    shadows: bool,
    /// What tells the layouts of its sources from other ones, in the order of the sources.
    #[serde(skip)]
    layout_tags: Vec<String>,
}

fn yes() -> bool {
    true
}

fn x86_64() -> String {
    "x86_64".to_owned()
}

/// How an archive becomes a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Path in front of everything that is kept; `{version}` is the server's version, `*/` is a top directory
    /// of any name.
    #[serde(default)]
    pub strip: String,
    /// Name of an archive inside the archive that holds the tree.
    pub inner: Option<String>,
    /// Names of zips inside the archive that hold more of the tree; nothing is stripped from theirs.
    #[serde(default)]
    pub nested: Vec<String>,
    /// Beginnings of the paths that are kept.
    pub keep: Vec<String>,
    /// Beginnings of paths that are excluded although `keep` matches.
    #[serde(default)]
    pub drop: Vec<String>,
    /// Beginnings of the paths whose files become executable.
    #[serde(default)]
    pub executable: Vec<String>,
    /// Paths beside the tree that are kept too: how they begin in the archive, and in the prefix.
    #[serde(default)]
    pub beside: BTreeMap<String, String>,
    /// A kept JSON file that lists symbolic links which the archive could not hold.
    pub links: Option<Links>,
}

/// Symbolic links as npm packages list them: `[{"source": FILE, "target": LINK}]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The list's path below the prefix.
    pub file: String,
    /// Path in front of every path in it.
    pub strip: String,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    servers: Vec<Entry>,
    layouts: BTreeMap<String, Layout>,
    libraries: Vec<Library>,
    sites: BTreeMap<String, Vec<String>>,
}

impl Catalogue {
    /// All entries, by family and version.
    #[must_use]
    pub fn servers(&self) -> &[Entry] {
        &self.servers
    }

    /// The entry for a version: the exact version, or the newest that begins with the same numbers (`8.0`
    /// finds 8.0.33), a tried one if there is any. Without a build, the catalogue's first.
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
            None => entry.first,
        };
        let begun = || of_dbms().filter(begins).filter(wanted);
        let found = of_dbms().filter(exact).find(wanted);
        if let Some(entry) =
            found.or_else(|| begun().rfind(|entry| entry.tried)).or_else(|| begun().next_back())
        {
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

    /// Selectors of the servers that have an engine besides their DBMS's own: only tried ones if there are
    /// any.
    #[must_use]
    pub fn selectors_with(&self, engine: Engine) -> Vec<String> {
        let has_it = |entry: &&Entry| entry.engines.contains(&engine);
        let (tried, other): (Vec<&Entry>, Vec<&Entry>) =
            self.servers.iter().filter(has_it).partition(|entry| entry.tried);
        let named = if tried.is_empty() { other } else { tried };
        named.into_iter().map(Entry::selector).collect()
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
            .filter(|entry| entry.first)
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
    /// build that is not the version's first, or of the user's own.
    #[must_use]
    pub fn name(&self) -> String {
        let build = if self.plain { String::new() } else { format!("-{}", self.build) };
        format!("{}-{}{build}", self.dbms, self.version)
    }

    /// Its selector: `mysql@8.0.33`, `postgres@18.6+debian`.
    #[must_use]
    pub fn selector(&self) -> String {
        let build = if self.first { String::new() } else { format!("+{}", self.build) };
        format!("{}@{}{build}", self.dbms, self.version)
    }

    /// The packager's release and how it was compiled, in words.
    #[must_use]
    pub fn build_words(&self) -> String {
        let words = self.packaged.iter().chain([&self.compiled]);
        words.filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join(", ")
    }

    /// The source that gave the files of a prefix, with the tag of its layout.
    pub(crate) fn source_of(&self, identity: &str) -> Option<(&Source, &str)> {
        let tags = self.layout_tags.iter().map(String::as_str);
        self.sources.iter().zip(tags).find(|(source, _)| source.gave(identity))
    }

    /// Whether it comes from the user's catalogue.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// Whether it comes from the user's catalogue and replaces a built-in entry.
    #[must_use]
    pub fn shadows(&self) -> bool {
        self.shadows
    }

    /// Its series: the first numbers of the version, for lists.
    #[must_use]
    pub fn series(&self) -> String {
        let two = self.dbms.is_mysql_family() || !self.version.at_least(&[10]);
        let numbers = self.version.numbers.iter().take(if two { 2 } else { 1 });
        numbers.map(u32::to_string).collect::<Vec<_>>().join(".")
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
            (Dbms::Mariadb, "10.1.23 10.2.11 10.5.23 10.11.5 10.11.19 11.4.5 11.8.9"),
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
        // There are newer ones that nobody here has tried.
        assert_eq!(find(Dbms::Mysql, "8.0").unwrap(), "mysql-8.0.33");
        assert_eq!(find(Dbms::Mysql, "8.4").unwrap(), "mysql-8.4.4");
        assert_eq!(find(Dbms::Mysql, "5.7").unwrap(), "mysql-5.7.44");
        assert_eq!(find(Dbms::Postgres, "17").unwrap(), "postgres-17.12");
        assert_eq!(find(Dbms::Mariadb, "10").unwrap(), "mariadb-10.11.19");
    }

    #[test]
    fn an_unknown_version_names_the_nearest() {
        expect_test::expect![[r#"mysql 5.8.44 is not in the catalogue; the nearest are 5.7.34, 5.7.44, 8.0.13, 8.0.15"#]]
            .assert_eq(&find(Dbms::Mysql, "5.8.44").unwrap_err());
        // 17.1 is not a beginning of 17.11.
        assert!(find(Dbms::Postgres, "17.1").unwrap_err().contains("16.15, 17.0, 17.2, 17.4"));
    }

    #[test]
    fn a_build_can_be_named() {
        let text = include_str!("catalogue.toml");
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
        let text = include_str!("catalogue.toml");
        let error = |from: &str, to: &str| {
            Catalogue::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(error("layout = \"zonky\"", "layout = \"nope\"").contains("unknown layout"));
        assert!(error("[\"libaio.so.1\"]", "[\"libx\"]").contains("unknown library \"libx\""));
        assert!(error("compiled = ", "colour = ").contains("colour"));
    }
}
