//! The functions of the program that Lua calls now and then: connections, statements, texts. What is
//! called for every statement is in `border`.

use mlua::{Lua, MultiValue, Table, Value};
use rqps_client::ParamType;

use super::border::with;
use crate::console::Level;
use crate::histogram::Grid;
use crate::settings::Settings;
use crate::sql::place::Driver;
use crate::worker::FAILED;
use std::sync::Arc;

/// A table of the functions, for `core.lua` and `sql.lua`.
///
/// # Errors
/// When LuaJIT has no memory.
pub(super) fn table(lua: &Lua, settings: &Arc<Settings>) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    texts(lua, settings, &table)?;
    connections(lua, settings, &table)?;
    statements(lua, &table)?;
    Ok(table)
}

fn texts(lua: &Lua, settings: &Arc<Settings>, table: &Table) -> mlua::Result<()> {
    let console = settings.console.clone();
    let write = move |_: &Lua, text: mlua::String| {
        console.write_bytes(&text.as_bytes());
        Ok(())
    };
    table.set("write", lua.create_function(write)?)?;
    let console = settings.console.clone();
    let alert = move |_: &Lua, text: String| {
        console.log(Level::Alert, &text);
        Ok(())
    };
    table.set("alert", lua.create_function(alert)?)?;
    let drawn = |_: &Lua, (size, min, max, values): (usize, f64, f64, Vec<f64>)| {
        let grid = Grid::new(size, min, max);
        let mut counts = vec![0_u64; grid.len()];
        for value in values {
            if let Some(count) = counts.get_mut(grid.bucket(value)) {
                *count += 1;
            }
        }
        Ok(grid.drawn(&counts))
    };
    table.set("drawn_histogram", lua.create_function(drawn)?)?;
    let text_of = |_: &Lua, value: Value| Ok(text_of(&value));
    table.set("text_of", lua.create_function(text_of)?)?;
    table.set("option_help", lua.create_function(super::options::help_of)?)?;
    Ok(())
}

/// A value as a parameter's text: numbers with all their digits.
fn text_of(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Boolean(value) => i32::from(*value).to_string(),
        other => other.to_string().unwrap_or_default(),
    }
}

fn connections(lua: &Lua, settings: &Arc<Settings>, table: &Table) -> mlua::Result<()> {
    let shared = Arc::clone(settings);
    let driver = move |_: &Lua, name: String| Ok(is_driver(&shared, &name));
    table.set("driver", lua.create_function(driver)?)?;
    let connect = |_: &Lua, name: String| {
        let Some(driver) = Driver::from_name(&name) else { return Ok(None) };
        Ok(with(None, |worker| worker.connect(driver)))
    };
    table.set("connect", lua.create_function(connect)?)?;
    let disconnect = |_: &Lua, link: usize| Ok(with(false, |worker| worker.disconnect(link)));
    table.set("disconnect", lua.create_function(disconnect)?)?;
    let reconnect = |_: &Lua, link: usize| Ok(with(false, |worker| worker.reconnect(link)));
    table.set("reconnect", lua.create_function(reconnect)?)?;
    let begin = |_: &Lua, (link, head): (usize, mlua::String)| {
        Ok(with(FAILED, |worker| worker.bulk_begin(link, &head.as_bytes())))
    };
    table.set("bulk_begin", lua.create_function(begin)?)?;
    let end = |_: &Lua, link: usize| Ok(with(FAILED, |worker| worker.bulk_end(link)));
    table.set("bulk_end", lua.create_function(end)?)?;
    let failure = |lua: &Lua, ()| {
        let Some(failure) = with(None, crate::worker::Worker::take_failure) else {
            return Ok(MultiValue::new());
        };
        let text = failure.text();
        let values = [
            Value::Integer(failure.errno.into()),
            Value::String(lua.create_string(&failure.sqlstate)?),
            Value::String(lua.create_string(&failure.message)?),
            Value::String(lua.create_string(&text)?),
        ];
        Ok(MultiValue::from_iter(values))
    };
    table.set("failure", lua.create_function(failure)?)?;
    Ok(())
}

/// Whether a driver can be used, after telling why not.
fn is_driver(settings: &Settings, name: &str) -> bool {
    let console = &settings.console;
    if Driver::from_name(name).is_none() {
        console.log(Level::Fatal, &format!("invalid database driver name: '{name}'"));
        return false;
    }
    let mode = settings.options.text("db-ps-mode").unwrap_or_default();
    if !matches!(mode.as_str(), "auto" | "disable") {
        console.log(Level::Fatal, &format!("Invalid value for db-ps-mode: {mode}"));
        return false;
    }
    with((), |worker| worker.control.note_sql());
    true
}

fn statements(lua: &Lua, table: &Table) -> mlua::Result<()> {
    let prepare = |_: &Lua, (link, sql): (usize, mlua::String)| {
        let sql = sql.to_str().map_err(|_| mlua::Error::runtime("the statement is not UTF-8"))?;
        Ok(with(None, |worker| worker.prepare(link, &sql)))
    };
    table.set("prepare", lua.create_function(prepare)?)?;
    let new_slot = |_: &Lua, (is_whole, max_bytes): (bool, Option<usize>)| {
        let kind = if is_whole { ParamType::BigInt } else { ParamType::Inferred };
        Ok(with(0, |worker| worker.new_slot(kind, max_bytes)))
    };
    table.set("new_slot", lua.create_function(new_slot)?)?;
    let bind = |_: &Lua, (link, statement, order): (usize, usize, Vec<u32>)| {
        Ok(with(false, |worker| worker.bind(link, statement, &order)))
    };
    table.set("bind", lua.create_function(bind)?)?;
    let close = |_: &Lua, (link, statement, slots): (usize, usize, Vec<u32>)| {
        with((), |worker| worker.close_statement(link, statement, &slots));
        Ok(())
    };
    table.set("close_statement", lua.create_function(close)?)?;
    Ok(())
}
