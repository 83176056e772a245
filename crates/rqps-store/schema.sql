-- The tables of a results store. docs/schema.md explains every column.
--
-- There is one schema: nothing was released yet that would have to be converted.

CREATE TABLE run (
  run_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL,
  finished_unix_ms INTEGER,
  n_resumed INTEGER NOT NULL,
  rqps_version TEXT NOT NULL,
  command_line TEXT NOT NULL,
  plan TEXT NOT NULL,
  seed TEXT NOT NULL,
  schedule TEXT NOT NULL,
  base_system_idx INTEGER NOT NULL,
  host_name TEXT NOT NULL,
  host_kernel TEXT NOT NULL,
  host_os TEXT NOT NULL,
  host_cpu_model TEXT NOT NULL,
  host_n_cpus INTEGER NOT NULL,
  host_memory_bytes INTEGER NOT NULL,
  host_virtual_machine INTEGER NOT NULL,
  host_storage TEXT NOT NULL,
  calibration TEXT,
  imported TEXT,
  host_read_ahead_kb INTEGER
) STRICT;

CREATE TABLE system (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  system_idx INTEGER NOT NULL,
  label TEXT NOT NULL,
  dbms TEXT NOT NULL,
  engine TEXT NOT NULL,
  config TEXT NOT NULL,
  transport TEXT NOT NULL,
  spec TEXT NOT NULL,
  version TEXT,
  version_text TEXT NOT NULL,
  origin TEXT NOT NULL,
  PRIMARY KEY (run_id, system_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
  run_id TEXT NOT NULL,
  system_idx INTEGER NOT NULL,
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  source TEXT,
  default_value TEXT,
  PRIMARY KEY (run_id, system_idx, scope, name),
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE step (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  step_idx INTEGER NOT NULL,
  name TEXT NOT NULL,
  family TEXT NOT NULL,
  n INTEGER,
  kind TEXT NOT NULL,
  step_group TEXT NOT NULL,
  figure TEXT NOT NULL,
  what TEXT NOT NULL,
  n_clients INTEGER NOT NULL,
  placement TEXT NOT NULL,
  start_idx INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, step_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE step_system (
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  failure_reason TEXT,
  database_bytes INTEGER,
  data_dir_bytes INTEGER,
  redo_bytes INTEGER,
  binlog_bytes INTEGER,
  debt TEXT,
  checks TEXT,
  PRIMARY KEY (run_id, step_idx, system_idx),
  FOREIGN KEY (run_id, step_idx) REFERENCES step ON DELETE CASCADE,
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE query_plan (
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  statement_idx INTEGER NOT NULL,
  dbms TEXT NOT NULL,
  sql TEXT NOT NULL,
  asked TEXT NOT NULL,
  shape TEXT,
  reason TEXT NOT NULL,
  server_text TEXT NOT NULL,
  counts TEXT,
  PRIMARY KEY (run_id, step_idx, system_idx, statement_idx),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE table_state (
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  fact TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY (run_id, step_idx, system_idx, fact),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE slice (
  slice_id INTEGER NOT NULL PRIMARY KEY,
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  slice_idx INTEGER NOT NULL,
  start_unix_ms INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  seed TEXT NOT NULL,
  n_events INTEGER NOT NULL,
  n_queries INTEGER NOT NULL,
  n_operations INTEGER NOT NULL,
  n_rows INTEGER NOT NULL,
  figure_per_s REAL GENERATED ALWAYS AS (n_operations * 1e9 / duration_ns) VIRTUAL,
  lateness_n_due INTEGER,
  lateness_n_late INTEGER,
  lateness_n_missed INTEGER,
  lateness_max_ns INTEGER,
  lateness_sum_ns INTEGER,
  window_length_ns INTEGER NOT NULL,
  window_counts TEXT NOT NULL,
  response_times BLOB NOT NULL,
  usage_wall_ns INTEGER NOT NULL,
  host_cpu_user_ns INTEGER NOT NULL,
  host_cpu_system_ns INTEGER NOT NULL,
  host_cpu_idle_ns INTEGER NOT NULL,
  host_cpu_iowait_ns INTEGER NOT NULL,
  host_cpu_steal_ns INTEGER NOT NULL,
  host_context_switches INTEGER NOT NULL,
  host_procs_running INTEGER NOT NULL,
  host_procs_blocked INTEGER NOT NULL,
  host_memory_available_bytes INTEGER NOT NULL,
  host_swap_in_pages INTEGER NOT NULL,
  host_swap_out_pages INTEGER NOT NULL,
  host_n_cpus INTEGER NOT NULL,
  server_cpu_user_ns INTEGER,
  server_cpu_system_ns INTEGER,
  server_cpu_total_ns INTEGER,
  server_rss_bytes INTEGER,
  server_minor_faults INTEGER,
  server_major_faults INTEGER,
  server_voluntary_switches INTEGER,
  server_involuntary_switches INTEGER,
  server_read_bytes INTEGER,
  server_write_bytes INTEGER,
  server_n_processes INTEGER,
  server_n_threads INTEGER,
  client_cpu_user_ns INTEGER NOT NULL,
  client_cpu_system_ns INTEGER NOT NULL,
  client_cpu_total_ns INTEGER NOT NULL,
  client_rss_bytes INTEGER NOT NULL,
  client_minor_faults INTEGER NOT NULL,
  client_major_faults INTEGER NOT NULL,
  client_voluntary_switches INTEGER NOT NULL,
  client_involuntary_switches INTEGER NOT NULL,
  client_read_bytes INTEGER NOT NULL,
  client_write_bytes INTEGER NOT NULL,
  client_n_processes INTEGER NOT NULL,
  client_n_threads INTEGER NOT NULL,
  storage_reads INTEGER,
  storage_read_bytes INTEGER,
  storage_writes INTEGER,
  storage_write_bytes INTEGER,
  storage_busy_ns INTEGER,
  sampler_cpu_ns INTEGER NOT NULL,
  n_rounds INTEGER,
  whole_operations INTEGER,
  dbms_counters TEXT,
  server_run_wait_ns INTEGER,
  served_cpu_ns INTEGER,
  served_run_wait_ns INTEGER,
  client_threads_cpu_ns INTEGER,
  client_threads_run_wait_ns INTEGER,
  io_stalled_ns INTEGER,
  stated TEXT,
  UNIQUE (run_id, step_idx, system_idx, slice_idx),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT;

CREATE TABLE second (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  second_idx INTEGER NOT NULL,
  n_queries INTEGER NOT NULL,
  n_events INTEGER NOT NULL,
  n_errors INTEGER NOT NULL,
  sum_ns INTEGER NOT NULL,
  max_ns INTEGER NOT NULL,
  PRIMARY KEY (slice_id, second_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE sample (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  sample_idx INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  host_cpu_user_ns INTEGER NOT NULL,
  host_cpu_system_ns INTEGER NOT NULL,
  host_cpu_idle_ns INTEGER NOT NULL,
  host_cpu_iowait_ns INTEGER NOT NULL,
  host_cpu_steal_ns INTEGER NOT NULL,
  host_context_switches INTEGER NOT NULL,
  host_procs_running INTEGER NOT NULL,
  host_procs_blocked INTEGER NOT NULL,
  host_memory_available_bytes INTEGER NOT NULL,
  host_swap_in_pages INTEGER NOT NULL,
  host_swap_out_pages INTEGER NOT NULL,
  host_n_cpus INTEGER NOT NULL,
  server_cpu_user_ns INTEGER,
  server_cpu_system_ns INTEGER,
  server_cpu_total_ns INTEGER,
  server_rss_bytes INTEGER,
  server_minor_faults INTEGER,
  server_major_faults INTEGER,
  server_voluntary_switches INTEGER,
  server_involuntary_switches INTEGER,
  server_read_bytes INTEGER,
  server_write_bytes INTEGER,
  server_n_processes INTEGER,
  server_n_threads INTEGER,
  client_cpu_user_ns INTEGER NOT NULL,
  client_cpu_system_ns INTEGER NOT NULL,
  client_cpu_total_ns INTEGER NOT NULL,
  client_rss_bytes INTEGER NOT NULL,
  client_minor_faults INTEGER NOT NULL,
  client_major_faults INTEGER NOT NULL,
  client_voluntary_switches INTEGER NOT NULL,
  client_involuntary_switches INTEGER NOT NULL,
  client_read_bytes INTEGER NOT NULL,
  client_write_bytes INTEGER NOT NULL,
  client_n_processes INTEGER NOT NULL,
  client_n_threads INTEGER NOT NULL,
  storage_reads INTEGER,
  storage_read_bytes INTEGER,
  storage_writes INTEGER,
  storage_write_bytes INTEGER,
  storage_busy_ns INTEGER,
  sampler_cpu_ns INTEGER NOT NULL,
  server_run_wait_ns INTEGER,
  served_cpu_ns INTEGER,
  served_run_wait_ns INTEGER,
  client_threads_cpu_ns INTEGER,
  client_threads_run_wait_ns INTEGER,
  io_stalled_ns INTEGER,
  PRIMARY KEY (slice_id, sample_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE error_count (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  error_idx INTEGER NOT NULL,
  code TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (slice_id, error_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE warning (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  warning_idx INTEGER NOT NULL,
  kind TEXT NOT NULL,
  facts TEXT NOT NULL,
  PRIMARY KEY (slice_id, warning_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE stream (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  role TEXT NOT NULL,
  n_clients INTEGER NOT NULL,
  target_per_s REAL,
  duration_ns INTEGER NOT NULL,
  n_events INTEGER NOT NULL,
  n_queries INTEGER NOT NULL,
  n_operations INTEGER NOT NULL,
  lateness_n_due INTEGER,
  lateness_n_late INTEGER,
  lateness_n_missed INTEGER,
  lateness_max_ns INTEGER,
  lateness_sum_ns INTEGER,
  errors TEXT NOT NULL,
  delays BLOB NOT NULL,
  response_times BLOB NOT NULL,
  own_delays BLOB,
  PRIMARY KEY (slice_id, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE stream_second (
  slice_id INTEGER NOT NULL,
  role TEXT NOT NULL,
  second_idx INTEGER NOT NULL,
  n_queries INTEGER NOT NULL,
  n_events INTEGER NOT NULL,
  n_errors INTEGER NOT NULL,
  sum_ns INTEGER NOT NULL,
  max_ns INTEGER NOT NULL,
  PRIMARY KEY (slice_id, role, second_idx),
  FOREIGN KEY (slice_id, role) REFERENCES stream ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE stack_profile (
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  start_unix_ms INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  n_operations INTEGER NOT NULL,
  server_cpu_ns INTEGER NOT NULL,
  facts TEXT NOT NULL,
  PRIMARY KEY (run_id, step_idx, system_idx),
  FOREIGN KEY (run_id, step_idx) REFERENCES step ON DELETE CASCADE,
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  path TEXT NOT NULL,
  what TEXT NOT NULL,
  PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_warning (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  warning_idx INTEGER NOT NULL,
  at_unix_ms INTEGER,
  system_idx INTEGER,
  kind TEXT NOT NULL,
  facts TEXT NOT NULL,
  PRIMARY KEY (run_id, warning_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE note (
  run_id TEXT NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE,
  note TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE calibration (
  calibration_id INTEGER PRIMARY KEY,
  made_unix_ms INTEGER NOT NULL,
  rqps_version TEXT NOT NULL,
  host_name TEXT NOT NULL,
  host_kernel TEXT NOT NULL,
  host_cpu_model TEXT NOT NULL,
  host_n_cpus INTEGER NOT NULL,
  system TEXT NOT NULL,
  seconds REAL NOT NULL,
  slice_ms INTEGER NOT NULL,
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
