-- How the servers go about the statements of a step, asked before it was measured.

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
  PRIMARY KEY (run_id, step_idx, system_idx, statement_idx),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
