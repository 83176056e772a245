-- What people say of runs: tags to find them by, and a note.

CREATE TABLE tag (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE note (
  run_id TEXT NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE,
  note TEXT NOT NULL
) STRICT, WITHOUT ROWID;
