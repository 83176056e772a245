//! A Lua state with a script in it.

use std::sync::Arc;

use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, MultiValue, Table, Value};

use super::border::{new_state, pointers};
use super::script::{Place, Script};
use super::{functions, options, path};
use crate::Error;
use crate::options::Definition;
use crate::settings::Settings;

/// The version of sysbench whose place this takes.
pub(crate) const SYSBENCH_VERSION: &str = "1.0.20";

/// What a call into Lua gave: its results, or why it failed, in Lua's words.
pub(crate) type Answer<T> = Result<T, String>;

/// A Lua state, of one thread.
#[derive(Debug)]
pub(crate) struct State {
    lua: Lua,
    host: Table,
    end_list: Function,
}

/// The lists of reports as JSON, each a document of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportList {
    /// Intermediate reports.
    Intermediate,
    /// Reports at checkpoints.
    Checkpoints,
    /// The report at the end.
    End,
}

impl ReportList {
    fn name(self) -> &'static str {
        match self {
            Self::Intermediate => "intermediate",
            Self::Checkpoints => "checkpoints",
            Self::End => "end",
        }
    }
}

impl State {
    /// A state with everything but the script: `tid` is the thread's number.
    ///
    /// # Errors
    /// When LuaJIT has no memory.
    pub(crate) fn new(
        settings: &Arc<Settings>,
        script: &Script,
        command: Option<&str>,
        tid: usize,
    ) -> Result<Self, Error> {
        let lua = new_state();
        let native = native(&lua, settings, script, command, tid)?;
        lua.load("ffi = require('ffi')").exec()?;
        native.set("ffi", lua.globals().get::<Table>("ffi")?)?;
        let (host, cast): (Table, Function) =
            lua.load(include_str!("core.lua")).set_name("=sysbench").call(&native)?;
        lua.load(include_str!("sql.lua")).set_name("=sysbench.sql").call::<()>((&native, &cast))?;
        lua.load(include_str!("legacy.lua"))
            .set_name("=sysbench.db")
            .call::<()>((&native, &cast))?;
        let end_list: Function =
            lua.load(include_str!("report.lua")).set_name("=sysbench.report").call(&native)?;
        path::set(&lua, script, &settings.environment)?;
        Ok(Self { lua, host, end_list })
    }

    /// Runs the script's top level and gives it the options. Those that it declares come back.
    ///
    /// # Errors
    /// The script's own error inside; outside, an option that nobody has.
    pub(crate) fn load(
        &self,
        script: &Script,
        settings: &Settings,
    ) -> Result<Answer<Option<Vec<Definition>>>, Error> {
        let loaded = match &script.place {
            Place::File(path) => {
                let path = path.to_string_lossy();
                self.host_call::<Value>("load", path.as_ref())?
            }
            Place::Text(name, text) => {
                self.host_call("load_text", (text.as_str(), name.as_str()))?
            }
        };
        if let Err(why) = loaded {
            return Ok(Err(why));
        }
        options::set(&self.lua, &settings.options).map(Ok)
    }

    /// Whether the script has a global function.
    ///
    /// # Errors
    /// When LuaJIT has no memory.
    pub(crate) fn has(&self, name: &str) -> Result<bool, Error> {
        Ok(self.host.get::<Function>("has")?.call(name)?)
    }

    /// Calls a global function of the script, if it has it. One that each thread calls gets its number.
    ///
    /// # Errors
    /// As [`Self::has`].
    pub(crate) fn call(&self, name: &str, tid: Option<usize>) -> Result<Answer<()>, Error> {
        Ok(self.host_call::<Value>("call", (name, tid))?.map(drop))
    }

    /// Runs a command that the script defines.
    ///
    /// # Errors
    /// As [`Self::has`].
    pub(crate) fn command(&self, name: &str) -> Result<Answer<()>, Error> {
        Ok(self.host_call::<Value>("command", name)?.map(drop))
    }

    /// Calls a hook with a table of numbers; whether the script has one. What it prints as JSON belongs to a list.
    ///
    /// # Errors
    /// As [`Self::has`].
    pub(crate) fn hook(
        &self,
        name: &str,
        list: ReportList,
        numbers: &[(&'static str, f64)],
    ) -> Result<Answer<bool>, Error> {
        let table = self.lua.create_table()?;
        for (key, number) in numbers {
            table.raw_set(*key, *number)?;
        }
        self.host_call("hook", (name, list.name(), table))
    }

    /// Whether the script defines any commands, and whether it defines this one: `None` for no
    /// commands; otherwise whether it has it, and whether all threads run it.
    ///
    /// # Errors
    /// As [`Self::has`].
    pub(crate) fn defines(&self, command: &str) -> Result<Option<(bool, bool)>, Error> {
        let sysbench: Table = self.lua.globals().get("sysbench")?;
        let cmdline: Table = sysbench.get("cmdline")?;
        if !cmdline.get::<Value>("commands")?.is_table() {
            return Ok(None);
        }
        let ask = |name: &str| cmdline.get::<Function>(name)?.call::<bool>(command);
        Ok(Some((ask("command_defined")?, ask("command_parallel")?)))
    }

    /// Ends a list of reports, where the script's hooks have begun it.
    ///
    /// # Errors
    /// As [`Self::has`].
    pub(crate) fn end_list(&self, list: ReportList) -> Result<(), Error> {
        Ok(self.end_list.call(list.name())?)
    }

    /// Calls a function of `core.lua` that gives back whether it went well, and its result or why not.
    fn host_call<T: FromLuaMulti>(
        &self,
        name: &str,
        args: impl IntoLuaMulti,
    ) -> Result<Answer<T>, Error> {
        let mut results: MultiValue = self.host.get::<Function>(name)?.call(args)?;
        match results.pop_front() {
            Some(Value::Boolean(true)) => Ok(Ok(T::from_lua_multi(results, &self.lua)?)),
            _ => Ok(Err(String::from_lua_multi(results, &self.lua)?)),
        }
    }
}

/// What `core.lua` gets from the program.
fn native(
    lua: &Lua,
    settings: &Arc<Settings>,
    script: &Script,
    command: Option<&str>,
    tid: usize,
) -> Result<Table, Error> {
    let native = lua.create_table()?;
    let call = lua.create_table()?;
    for (name, pointer) in pointers() {
        call.raw_set(name, mlua::LightUserData(pointer))?;
    }
    native.raw_set("call", call)?;
    native.raw_set("fn", functions::table(lua, settings)?)?;
    native.raw_set("version", SYSBENCH_VERSION)?;
    native.raw_set("tid", tid)?;
    native.raw_set("db_driver", settings.options.text("db-driver")?)?;
    native.raw_set("command", command)?;
    native.raw_set("script_path", script.path())?;
    let percentile = settings.main_percentile().unwrap_or(0.0);
    native.raw_set("percentile", percentile.to_string())?;
    let argv = lua.create_table()?;
    argv.raw_set(0, "sysbench")?;
    for (idx, word) in settings.words.iter().enumerate() {
        argv.raw_set(idx + 1, word.as_str())?;
    }
    native.raw_set("argv", argv)?;
    lua.globals().raw_set("test", script.path())?;
    Ok(native)
}
