//! The pages, each from what is stored to its markup.

pub(crate) mod compare;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod overview;
pub(crate) mod report;
pub(crate) mod shell;
pub(crate) mod unlock;
