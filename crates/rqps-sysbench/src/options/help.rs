//! Help texts: all built-in options, and those of a script.

use super::definitions::GROUPS;
use super::{Definition, Kind};

/// What follows the options of database drivers. The last line is the heading of sysbench's list of its compiled-in
/// tests, which databases have no part in.
const IN_RQPS: &str = "\
In rqps:
  --percentile accepts a list: 50,95,99.9
  --rand-type accepts zipfian, too
  --mysql-ssl accepts off or DISABLED, PREFERRED, on or REQUIRED, VERIFY_CA, VERIFY_IDENTITY
  --mysql-ssl-cipher and --mysql-compression are refused: not supported
  --pgsql-host and --pgsql-port accept lists; connections use them round-robin
  scripts of sysbench on this host are run by their path

";

/// What the tests of sysbench that measure no database are called in its help text.
const COMPILED_IN: &str = "\
Compiled-in tests: only in sysbench itself, as they measure no database
  fileio - File I/O test
  cpu - CPU performance test
  memory - Memory functions speed test
  threads - Threads subsystem performance test
  mutex - Mutex performance test

See 'sysbench <testname> help' for a list of options for each test.

";

/// The help text of the command: sysbench's, and between its options of drivers and its compiled-in tests what rqps
/// adds.
pub(crate) fn general() -> String {
    let mut text = String::from(
        "Usage:\n  sysbench [options]... [testname] [command]\n\n\
         Commands implemented by most tests: prepare run cleanup help\n\n",
    );
    for group in GROUPS {
        let options: Vec<Definition> = group.definitions().map(shown_as_sysbench).collect();
        text.push_str(group.heading);
        text.push_str(&table(&options));
        text.push('\n');
        if group.heading.starts_with("General database") {
            text.push_str("\nCompiled-in database drivers:\n  mysql - MySQL driver\n  pgsql - PostgreSQL driver\n\n");
        }
    }
    text.push_str(IN_RQPS);
    text.push_str("Built-in scripts:\n");
    for (name, what) in crate::builtin::TESTS {
        text.push_str(&format!("  {name} - {what}\n"));
    }
    text.push('\n');
    text.push_str(COMPILED_IN);
    text
}

/// An option that takes more than sysbench's, with the kind that sysbench shows.
fn shown_as_sysbench(mut option: Definition) -> Definition {
    option.kind = match option.name.as_str() {
        "percentile" | "pgsql-port" => Kind::Int,
        "mysql-ssl" | "mysql-compression" => Kind::Bool,
        "pgsql-host" => Kind::Text,
        _ => option.kind,
    };
    option
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
