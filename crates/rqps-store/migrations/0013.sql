-- How far the kernel read ahead on the device of the data directories.

ALTER TABLE run ADD COLUMN host_read_ahead_kb INTEGER;
