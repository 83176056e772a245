-- The table `sysbench` as scripts know it: options, random numbers, events. Loaded before a script,
-- with what the program offers; gives back what the program calls.
local native = ...
local ffi = require("ffi")
local call = native.call -- functions of the program, as pointers to cast
local fn = native.fn     -- functions of the program that may raise errors
-- Options of older scripts are globals, whatever their names.
local concat, format, rep = table.concat, string.format, string.rep

local function c(type, name)
  return ffi.cast(type, call[name])
end

local c_begin = c("int (*)(void)", "begin")
local c_end = c("void (*)(void)", "end_event")
local c_restart_clock = c("void (*)(void)", "restart_clock")
local c_give_up = c("void (*)(void)", "give_up")
local c_over = c("int (*)(void)", "is_over")
local c_count = c("void (*)(int)", "count")
local c_draw = c("double (*)(double, double, int)", "draw")
local c_unit = c("double (*)(void)", "unit")
local c_bits = c("uint64_t (*)(void)", "bits")
local c_unique = c("double (*)(void)", "unique")
local c_text = c("const char *(*)(const char *, size_t)", "random_text")

sysbench = {
  version = native.version,
  version_string = "sysbench " .. native.version,
  tid = native.tid,
  opt = {},
  hooks = {},
  error = { NONE = 0, RESTART_EVENT = 1 },
  cmdline = {
    ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5,
    ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8,
    PARALLEL_COMMAND = true,
    command = native.command,
    script_path = native.script_path,
    argv = native.argv,
  },
}
thread_id = native.tid

-- Output goes where the program's goes.
function print(...)
  local n = select("#", ...)
  local out = {}
  for i = 1, n do
    out[i] = tostring((select(i, ...)))
  end
  fn.write(concat(out, "\t") .. "\n")
end

io.stdout:setvbuf("no")
local io_output = io.output
function io.write(...)
  if io_output() ~= io.stdout then
    return io_output():write(...)
  end
  fn.write(concat({ ... }))
  return io.stdout
end

-- Random numbers ----------------------------------------------------------------------------------
local rand = {}
sysbench.rand = rand

function rand.default(a, b) return c_draw(a, b, 0) end
function rand.uniform(a, b) return c_draw(a, b, 1) end
function rand.gaussian(a, b) return c_draw(a, b, 2) end
function rand.special(a, b) return c_draw(a, b, 3) end
function rand.pareto(a, b) return c_draw(a, b, 4) end
function rand.zipfian(a, b) return c_draw(a, b, 5) end
function rand.unique() return c_unique() end
function rand.uniform_double() return c_unit() end
function rand.uniform_uint64() return c_bits() end

function rand.string(pattern)
  return ffi.string(c_text(pattern, #pattern), #pattern)
end

local letters = {}
function rand.varstring(min_len, max_len)
  assert(min_len <= max_len, "the least length is above the greatest")
  local n = c_draw(min_len, max_len, 1)
  local pattern = letters[n]
  if not pattern then
    pattern = rep("@", n)
    letters[n] = pattern
  end
  return rand.string(pattern)
end

-- Histograms --------------------------------------------------------------------------------------
local Histogram = {}
Histogram.__index = Histogram
sysbench.histogram = {}

function sysbench.histogram.new(size, min, max)
  return setmetatable({ size = size, min = min, max = max, values = {} }, Histogram)
end

function Histogram:update(value)
  self.values[#self.values + 1] = value
end

function Histogram:print()
  fn.write(fn.drawn_histogram(self.size, self.min, self.max, self.values))
end

-- What scripts reach through the FFI ---------------------------------------------------------------
ffi.cdef[[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_TRX, SB_CNT_ERROR, SB_CNT_RECONNECT, SB_CNT_MAX,
  SB_CNT_EVENT = SB_CNT_TRX
} sb_counter_type;
typedef enum {
  SB_ARG_TYPE_NULL, SB_ARG_TYPE_BOOL, SB_ARG_TYPE_INT, SB_ARG_TYPE_SIZE, SB_ARG_TYPE_DOUBLE,
  SB_ARG_TYPE_STRING, SB_ARG_TYPE_LIST, SB_ARG_TYPE_FILE, SB_ARG_TYPE_MAX
} sb_arg_type_t;
typedef enum { DB_ERROR_NONE, DB_ERROR_IGNORABLE, DB_ERROR_FATAL } sql_error_t;
typedef enum {
  SQL_TYPE_NONE, SQL_TYPE_TINYINT, SQL_TYPE_SMALLINT, SQL_TYPE_INT, SQL_TYPE_BIGINT, SQL_TYPE_FLOAT,
  SQL_TYPE_DOUBLE, SQL_TYPE_TIME, SQL_TYPE_DATE, SQL_TYPE_DATETIME, SQL_TYPE_TIMESTAMP, SQL_TYPE_CHAR,
  SQL_TYPE_VARCHAR
} sql_bind_type_t;
typedef struct sb_arg sb_arg_t;
typedef struct sb_histogram sb_histogram_t;
typedef struct sql_driver sql_driver;
typedef struct sql_connection sql_connection;
typedef struct sql_statement sql_statement;
typedef struct sql_result sql_result;
typedef struct sql_row sql_row;
typedef struct sql_value sql_value;
typedef struct sql_bind sql_bind;
]]

local exported = {
  sb_more_events = function() return c_begin() ~= 0 end,
  sb_event_start = function() c_restart_clock() end,
  sb_event_stop = function() c_end() end,
  sb_counter_inc = function(_, what) c_count(tonumber(what)) end,
  sb_rand_default = rand.default,
  sb_rand_uniform = rand.uniform,
  sb_rand_gaussian = rand.gaussian,
  sb_rand_special = rand.special,
  sb_rand_pareto = rand.pareto,
  sb_rand_zipfian = rand.zipfian,
  sb_rand_unique = rand.unique,
  sb_rand_uniform_double = rand.uniform_double,
  sb_rand_uniform_uint64 = rand.uniform_uint64,
  sb_rand_str = function(pattern, buffer)
    ffi.copy(buffer, rand.string(ffi.string(pattern)))
  end,
  sb_histogram_new = sysbench.histogram.new,
  sb_histogram_update = Histogram.update,
  sb_histogram_print = Histogram.print,
  sb_histogram_delete = function() end,
}
-- Functions of sysbench behind `sysbench.sql`: their structs are not laid out here.
local function refuse_internal(name)
  if name:find("^db_") or name:find("^sb_") then
    error(format("ffi.C.%s is internal to sysbench: use the table sysbench", name), 3)
  end
end
local real_c = ffi.C
local proxy = setmetatable({
  C = setmetatable({}, {
    __index = function(_, name)
      local own = exported[name]
      if own ~= nil then return own end
      refuse_internal(name)
      return real_c[name]
    end,
  }),
}, { __index = ffi })
package.loaded.ffi = proxy
_G.ffi = proxy

-- Looked at after all folders: most public scripts need this file of sysbench's package.
table.insert(package.loaders, function(name)
  if name == "oltp_common" then
    error("oltp_common.lua is a file of the package sysbench and not on this host: install sysbench, or " ..
      "copy the file beside the script")
  end
end)

-- Commands and the help text of a script ----------------------------------------------------------
local cmdline = sysbench.cmdline

function cmdline.command_defined(name)
  return type(cmdline.commands) == "table" and cmdline.commands[name] ~= nil
end

function cmdline.command_parallel(name)
  local command = cmdline.command_defined(name) and cmdline.commands[name]
  return type(command) == "table" and command[2] == cmdline.PARALLEL_COMMAND
end

function cmdline.call_command(name)
  if not cmdline.command_defined(name) then
    return false
  end
  local command = cmdline.commands[name]
  if type(command) == "table" then command = command[1] end
  command()
  return true
end

function cmdline.print_test_options()
  fn.write(fn.option_help(cmdline.options or {}) .. "\n")
end

function cmdline.read_cmdline_options() end

-- Where errors are ---------------------------------------------------------------------------------
local getinfo = debug.getinfo
local OWN = "^sysbench[.%w]*:%d+: "

-- An error of one of these files, a wrong argument, at the line of the script that caused it.
local function at_script(err)
  local kind = type(err)
  if kind == "userdata" then
    err = tostring(err):match("[^\n]*"):gsub("^runtime error: ", "")
  elseif kind ~= "string" or not err:find(OWN) then
    return err
  end
  for level = 2, 50 do
    local info = getinfo(level, "Sl")
    if not info then break end
    if info.currentline > 0 and not info.source:find("^=sysbench") then
      return format("%s:%d: %s", info.short_src, info.currentline, (err:gsub(OWN, "")))
    end
  end
  return err
end

-- Events ------------------------------------------------------------------------------------------
local RESTART = sysbench.error.RESTART_EVENT

local function is_restart(err)
  return type(err) == "table" and err.errcode == RESTART
end

-- The loop of a thread; a script may have one of its own under this name.
function thread_run(tid)
  local event = event
  local hooks = sysbench.hooks
  while c_begin() ~= 0 do
    local ok, result = xpcall(event, at_script, tid)
    while not ok do
      if not is_restart(result) then error(result, 0) end
      if hooks.before_restart_event then hooks.before_restart_event(result) end
      if c_over() ~= 0 then
        c_give_up()
        return
      end
      ok, result = xpcall(event, at_script, tid)
    end
    if result then
      c_give_up()
      return
    end
    c_end()
  end
end

-- What the program calls: every function gives back true and its results, or false and why.
local host = {}

local function message_of(err)
  if type(err) == "table" and err.sql_errmsg then
    return format("SQL error, errno = %d, state = '%s': %s", err.sql_errno, err.sql_state,
      err.sql_errmsg)
  end
  return tostring(err)
end

local function guarded(f, ...)
  local ok, result = xpcall(f, at_script, ...)
  if not ok then return false, message_of(result) end
  return true, result
end

function host.load(path)
  local chunk, why = loadfile(path)
  if not chunk then return false, why end
  return guarded(chunk)
end

function host.load_text(text, name)
  local chunk, why = loadstring(text, name)
  if not chunk then return false, why end
  return guarded(chunk)
end

function host.call(name, tid)
  local f = _G[name]
  if type(f) ~= "function" then return true, nil end
  if tid == nil then return guarded(f) end
  return guarded(f, tid)
end

function host.command(name)
  return guarded(cmdline.call_command, name)
end

function host.has(name)
  return type(_G[name]) == "function"
end

function host.hook(name, list, ...)
  native.report_list = list
  local hook = sysbench.hooks[name]
  if type(hook) ~= "function" then return true, false end
  local ok, why = guarded(hook, ...)
  if not ok then return false, why end
  return true, true
end

return host, c
