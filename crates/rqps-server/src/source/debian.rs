//! Packages of Debian's suites as a source: which ones, and whose C library they run on.

use serde::Deserialize;

/// Packages of a Debian suite.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Debian {
    /// The suite: `bookworm`, `sid`. Its security suite is used as well where the host knows one.
    pub suite: String,
    /// Packages whose files make the prefix; the first one's version is the server's, and its
    /// dependencies are followed.
    pub packages: Vec<String>,
    /// Further packages whose dependencies are followed: libraries of plugins.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Excluded dependencies, with everything that only they need.
    #[serde(default)]
    pub without: Vec<String>,
    /// Whose C library it runs on.
    pub glibc: Glibc,
    /// Name of the layout by which it is unpacked.
    pub layout: String,
    /// Size of the packages, bytes.
    pub download_bytes: u64,
}

/// Whose C library a server runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Glibc {
    /// The host's: it is new enough, and systems that are compared share it.
    Host,
    /// The suite's own: the build asks for more than older hosts have.
    Own,
}

impl Debian {
    /// What identifies it in lists and in the cache.
    pub(crate) fn identity(&self) -> String {
        format!("Debian {} {}", self.suite, self.main())
    }

    /// The package that is the server.
    pub(crate) fn main(&self) -> &str {
        self.packages.first().map_or("", String::as_str)
    }

    /// What is wrong with it, for who writes catalogues.
    pub(crate) fn flaw(&self) -> Option<String> {
        let plain = |name: &String| {
            name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        };
        if self.packages.is_empty() {
            return Some("no packages".to_owned());
        }
        let names = [&self.packages, &self.needs, &self.without].into_iter().flatten();
        let mut names = names.chain([&self.suite]);
        names.find(|name| !plain(name)).map(|name| format!("{name:?} is not a Debian name"))
    }
}
