//! Options between the command line and Lua: what a script declares, and the values it gets.

use mlua::{Lua, Table, Value as LuaValue};

use crate::Error;
use crate::options::definitions::all;
use crate::options::{Definition, Kind, Options, Value, canonical, help};

/// Gives a state the built-in options, as `sysbench.opt` and as the globals of older scripts.
///
/// # Errors
/// When LuaJIT has no memory.
pub(super) fn set_built_in(lua: &Lua, options: &Options) -> Result<(), Error> {
    let table = opt(lua)?;
    for definition in all() {
        let name = canonical(&definition.name);
        let value = to_lua(lua, &definition, options)?;
        // Older scripts know options as globals; those of Lua's own names stay.
        if lua.globals().raw_get::<LuaValue>(name.as_str())?.is_nil() {
            lua.globals().raw_set(name.as_str(), &value)?;
        }
        table.raw_set(name, value)?;
    }
    Ok(())
}

/// Gives a state the options that are not built in: as text, for scripts that declare none.
///
/// # Errors
/// When LuaJIT has no memory.
pub(super) fn set_undeclared(lua: &Lua, options: &Options) -> Result<(), Error> {
    let table = opt(lua)?;
    for (name, given) in options.given() {
        if crate::options::known(name).is_some() {
            continue;
        }
        let value = given.value.clone().unwrap_or_default();
        if lua.globals().raw_get::<LuaValue>(name)?.is_nil() {
            lua.globals().raw_set(name, value.as_str())?;
        }
        table.raw_set(name, value)?;
    }
    Ok(())
}

/// Gives a state the globals that scripts of sysbench 0.5 make their tables with, where no option has set them.
///
/// # Errors
/// When LuaJIT has no memory.
pub(super) fn set_legacy(lua: &Lua) -> Result<(), Error> {
    let globals = lua.globals();
    if globals.raw_get::<LuaValue>("mysql_table_engine")?.is_nil() {
        globals.raw_set("mysql_table_engine", "innodb")?;
    }
    if globals.raw_get::<LuaValue>("myisam_max_rows")?.is_nil() {
        globals.raw_set("myisam_max_rows", 1_000_000)?;
    }
    Ok(())
}

/// Gives a state the options that its script declares, and says which they are; `None` when it
/// declares none.
///
/// # Errors
/// An option that neither sysbench nor the script has, a value that is not of its kind, a declaration
/// that cannot be read.
pub(super) fn set_declared(lua: &Lua, options: &Options) -> Result<Option<Vec<Definition>>, Error> {
    let sysbench: Table = lua.globals().get("sysbench")?;
    let cmdline: Table = sysbench.get("cmdline")?;
    let LuaValue::Table(declared) = cmdline.get::<LuaValue>("options")? else { return Ok(None) };
    let definitions = read(&declared)?;
    for (name, given) in options.given() {
        let is_declared = definitions.iter().any(|definition| canonical(&definition.name) == name);
        // A file of options may be for several scripts.
        if given.on_command_line && !is_declared && crate::options::known(name).is_none() {
            return Err(Error::UnknownOption { typed: given.typed.clone() });
        }
    }
    let table = opt(lua)?;
    for definition in &definitions {
        let value = to_lua(lua, definition, options)?;
        table.raw_set(canonical(&definition.name), value)?;
    }
    Ok(Some(definitions))
}

fn opt(lua: &Lua) -> mlua::Result<Table> {
    let sysbench: Table = lua.globals().get("sysbench")?;
    sysbench.get("opt")
}

/// The declarations `name = {help, default, kind}`, sorted by name.
fn read(declared: &Table) -> Result<Vec<Definition>, Error> {
    let mut definitions = Vec::new();
    for pair in declared.pairs::<String, LuaValue>() {
        let (name, value) = pair?;
        let LuaValue::Table(entry) = value else {
            return Err(Error::Fatal(format!("option '{name}': its declaration is no table")));
        };
        let help = entry.get::<Option<String>>(1)?.unwrap_or_default();
        let default: LuaValue = entry.get(2)?;
        let declared_kind = match entry.get::<LuaValue>(3)? {
            LuaValue::Integer(number) => Kind::from_number(number),
            #[expect(clippy::cast_possible_truncation, reason = "`from_number` knows 1 to 7")]
            LuaValue::Number(number) => Kind::from_number(number as i64),
            _ => None,
        };
        let (kind, default) = match default {
            LuaValue::Boolean(on) => (Kind::Bool, if on { "on" } else { "off" }.to_owned()),
            LuaValue::Integer(number) => (Kind::Double, number.to_string()),
            LuaValue::Number(number) => (Kind::Double, number.to_string()),
            LuaValue::Table(list) => {
                let values: Vec<String> =
                    list.sequence_values::<String>().collect::<mlua::Result<_>>()?;
                (Kind::List, values.join(","))
            }
            LuaValue::Nil => (Kind::Text, String::new()),
            other => (Kind::Text, other.to_string()?),
        };
        let kind = declared_kind.unwrap_or(kind);
        definitions.push(Definition { name, kind, default, help });
    }
    definitions.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(definitions)
}

fn to_lua(lua: &Lua, definition: &Definition, options: &Options) -> Result<LuaValue, Error> {
    let value = options.value(definition)?;
    // Scripts know one percentile; the list of several is rqps's own.
    let value = match value {
        Value::List(all) if definition.name == "percentile" => {
            let first = all.first().and_then(|one| one.parse().ok());
            Value::Number(first.unwrap_or(0.0))
        }
        Value::List(all) if matches!(definition.name.as_str(), "pgsql-host" | "pgsql-port") => {
            Value::parse(Kind::Double, &all.join(",")).unwrap_or(Value::Text(all.join(",")))
        }
        Value::Text(mode)
            if matches!(definition.name.as_str(), "mysql-ssl" | "mysql-compression") =>
        {
            Value::parse(Kind::Bool, &mode).unwrap_or(Value::Text(mode))
        }
        other => other,
    };
    Ok(match value {
        Value::Nothing => LuaValue::Nil,
        Value::Bool(on) => LuaValue::Boolean(on),
        Value::Int(value) => LuaValue::Number(value as f64),
        Value::Number(value) => LuaValue::Number(value),
        Value::Text(value) => LuaValue::String(lua.create_string(value)?),
        Value::List(values) => {
            let table = lua.create_table()?;
            for (idx, value) in values.iter().enumerate() {
                table.raw_set(idx + 1, value.as_str())?;
            }
            LuaValue::Table(table)
        }
    })
}

/// The lines of a help text for declarations, without a heading; called by Lua.
pub(super) fn help_of(_: &Lua, declared: Table) -> mlua::Result<String> {
    let definitions = read(&declared).map_err(|error| mlua::Error::runtime(error.to_string()))?;
    Ok(help::table(&definitions, true))
}
