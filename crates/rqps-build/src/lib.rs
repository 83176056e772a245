//! From a commit, or a directory of source, to a directory that a server runs from.
//!
//! The user's repository and its worktree are only read: a tree of files is taken out of git into the cache, and built
//! there. What was built once is found again by everything that decides the result: tree, recipe, patches, compiler
//! and flags.

mod error;
mod git;
mod key;
mod leftover;
mod make;
mod recipe;
mod stored;

pub use error::Error;
pub use git::{Commit, Repository};
pub use key::Key;
pub use make::{Built, dbms_of, ensure, resolve, version_of};
pub use recipe::{Need, Recipe, Recipes};
pub use stored::{Record, StoredBuild, list, log_of, remove};
