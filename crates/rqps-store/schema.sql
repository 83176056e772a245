-- The tables of a results store, and the text of docs/reference/store.md.
--
-- Comments have this form, and crates/rqps-store/tests/it/schema.rs makes the page's tables of them:
--
-- - Comment lines directly above CREATE TABLE describe the table. The page has them line by line.
-- - A comment behind a column is its meaning. A longer one begins on lines directly above the column.
-- - `= TABLE` in place of a meaning: the column is that of the same name in TABLE.
-- - Every table and every column has a comment.
--
-- The database is made without the comments (src/schema.rs), so a comment can change and the schema stays
-- the same. No statement has two hyphens in it otherwise.
--
-- There is one schema: nothing was released yet that would have to be converted.

-- One row per run, with its host. Of the host of an imported run only the name is known; other text
-- is empty and numbers are 0.
CREATE TABLE run (
  run_id TEXT NOT NULL PRIMARY KEY, -- unique id, also the name of the directory below `artifacts/`
  name TEXT NOT NULL, -- name of the plan
  -- `running`, `finished`, `interrupted` or `failed`; `running` also when the process was killed
  status TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL, -- start, milliseconds since 1970
  finished_unix_ms INTEGER, -- end, milliseconds since 1970; null until the run ends
  n_resumed INTEGER NOT NULL, -- how often the run was resumed
  rqps_version TEXT NOT NULL, -- version of rqps that started the run
  -- words of the command that started the run, JSON array; without passwords
  command_line TEXT NOT NULL,
  plan TEXT NOT NULL, -- the plan as TOML with every default
  seed TEXT NOT NULL, -- seed of all random numbers, unsigned 64-bit number in decimal
  -- order of the slices, JSON: `mode` (`interleaved` or `sequential`) and its parameters
  schedule TEXT NOT NULL,
  base_system_idx INTEGER NOT NULL, -- `system_idx` of the base
  host_name TEXT NOT NULL, -- host name
  host_kernel TEXT NOT NULL, -- kernel release (`uname -r`)
  host_os TEXT NOT NULL, -- distribution
  host_cpu_model TEXT NOT NULL, -- CPU model
  host_n_cpus INTEGER NOT NULL, -- CPUs that rqps may use
  -- memory that rqps and its servers may use, bytes; a limit of the control group counts
  host_memory_bytes INTEGER NOT NULL,
  host_virtual_machine INTEGER NOT NULL, -- 1 when the CPU reports a virtual machine, else 0
  host_storage TEXT NOT NULL, -- file system and device of the data directories
  -- noise of the host at the start, JSON: `made_unix_ms`, `host`, `system`, `seconds` (measured on
  -- each side), `apart` (largest difference of a system from itself) and `visible` (smallest
  -- difference found in 80% of cases) as shares, `worst` (the step of `apart`), `false_alarms`,
  -- `starts` (per step: `sd` of rQPS between starts as a share, and `n_starts`); null without a
  -- calibration
  calibration TEXT,
  -- origin of an imported run, JSON: `tool`, `source`, `notes`; null for a run that rqps measured
  imported TEXT,
  -- read-ahead of the device of the data directories, KB of 1024 bytes; null where the kernel does not report it (tmpfs,
  -- overlay, btrfs)
  host_read_ahead_kb INTEGER
) STRICT;

-- One row per system of a run.
CREATE TABLE system (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  system_idx INTEGER NOT NULL, -- position in the plan, from 0
  label TEXT NOT NULL, -- short name: `my8033.small`
  dbms TEXT NOT NULL, -- `mysql`, `mariadb`, `postgres`, `h2` or `null`
  engine TEXT NOT NULL, -- storage engine: `innodb`, `rocksdb` or `heap`
  config TEXT NOT NULL, -- built-in configuration profile, or path of a configuration file
  transport TEXT NOT NULL, -- `socket`, `tcp` or `tls`
  spec TEXT NOT NULL, -- everything that the plan asks for, JSON; includes the five columns before
  version TEXT, -- version that the server reports; null until its first start
  version_text TEXT NOT NULL, -- the server's own version text
  origin TEXT NOT NULL, -- source and checksum of its files
  PRIMARY KEY (run_id, system_idx)
) STRICT, WITHOUT ROWID;

-- One row per setting of a server, and per fact of its build, its process and the benchmark's
-- session.
CREATE TABLE setting (
  run_id TEXT NOT NULL, -- the run
  system_idx INTEGER NOT NULL, -- the system
  -- `server` (a setting), `session` (transport, TLS, authentication, character set, isolation),
  -- `process` (`malloc`, `malloc_library`, `memory_limit`, `cpus`, `direct_io`, `wall`) or `build`
  -- (source, compiler, debug, engines)
  scope TEXT NOT NULL,
  name TEXT NOT NULL, -- name; of a setting, the server's own
  value TEXT NOT NULL, -- value as the server writes it; for PostgreSQL with its unit
  -- who set it: `default` (compiled in), `config` (configuration file), `command-line`, `computed`
  -- (by the server) or `other`; null where unknown
  source TEXT,
  default_value TEXT, -- compiled-in value; null where the server does not report it
  PRIMARY KEY (run_id, system_idx, scope, name),
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row per step, number of clients and start of the servers.
CREATE TABLE step (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  step_idx INTEGER NOT NULL, -- position in the run, from 0
  name TEXT NOT NULL, -- name, unique in its suite: `random-points_range=100`
  family TEXT NOT NULL, -- name without arguments: `random-points`
  n INTEGER, -- range size or length of the in-list; null where the step has none
  kind TEXT NOT NULL, -- `load`, `read`, `write`, `insert`, `warm-up`, `index` or `mixed`
  -- group in reports: `point`, `range`, `range-aggregate`, `write` or `other`
  step_group TEXT NOT NULL,
  -- operations that the rate counts: `queries`, `rows-read`, `rows-inserted`, `rows-indexed`;
  -- `as-stated` for imported rates of unknown unit
  figure TEXT NOT NULL,
  what TEXT NOT NULL, -- statements and arguments in a sentence
  n_clients INTEGER NOT NULL, -- client threads
  placement TEXT NOT NULL, -- placement of threads on CPUs: `free`, `split` or `paired`
  -- start of the servers, from 0; a step measured on three starts has three rows
  start_idx INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, step_idx)
) STRICT, WITHOUT ROWID;

-- One row per step and system: the outcome.
CREATE TABLE step_system (
  run_id TEXT NOT NULL, -- the run
  step_idx INTEGER NOT NULL, -- the step
  system_idx INTEGER NOT NULL, -- the system
  outcome TEXT NOT NULL, -- `pending`, `done` or `failed`
  failure_reason TEXT, -- what happened; null unless failed
  -- tables and indexes after the step by the server's account, bytes; null when not measured
  database_bytes INTEGER,
  -- allocated blocks of the data directory after the step, bytes; null for servers that rqps did
  -- not start
  data_dir_bytes INTEGER,
  redo_bytes INTEGER, -- part of `data_dir_bytes`: redo log or write-ahead log
  binlog_bytes INTEGER, -- part of `data_dir_bytes`: binary log
  -- the server's unfinished background work after the step, JSON object of numbers by name; null
  -- when not read
  debt TEXT,
  -- checks of the step's work, JSON array of objects with `name`, `passed`, `found`; null when none
  -- were made
  checks TEXT,
  PRIMARY KEY (run_id, step_idx, system_idx),
  FOREIGN KEY (run_id, step_idx) REFERENCES step ON DELETE CASCADE,
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row per statement of a step and system: the query plan, read in the benchmark's sessions
-- after the measurement. Each start of the servers has plans of its own.
CREATE TABLE query_plan (
  run_id TEXT NOT NULL, -- the run
  step_idx INTEGER NOT NULL, -- the step
  system_idx INTEGER NOT NULL, -- the system
  statement_idx INTEGER NOT NULL, -- position among the step's statements, from 0
  dbms TEXT NOT NULL, -- `mysql`, `mariadb`, `postgres`, `h2` or `null`
  -- the statement on its first table, with `?` for parameters; long lists are shortened
  sql TEXT NOT NULL,
  -- how the statement was explained, the same as the benchmark sends it: `prepared`, `text` or
  -- `never`
  asked TEXT NOT NULL,
  -- plan without costs and estimates, JSON: `accesses`, `joins`, `extras`, `is_write`, `kind`; null
  -- where the statement cannot be explained
  shape TEXT,
  reason TEXT NOT NULL, -- why `shape` is null; else empty
  -- the server's own plan: the table of EXPLAIN, columns separated by tabs, or PostgreSQL's JSON
  server_text TEXT NOT NULL,
  -- executions of generic and custom plans, JSON: `n_sessions`, `n_generic`, `n_custom`, `n_trial`;
  -- null where the server does not count them
  counts TEXT,
  PRIMARY KEY (run_id, step_idx, system_idx, statement_idx),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row per fact of the benchmark's tables, summed over the tables. Steps that read have the
-- facts from before the step. Steps that write have `writes` only. Facts that the server does not
-- report have no row.
CREATE TABLE table_state (
  run_id TEXT NOT NULL, -- the run
  step_idx INTEGER NOT NULL, -- the step
  system_idx INTEGER NOT NULL, -- the system
  -- `writes` (events of the step, uncounted ones included), `index-levels`, `rows`, `dead-rows`,
  -- `updates`, `hot-updates`, `autovacuums`, `table-bytes`, `index-bytes`, `snapshot-age`
  -- (transactions), `history-list`, `change-buffer-pages`, `compaction-bytes`
  fact TEXT NOT NULL,
  value INTEGER NOT NULL, -- value of the fact; bytes, transactions or a count, as its name says
  PRIMARY KEY (run_id, step_idx, system_idx, fact),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row per search of vectors on a system: the part of each query's exact nearest neighbours that
-- its answer has, from 0 to 1. Read in the benchmark's sessions after the measurement.
CREATE TABLE recall (
  run_id TEXT NOT NULL, -- the run
  step_idx INTEGER NOT NULL, -- the step
  system_idx INTEGER NOT NULL, -- the system
  k INTEGER NOT NULL, -- nearest neighbours that a query asks for
  n_queries INTEGER NOT NULL, -- queries whose answers were read
  mean REAL NOT NULL, -- mean over the queries
  sd REAL NOT NULL, -- standard deviation over the queries
  p5 REAL NOT NULL, -- value below which 5% of the queries lie
  PRIMARY KEY (run_id, step_idx, system_idx),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row per slice. In an interleaved run, one row per block: the sum over the short slices of
-- some rounds, without the time between them. Counters are differences between the samples at both
-- ends. Gauges are those of the second sample.
--
-- Some columns of a block cover its whole time, gaps included: `dbms_counters`,
-- `server_run_wait_ns`, `server_*_switches`, `host_swap_*`, and the bytes that `server_` and
-- `client_` read and wrote.
CREATE TABLE slice (
  slice_id INTEGER NOT NULL PRIMARY KEY, -- key for the tables below; has no other meaning
  run_id TEXT NOT NULL, -- the run
  step_idx INTEGER NOT NULL, -- the step
  system_idx INTEGER NOT NULL, -- the system
  -- repetition, from 0; blocks of the same number on several systems were interleaved
  slice_idx INTEGER NOT NULL,
  start_unix_ms INTEGER NOT NULL, -- start, milliseconds since 1970
  -- measured time, ns; with several clients: operations / sum of the clients' rates
  duration_ns INTEGER NOT NULL,
  seed TEXT NOT NULL, -- seed of the slice, unsigned 64-bit number in decimal
  -- events finished: transactions, or statements of steps without transactions
  n_events INTEGER NOT NULL,
  n_queries INTEGER NOT NULL, -- statements answered
  n_operations INTEGER NOT NULL, -- operations that the step's rate counts (`step.figure`)
  n_rows INTEGER NOT NULL, -- rows received
  -- rate, operations per second; computed; null when no time passed
  figure_per_s REAL GENERATED ALWAYS AS (n_operations * 1e9 / duration_ns) VIRTUAL,
  lateness_n_due INTEGER, -- starts that were due; null where no rate was set, like the next four
  lateness_n_late INTEGER, -- starts more than 1 ms late
  lateness_n_missed INTEGER, -- starts that were due and never came
  lateness_max_ns INTEGER, -- longest delay of a start, ns
  -- sum of the delays, ns; missed starts count with the time that they waited
  lateness_sum_ns INTEGER,
  window_length_ns INTEGER NOT NULL, -- length of a window, ns
  -- operations that ended in each window, JSON array; without the last, incomplete window
  window_counts TEXT NOT NULL,
  response_times BLOB NOT NULL, -- response times of events, ns; HDR histogram, V2 format, deflated
  -- time between the samples at the ends, ns; of a block, the sum over its short slices
  usage_wall_ns INTEGER NOT NULL,
  -- CPU time in user mode, ns; all CPUs, nice included, guests counted once
  host_cpu_user_ns INTEGER NOT NULL,
  host_cpu_system_ns INTEGER NOT NULL, -- CPU time in the kernel, ns; interrupts included
  host_cpu_idle_ns INTEGER NOT NULL, -- idle CPU time, ns
  host_cpu_iowait_ns INTEGER NOT NULL, -- idle CPU time with storage requests outstanding, ns
  host_cpu_steal_ns INTEGER NOT NULL, -- CPU time taken by the hypervisor, ns
  host_context_switches INTEGER NOT NULL, -- context switches of all CPUs
  host_procs_running INTEGER NOT NULL, -- gauge: tasks that run or can run
  host_procs_blocked INTEGER NOT NULL, -- gauge: tasks blocked on storage
  host_memory_available_bytes INTEGER NOT NULL, -- gauge: memory available without swapping, bytes
  host_swap_in_pages INTEGER NOT NULL, -- pages swapped in
  host_swap_out_pages INTEGER NOT NULL, -- pages swapped out
  host_n_cpus INTEGER NOT NULL, -- gauge: CPUs online
  server_cpu_user_ns INTEGER, -- CPU time in user mode, ns, in steps of 10 ms
  server_cpu_system_ns INTEGER, -- CPU time in the kernel, ns, in steps of 10 ms
  server_cpu_total_ns INTEGER, -- all CPU time, ns, from the process CPU clock
  -- gauge: resident memory, bytes; memory shared by its processes counts once
  server_rss_bytes INTEGER,
  server_minor_faults INTEGER, -- page faults without a read from storage
  server_major_faults INTEGER, -- page faults with a read from storage
  server_voluntary_switches INTEGER, -- context switches of threads that began to wait
  server_involuntary_switches INTEGER, -- context switches of threads that were preempted
  server_read_bytes INTEGER, -- bytes read from storage for the processes
  server_write_bytes INTEGER, -- bytes written to storage for the processes
  server_n_processes INTEGER, -- gauge: processes
  server_n_threads INTEGER, -- gauge: threads
  client_cpu_user_ns INTEGER NOT NULL, -- CPU time in user mode, ns, in steps of 10 ms
  client_cpu_system_ns INTEGER NOT NULL, -- CPU time in the kernel, ns, in steps of 10 ms
  client_cpu_total_ns INTEGER NOT NULL, -- all CPU time, ns, from the process CPU clock
  -- gauge: resident memory, bytes; memory shared by its processes counts once
  client_rss_bytes INTEGER NOT NULL,
  client_minor_faults INTEGER NOT NULL, -- page faults without a read from storage
  client_major_faults INTEGER NOT NULL, -- page faults with a read from storage
  client_voluntary_switches INTEGER NOT NULL, -- context switches of threads that began to wait
  client_involuntary_switches INTEGER NOT NULL, -- context switches of threads that were preempted
  client_read_bytes INTEGER NOT NULL, -- bytes read from storage for the processes
  client_write_bytes INTEGER NOT NULL, -- bytes written to storage for the processes
  client_n_processes INTEGER NOT NULL, -- gauge: processes
  client_n_threads INTEGER NOT NULL, -- gauge: threads
  storage_reads INTEGER, -- reads completed
  storage_read_bytes INTEGER, -- bytes read
  storage_writes INTEGER, -- writes completed
  storage_write_bytes INTEGER, -- bytes written
  storage_busy_ns INTEGER, -- time with requests in progress, ns
  sampler_cpu_ns INTEGER NOT NULL, -- CPU time of the samplers, ns; part of `client_cpu_total_ns`
  n_rounds INTEGER, -- rounds of a block; null for an uninterrupted slice
  -- operations in the whole time of a block, uncounted ones included; null where equal to
  -- `n_operations`
  whole_operations INTEGER,
  -- the server's own counters by its names, JSON object of numbers; null when not read
  dbms_counters TEXT,
  -- time in which threads were runnable and not running, ns, from `/proc/PID/task/TID/schedstat`;
  -- null where the kernel does not report it
  server_run_wait_ns INTEGER,
  -- CPU time of connection threads (the server threads that serve the measured clients), ns; null
  -- where they are not known
  served_cpu_ns INTEGER,
  served_run_wait_ns INTEGER, -- time in which connection threads were runnable and not running, ns
  client_threads_cpu_ns INTEGER, -- CPU time of the client threads, ns
  -- time in which the client threads were runnable and not running, ns
  client_threads_run_wait_ns INTEGER,
  -- time in which a task of the host waited for storage, ns, from `/proc/pressure/io`
  io_stalled_ns INTEGER,
  -- values from an imported file, JSON: `figure` (operations per second, used in place of
  -- `figure_per_s`), `metrics`, `response`, `stream_responses`; for the Insert Benchmark `columns`,
  -- `target_inserts_per_s`, `server_rss_bytes`; null in runs that rqps measured
  stated TEXT,
  UNIQUE (run_id, step_idx, system_idx, slice_idx),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT;

-- One row per second of a slice. In a block, seconds of measured time.
CREATE TABLE second (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE, -- the slice
  second_idx INTEGER NOT NULL, -- second, from 0
  n_queries INTEGER NOT NULL, -- statements answered
  n_events INTEGER NOT NULL, -- events finished
  n_errors INTEGER NOT NULL, -- errors after which an event was retried
  sum_ns INTEGER NOT NULL, -- sum of the response times of events that ended in it, ns
  max_ns INTEGER NOT NULL, -- longest of these response times, ns
  PRIMARY KEY (slice_id, second_idx)
) STRICT, WITHOUT ROWID;

-- One row per sample: at the start of the slice or block, every second, and at the end. Counters
-- are cumulative. The usage of a slice is the difference of its first and last sample. The usage of
-- a block is less, as the slices of other systems lie between these samples.
CREATE TABLE sample (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE, -- the slice
  sample_idx INTEGER NOT NULL, -- order of time, from 0
  at_ns INTEGER NOT NULL, -- monotonic time from an arbitrary origin, ns
  host_cpu_user_ns INTEGER NOT NULL, -- = slice
  host_cpu_system_ns INTEGER NOT NULL, -- = slice
  host_cpu_idle_ns INTEGER NOT NULL, -- = slice
  host_cpu_iowait_ns INTEGER NOT NULL, -- = slice
  host_cpu_steal_ns INTEGER NOT NULL, -- = slice
  host_context_switches INTEGER NOT NULL, -- = slice
  host_procs_running INTEGER NOT NULL, -- = slice
  host_procs_blocked INTEGER NOT NULL, -- = slice
  host_memory_available_bytes INTEGER NOT NULL, -- = slice
  host_swap_in_pages INTEGER NOT NULL, -- = slice
  host_swap_out_pages INTEGER NOT NULL, -- = slice
  host_n_cpus INTEGER NOT NULL, -- = slice
  server_cpu_user_ns INTEGER, -- = slice
  server_cpu_system_ns INTEGER, -- = slice
  server_cpu_total_ns INTEGER, -- = slice
  server_rss_bytes INTEGER, -- = slice
  server_minor_faults INTEGER, -- = slice
  server_major_faults INTEGER, -- = slice
  server_voluntary_switches INTEGER, -- = slice
  server_involuntary_switches INTEGER, -- = slice
  server_read_bytes INTEGER, -- = slice
  server_write_bytes INTEGER, -- = slice
  server_n_processes INTEGER, -- = slice
  server_n_threads INTEGER, -- = slice
  client_cpu_user_ns INTEGER NOT NULL, -- = slice
  client_cpu_system_ns INTEGER NOT NULL, -- = slice
  client_cpu_total_ns INTEGER NOT NULL, -- = slice
  client_rss_bytes INTEGER NOT NULL, -- = slice
  client_minor_faults INTEGER NOT NULL, -- = slice
  client_major_faults INTEGER NOT NULL, -- = slice
  client_voluntary_switches INTEGER NOT NULL, -- = slice
  client_involuntary_switches INTEGER NOT NULL, -- = slice
  client_read_bytes INTEGER NOT NULL, -- = slice
  client_write_bytes INTEGER NOT NULL, -- = slice
  client_n_processes INTEGER NOT NULL, -- = slice
  client_n_threads INTEGER NOT NULL, -- = slice
  storage_reads INTEGER, -- = slice
  storage_read_bytes INTEGER, -- = slice
  storage_writes INTEGER, -- = slice
  storage_write_bytes INTEGER, -- = slice
  storage_busy_ns INTEGER, -- = slice
  sampler_cpu_ns INTEGER NOT NULL, -- = slice
  server_run_wait_ns INTEGER, -- = slice
  served_cpu_ns INTEGER, -- = slice
  served_run_wait_ns INTEGER, -- = slice
  client_threads_cpu_ns INTEGER, -- = slice
  client_threads_run_wait_ns INTEGER, -- = slice
  io_stalled_ns INTEGER, -- = slice
  PRIMARY KEY (slice_id, sample_idx)
) STRICT, WITHOUT ROWID;

-- One row per kind of error after which events of a slice were retried.
CREATE TABLE error_count (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE, -- the slice
  error_idx INTEGER NOT NULL, -- position, from 0
  code TEXT NOT NULL, -- the server's error number or SQLSTATE
  n INTEGER NOT NULL, -- events that met it
  PRIMARY KEY (slice_id, error_idx)
) STRICT, WITHOUT ROWID;

-- One row per warning of a slice.
CREATE TABLE warning (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE, -- the slice
  warning_idx INTEGER NOT NULL, -- position, from 0
  kind TEXT NOT NULL, -- name of the warning: `steal`, `paused`, `client-bound`, ...
  facts TEXT NOT NULL, -- facts of the warning, JSON: `{"pct":4}`
  PRIMARY KEY (slice_id, warning_idx)
) STRICT, WITHOUT ROWID;

-- One row per kind of clients beside the measured ones. In the Insert Benchmark, these insert and
-- delete while the measured clients query.
CREATE TABLE stream (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE, -- the slice
  role TEXT NOT NULL, -- `query`, `insert`, `delete` or `hold`
  n_clients INTEGER NOT NULL, -- clients of this kind
  -- rows per second to insert or delete, all clients together; null without a limit
  target_per_s REAL,
  -- measured time, ns; with several clients: operations / sum of the clients' rates
  duration_ns INTEGER NOT NULL,
  n_events INTEGER NOT NULL, -- events finished
  n_queries INTEGER NOT NULL, -- statements answered
  n_operations INTEGER NOT NULL, -- rows inserted or deleted
  lateness_n_due INTEGER, -- starts that were due; null where no rate was set, like the next four
  lateness_n_late INTEGER, -- starts more than 1 ms late
  lateness_n_missed INTEGER, -- starts that were due and never came
  lateness_max_ns INTEGER, -- longest delay of a start, ns
  -- sum of the delays, ns; missed starts count with the time that they waited
  lateness_sum_ns INTEGER,
  -- errors after which events were retried, JSON array of objects with `code` and `n`
  errors TEXT NOT NULL,
  -- delays of the starts, ns; HDR histogram, V2 format, deflated; empty where no rate was set
  delays BLOB NOT NULL,
  -- response times of events, ns; HDR histogram, V2 format, deflated; where a rate was set, from
  -- the intended start, with the waits of missed starts
  response_times BLOB NOT NULL,
  -- the client's own part of each delay, ns: from when the start was due and the previous answer
  -- had come; HDR histogram, V2 format, deflated; null when not recorded
  own_delays BLOB,
  PRIMARY KEY (slice_id, role)
) STRICT, WITHOUT ROWID;

-- One row per second of a stream.
CREATE TABLE stream_second (
  slice_id INTEGER NOT NULL, -- the slice
  role TEXT NOT NULL, -- the stream
  second_idx INTEGER NOT NULL, -- = second
  n_queries INTEGER NOT NULL, -- = second
  n_events INTEGER NOT NULL, -- = second
  n_errors INTEGER NOT NULL, -- = second
  sum_ns INTEGER NOT NULL, -- = second
  max_ns INTEGER NOT NULL, -- = second
  PRIMARY KEY (slice_id, role, second_idx),
  FOREIGN KEY (slice_id, role) REFERENCES stream ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row per step and system with recorded stacks. The stacks come from extra slices after the
-- measured ones, and no rate includes them. They are files of the run:
-- `stacks/STEP-SYSTEM-cpu.folded` and `stacks/STEP-SYSTEM-waits.folded`.
CREATE TABLE stack_profile (
  run_id TEXT NOT NULL, -- the run
  step_idx INTEGER NOT NULL, -- the step
  system_idx INTEGER NOT NULL, -- the system
  start_unix_ms INTEGER NOT NULL, -- start of the extra slices, milliseconds since 1970
  duration_ns INTEGER NOT NULL, -- length of the extra slices, ns
  n_operations INTEGER NOT NULL, -- operations in the extra slices
  -- CPU time of the server in the extra slices, ns, from the process CPU clock
  server_cpu_ns INTEGER NOT NULL,
  -- all facts of the profile, JSON: the columns before, methods and their quality, hardware
  -- counters, what was not available
  facts TEXT NOT NULL,
  PRIMARY KEY (run_id, step_idx, system_idx),
  FOREIGN KEY (run_id, step_idx) REFERENCES step ON DELETE CASCADE,
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row per file below `artifacts/RUN/` that rqps wrote for the reader.
CREATE TABLE artifact (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  path TEXT NOT NULL, -- path relative to `artifacts/RUN/`
  what TEXT NOT NULL, -- content in a few words
  PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

-- One row per warning of a run or of one of its systems, in order of time.
CREATE TABLE run_warning (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  warning_idx INTEGER NOT NULL, -- position, from 0
  at_unix_ms INTEGER, -- when it was noticed, milliseconds since 1970; null when found afterwards
  system_idx INTEGER, -- the system; null for the whole run
  kind TEXT NOT NULL, -- name of the warning: `server-failed`, `settings-changed`, ...
  facts TEXT NOT NULL, -- facts of the warning, JSON
  PRIMARY KEY (run_id, warning_idx)
) STRICT, WITHOUT ROWID;

-- One row per tag of a run.
CREATE TABLE tag (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE, -- the run
  tag TEXT NOT NULL, -- a word to find the run by
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;

-- One row per run with a note.
CREATE TABLE note (
  run_id TEXT NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE, -- the run
  note TEXT NOT NULL -- text that a user wrote about the run
) STRICT, WITHOUT ROWID;

-- One row per `rqps calibrate`. A run uses the latest one with the CPU model and number of CPUs of
-- its host.
CREATE TABLE calibration (
  calibration_id INTEGER PRIMARY KEY, -- unique id; never null
  made_unix_ms INTEGER NOT NULL, -- when it was made, milliseconds since 1970
  rqps_version TEXT NOT NULL, -- version of rqps
  host_name TEXT NOT NULL, -- host name
  host_kernel TEXT NOT NULL, -- kernel release (`uname -r`)
  host_cpu_model TEXT NOT NULL, -- CPU model
  host_n_cpus INTEGER NOT NULL, -- CPUs that rqps may use
  system TEXT NOT NULL, -- server that was measured against itself
  seconds REAL NOT NULL, -- measured time of each trial on each side, seconds
  slice_ms INTEGER NOT NULL, -- best length of a slice, milliseconds
  -- the whole calibration, JSON: trials, best placements, noise, found slowdowns, disturbances
  content TEXT NOT NULL
) STRICT;

-- What was measured is never changed, and removed only with its run.

CREATE TRIGGER slice_is_final BEFORE UPDATE ON slice
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER slice_stays BEFORE DELETE ON slice
WHEN EXISTS (SELECT 1 FROM run WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;

CREATE TRIGGER second_is_final BEFORE UPDATE ON second
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER second_stays BEFORE DELETE ON second
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;

CREATE TRIGGER sample_is_final BEFORE UPDATE ON sample
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER sample_stays BEFORE DELETE ON sample
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;

CREATE TRIGGER error_count_is_final BEFORE UPDATE ON error_count
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER error_count_stays BEFORE DELETE ON error_count
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;

CREATE TRIGGER warning_is_final BEFORE UPDATE ON warning
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER warning_stays BEFORE DELETE ON warning
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;

CREATE TRIGGER stream_is_final BEFORE UPDATE ON stream
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER stream_stays BEFORE DELETE ON stream
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;

CREATE TRIGGER stream_second_is_final BEFORE UPDATE ON stream_second
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER stream_second_stays BEFORE DELETE ON stream_second
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;

CREATE TRIGGER stack_profile_is_final BEFORE UPDATE ON stack_profile
BEGIN SELECT RAISE(ABORT, 'a stored stack profile is never changed'); END;

CREATE TRIGGER stack_profile_stays BEFORE DELETE ON stack_profile
WHEN EXISTS (SELECT 1 FROM run WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored stack profile is removed only with its run'); END;
