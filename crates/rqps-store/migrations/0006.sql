-- How noisy a host is, as `rqps calibrate` found it; and what a run knew of that when it began.

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

ALTER TABLE run ADD COLUMN calibration TEXT;
