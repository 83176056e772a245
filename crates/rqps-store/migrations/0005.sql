-- On which start of the servers a step ran, from 0, where a run has several.

ALTER TABLE step ADD COLUMN start_idx INTEGER NOT NULL DEFAULT 0;

-- Of each delay of a start, the part that was the client's own.

ALTER TABLE stream ADD COLUMN own_delays BLOB;
