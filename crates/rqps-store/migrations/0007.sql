-- For what threads waited, by the kernel; what the server itself counted of a slice.

ALTER TABLE slice ADD COLUMN whole_operations INTEGER;
ALTER TABLE slice ADD COLUMN dbms_counters TEXT;

ALTER TABLE slice ADD COLUMN server_run_wait_ns INTEGER;
ALTER TABLE slice ADD COLUMN served_cpu_ns INTEGER;
ALTER TABLE slice ADD COLUMN served_run_wait_ns INTEGER;
ALTER TABLE slice ADD COLUMN crew_cpu_ns INTEGER;
ALTER TABLE slice ADD COLUMN crew_run_wait_ns INTEGER;
ALTER TABLE slice ADD COLUMN io_stalled_ns INTEGER;
ALTER TABLE sample ADD COLUMN server_run_wait_ns INTEGER;
ALTER TABLE sample ADD COLUMN served_cpu_ns INTEGER;
ALTER TABLE sample ADD COLUMN served_run_wait_ns INTEGER;
ALTER TABLE sample ADD COLUMN crew_cpu_ns INTEGER;
ALTER TABLE sample ADD COLUMN crew_run_wait_ns INTEGER;
ALTER TABLE sample ADD COLUMN io_stalled_ns INTEGER;
