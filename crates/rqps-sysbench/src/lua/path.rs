//! Where `require` looks for modules.

use std::path::{Path, PathBuf};

use mlua::{Lua, Table};

use super::script::{Place, Script};
use crate::{Environment, Error};

/// Folders of sysbench's own scripts.
const SYSBENCH_DIRS: [&str; 2] = ["/usr/local/share/sysbench", "/usr/share/sysbench"];

/// Sets `package.path` and `package.cpath`: the current folder, the script's own, what `LUA_PATH` and `LUA_CPATH`
/// name, the user's rocks of LuaRocks, the system's modules, sysbench's folders.
///
/// # Errors
/// When LuaJIT has no memory.
pub(super) fn set(lua: &Lua, script: &Script, environment: &Environment) -> Result<(), Error> {
    let own = match &script.place {
        Place::File(path) => path.parent().filter(|dir| *dir != Path::new("")),
        Place::Text(..) => None,
    };
    let rocks = environment.home_file(".luarocks");
    let package: Table = lua.globals().get("package")?;
    let (path, cpath) = (package.get::<String>("path")?, package.get::<String>("cpath")?);
    let mut sources = vec!["./?.lua".to_owned(), "./?/init.lua".to_owned()];
    sources.extend(own.into_iter().flat_map(modules));
    sources.push(path);
    sources.extend(share_dirs(rocks.as_ref()).iter().flat_map(|dir| modules(dir)));
    sources.extend(SYSBENCH_DIRS.iter().flat_map(|dir| modules(Path::new(dir))));
    let mut libraries = vec!["./?.so".to_owned(), cpath];
    if let Some(rocks) = &rocks {
        libraries.push(format!("{}/lib/lua/5.1/?.so", rocks.display()));
    }
    let system = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    for dir in [Path::new("/usr/local/lib"), Path::new("/usr/lib"), &system] {
        libraries.push(format!("{}/lua/5.1/?.so", dir.display()));
    }
    package.set("path", sources.join(";"))?;
    package.set("cpath", libraries.join(";"))?;
    Ok(())
}

/// The script of a module as `require` finds it, for tests that are named like modules.
///
/// Only LuaRocks's folders are searched: those of sysbench are the caller's matter.
pub(crate) fn rock(name: &str, environment: &Environment) -> Option<PathBuf> {
    let rocks = environment.home_file(".luarocks");
    let file = format!("{name}.lua");
    share_dirs(rocks.as_ref()).into_iter().map(|dir| dir.join(&file)).find(|path| path.is_file())
}

/// Folders of modules in Lua: the user's, then the system's.
fn share_dirs(rocks: Option<&PathBuf>) -> Vec<PathBuf> {
    let system = ["/usr/local/share/lua/5.1", "/usr/share/lua/5.1"].map(PathBuf::from);
    rocks.map(|rocks| rocks.join("share/lua/5.1")).into_iter().chain(system).collect()
}

fn modules(dir: &Path) -> [String; 2] {
    [format!("{}/?.lua", dir.display()), format!("{}/?/init.lua", dir.display())]
}
