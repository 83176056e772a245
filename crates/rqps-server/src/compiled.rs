//! How a server was compiled, by the flags and the file that its build tells.

use std::collections::BTreeMap;

/// Notes a fact that there is.
pub(crate) fn put(facts: &mut BTreeMap<String, String>, name: &str, value: &str) {
    if !value.is_empty() {
        facts.insert(name.to_owned(), value.to_owned());
    }
}

/// Names in the order of the alphabet: `heap, zheap`.
pub(crate) fn sorted(mut names: Vec<String>) -> String {
    names.sort_by_key(|name| name.to_ascii_lowercase());
    names.join(", ")
}

/// The optimisation that a compiler's flags ask for: the last one counts, none means `-O0`.
pub(crate) fn optimisation(flags: &str) -> &str {
    let level = |flag: &&str| {
        flag.strip_prefix("-O")
            .is_some_and(|l| l.len() <= 4 && l.chars().all(char::is_alphanumeric))
    };
    match flags.split_whitespace().rfind(level) {
        Some("-O") => "-O1",
        Some(flag) => flag,
        None if flags.trim().is_empty() => "",
        None => "-O0",
    }
}

/// How a MySQL or MariaDB in a directory was compiled, by the file that its build leaves there.
pub(crate) fn of_info_bin(text: &str) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some(compiler) = line.strip_prefix("# compile CXX with ") {
            put(&mut facts, "compiler", compiler.trim());
        }
        if let Some(flags) = line.strip_prefix("CXX_FLAGS").and_then(|l| l.split_once('=')) {
            put(&mut facts, "cflags", flags.1.trim());
            put(&mut facts, "optimisation", optimisation(flags.1));
        }
        if let Some(kind) = line.strip_prefix("CMAKE_BUILD_TYPE") {
            let kind = kind.rsplit_once('=').map_or("", |(_, kind)| kind.trim());
            put(&mut facts, "build_type", kind);
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn the_last_optimisation_counts() {
        assert_eq!(optimisation("-Wall -O3 -g -Os -DMAP_HUGETLB=0x40000"), "-Os");
        assert_eq!(optimisation("-O -g"), "-O1");
        assert_eq!(optimisation("-Wall -g -Oh-no-this-is-none"), "-O0");
        assert_eq!(optimisation(" "), "");
    }

    #[test]
    fn what_the_build_of_mysql_leaves() {
        let text = "===== Compiler flags used (from the 'sql/' subdirectory): =====\n\
                    # compile C with /usr/bin/gcc\n# compile CXX with /usr/bin/g++\n\
                    C_FLAGS = -O3\nCXX_FLAGS =   -fPIC -O2 -g -DNDEBUG\n\n\
                    ===== Feature flags used: =====\nCMAKE_BUILD_TYPE=RelWithDebInfo\n";
        let wanted = [
            ("build_type", "RelWithDebInfo"),
            ("cflags", "-fPIC -O2 -g -DNDEBUG"),
            ("compiler", "/usr/bin/g++"),
            ("optimisation", "-O2"),
        ];
        assert_eq!(of_info_bin(text), map(&wanted));
        assert_eq!(of_info_bin("nothing of the kind"), map(&[]));
    }
}
