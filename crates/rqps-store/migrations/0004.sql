-- What other clients did beside those whose work is the slice's figure; what was left to do after a
-- step, and what was checked of it.

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

ALTER TABLE step_system ADD COLUMN debt TEXT;
ALTER TABLE step_system ADD COLUMN checks TEXT;
