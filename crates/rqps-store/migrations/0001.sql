-- The first schema. docs/schema.md says what every column means.

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
  host_storage TEXT NOT NULL
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
  PRIMARY KEY (run_id, step_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE step_system (
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  failure_reason TEXT,
  database_bytes INTEGER,
  PRIMARY KEY (run_id, step_idx, system_idx),
  FOREIGN KEY (run_id, step_idx) REFERENCES step ON DELETE CASCADE,
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
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
  PRIMARY KEY (slice_id, sample_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE error_count (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  error_idx INTEGER NOT NULL,
  code TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (slice_id, error_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE mark (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  mark_idx INTEGER NOT NULL,
  mark TEXT NOT NULL,
  amount INTEGER,
  sentence TEXT,
  PRIMARY KEY (slice_id, mark_idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  path TEXT NOT NULL,
  what TEXT NOT NULL,
  PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

-- What was measured is never changed, and removed only with its whole run: when rows of `run` go,
-- those below go by cascade, and by then the row above them is gone.

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

CREATE TRIGGER mark_is_final BEFORE UPDATE ON mark
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;

CREATE TRIGGER mark_stays BEFORE DELETE ON mark
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;
