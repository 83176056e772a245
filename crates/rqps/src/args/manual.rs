//! docs/reference/command-line.md: the help text of every command. `UPDATE_EXPECT=1` rewrites it.

use clap::{Command, CommandFactory as _};
use expect_test::expect_file;

use super::Cli;

const HEAD: &str = "# Command line

These are the help texts of all commands. Options under \"Directories and files\" belong to every command.
A SYSTEM is a version that `rqps servers list` shows (`mysql@8.0.33`, `my@8.0.33`), the directory of a
server or of a build (`pg@/build/pg`), or the address of a running server.

Exit codes: 0 success, 1 regression (`rqps gate`), 2 error, a failed step or no judgement, 130 interrupted.
";

/// The heading of a global option, which stands in the help of every command.
const GLOBAL: &str = "Directories and files:";

/// Sections of a command and of those below it.
fn describe(command: &mut Command, path: &str, page: &mut String) {
    if command.is_hide_set() {
        return;
    }
    let help = command.render_long_help().to_string();
    let (own, _) = help.split_once(GLOBAL).unwrap_or((&help, ""));
    let shown = if path == "rqps" { help.trim_end() } else { own.trim_end() };
    *page += &format!("\n## {path}\n\n```text\n{shown}\n```\n");
    for below in command.get_subcommands_mut() {
        let path = format!("{path} {}", below.get_name());
        describe(below, &path, page);
    }
}

#[test]
fn the_page_has_every_command() {
    let mut command = Cli::command().term_width(100);
    command.build();
    let mut page = HEAD.to_owned();
    describe(&mut command, "rqps", &mut page);
    expect_file!["../../../../docs/reference/command-line.md"].assert_eq(&page);
}
