//! Recipes: how a server is built, as data.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rqps_model::{BuildType, Dbms, SourceBuild};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The recipes that are part of rqps.
const BUILTIN: &str = include_str!("recipes.toml");

/// Recipes, the first that fits is taken.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipes {
    /// The recipes in order.
    #[serde(rename = "recipe")]
    pub all: Vec<Recipe>,
}

/// How a server is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Its name.
    pub name: String,
    /// What it builds.
    pub dbms: Dbms,
    /// The first version that it builds: `5.6`.
    pub from: String,
    /// The first version after these that it does not build.
    pub below: Option<String>,
    /// Options of the compilers, where the order has none.
    #[serde(default)]
    pub cflags: String,
    /// The server program, below the prefix.
    pub server: String,
    /// What must be installed.
    #[serde(default)]
    pub need: Vec<Need>,
    /// Variables that all steps get.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What is done, in order.
    pub step: Vec<Step>,
}

/// Something that must be installed: a program or a header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// A program of the search path.
    pub program: Option<String>,
    /// A header that the compiler finds.
    pub header: Option<String>,
    /// The Debian package that has it.
    pub package: String,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What it does: `compile`.
    pub name: String,
    /// The program and its arguments; no shell reads them.
    pub words: Vec<String>,
    /// More words of a release build.
    #[serde(default)]
    pub release: Vec<String>,
    /// More words of a debug build.
    #[serde(default)]
    pub debug: Vec<String>,
    /// More words where files are optimised together.
    #[serde(default)]
    pub lto: Vec<String>,
    /// More words where the engine RocksDB is built too.
    #[serde(default)]
    pub rocksdb: Vec<String>,
}

impl Step {
    /// All its words, of every kind of build.
    fn all_words(&self) -> impl Iterator<Item = &String> {
        let more = [&self.release, &self.debug, &self.lto, &self.rocksdb];
        self.words.iter().chain(more.into_iter().flatten())
    }
}

/// What stands for the words in braces.
#[derive(Debug, Clone)]
pub(crate) struct Values<'a> {
    pub(crate) source: &'a Path,
    pub(crate) build: &'a Path,
    pub(crate) prefix: &'a Path,
    pub(crate) jobs: usize,
    pub(crate) how: &'a SourceBuild,
    pub(crate) cflags: &'a str,
    pub(crate) ccache: &'a str,
}

impl Need {
    /// The programs and headers.
    #[must_use]
    pub fn names(needs: &[Self]) -> Vec<&str> {
        needs.iter().filter_map(|need| need.program.as_deref().or(need.header.as_deref())).collect()
    }

    /// The packages that have them, each once.
    #[must_use]
    pub fn packages(needs: &[Self]) -> Vec<&str> {
        let mut packages: Vec<&str> = needs.iter().map(|need| need.package.as_str()).collect();
        packages.sort_unstable();
        packages.dedup();
        packages
    }
}

impl Recipes {
    /// The recipes that are part of rqps.
    ///
    /// # Errors
    /// Never: a test reads them.
    pub fn builtin() -> Result<Self, Error> {
        Self::parse(BUILTIN, "the built-in recipes")
    }

    /// Reads recipes.
    ///
    /// # Errors
    /// What is wrong, with its place.
    pub fn parse(text: &str, place: &str) -> Result<Self, Error> {
        let refuse = |detail: String| Error::Recipe { place: place.to_owned(), detail };
        let recipes: Self = toml::from_str(text).map_err(|e| refuse(e.to_string()))?;
        for recipe in &recipes.all {
            recipe
                .check()
                .map_err(|detail| refuse(format!("recipe {:?}: {detail}", recipe.name)))?;
        }
        Ok(recipes)
    }

    /// The first one for a version of a DBMS.
    #[must_use]
    pub fn find(&self, dbms: Dbms, version: &str) -> Option<&Recipe> {
        self.all.iter().find(|recipe| recipe.dbms == dbms && recipe.builds(version))
    }
}

impl Recipe {
    fn check(&self) -> Result<(), String> {
        if self.step.is_empty() {
            return Err("it has no step; add a [[recipe.step]]".to_owned());
        }
        let known = ["source", "build", "prefix", "jobs", "cc", "cxx", "cflags", "ccache"];
        for step in &self.step {
            if step.words.is_empty() {
                return Err(format!("the step {:?} has no words; name a program", step.name));
            }
            for word in step.all_words().chain(self.env.values()) {
                for name in braced(word) {
                    if !known.contains(&name) {
                        let known = known.join("}, {");
                        return Err(format!(
                            "{word:?}: {{{name}}} is unknown (known: {{{known}}})"
                        ));
                    }
                }
            }
        }
        for need in &self.need {
            if need.program.is_some() == need.header.is_some() {
                return Err("a need has one of program and header; write one of them".to_owned());
            }
        }
        Ok(())
    }

    fn builds(&self, version: &str) -> bool {
        let own = numbers(version);
        own >= numbers(&self.from) && self.below.as_ref().is_none_or(|below| own < numbers(below))
    }

    /// What is needed and not there.
    #[must_use]
    pub fn missing(&self, how: &SourceBuild) -> Vec<Need> {
        let compiler = |program: String| Need {
            package: if program == "cc" || program == "c++" {
                "g++".to_owned()
            } else {
                program.clone()
            },
            program: Some(program),
            header: None,
        };
        let compilers = [("{cc}", how.cc().to_owned()), ("{cxx}", how.cxx())]
            .into_iter()
            .filter(|(word, _)| self.has(word))
            .map(|(_, program)| compiler(program));
        let is_there = |need: &Need| match (&need.program, &need.header) {
            (Some(program), _) => can_run(program),
            (None, Some(header)) => has_header(how.cc(), header),
            (None, None) => true,
        };
        compilers.chain(self.need.clone()).filter(|need| !is_there(need)).collect()
    }

    /// Whether a word in braces stands anywhere in it.
    fn has(&self, braced: &str) -> bool {
        let words = self.step.iter().flat_map(Step::all_words);
        words.chain(self.env.values()).any(|word| word.contains(braced))
    }

    /// The words of a step.
    pub(crate) fn words(&self, step: &Step, values: &Values<'_>) -> Vec<String> {
        let of_type = match values.how.build {
            BuildType::Release => &step.release,
            BuildType::Debug => &step.debug,
        };
        let lto = if values.how.lto { step.lto.as_slice() } else { &[] };
        let rocksdb = if values.how.rocksdb { step.rocksdb.as_slice() } else { &[] };
        let words = step.words.iter().chain(of_type).chain(lto).chain(rocksdb);
        words.map(|word| filled(word, values)).collect()
    }

    /// The variables of all steps.
    pub(crate) fn variables(&self, values: &Values<'_>) -> Vec<(String, String)> {
        self.env.iter().map(|(name, value)| (name.clone(), filled(value, values))).collect()
    }
}

/// The names between braces.
fn braced(word: &str) -> impl Iterator<Item = &str> {
    word.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

fn filled(word: &str, values: &Values<'_>) -> String {
    let Values { source, build, prefix, jobs, how, cflags, ccache } = values;
    let pairs = [
        ("{source}", source.to_string_lossy().into_owned()),
        ("{build}", build.to_string_lossy().into_owned()),
        ("{prefix}", prefix.to_string_lossy().into_owned()),
        ("{jobs}", jobs.to_string()),
        ("{cc}", how.cc().to_owned()),
        ("{cxx}", how.cxx()),
        ("{cflags}", (*cflags).to_owned()),
        ("{ccache}", (*ccache).to_owned()),
    ];
    let mut word = word.to_owned();
    for (name, value) in pairs {
        word = word.replace(name, &value);
    }
    word.trim().to_owned()
}

/// The numbers of a version: `17beta1` is 17.
fn numbers(version: &str) -> Vec<u32> {
    let digits = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..end].parse().ok()
    };
    version.split('.').map_while(digits).collect()
}

/// Whether a program can be run.
pub(crate) fn can_run(program: &str) -> bool {
    let mut command = Command::new(program);
    let command = command.arg("--version").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether a compiler finds a header.
fn has_header(cc: &str, header: &str) -> bool {
    // It is only looked for: some headers want C++, or macros.
    let program = format!("#if !__has_include(<{header}>)\n#error none\n#endif\n");
    let mut command = Command::new(cc);
    command.args(["-E", "-x", "c", "-"]).stdin(Stdio::piped());
    let Ok(mut child) = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    // A compiler that does not read it fails.
    let _ = child.stdin.take().map(|mut input| input.write_all(program.as_bytes()));
    child.wait().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use rqps_model::SourceOrigin;

    use super::*;

    fn plain() -> SourceBuild {
        SourceBuild::of(SourceOrigin::Directory { dir: "/src".into(), tree: None })
    }

    #[test]
    fn recipes_fit_versions() {
        let recipes = Recipes::builtin().unwrap();
        let name = |dbms, version| recipes.find(dbms, version).map(|recipe| recipe.name.as_str());
        assert_eq!(name(Dbms::Postgres, "17beta1"), Some("postgres-meson"));
        assert_eq!(name(Dbms::Postgres, "9.6.24"), Some("postgres-configure"));
        assert_eq!(name(Dbms::Mysql, "9.1.0"), Some("mysql"));
        assert_eq!(name(Dbms::Mysql, "5.5.62"), None);
        assert_eq!(name(Dbms::Mariadb, "11.8.2"), Some("mariadb"));
        assert_eq!(name(Dbms::Mariadb, "10.4.34"), Some("mariadb-10.0"));
        assert_eq!(name(Dbms::Postgres, "devel"), None);
    }

    #[test]
    fn words_have_directories_compilers_and_flags() {
        let recipes = Recipes::builtin().unwrap();
        let recipe = recipes.find(Dbms::Postgres, "17.4").unwrap();
        let how = SourceBuild {
            cc: Some("clang".to_owned()),
            lto: true,
            build: BuildType::Debug,
            ..plain()
        };
        let [source, build, prefix] = ["/s", "/b", "/p"].map(Path::new);
        let values =
            Values { source, build, prefix, jobs: 2, how: &how, cflags: "-O3", ccache: "" };
        let words = recipe.words(&recipe.step[0], &values);
        assert_eq!(&words[..3], ["meson", "setup", "--prefix=/p"]);
        assert_eq!(&words[words.len() - 4..], ["/b", "/s", "-Dcassert=true", "-Db_lto=true"]);
        let variables = recipe.variables(&values);
        assert!(variables.contains(&("CC".to_owned(), "clang".to_owned())), "{variables:?}");
        assert!(variables.contains(&("CFLAGS".to_owned(), "-O3".to_owned())), "{variables:?}");
    }

    #[test]
    fn a_recipe_that_cannot_be_followed_is_refused() {
        let recipe = |more: &str| {
            format!(
                "[[recipe]]\nname = \"x\"\ndbms = \"mysql\"\nfrom = \"5\"\nserver = \"bin/mysqld\"\n{more}"
            )
        };
        let refused = |more: &str| Recipes::parse(&recipe(more), "mine").unwrap_err().to_string();
        for (more, words) in [
            ("step = []", "it has no step"),
            ("[[recipe.step]]\nname = \"a\"\nwords = []", "has no words"),
            ("[[recipe.step]]\nname = \"a\"\nwords = [\"{home}\"]", "{home} is unknown"),
            ("colour = 1\nstep = []", "unknown field `colour`"),
        ] {
            let said = refused(more);
            assert!(said.starts_with("mine: ") && said.contains(words), "{more}: {said}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let mut recipe = Recipes::builtin().unwrap().all.swap_remove(0);
        let need = |program: Option<&str>, header: Option<&str>| Need {
            program: program.map(str::to_owned),
            header: header.map(str::to_owned),
            package: "p".to_owned(),
        };
        recipe.need = vec![
            need(Some("no-such-program"), None),
            need(None, Some("no/such/header.h")),
            need(None, Some("stdio.h")),
            need(Some("git"), None),
        ];
        let missing = recipe.missing(&plain());
        assert_eq!(missing, recipe.need[..2]);
        let other = SourceBuild { cc: Some("no-such-cc".to_owned()), ..plain() };
        assert!(
            recipe.missing(&other).iter().any(|need| need.program.as_deref() == Some("no-such-cc"))
        );
    }
}
