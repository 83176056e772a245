-- `sysbench.report_*`: what scripts call from their hooks to print a report of their own kind.
local native = ...
local fn = native.fn
local format = string.format

local function per_second(stat, what)
  if stat.time_interval <= 0 then return 0 end
  return what / stat.time_interval
end

local function rates(stat)
  local all = stat.reads + stat.writes + stat.other
  return per_second(stat, stat.events), per_second(stat, all), per_second(stat, stat.reads),
    per_second(stat, stat.writes), per_second(stat, stat.other), stat.latency_pct * 1000,
    per_second(stat, stat.errors), per_second(stat, stat.reconnects)
end

function sysbench.report_default(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  fn.write(format("[ %.0fs ] thds: %d tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) " ..
    "lat (ms,%s%%): %4.2f err/s %4.2f reconn/s: %4.2f\n", stat.time_total, stat.threads_running, tps,
    qps, reads, writes, other, native.percentile, latency, errors, reconnects))
end

function sysbench.report_csv(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  fn.write(format("%.0f,%d,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f\n",
    stat.time_total, stat.threads_running, tps, qps, reads, writes, other, latency, errors,
    reconnects))
end

-- The lists that are begun, by the names under which the program ends them.
local begun = {}
function sysbench.report_json(stat)
  local list = native.report_list
  fn.write(begun[list] and ",\n" or "[\n")
  begun[list] = true
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  fn.write(format([[
  {
    "time": %4.0f,
    "threads": %d,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], stat.time_total, stat.threads_running, tps, qps, reads, writes, other, latency, errors,
    reconnects))
end

-- Ends a list of `report_json`.
return function(list)
  if begun[list] then fn.write("\n]\n") end
  begun[list] = nil
end
