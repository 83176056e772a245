//! Why a command line was not carried out.

use std::io;
use std::path::PathBuf;

/// Why a command line was not carried out. The texts are those of sysbench where it has some.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A third word that is no option.
    #[error("Unrecognized command line argument: {word}")]
    ExtraArgument {
        /// The word.
        word: String,
    },
    /// A value that is not of its option's kind.
    #[error("Invalid value for the '{name}' option: '{value}'")]
    BadValue {
        /// The option.
        name: String,
        /// What was given.
        value: String,
    },
    /// An option that neither sysbench nor the script has.
    #[error("invalid option: {typed}")]
    UnknownOption {
        /// As it was typed.
        typed: String,
    },
    /// A command that the script does not have.
    #[error("Unknown command: {command}")]
    UnknownCommand {
        /// The command.
        command: String,
    },
    /// A command that the test does not have.
    #[error("'{test}' test does not implement the '{command}' command.")]
    NotImplemented {
        /// The test.
        test: String,
        /// The command.
        command: String,
    },
    /// A test of sysbench that measures no database.
    #[error("test {test} measures no database: run it with sysbench itself")]
    NotADatabase {
        /// The test.
        test: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {source}", path = path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something that sysbench reports as fatal, on standard output.
    #[error("{0}")]
    Fatal(String),
    /// LuaJIT itself failed: no memory.
    #[error("LuaJIT: {0}")]
    Lua(String),
    /// A failure that was printed where it happened.
    #[error("the command failed")]
    Told,
}

impl From<mlua::Error> for Error {
    fn from(error: mlua::Error) -> Self {
        Self::Lua(error.to_string())
    }
}
