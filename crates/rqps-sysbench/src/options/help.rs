//! Help texts: all built-in options, and those of a script.

use super::definitions::all;
use super::{Definition, GROUPS};

/// The help text of the command.
pub(crate) fn general() -> String {
    let mut text = String::from(
        "Usage:\n  sysbench [options]... [testname|script.lua] [command]\n\n\
         Commands implemented by most tests: prepare run cleanup help\n\n",
    );
    let mut definitions = all();
    for group in GROUPS {
        let options: Vec<Definition> = definitions.by_ref().take(group.options.len()).collect();
        if !group.title.is_empty() {
            text.push_str(&format!("{}:\n", group.title));
        }
        text.push_str(&table(&options));
        text.push('\n');
    }
    text.push_str("Built-in tests:\n");
    for (name, what) in crate::builtin::TESTS {
        text.push_str(&format!("  {name} - {what}\n"));
    }
    text.push_str(
        "\nScripts of sysbench on this host are run by their path.\n\
         See 'sysbench <testname> help' for a list of options for each test.\n",
    );
    text
}

/// Options of a script in the order of their names, with the heading of sysbench.
pub(crate) fn of_script(name: &str, options: &[Definition]) -> String {
    let mut sorted = options.to_vec();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    format!("{name} options:\n{}\n", table(&sorted))
}

/// One line for each option: name and value, help, default in brackets.
pub(crate) fn table(options: &[Definition]) -> String {
    let left = |one: &Definition| format!("--{}{}", one.name, one.kind.placeholder());
    let width = options.iter().map(|one| left(one).len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in options {
        let shown = one.default.as_ref().map_or(String::new(), |default| format!(" [{default}]"));
        text.push_str(&format!("  {:width$} {}{shown}\n", left(one), one.help));
    }
    text
}
