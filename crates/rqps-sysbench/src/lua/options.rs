//! Options between the command line and Lua: what a script declares, and the values it gets.

use mlua::{Lua, Table, Value as LuaValue};

use crate::Error;
use crate::options::definitions::{all, is_newer};
use crate::options::{Definition, Kind, Options, Value, canonical, help};

/// Where sysbench finds a declaration that it cannot read, which its messages begin with.
const READING: &str =
    "`sysbench.cmdline.read_cmdline_options' function failed: [string \"sysbench.cmdline.lua\"]:1:";

/// Gives a state whose script has been loaded the options, as `sysbench.opt`. A script that declares none is of
/// sysbench 0.5: it gets all options as globals, too, those that nobody declares as texts. Says which the script
/// declares; `None` for none.
///
/// # Errors
/// An option that neither sysbench nor the script has, a value that is not of its kind, a declaration
/// that cannot be read.
pub(super) fn set(lua: &Lua, options: &Options) -> Result<Option<Vec<Definition>>, Error> {
    let declared = declared(lua)?;
    let table = opt(lua)?;
    let mut globals = Vec::new();
    for definition in all() {
        let name = canonical(&definition.name);
        table.raw_set(name.as_str(), to_lua(lua, &definition, options)?)?;
        if !is_newer(&definition.name) || options.given().any(|(given, _)| given == name) {
            globals.push(name);
        }
    }
    if let Some(definitions) = declared {
        refuse_unknown(&definitions, options)?;
        for definition in &definitions {
            let value = to_lua(lua, definition, options)?;
            table.raw_set(canonical(&definition.name), value)?;
        }
        return Ok(Some(definitions));
    }
    for (name, given) in options.given() {
        if crate::options::known(name).is_none() {
            table.raw_set(name, given.value.as_deref().unwrap_or_default())?;
            globals.push(name.to_owned());
        }
    }
    for name in globals {
        // The script's own functions stay, such as `help`.
        if !lua.globals().raw_get::<LuaValue>(name.as_str())?.is_function() {
            let value: LuaValue = table.raw_get(name.as_str())?;
            lua.globals().raw_set(name, value)?;
        }
    }
    Ok(None)
}

/// What the script declares in `sysbench.cmdline.options`; `None` for nothing.
fn declared(lua: &Lua) -> Result<Option<Vec<Definition>>, Error> {
    let sysbench: Table = lua.globals().get("sysbench")?;
    let cmdline: Table = sysbench.get("cmdline")?;
    match cmdline.get::<LuaValue>("options")? {
        LuaValue::Nil => Ok(None),
        LuaValue::Table(declared) => read(&declared).map(Some),
        other => Err(Error::Fatal(format!(
            "{READING} wrong type for sysbench.cmdline.options: {}",
            // Lua 5.1 has one type of numbers.
            if other.is_integer() { "number" } else { other.type_name() }
        ))),
    }
}

fn refuse_unknown(definitions: &[Definition], options: &Options) -> Result<(), Error> {
    for (name, given) in options.given() {
        let is_declared = definitions.iter().any(|definition| canonical(&definition.name) == name);
        // A file of options may be for several scripts.
        if given.on_command_line && !is_declared && crate::options::known(name).is_none() {
            return Err(Error::UnknownOption { typed: given.typed.clone() });
        }
    }
    Ok(())
}

fn opt(lua: &Lua) -> mlua::Result<Table> {
    let sysbench: Table = lua.globals().get("sysbench")?;
    sysbench.get("opt")
}

/// The declarations `name = {help, default, kind}`, sorted by name.
fn read(declared: &Table) -> Result<Vec<Definition>, Error> {
    let mut definitions = Vec::new();
    for pair in declared.pairs::<LuaValue, LuaValue>() {
        let (LuaValue::String(name), LuaValue::Table(entry)) = pair? else {
            let text = "wrong table structure in sysbench.cmdline.options";
            return Err(Error::Fatal(format!("{READING} {text}")));
        };
        let name = name.to_string_lossy();
        let Some(help) = entry.get::<Option<String>>(1)? else {
            return Err(Error::Fatal(format!("{READING} nil description for option {name}")));
        };
        let default: LuaValue = entry.get(2)?;
        let declared_kind = match entry.get::<LuaValue>(3)? {
            LuaValue::Integer(number) => Kind::from_number(number),
            #[expect(clippy::cast_possible_truncation, reason = "`from_number` knows 1 to 7")]
            LuaValue::Number(number) => Kind::from_number(number as i64),
            _ => None,
        };
        let is_nil = default.is_nil();
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
        let default = (!is_nil).then_some(default);
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
    Ok(help::table(&definitions))
}
