-- A workload after the pattern of TPC-C, for tests: warehouses with districts, customers with orders.
-- Orders are placed, paid and looked up in transactions over several tables; `check` counts whether
-- every order, line and payment is there.
sysbench.cmdline.options = {
  warehouses = { "Warehouses", 1 },
  districts = { "Districts of each warehouse", 3 },
  customers = { "Customers of each district", 10 },
  items = { "Items", 50 },
  lines = { "Most lines of an order", 5 },
}
local opt = sysbench.opt
local uniform = sysbench.rand.uniform
local con, dbms

local function connect()
  local driver = sysbench.sql.driver()
  con, dbms = driver:connect(), driver:name()
end

local tables = {
  "warehouse(w INT PRIMARY KEY, ytd BIGINT NOT NULL)",
  "district(w INT, d INT, next_o INT NOT NULL, ytd BIGINT NOT NULL, PRIMARY KEY (w, d))",
  "customer(w INT, d INT, c INT, name VARCHAR(20), balance BIGINT, PRIMARY KEY (w, d, c))",
  "item(i INT PRIMARY KEY, price INT NOT NULL)",
  "stock(w INT, i INT, quantity INT NOT NULL, sold INT NOT NULL, PRIMARY KEY (w, i))",
  "orders(w INT, d INT, o INT, c INT, n_lines INT, note VARCHAR(20), PRIMARY KEY (w, d, o))",
  "order_line(w INT, d INT, o INT, l INT, i INT, quantity INT, amount BIGINT, PRIMARY KEY (w, d, o, l))",
  "history(w INT, d INT, c INT, amount BIGINT)",
}

local function name_of(definition) return definition:match("^%w+_?%w*") end

local function bulk(head, rows)
  con:bulk_insert_init("INSERT INTO " .. head .. " VALUES")
  rows(function(...) con:bulk_insert_next(string.format(...)) end)
  con:bulk_insert_done()
end

function prepare()
  connect()
  for _, definition in ipairs(tables) do con:query("CREATE TABLE " .. definition) end
  bulk("item(i, price)", function(add)
    for i = 1, opt.items do add("(%d, %d)", i, uniform(1, 100)) end
  end)
  for w = 1, opt.warehouses do
    con:query(string.format("INSERT INTO warehouse VALUES (%d, 0)", w))
    bulk("stock", function(add)
      for i = 1, opt.items do add("(%d, %d, 100, 0)", w, i) end
    end)
    bulk("district", function(add)
      for d = 1, opt.districts do add("(%d, %d, 1, 0)", w, d) end
    end)
    bulk("customer", function(add)
      for d = 1, opt.districts do
        for c = 1, opt.customers do
          add("(%d, %d, %d, '%s', 0)", w, d, c, sysbench.rand.varstring(3, 20))
        end
      end
    end)
  end
end

function cleanup()
  connect()
  for _, definition in ipairs(tables) do
    con:query("DROP TABLE IF EXISTS " .. name_of(definition))
  end
end

local price, params

function thread_init()
  connect()
  price = con:prepare("SELECT price, i FROM item WHERE i = ?")
  params = { price:bind_create(sysbench.sql.type.INT) }
  price:bind_param(params[1])
end

local function place()
  return uniform(1, opt.warehouses), uniform(1, opt.districts), uniform(1, opt.customers)
end

local function order()
  local w, d, c = place()
  local n = uniform(1, opt.lines)
  con:query("BEGIN")
  local next_o = con:query_row(string.format(
    "SELECT next_o FROM district WHERE w = %d AND d = %d FOR UPDATE", w, d))
  assert(tonumber(next_o), "no district")
  con:query(string.format("UPDATE district SET next_o = %d + 1 WHERE w = %d AND d = %d", next_o, w, d))
  con:query(string.format("INSERT INTO orders VALUES (%d, %d, %d, %d, %d, NULL)", w, d, next_o, c, n))
  for l = 1, n do
    local i = uniform(1, opt.items)
    params[1]:set(i)
    local rs = price:execute()
    assert(rs.nrows == 1 and rs.nfields == 2, "an item is not there")
    local row = rs:fetch_row()
    assert(tonumber(row[2]) == i, "another item came")
    assert(rs:fetch_row() == nil, "an item came twice")
    local quantity = uniform(1, 10)
    con:query(string.format(
      "UPDATE stock SET quantity = quantity - %d, sold = sold + %d WHERE w = %d AND i = %d", quantity,
      quantity, w, i))
    con:query(string.format("INSERT INTO order_line VALUES (%d, %d, %d, %d, %d, %d, %d)", w, d, next_o,
      l, i, quantity, quantity * row[1]))
  end
  con:query("COMMIT")
end

local function pay()
  local w, d, c = place()
  local amount = uniform(1, 5000)
  con:query("BEGIN")
  con:query(string.format("UPDATE warehouse SET ytd = ytd + %d WHERE w = %d", amount, w))
  con:query(string.format("UPDATE district SET ytd = ytd + %d WHERE w = %d AND d = %d", amount, w, d))
  con:query(string.format(
    "UPDATE customer SET balance = balance - %d WHERE w = %d AND d = %d AND c = %d", amount, w, d, c))
  con:query(string.format("INSERT INTO history VALUES (%d, %d, %d, %d)", w, d, c, amount))
  con:query("COMMIT")
end

-- Reads an order's lines while it asks for the item of each: results within results.
local function look_up()
  local w, d, c = place()
  con:query("BEGIN")
  local o, n, note = con:query_row(string.format(
    "SELECT o, n_lines, note FROM orders WHERE w = %d AND d = %d AND c = %d ORDER BY o DESC LIMIT 1",
    w, d, c))
  if o then
    assert(note == nil, "a NULL came as " .. tostring(note))
    local rs = con:query(string.format(
      "SELECT l, i FROM order_line WHERE w = %d AND d = %d AND o = %d ORDER BY l", w, d, o))
    assert(rs.nrows == tonumber(n), "an order has other lines")
    for l = 1, rs.nrows do
      local row = rs:fetch_row()
      assert(tonumber(row[1]) == l, "lines come in another order")
      assert(con:query_row("SELECT price FROM item WHERE i = " .. row[2]), "a line's item is not there")
    end
    assert(rs:fetch_row() == nil, "an order has one line more")
  end
  con:query("COMMIT")
end

function event()
  local kind = uniform(1, 10)
  if kind <= 5 then
    order()
  elseif kind <= 8 then
    pay()
  else
    look_up()
  end
end

function sysbench.hooks.before_restart_event()
  con:query("ROLLBACK")
end

local function number(sql) return tonumber((con:query_row(sql))) or 0 end

local function check()
  connect()
  local orders = number("SELECT COUNT(*) FROM orders")
  assert(orders > 0, "no orders")
  assert(orders == number("SELECT SUM(next_o - 1) FROM district"), "orders and their numbers differ")
  assert(number("SELECT SUM(n_lines) FROM orders") == number("SELECT COUNT(*) FROM order_line"),
    "orders and lines differ")
  assert(number("SELECT SUM(quantity) FROM order_line") == number("SELECT SUM(sold) FROM stock"),
    "lines and stock differ")
  local paid = number("SELECT SUM(amount) FROM history")
  assert(paid == number("SELECT SUM(ytd) FROM warehouse"), "payments and warehouses differ")
  assert(paid == -number("SELECT SUM(balance) FROM customer"), "payments and balances differ")
  print("consistent: " .. (orders > 0 and "yes" or "no"))
end

sysbench.cmdline.commands = { prepare = { prepare }, cleanup = { cleanup }, check = { check } }
