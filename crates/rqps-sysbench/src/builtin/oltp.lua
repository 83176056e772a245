-- The field's OLTP workloads; `test`, set before this text, says which. Tables, statements and their
-- numbers are the benchmark's definition (docs/workloads.md); messages are those of sysbench.

local C_FORMAT = string.rep("###########-", 9) .. "###########"
local PAD_FORMAT = string.rep("###########-", 4) .. "###########"

local options = {
  table_size = { "Rows of each table", 10000 },
  tables = { "Tables", 1 },
  range_size = { "Rows of each range", 100 },
  point_selects = { "Reads by primary key in a transaction", 10 },
  simple_ranges = { "Plain range reads in a transaction", 1 },
  sum_ranges = { "Range reads with SUM() in a transaction", 1 },
  order_ranges = { "Range reads with ORDER BY in a transaction", 1 },
  distinct_ranges = { "Range reads with DISTINCT in a transaction", 1 },
  index_updates = { "Updates of the indexed column in a transaction", 1 },
  non_index_updates = { "Updates of a column without index in a transaction", 1 },
  delete_inserts = { "Deletes followed by an insert of the same id in a transaction", 1 },
  range_selects = { "Whether to do range reads at all", true },
  auto_inc = { "Whether the server numbers rows; otherwise this client does", true },
  create_secondary = { "Whether to create the index on k", true },
  secondary = { "Whether id has a plain index in place of a primary key", false },
  skip_trx = { "Leave BEGIN and COMMIT out", false },
  mysql_storage_engine = { "Storage engine of MySQL's tables", "innodb" },
  create_table_options = { "Text after the definition of a table", "" },
  reconnect = { "Connect anew after so many events of a thread; 0 for never", 0 },
  pgsql_variant = { "Refused when given: only plain PostgreSQL is supported" },
}
if test == "select_random_points" then
  options.random_points = { "Values in the list of a read", 10 }
elseif test == "select_random_ranges" then
  options.number_of_ranges = { "Ranges of a read", 10 }
  options.delta = { "Difference between a range's ends", 5 }
end
local is_bulk = test == "bulk_insert"
-- A test that declares none takes any: people give one list of options to all tests.
if not is_bulk then sysbench.cmdline.options = options end

local opt = sysbench.opt
local types = sysbench.sql.type
local draw, uniform = sysbench.rand.default, sysbench.rand.uniform

local function connect()
  assert((opt.pgsql_variant or "") == "", "--pgsql_variant cannot be used")
  local driver = sysbench.sql.driver()
  return driver:connect(), driver:name()
end

-- The tables that are this thread's part of a command.
local function own_tables()
  local next_table = (sysbench.tid or 0) + 1 - opt.threads
  local last = is_bulk and opt.threads or opt.tables
  return function()
    next_table = next_table + opt.threads
    if next_table <= last then return next_table end
  end
end

-- Tables ------------------------------------------------------------------------------------------
local function id_column(dbms)
  if is_bulk or not opt.auto_inc then return "INTEGER NOT NULL" end
  return dbms == "mysql" and "INTEGER NOT NULL AUTO_INCREMENT" or "SERIAL"
end

local function create_table(con, dbms, n)
  print(string.format("Creating table 'sbtest%d'...", n))
  local columns = { "id " .. id_column(dbms), "k INTEGER DEFAULT '0' NOT NULL" }
  if not is_bulk then
    columns[3] = "c CHAR(120) DEFAULT '' NOT NULL"
    columns[4] = "pad CHAR(60) DEFAULT '' NOT NULL"
  end
  if not opt.secondary then
    columns[#columns + 1] = "PRIMARY KEY (id)"
  elseif dbms == "mysql" then
    columns[#columns + 1] = "KEY xid (id)"
  end
  local tail = ""
  if not is_bulk then
    local engine = dbms == "mysql" and " ENGINE = " .. opt.mysql_storage_engine or ""
    tail = engine .. " " .. opt.create_table_options
  end
  con:query(string.format("CREATE TABLE %ssbtest%d(%s)%s", is_bulk and "IF NOT EXISTS " or "", n,
    table.concat(columns, ", "), tail))
  if opt.secondary and dbms ~= "mysql" then
    con:query(string.format("CREATE INDEX xid_%d ON sbtest%d(id)", n, n))
  end
end

local function fill_table(con, n)
  local size = opt.table_size
  if size > 0 then
    print(string.format("Inserting %d records into 'sbtest%d'", size, n))
  end
  local columns = opt.auto_inc and "(k, c, pad)" or "(id, k, c, pad)"
  con:bulk_insert_init(string.format("INSERT INTO sbtest%d%s VALUES", n, columns))
  for id = 1, size do
    local values = string.format("%d, '%s', '%s')", draw(1, size), sysbench.rand.string(C_FORMAT),
      sysbench.rand.string(PAD_FORMAT))
    con:bulk_insert_next((opt.auto_inc and "(" or string.format("(%d, ", id)) .. values)
  end
  con:bulk_insert_done()
  if opt.create_secondary then
    print(string.format("Creating a secondary index on 'sbtest%d'...", n))
    con:query(string.format("CREATE INDEX k_%d ON sbtest%d(k)", n, n))
  end
end

local function prepare_tables()
  local con, dbms = connect()
  -- Ids that this client draws for inserts would meet those of the rows.
  if test == "oltp_insert" and not opt.auto_inc then opt.table_size = 0 end
  for n in own_tables() do
    create_table(con, dbms, n)
    if not is_bulk then fill_table(con, n) end
  end
end

local function prewarm_tables()
  local con, dbms = connect()
  assert(dbms == "mysql", "prewarm is for MySQL")
  for n in own_tables() do
    print(string.format("Prewarming table sbtest%d", n))
    con:query(string.format("ANALYZE TABLE sbtest%d", n))
    con:query(string.format("SELECT AVG(id) FROM (SELECT * FROM sbtest%d FORCE KEY (PRIMARY) " ..
      "LIMIT %d) t", n, opt.table_size))
    con:query(string.format("SELECT COUNT(*) FROM (SELECT * FROM sbtest%d WHERE k LIKE '%%0%%' " ..
      "LIMIT %d) t", n, opt.table_size))
  end
end

local function drop_tables()
  local con = connect()
  for n in own_tables() do
    print(string.format("Dropping table 'sbtest%d'...", n))
    con:query(string.format("DROP TABLE IF EXISTS sbtest%d", n))
  end
end

local in_parallel = sysbench.cmdline.PARALLEL_COMMAND
sysbench.cmdline.commands = {
  prepare = { prepare_tables, in_parallel },
  prewarm = { prewarm_tables, in_parallel },
  warmup = { prewarm_tables, in_parallel },
  cleanup = { drop_tables, in_parallel },
}

-- Statements --------------------------------------------------------------------------------------
local con, dbms

-- A prepared statement with its parameters: an INT for each "i", a CHAR for each other letter.
local function prepared(sql, kinds)
  local statement = con:prepare(sql)
  local params = {}
  for kind in kinds:gmatch(".") do
    params[#params + 1] = statement:bind_create(kind == "i" and types.INT or types.CHAR, 120)
  end
  if #params > 0 then statement:bind_param(unpack(params)) end
  return { statement = statement, params = params }
end

-- The same statement on every table.
local function on_all(sql, kinds)
  local all = {}
  for n = 1, opt.tables do
    all[n] = prepared(sql:format(n), kinds)
  end
  return all
end

local function any_table() return uniform(1, opt.tables) end
local function any_id() return draw(1, opt.table_size) end

-- Does something so many times on one table, unless not at all.
local function times(n, act)
  if n <= 0 then return nil end
  return function()
    local table_n = any_table()
    for _ = 1, n do act(table_n) end
  end
end

local function nothing() end

local function point()
  local all = on_all("SELECT c FROM sbtest%d WHERE id=?", "i")
  return function(table_n)
    local it = all[table_n]
    it.params[1]:set(any_id())
    it.statement:execute()
  end
end

local function range(head, tail)
  local all = on_all("SELECT " .. head .. " FROM sbtest%d WHERE id BETWEEN ? AND ?" .. tail, "ii")
  local span = opt.range_size - 1
  return function(table_n)
    local it = all[table_n]
    local id = any_id()
    it.params[1]:set(id)
    it.params[2]:set(id + span)
    it.statement:execute()
  end
end

local function index_update()
  local all = on_all("UPDATE sbtest%d SET k=k+1 WHERE id=?", "i")
  return function(table_n)
    local it = all[table_n]
    it.params[1]:set(any_id())
    it.statement:execute()
  end
end

local function non_index_update()
  local all = on_all("UPDATE sbtest%d SET c=? WHERE id=?", "ci")
  return function(table_n)
    local it = all[table_n]
    it.params[1]:set_rand_str(C_FORMAT)
    it.params[2]:set(any_id())
    it.statement:execute()
  end
end

local function delete()
  local all = on_all("DELETE FROM sbtest%d WHERE id=?", "i")
  return function(table_n)
    local it = all[table_n]
    it.params[1]:set(any_id())
    it.statement:execute()
  end
end

local function delete_insert()
  local deletes = on_all("DELETE FROM sbtest%d WHERE id=?", "i")
  local inserts = on_all("INSERT INTO sbtest%d (id, k, c, pad) VALUES (?, ?, ?, ?)", "iicc")
  return function(table_n)
    local id = any_id()
    local it = deletes[table_n]
    it.params[1]:set(id)
    it.statement:execute()
    it = inserts[table_n]
    local params = it.params
    params[1]:set(id)
    params[2]:set(any_id())
    params[3]:set_rand_str(C_FORMAT)
    params[4]:set_rand_str(PAD_FORMAT)
    it.statement:execute()
  end
end

-- Events ------------------------------------------------------------------------------------------
local function reads()
  local parts = { times(opt.point_selects, point()) }
  if opt.range_selects then
    parts[#parts + 1] = times(opt.simple_ranges, range("c", ""))
    parts[#parts + 1] = times(opt.sum_ranges, range("SUM(k)", ""))
    parts[#parts + 1] = times(opt.order_ranges, range("c", " ORDER BY c"))
    parts[#parts + 1] = times(opt.distinct_ranges, range("DISTINCT c", " ORDER BY c"))
  end
  return parts
end

local function writes(parts)
  parts[#parts + 1] = times(opt.index_updates, index_update())
  parts[#parts + 1] = times(opt.non_index_updates, non_index_update())
  parts[#parts + 1] = times(opt.delete_inserts, delete_insert())
  return parts
end

-- One event out of parts, in a transaction unless that is left out.
local function transaction(parts)
  local begin, commit
  if not opt.skip_trx then
    begin, commit = prepared("BEGIN", "").statement, prepared("COMMIT", "").statement
  end
  local n = #parts
  return function()
    if begin then begin:execute() end
    for i = 1, n do parts[i]() end
    if commit then commit:execute() end
  end
end

local function insert()
  return function()
    local n = any_table()
    local k, c, pad = any_id(), sysbench.rand.string(C_FORMAT), sysbench.rand.string(PAD_FORMAT)
    if opt.auto_inc and dbms == "pgsql" then
      con:query(string.format("INSERT INTO sbtest%d (k, c, pad) VALUES (%d, '%s', '%s')", n, k, c, pad))
      return
    end
    -- Signed 32-bit ids; 0 lets the server number the row.
    local id = opt.auto_inc and 0 or sysbench.rand.unique() - 2147483648
    con:query(string.format("INSERT INTO sbtest%d (id, k, c, pad) VALUES (%d, %d, '%s', '%s')", n, id,
      k, c, pad))
  end
end

local function bulk_insert(tid)
  local next_id = 0
  con:bulk_insert_init(string.format("INSERT INTO sbtest%d VALUES", tid + 1))
  return function()
    next_id = next_id + 1
    con:bulk_insert_next(string.format("(%d, %d)", next_id, next_id))
  end
end

-- A value of k out of the part of the table that is a thread's.
local function own_k(tid)
  local n_rows = opt.table_size / opt.threads
  local low = n_rows * (tid % opt.threads)
  return function() return draw(low, low + n_rows) end
end

local function random_points(tid)
  local n, own = opt.random_points, own_k(tid)
  local list = string.rep("?", n, ", ")
  local it = prepared("SELECT id, k, c, pad FROM sbtest1 WHERE k IN (" .. list .. ")", ("i"):rep(n))
  return function()
    for i = 1, n do it.params[i]:set(own()) end
    it.statement:execute()
  end
end

local function random_ranges(tid)
  local n, own = opt.number_of_ranges, own_k(tid)
  local list = string.rep("k BETWEEN ? AND ?", n, " OR ")
  local it = prepared("SELECT count(k) FROM sbtest1 WHERE " .. list, ("i"):rep(2 * n))
  return function()
    for i = 1, n do
      local low = own()
      it.params[2 * i - 1]:set(low)
      it.params[2 * i]:set(low + opt.delta)
    end
    it.statement:execute()
  end
end

local makers = {
  oltp_read_only = function() return transaction(reads()) end,
  oltp_read_write = function() return transaction(writes(reads())) end,
  oltp_write_only = function() return transaction(writes({})) end,
  oltp_point_select = function() return times(1, point()) end,
  oltp_update_index = function() return times(opt.index_updates, index_update()) or nothing end,
  oltp_update_non_index = function()
    return times(opt.non_index_updates, non_index_update()) or nothing
  end,
  oltp_delete = function() return times(1, delete()) end,
  oltp_insert = insert,
  bulk_insert = bulk_insert,
  select_random_points = random_points,
  select_random_ranges = random_ranges,
}

local act
local n_events, n_per_connection = 0, 0

function thread_init(tid)
  con, dbms = connect()
  act = makers[test](tid)
  n_per_connection = tonumber(opt.reconnect) or 0
end

function event()
  act()
  if n_per_connection > 0 then
    n_events = n_events + 1
    if n_events % n_per_connection == 0 then con:reconnect() end
  end
end

function thread_done()
  if is_bulk then con:bulk_insert_done() end
  con:disconnect()
end
