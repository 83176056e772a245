-- Stack profiles: what was recorded in extra slices, apart from every figure. The stacks themselves are
-- artifacts of the run.

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

CREATE TRIGGER stack_profile_is_final BEFORE UPDATE ON stack_profile
BEGIN SELECT RAISE(ABORT, 'a stored stack profile is never changed'); END;

CREATE TRIGGER stack_profile_stays BEFORE DELETE ON stack_profile
WHEN EXISTS (SELECT 1 FROM run WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored stack profile is removed only with its run'); END;
