//! What a machine can check of the house style. Runs as a test and as `cargo xtask tidy`.

mod arrows;
mod modules;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use arrows::Files;

/// The crates from top to bottom: each may depend only on those after it.
const LAYERS: [&str; 26] = [
    "rqps",
    "rqps-serve",
    "rqps-import",
    "rqps-sysbench",
    "rqps-export",
    "rqps-bisect",
    "rqps-runner",
    "rqps-html",
    "rqps-report",
    "rqps-analysis",
    "rqps-audit",
    "rqps-text",
    "rqps-store",
    "rqps-build",
    "rqps-server",
    "rqps-sample",
    "rqps-load",
    "rqps-workload",
    "rqps-vector",
    "rqps-client",
    "rqps-explain",
    "rqps-fixtures",
    "rqps-stats",
    "rqps-stacks",
    "rqps-model",
    "rqps-fake-server",
];

/// The layers of the runner, each a folder, uppermost first. No layer names one above it.
const RUNNER_LAYERS: [&str; 7] =
    ["run", "recovery", "schedule", "journal", "system", "engine", "plan"];

/// Lines past which a source file must be cut.
const MAX_LINES: usize = 800;

/// Checks the tree below `root`; each finding is a line that names the file and the remedy.
pub(crate) fn check(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    check_arrows(root, &mut findings)?;
    check_files(root, &mut findings)?;
    check_architecture(root, &mut findings)?;
    check_rust_version(root, &mut findings)?;
    check_destructive(root, &mut findings)?;
    for name in LAYERS {
        let src = root.join("crates").join(name).join("src");
        let first =
            ["lib.rs", "main.rs"].map(|name| src.join(name)).into_iter().find(|path| path.exists());
        let Some(first) = first else { continue };
        let files = Files::read(root, &first)?;
        findings.extend(files.circles());
        findings.extend(files.spread());
        if name == "rqps-runner" {
            findings.extend(files.upward(&src, &RUNNER_LAYERS));
        }
    }
    Ok(findings)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
}

fn check_arrows(root: &Path, findings: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(root.join("crates")).context("list crates")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let Some(layer) = LAYERS.iter().position(|l| *l == name) else {
            findings.push(format!("crates/{name}: not in tidy's list of layers; add it there"));
            continue;
        };
        let manifest: toml::Table = read(&root.join("crates").join(&name).join("Cargo.toml"))?
            .parse()
            .with_context(|| format!("parse the manifest of {name}"))?;
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        for dependency in dependencies.into_iter().flat_map(toml::Table::keys) {
            let Some(target) = LAYERS.iter().position(|l| l == dependency) else { continue };
            if target <= layer {
                findings.push(format!(
                    "crates/{name}: depends on {dependency}, which lies above it; turn the arrow"
                ));
            }
        }
    }
    Ok(())
}

fn check_files(root: &Path, findings: &mut Vec<String>) -> Result<()> {
    let mut files = Vec::new();
    for top in ["crates", "fuzz", "xtask"] {
        collect(&root.join(top), &mut files)?;
    }
    files.sort();
    for path in files {
        let text = read(&path)?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with("//! ") || first.len() < 12 {
            findings.push(format!("{shown}: begin with `//!` and one sentence of purpose"));
        }
        let is_test = shown.contains("/tests/") || shown.ends_with("/tests.rs");
        let n_lines = text.lines().count();
        if is_test {
            continue;
        }
        if n_lines > MAX_LINES {
            findings.push(format!("{shown}: {n_lines} lines; cut it (at most {MAX_LINES})"));
        }
    }
    Ok(())
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn check_architecture(root: &Path, findings: &mut Vec<String>) -> Result<()> {
    let text = read(&root.join("ARCHITECTURE.md"))?;
    for name in LAYERS {
        if !text.contains(&format!("`{name}`")) {
            findings.push(format!("ARCHITECTURE.md: crate `{name}` is not named; describe it"));
        }
    }
    let n_lines = text.lines().count();
    if n_lines > 250 {
        findings.push(format!("ARCHITECTURE.md: {n_lines} lines; shorten it (at most 250)"));
    }
    Ok(())
}

/// Statements that destroy, and where they may stand.
const DESTRUCTIVE: [&str; 11] = [
    "reset master",
    "reset binary",
    "purge binary",
    "purge master",
    "drop table",
    "drop database",
    "drop schema",
    "drop user",
    "truncate ",
    "set global",
    "set persist",
];
const MAY_DESTROY: [&str; 6] = [
    "crates/rqps-server/src/destructive.rs",
    "crates/rqps-server/src/destructive/",
    // Judges statements, and sends none.
    "crates/rqps-server/src/statement/",
    // Scripts of users, and a file of rqps's own.
    "crates/rqps-sysbench/",
    "crates/rqps-store/",
    // Is sent statements, and sends none.
    "crates/rqps-fake-server/",
];

/// Accounts of a data directory that is being made, with no server yet to be asked.
const MAKES_ACCOUNTS: &str = "crates/rqps-server/src/dbms/mysql/process.rs";

fn check_destructive(root: &Path, findings: &mut Vec<String>) -> Result<()> {
    let mut files = Vec::new();
    collect(&root.join("crates"), &mut files)?;
    files.sort();
    for path in files {
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let is_test = shown.contains("/tests/") || shown.ends_with("/tests.rs");
        if is_test || MAY_DESTROY.iter().any(|exempt| shown.starts_with(exempt)) {
            continue;
        }
        for (number, found) in destructive_lines(&read(&path)?) {
            if shown == MAKES_ACCOUNTS && found == "drop user" {
                continue;
            }
            findings.push(format!(
                "{shown}:{number}: {found:?} is sent by rqps-server::destructive alone; call that"
            ));
        }
    }
    Ok(())
}

/// The lines of code before a file's tests that hold such a statement, without comments.
fn destructive_lines(text: &str) -> Vec<(usize, &'static str)> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let found = |line: &str| {
        let line = line.trim().to_ascii_lowercase();
        let is_code = !line.starts_with("//");
        DESTRUCTIVE.into_iter().find(|words| is_code && line.contains(words))
    };
    code.lines().enumerate().filter_map(|(idx, line)| Some((idx + 1, found(line)?))).collect()
}

/// The workspace's manifest alone says which Rust is needed: crates inherit it, scripts read it, and
/// what documents say for the reader is the same.
fn check_rust_version(root: &Path, findings: &mut Vec<String>) -> Result<()> {
    let parse = |path: &Path| -> Result<toml::Table> {
        read(path)?.parse().with_context(|| format!("parse {}", path.display()))
    };
    let workspace = parse(&root.join("Cargo.toml"))?;
    let package = workspace.get("workspace").and_then(|w| w.get("package"));
    let Some(version) = package.and_then(|p| p.get("rust-version")?.as_str()) else {
        findings.push("Cargo.toml: [workspace.package] has no rust-version; add it".to_owned());
        return Ok(());
    };
    let mut members = vec![root.join("xtask")];
    members.extend(LAYERS.map(|name| root.join("crates").join(name)));
    for member in members {
        let manifest = parse(&member.join("Cargo.toml"))?;
        let own = manifest.get("package").and_then(|p| p.get("rust-version"));
        if own.and_then(|v| v.get("workspace")).and_then(toml::Value::as_bool) != Some(true) {
            let shown = member.strip_prefix(root).unwrap_or(&member).display();
            findings.push(format!("{shown}: write rust-version.workspace = true"));
        }
    }
    let mut texts = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for dir in ["docs", "scripts", ".ci"] {
        let entries = fs::read_dir(root.join(dir)).with_context(|| format!("list {dir}"))?;
        texts.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()));
    }
    for path in texts {
        let text = read(&path)?;
        let is_script = path.extension().is_none_or(|e| e != "md");
        for named in text.split("Rust ").skip(1).map(leading_version).filter(|v| v.contains('.')) {
            let shown = path.strip_prefix(root).unwrap_or(&path).display();
            if is_script {
                findings.push(format!("{shown}: names Rust {named}; read it from Cargo.toml"));
            } else if named != version {
                findings.push(format!("{shown}: names Rust {named}, Cargo.toml {version}"));
            }
        }
    }
    Ok(())
}

/// The digits and points that a text begins with, without a full stop at their end.
fn leading_version(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let findings = check(root).unwrap();
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn a_statement_that_destroys_is_found_in_code_alone() {
        let text = "// DROP TABLE t\nlet sql = \"Drop Table t\";\nlines.truncate(8);\n\
                    let sql = format!(\"SET GLOBAL {x} = 1\");\n#[cfg(test)]\nmod tests {\n\"RESET MASTER\";\n";
        assert_eq!(destructive_lines(text), [(2, "drop table"), (4, "set global")]);
    }

    #[test]
    fn an_arrow_that_points_up_is_found() {
        let dir = std::env::temp_dir().join(format!("rqps-tidy-{}", std::process::id()));
        let crate_dir = dir.join("crates/rqps-model");
        fs::create_dir_all(&crate_dir).unwrap();
        let manifest = "[package]\nname = \"rqps-model\"\n[dependencies]\nrqps-stats = \"1\"\n";
        fs::write(crate_dir.join("Cargo.toml"), manifest).unwrap();
        let mut findings = Vec::new();
        check_arrows(&dir, &mut findings).unwrap();
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains("turn the arrow"));
    }

    #[test]
    fn a_second_rust_version_is_found() {
        let dir = std::env::temp_dir().join(format!("rqps-tidy-rust-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("Cargo.toml", "[workspace.package]\nrust-version = \"1.89\"\n");
        for name in
            ["xtask"].into_iter().map(str::to_owned).chain(LAYERS.map(|l| format!("crates/{l}")))
        {
            write(&format!("{name}/Cargo.toml"), "[package]\nrust-version.workspace = true\n");
        }
        write("crates/rqps-model/Cargo.toml", "[package]\nrust-version = \"1.80\"\n");
        write("README.md", "Needs Rust 1.89. It is written in Rust and tested.\n");
        write("CONTRIBUTING.md", "Install Rust 1.90, then\n");
        write("docs/a.md", "\n");
        write(".ci/run", "\n");
        write("scripts/setup", "echo install Rust 1.89 or newer\n");
        let mut findings = Vec::new();
        check_rust_version(&dir, &mut findings).unwrap();
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(
            findings,
            [
                "crates/rqps-model: write rust-version.workspace = true",
                "CONTRIBUTING.md: names Rust 1.90, Cargo.toml 1.89",
                "scripts/setup: names Rust 1.89; read it from Cargo.toml",
            ]
        );
    }
}
