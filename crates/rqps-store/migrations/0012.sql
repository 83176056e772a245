-- What happened to a run on the way.

CREATE TABLE incident (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  incident_idx INTEGER NOT NULL,
  at_unix_ms INTEGER NOT NULL,
  system_idx INTEGER,
  what TEXT NOT NULL,
  PRIMARY KEY (run_id, incident_idx)
) STRICT, WITHOUT ROWID;
