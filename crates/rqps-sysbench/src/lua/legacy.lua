-- The globals of sysbench 0.5, which older scripts call: one connection for each thread.
local native, c = ...
local c_unique_between = c("double (*)(double, double)", "unique_between")
local sql = sysbench.sql
local rand = sysbench.rand
local connection

-- What scripts make their tables with where no option says otherwise.
mysql_table_engine, myisam_max_rows = "innodb", 1000000

local function con()
  if not connection then db_connect() end
  return connection
end

DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2

function db_connect()
  connection = sql.driver():connect()
end

function db_disconnect()
  if connection then connection:disconnect() end
  connection = nil
end

-- Nothing comes back: scripts that test the result take a true one for an error.
function db_query(query)
  con():query(query)
end

function db_bulk_insert_init(query) con():bulk_insert_init(query) end
function db_bulk_insert_next(values) con():bulk_insert_next(values) end
function db_bulk_insert_done() con():bulk_insert_done() end

function db_prepare(query)
  return { statement = con():prepare(query) }
end

-- A table of values; those that are in it when the statement is executed are sent.
function db_bind_param(prepared, values)
  local params = {}
  for i, value in ipairs(values) do
    local kind = type(value) == "number" and sql.type.BIGINT or sql.type.VARCHAR
    params[i] = prepared.statement:bind_create(kind)
  end
  prepared.statement:bind_param(unpack(params))
  prepared.params, prepared.values = params, values
end

function db_bind_result() end

function db_execute(prepared)
  for i, param in ipairs(prepared.params or {}) do
    param:set(prepared.values[i])
  end
  local rs = prepared.statement:execute()
  return rs
end

function db_store_results() end
function db_free_results() end

function db_close(prepared)
  prepared.statement:close()
end

sysbench.db = {
  DB_ERROR_NONE = DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION = DB_ERROR_RESTART_TRANSACTION,
  DB_ERROR_FAILED = DB_ERROR_FAILED, connect = db_connect, disconnect = db_disconnect,
  query = db_query, bulk_insert_init = db_bulk_insert_init, bulk_insert_next = db_bulk_insert_next,
  bulk_insert_done = db_bulk_insert_done, prepare = db_prepare, bind_param = db_bind_param,
  bind_result = db_bind_result, execute = db_execute, store_results = db_store_results,
  free_results = db_free_results, close = db_close,
}

sb_rand, sb_rand_uniform, sb_rand_gaussian = rand.default, rand.uniform, rand.gaussian
sb_rand_special, sb_rand_pareto, sb_rand_zipfian = rand.special, rand.pareto, rand.zipfian
sb_rand_str = rand.string

-- A number from a to b, all of 32 bits without them, that comes again only after all others.
function sb_rand_uniq(a, b)
  a, b = a or 0, b or 4294967295
  return c_unique_between(a, b - a + 1)
end

function sb_rnd()
  return rand.uniform(0, 4294967295)
end
