//! Why a build was not made, with the next step.

use std::io;
use std::path::PathBuf;

/// Why a build was not made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such directory.
    #[error("there is no directory {}; check the path", dir.display())]
    NoDirectory {
        /// What was named.
        dir: PathBuf,
    },
    /// The directory is no git repository.
    #[error("{} is no git repository ({said}); name one, or write source = \"DIRECTORY\"", repo.display())]
    NoRepository {
        /// The directory.
        repo: PathBuf,
        /// What git says.
        said: String,
    },
    /// The repository has no such commit.
    #[error(
        "{} has no commit {revision:?}; `git log` there lists commits, and `git fetch` gets new ones",
        repo.display()
    )]
    NoCommit {
        /// The repository.
        repo: PathBuf,
        /// What was asked for.
        revision: String,
    },
    /// One commit does not come before another.
    #[error(
        "commit {good} is no ancestor of {bad}; name commits of one branch, the older one first"
    )]
    NotBefore {
        /// The older end.
        good: String,
        /// The newer end.
        bad: String,
    },
    /// Git failed.
    #[error("`git {words}` in {}: {said}", repo.display())]
    Git {
        /// The repository.
        repo: PathBuf,
        /// Its arguments.
        words: String,
        /// What it wrote.
        said: String,
    },
    /// A part of the source is a repository of its own, and not there.
    #[error(
        "the submodule {path} is missing at commit {commit}; run `git submodule update --init --recursive` in {}",
        repo.display()
    )]
    NoSubmodule {
        /// The repository.
        repo: PathBuf,
        /// Where the submodule belongs.
        path: String,
        /// Its commit.
        commit: String,
    },
    /// No recipe builds this source.
    #[error("no recipe builds {what}; write your own and name it with recipe = \"FILE\"")]
    NoRecipe {
        /// DBMS and version, or what is missing to tell.
        what: String,
    },
    /// The recipe is malformed.
    #[error("{place}: {detail}")]
    Recipe {
        /// The file.
        place: String,
        /// What is wrong, and the remedy.
        detail: String,
    },
    /// The recipe does not say how something is done.
    #[error(
        "the recipe {recipe} does not say how to build with {key}; leave it out, or write your own recipe"
    )]
    NotInRecipe {
        /// The recipe.
        recipe: String,
        /// What was ordered: `lto = true`.
        key: &'static str,
    },
    /// Programs or libraries are missing.
    #[error("the recipe {recipe} needs {missing}; install {packages}")]
    Missing {
        /// The recipe.
        recipe: String,
        /// The programs and headers.
        missing: String,
        /// The Debian packages that have them.
        packages: String,
    },
    /// A patch does not apply.
    #[error("the patch {} does not apply: {said}", patch.display())]
    Patch {
        /// The patch.
        patch: PathBuf,
        /// What git says.
        said: String,
    },
    /// A step of the recipe failed.
    #[error(
        "build {what}: the step {step} failed: {end}; the last lines of {}:\n{last_lines}",
        log.display()
    )]
    Failed {
        /// Which build.
        what: String,
        /// The step.
        step: String,
        /// How it ended.
        end: String,
        /// The end of the log.
        last_lines: String,
        /// Where all of it is.
        log: PathBuf,
    },
    /// What was built has no server.
    #[error(
        "build {what}: the recipe {recipe} installed no {server} below {{prefix}}; correct its last step"
    )]
    NoServer {
        /// Which build.
        what: String,
        /// The recipe.
        recipe: String,
        /// The program.
        server: String,
    },
    /// The files of a directory are others than when the run began.
    #[error("files in {} changed since the run began; undo that, or begin a new run with --new", dir.display())]
    Changed {
        /// The directory.
        dir: PathBuf,
    },
    /// The cache has no such build.
    #[error("no build has the key {key:?}; `rqps builds list` shows them")]
    NoBuild {
        /// What was asked for.
        key: String,
    },
    /// Several builds begin with this key.
    #[error("{n} builds have keys that begin with {key:?}; write more of it")]
    ManyBuilds {
        /// What was asked for.
        key: String,
        /// How many.
        n: usize,
    },
    /// Somebody uses the build.
    #[error("build {key} is in use; wait until that run has ended")]
    InUse {
        /// The build.
        key: String,
    },
    /// The operating system refused something.
    #[error("{doing}")]
    Io {
        /// What was being done.
        doing: String,
        /// The reason.
        source: io::Error,
    },
    /// A lock was not to be had, or the work was stopped.
    #[error(transparent)]
    Server(#[from] rqps_server::Error),
}

impl Error {
    /// Whether it is the commit that cannot be built, and not this host.
    #[must_use]
    pub fn is_of_commit(&self) -> bool {
        match self {
            Self::Failed { last_lines, .. } => !last_lines.contains("No space left on device"),
            Self::NoServer { .. }
            | Self::NoRecipe { .. }
            | Self::NoSubmodule { .. }
            | Self::Patch { .. } => true,
            _ => false,
        }
    }

    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }
}
