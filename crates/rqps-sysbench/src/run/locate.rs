//! Which script a test's name means.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::lua::{Place, Script, rock};
use crate::{Environment, Error, builtin};

/// Tests of sysbench that measure no database.
const NOT_DATABASES: [&str; 5] = ["cpu", "memory", "threads", "mutex", "fileio"];

/// Folders in which sysbench's own scripts lie.
const FOLDERS: [&str; 2] = ["/usr/local/share/sysbench", "/usr/share/sysbench"];

/// Finds the script of a test: a path, a file NAME.lua in the current folder, a built-in test, a rock of
/// LuaRocks, or a script of sysbench's folder. Without a name it is the text on standard input.
///
/// # Errors
/// A test that measures no database, a name that means nothing, unreadable standard input.
pub(crate) fn locate(test: Option<&str>, environment: &Environment) -> Result<Script, Error> {
    let Some(test) = test.filter(|name| *name != "-") else { return from_input() };
    if is_file(Path::new(test)) {
        return Ok(from_file(PathBuf::from(test)));
    }
    if NOT_DATABASES.contains(&test) {
        return Err(Error::NotADatabase { test: test.to_owned() });
    }
    let file_name = format!("{test}.lua");
    let here = Path::new(".").join(&file_name);
    if !test.contains('/') && is_file(&here) {
        return Ok(from_file(here));
    }
    if let Some(text) = builtin::script(test) {
        let place = Place::Text(format!("={test}"), text);
        return Ok(Script { name: test.to_owned(), place });
    }
    let of_sysbench = FOLDERS.iter().map(|folder| Path::new(folder).join(&file_name));
    let found = rock(test, environment).into_iter().chain(of_sysbench).find(|path| is_file(path));
    if let Some(path) = found.filter(|_| !test.contains('/')) {
        return Ok(Script { name: test.to_owned(), place: Place::File(path) });
    }
    Err(Error::Fatal(format!(
        "Cannot find benchmark '{test}': no such built-in test, file or module"
    )))
}

fn is_file(path: &Path) -> bool {
    path.is_file()
}

fn from_file(path: PathBuf) -> Script {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Script { name, place: Place::File(path) }
}

fn from_input() -> Result<Script, Error> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|source| Error::ReadFile { path: "standard input".into(), source })?;
    Ok(Script { name: "stdin".to_owned(), place: Place::Text("=stdin".to_owned(), text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(test: Option<&str>) -> Result<Script, Error> {
        super::locate(test, &Environment::default())
    }

    #[test]
    fn names_and_paths() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.lua");
        std::fs::write(&path, "function event() end").unwrap();
        let found = locate(Some(path.to_str().unwrap())).unwrap();
        assert_eq!(found, Script { name: "my.lua".to_owned(), place: Place::File(path) });
        assert_eq!(locate(Some("oltp_read_only")).unwrap().name, "oltp_read_only");
        for test in NOT_DATABASES {
            let said = locate(Some(test)).unwrap_err().to_string();
            assert!(said.contains(test) && !said.contains('\n'), "{said}");
        }
        let said = locate(Some("nosuch")).unwrap_err().to_string();
        assert_eq!(said, "Cannot find benchmark 'nosuch': no such built-in test, file or module");
    }
}
