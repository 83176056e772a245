-- `sysbench.report_*`: what scripts call from their hooks to print a report of their own kind.
local native = ...
local fn = native.fn

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
  fn.write(string.format("[ %.0fs ] thds: %d tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) " ..
    "lat (ms,%s%%): %4.2f err/s %4.2f reconn/s: %4.2f\n", stat.time_total, stat.threads_running, tps,
    qps, reads, writes, other, native.percentile, latency, errors, reconnects))
end

function sysbench.report_csv(stat)
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  fn.write(string.format("%.0f,%d,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f\n",
    stat.time_total, stat.threads_running, tps, qps, reads, writes, other, latency, errors,
    reconnects))
end

local begun = false
function sysbench.report_json(stat)
  fn.write(begun and ",\n" or "[\n")
  begun = true
  local tps, qps, reads, writes, other, latency, errors, reconnects = rates(stat)
  fn.write(string.format([[
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

-- Closes the list of `report_json` at the end of a run.
return function()
  if begun then fn.write("\n]\n") end
end
