-- Sizes of the data directory and its logs after every step; who gave a setting its value.

ALTER TABLE step_system ADD COLUMN data_dir_bytes INTEGER;
ALTER TABLE step_system ADD COLUMN redo_bytes INTEGER;
ALTER TABLE step_system ADD COLUMN binlog_bytes INTEGER;

ALTER TABLE setting ADD COLUMN source TEXT;
ALTER TABLE setting ADD COLUMN default_value TEXT;
