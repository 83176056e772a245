-- `sysbench.sql`: drivers, connections, statements, parameters, results.
local native, c = ...
local ffi = native.ffi
local fn = native.fn

local c_query = c("double (*)(int, const char *, size_t)", "query")
local c_execute = c("double (*)(int, int)", "execute")
local c_set_int = c("void (*)(unsigned, int64_t)", "set_int")
local c_set_null = c("void (*)(unsigned)", "set_null")
local c_set_text = c("void (*)(unsigned, const char *, size_t)", "set_text")
local c_set_random = c("void (*)(unsigned, const char *, size_t)", "set_random_text")
local c_bulk_add = c("double (*)(int, const char *, size_t)", "bulk_add")
local c_columns = c("int (*)(int)", "n_columns")
local c_fetch = c("int (*)(int)", "fetch_row")
local c_value = c("const char *(*)(int)", "value")
local c_leave = c("void (*)(int)", "leave")
local c_value_len = c("ptrdiff_t (*)(int)", "value_len")

local c_had_result = c("int (*)(int)", "had_result")
local getinfo = debug.getinfo

local sql = {}
sysbench.sql = sql
sql.type = {
  NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6, TIME = 7,
  DATE = 8, DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
}
sql.error = { NONE = 0, IGNORABLE = 1, FATAL = 2 }

local function show_as(name)
  return function() return "<" .. name .. ">" end
end

local Driver, Connection, Statement, Param, Result = {}, {}, {}, {}, {}
Driver.__index, Driver.__tostring = Driver, show_as("sql_driver")
Statement.__index, Statement.__tostring = Statement, show_as("sql_statement")
Param.__index, Param.__tostring = Param, show_as("sql_param")
Result.__tostring = show_as("sql_result")

-- What a statement gave in place of a number of rows; the numbers are those of `worker.rs`.
local NO_RESULT, IGNORED, FAILED = -1, -2, -3

-- The number of what was closed; its own may be another one's by now.
local CLOSED = 2147483647

-- Errors ------------------------------------------------------------------------------------------

-- The level of a line of the script, from that of a call up: a C function, such as pcall, has none.
local function script_level(level)
  local info = getinfo(level + 1, "S")
  while info and info.what == "C" do
    level = level + 1
    info = getinfo(level + 1, "S")
  end
  return level
end

-- Raises what went wrong with a statement, at the line that many calls up; `otherwise` where no server
-- said it.
local function raise(con, code, query, level, otherwise)
  local errno, state, message, text = fn.failure()
  if not errno then
    if otherwise then error(otherwise, level + 1) end
    error("SQL API error", script_level(level + 1))
  end
  local err = {
    connection = con, query = query, sql_errno = errno, sql_state = state, sql_errmsg = message,
  }
  local hook = sysbench.hooks.sql_error_ignorable
  if code == IGNORED or hook and hook(err) then
    err.errcode = sysbench.error.RESTART_EVENT
    error(err, 0)
  end
  error(text, script_level(level + 1))
end

-- The rows of the last answer ---------------------------------------------------------------------
-- They lie in the connection's buffer until its next statement; a script that is still fetching then
-- gets the rest of them read first. The generation says whose answer is there.
local TOO_LONG = "the rows of this result are gone: it is longer than 32 MiB, or a row than 16 MiB"
local GONE = "the rows of this result are gone: fetch the first one before the next statement"

local function read_row(n)
  local row = {}
  for i = 1, n do
    local length = tonumber(c_value_len(i - 1))
    if length >= 0 then
      row[i] = ffi.string(c_value(i - 1), length)
    end
  end
  return row
end

-- The results that are being fetched, by the number of their connection; one that the script has lost sight of
-- has no rest to read.
local fetching = setmetatable({}, { __mode = "v" })

local function end_fetching(con)
  con.is_fetching = 0
  fetching[con.id] = nil
end

local function read_rest(rs)
  local con = rs.con
  end_fetching(con)
  local _ = rs.nfields
  local rest = {}
  local n = c_fetch(con.id)
  while n >= 0 do
    rest[#rest + 1] = read_row(n)
    n = c_fetch(con.id)
  end
  if n < -1 then rest[#rest + 1] = false end
  rs.rest, rs.next_rest = rest, 1
end

-- What is asked of a connection next may take the place of its last answer.
local function leave_results(con)
  if con.is_fetching ~= 0 then
    local rs = fetching[con.id]
    if rs then read_rest(rs) else end_fetching(con) end
  end
  con.generation = con.generation + 1
end

-- Drivers and connections -------------------------------------------------------------------------
-- A connection is a C struct, as in sysbench, whose scripts may ask for its type. One that a script has no more use
-- for is closed when its memory is collected.
ffi.cdef[[
struct rqps_connection { int id; int is_fetching; double generation; double freed; };
]]
local new_connection = ffi.metatype("struct rqps_connection", {
  __index = Connection,
  __tostring = show_as("sql_connection"),
  __gc = function(own) c_leave(own.id) end,
})

function sql.driver(name)
  name = name or native.db_driver
  if not fn.driver(name) then
    error("failed to initialize the DB driver", 2)
  end
  return setmetatable({ driver_name = name }, Driver)
end

function Driver:name()
  return self.driver_name
end

function Driver:connect()
  local id = fn.connect(self.driver_name)
  if not id then
    error("connection creation failed", 2)
  end
  return new_connection(id, 0, 0, -1)
end

function Connection:disconnect()
  leave_results(self)
  if not fn.disconnect(self.id) then
    fn.alert("attempt to close an already closed connection")
  end
  self.id = CLOSED
  return true
end

function Connection:reconnect()
  leave_results(self)
  return fn.reconnect(self.id)
end

-- Results -----------------------------------------------------------------------------------------
function Result.__index(rs, key)
  if key == "nfields" then
    if rs.generation ~= rs.con.generation then error(GONE, 2) end
    local n = c_columns(rs.con.id)
    rs.nfields = n
    return n
  end
  return Result[key]
end

function Result:fetch_row()
  if self == nil then return nil end
  local rest = self.rest
  if rest then
    local row = rest[self.next_rest]
    if row == false then error(TOO_LONG, 2) end
    self.next_rest = self.next_rest + 1
    return row
  end
  local con = self.con
  if self.generation ~= con.generation then error(GONE, 2) end
  local n = c_fetch(con.id)
  if n < 0 then
    end_fetching(con)
    if n < -1 then error(TOO_LONG, 2) end
    return nil
  end
  if con.is_fetching == 0 then
    con.is_fetching = 1
    fetching[con.id] = self
  end
  return read_row(n)
end

-- A connection has one result in sysbench: freeing an older one frees the last.
function Result:free()
  if self == nil then return end
  local con = self.con
  if con.freed == con.generation or c_had_result(con.id) == 0 then
    fn.alert("attempt to free an invalid result set")
    error("db_free_results() failed", 2)
  end
  con.freed = con.generation
  if fetching[con.id] == self then end_fetching(con) end
  return true
end

-- What a statement without a result gives: equal to nil, as a null pointer is, which sysbench gives;
-- a script that asks it for rows finds none.
ffi.cdef("struct rqps_no_result { int unused; };")
ffi.metatype("struct rqps_no_result", {
  __index = function(_, key)
    if key == "nrows" or key == "nfields" then return 0 end
    return Result[key]
  end,
  __tostring = show_as("sql_result"),
})
local no_result = ffi.cast("struct rqps_no_result *", nil)

-- What a statement gave, which is no failure.
local function result_of(con, n)
  if n == NO_RESULT then return no_result end
  return setmetatable({ con = con, nrows = n, generation = con.generation }, Result)
end

-- Statements as text ------------------------------------------------------------------------------
local function run(con, query, level)
  if type(query) ~= "string" then error("a statement is text, not " .. type(query), level + 1) end
  leave_results(con)
  local n = c_query(con.id, query, #query)
  if n < NO_RESULT then raise(con, n, query, level + 1) end
  return result_of(con, n)
end

function Connection:query(query)
  local rs = run(self, query, 2)
  return rs
end

function Connection:query_row(query)
  local rs = run(self, query, 2)
  if rs.nrows == 0 then return nil end
  local n = c_fetch(self.id)
  if n <= 0 then return nil end
  return unpack(read_row(n), 1, n)
end

function Connection:check_error(_, query)
  raise(self, FAILED, query, 2)
end

function Connection:bulk_insert_init(query)
  local code = fn.bulk_begin(self.id, query)
  if code < 0 then raise(self, code, query, 2, "db_bulk_insert_init() failed") end
  return true
end

function Connection:bulk_insert_next(values)
  leave_results(self)
  local code = c_bulk_add(self.id, values, #values)
  if code < 0 then raise(self, code, values, 2, "db_bulk_insert_next() failed") end
  return true
end

function Connection:bulk_insert_done()
  leave_results(self)
  local code = fn.bulk_end(self.id)
  if code < 0 then raise(self, code, "bulk insert", 2, "db_bulk_insert_done() failed") end
  return true
end

-- Prepared statements -----------------------------------------------------------------------------
function Connection:prepare(query)
  leave_results(self)
  local id = fn.prepare(self.id, query)
  if not id then error("SQL API error", 2) end
  return setmetatable({ id = id, con = self, query = query, slots = {} }, Statement)
end

-- Types of parameters: whole numbers, other numbers, texts. Sysbench has none of dates and times either.
local WHOLE, NUMBER, TEXT = {}, {}, {}
for _, name in ipairs { "TINYINT", "SMALLINT", "INT", "BIGINT" } do WHOLE[sql.type[name]] = true end
for _, name in ipairs { "FLOAT", "DOUBLE" } do NUMBER[sql.type[name]] = true end
for _, name in ipairs { "CHAR", "VARCHAR" } do TEXT[sql.type[name]] = true end

-- A parameter; of a text, `length` is the number of its bytes that are sent at most.
function Statement:bind_create(type, length)
  if not (WHOLE[type] or NUMBER[type] or TEXT[type]) then
    error("Unsupported argument type: " .. tostring(type), 2)
  end
  local slot = fn.new_slot(WHOLE[type] or false, TEXT[type] and length or nil)
  self.slots[#self.slots + 1] = slot
  return setmetatable({ slot = slot, type = type, whole = WHOLE[type] }, Param)
end

function Statement:bind_param(...)
  local order = {}
  for i = 1, select("#", ...) do
    order[i] = (select(i, ...)).slot
  end
  -- Without any, nothing is bound, as in sysbench.
  if #order == 0 then return nil end
  if not fn.bind(self.con.id, self.id, order) then
    error("SQL API error", 2)
  end
end

function Statement:execute()
  local con = self.con
  leave_results(con)
  local n = c_execute(con.id, self.id)
  if n < NO_RESULT then raise(con, n, self.query, 2) end
  return result_of(con, n)
end

function Statement:close()
  fn.close_statement(self.con.id, self.id, self.slots)
  self.id, self.slots = CLOSED, {}
  return true
end

function Param:set(value)
  if value == nil then
    c_set_null(self.slot)
  elseif self.whole then
    local number = type(value) == "cdata" and value or tonumber(value)
    if not number then error("a parameter of whole numbers cannot be " .. tostring(value), 2) end
    c_set_int(self.slot, number)
  else
    local text = type(value) == "string" and value or fn.text_of(value)
    c_set_text(self.slot, text, #text)
  end
end

function Param:set_rand_str(format)
  if not TEXT[self.type] then error("Unsupported argument type: " .. self.type, 2) end
  c_set_random(self.slot, format, #format)
end
