PRAGMA application_id = 1917931603;
PRAGMA user_version = 14;
BEGIN;
CREATE TABLE run (
  run_id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL,
  finished_unix_ms INTEGER,
  n_resumed INTEGER NOT NULL,
  rqps_version TEXT NOT NULL,
  command_line TEXT NOT NULL,
  plan TEXT NOT NULL,
  seed TEXT NOT NULL,
  schedule TEXT NOT NULL,
  base_system_idx INTEGER NOT NULL,
  host_name TEXT NOT NULL,
  host_kernel TEXT NOT NULL,
  host_os TEXT NOT NULL,
  host_cpu_model TEXT NOT NULL,
  host_n_cpus INTEGER NOT NULL,
  host_memory_bytes INTEGER NOT NULL,
  host_virtual_machine INTEGER NOT NULL,
  host_storage TEXT NOT NULL
, calibration TEXT, imported TEXT, host_read_ahead_kb INTEGER) STRICT;
INSERT INTO run (run_id, name, status, started_unix_ms, finished_unix_ms, n_resumed, rqps_version, command_line, plan, seed, schedule, base_system_idx, host_name, host_kernel, host_os, host_cpu_model, host_n_cpus, host_memory_bytes, host_virtual_machine, host_storage, calibration, imported, host_read_ahead_kb) VALUES ('r1', '', 'running', 421314572691, NULL, 0, 'demo''; DROP TABLE slice; --', '["demoü€😀"]', '\ü€😀', '1335755023243418634', '{"mode":"interleaved","slice_ms":9,"slices":54,"budget_ms":813101177,"half_width_bp":8145367}', 0, 'demo', '{}[]{}[]', '"
	', '\demodemo', 2831, 552624, 1, '{}[]
	ü€😀', NULL, NULL, 128);
CREATE TABLE system (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  system_idx INTEGER NOT NULL,
  label TEXT NOT NULL,
  dbms TEXT NOT NULL,
  engine TEXT NOT NULL,
  config TEXT NOT NULL,
  transport TEXT NOT NULL,
  spec TEXT NOT NULL,
  version TEXT,
  version_text TEXT NOT NULL,
  origin TEXT NOT NULL,
  PRIMARY KEY (run_id, system_idx)
) STRICT, WITHOUT ROWID;
INSERT INTO system (run_id, system_idx, label, dbms, engine, config, transport, spec, version, version_text, origin) VALUES ('r1', 0, '0
	', 'mysql', 'rocksdb', '''; DROP TABLE slice; --''; DROP TABLE slice; --', 'tcp', '{"label":"0\n\t","dbms":"mysql","source":{"from":"external","dsn":""},"engine":"rocksdb","config":"''; DROP TABLE slice; --''; DROP TABLE slice; --","options":{"{}[]\"":"{}[]"},"transport":"tcp","variant":{"malloc":"jemalloc","durability":"full","compression":"page-zlib","limits":{},"handicap_bp":500}}', NULL, '', '{}[]"
	');
INSERT INTO system (run_id, system_idx, label, dbms, engine, config, transport, spec, version, version_text, origin) VALUES ('r1', 1, '1''; DROP TABLE slice; -- ', 'mariadb', 'rocksdb', '', 'socket', '{"label":"1''; DROP TABLE slice; -- ","dbms":"mariadb","source":{"from":"external","dsn":"''; DROP TABLE slice; --"},"engine":"rocksdb","config":"","options":{"\"":"","''; DROP TABLE slice; --":"''; DROP TABLE slice; --\\","ü€😀ü€😀":"\"\"{}[]"},"transport":"socket","variant":{"malloc":"system","durability":"full","compression":"none","limits":{"memory_bytes":173},"handicap_bp":500,"sql_after_load":["''; DROP TABLE slice; --\\"]}}', '10.11.5', '', '
	ü€😀"');
CREATE TABLE setting (
  run_id TEXT NOT NULL,
  system_idx INTEGER NOT NULL,
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL, source TEXT, default_value TEXT,
  PRIMARY KEY (run_id, system_idx, scope, name),
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 0, 'process', ' ', '
	"', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 0, 'process', '''; DROP TABLE slice; --
	', '', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 0, 'process', '\', '
	', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 0, 'server', '""''; DROP TABLE slice; --', '''; DROP TABLE slice; --"', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 0, 'session', '', '''; DROP TABLE slice; --', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 0, 'session', '''; DROP TABLE slice; --demo
	', '', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 1, 'build', '', '" {}[]', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 1, 'build', 'demo', '
	
	"', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 1, 'server', '"', 'ü€😀{}[]', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 1, 'server', '''; DROP TABLE slice; --{}[]', '', 'command-line', NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 1, 'server', '{}[]', '', 'config', '''; DROP TABLE slice; --');
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 1, 'session', '
	', '\"', NULL, NULL);
INSERT INTO setting (run_id, system_idx, scope, name, value, source, default_value) VALUES ('r1', 1, 'session', '{}[]
	', '
	\
	', NULL, NULL);
CREATE TABLE step (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  step_idx INTEGER NOT NULL,
  name TEXT NOT NULL,
  family TEXT NOT NULL,
  n INTEGER,
  kind TEXT NOT NULL,
  step_group TEXT NOT NULL,
  figure TEXT NOT NULL,
  what TEXT NOT NULL,
  n_clients INTEGER NOT NULL,
  placement TEXT NOT NULL, start_idx INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (run_id, step_idx)
) STRICT, WITHOUT ROWID;
INSERT INTO step (run_id, step_idx, name, family, n, kind, step_group, figure, what, n_clients, placement, start_idx) VALUES ('r1', 0, '', '', NULL, 'read', 'range-aggregate', 'queries', '', 82, 'free', 15062);
INSERT INTO step (run_id, step_idx, name, family, n, kind, step_group, figure, what, n_clients, placement, start_idx) VALUES ('r1', 1, '"', ' ''; DROP TABLE slice; --', 50, 'warm-up', 'range-aggregate', 'queries', '{}[]', 92, 'split', 2);
CREATE TABLE step_system (
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  failure_reason TEXT,
  database_bytes INTEGER, data_dir_bytes INTEGER, redo_bytes INTEGER, binlog_bytes INTEGER, debt TEXT, checks TEXT,
  PRIMARY KEY (run_id, step_idx, system_idx),
  FOREIGN KEY (run_id, step_idx) REFERENCES step ON DELETE CASCADE,
  FOREIGN KEY (run_id, system_idx) REFERENCES system ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO step_system (run_id, step_idx, system_idx, outcome, failure_reason, database_bytes, data_dir_bytes, redo_bytes, binlog_bytes, debt, checks) VALUES ('r1', 0, 0, 'pending', NULL, NULL, NULL, NULL, NULL, '{}', '[]');
INSERT INTO step_system (run_id, step_idx, system_idx, outcome, failure_reason, database_bytes, data_dir_bytes, redo_bytes, binlog_bytes, debt, checks) VALUES ('r1', 0, 1, 'pending', NULL, NULL, NULL, NULL, NULL, '{}', '[]');
INSERT INTO step_system (run_id, step_idx, system_idx, outcome, failure_reason, database_bytes, data_dir_bytes, redo_bytes, binlog_bytes, debt, checks) VALUES ('r1', 1, 0, 'pending', NULL, NULL, NULL, NULL, NULL, '{}', '[]');
INSERT INTO step_system (run_id, step_idx, system_idx, outcome, failure_reason, database_bytes, data_dir_bytes, redo_bytes, binlog_bytes, debt, checks) VALUES ('r1', 1, 1, 'pending', NULL, NULL, NULL, NULL, NULL, '{}', '[]');
CREATE TABLE slice (
  slice_id INTEGER NOT NULL PRIMARY KEY,
  run_id TEXT NOT NULL,
  step_idx INTEGER NOT NULL,
  system_idx INTEGER NOT NULL,
  slice_idx INTEGER NOT NULL,
  start_unix_ms INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  seed TEXT NOT NULL,
  n_events INTEGER NOT NULL,
  n_queries INTEGER NOT NULL,
  n_operations INTEGER NOT NULL,
  n_rows INTEGER NOT NULL,
  figure_per_s REAL GENERATED ALWAYS AS (n_operations * 1e9 / duration_ns) VIRTUAL,
  lateness_n_due INTEGER,
  lateness_n_late INTEGER,
  lateness_n_missed INTEGER,
  lateness_max_ns INTEGER,
  lateness_sum_ns INTEGER,
  window_length_ns INTEGER NOT NULL,
  window_counts TEXT NOT NULL,
  response_times BLOB NOT NULL,
  usage_wall_ns INTEGER NOT NULL,
  host_cpu_user_ns INTEGER NOT NULL,
  host_cpu_system_ns INTEGER NOT NULL,
  host_cpu_idle_ns INTEGER NOT NULL,
  host_cpu_iowait_ns INTEGER NOT NULL,
  host_cpu_steal_ns INTEGER NOT NULL,
  host_context_switches INTEGER NOT NULL,
  host_procs_running INTEGER NOT NULL,
  host_procs_blocked INTEGER NOT NULL,
  host_memory_available_bytes INTEGER NOT NULL,
  host_swap_in_pages INTEGER NOT NULL,
  host_swap_out_pages INTEGER NOT NULL,
  host_n_cpus INTEGER NOT NULL,
  server_cpu_user_ns INTEGER,
  server_cpu_system_ns INTEGER,
  server_cpu_total_ns INTEGER,
  server_rss_bytes INTEGER,
  server_minor_faults INTEGER,
  server_major_faults INTEGER,
  server_voluntary_switches INTEGER,
  server_involuntary_switches INTEGER,
  server_read_bytes INTEGER,
  server_write_bytes INTEGER,
  server_n_processes INTEGER,
  server_n_threads INTEGER,
  client_cpu_user_ns INTEGER NOT NULL,
  client_cpu_system_ns INTEGER NOT NULL,
  client_cpu_total_ns INTEGER NOT NULL,
  client_rss_bytes INTEGER NOT NULL,
  client_minor_faults INTEGER NOT NULL,
  client_major_faults INTEGER NOT NULL,
  client_voluntary_switches INTEGER NOT NULL,
  client_involuntary_switches INTEGER NOT NULL,
  client_read_bytes INTEGER NOT NULL,
  client_write_bytes INTEGER NOT NULL,
  client_n_processes INTEGER NOT NULL,
  client_n_threads INTEGER NOT NULL,
  storage_reads INTEGER,
  storage_read_bytes INTEGER,
  storage_writes INTEGER,
  storage_write_bytes INTEGER,
  storage_busy_ns INTEGER,
  sampler_cpu_ns INTEGER NOT NULL, n_rounds INTEGER, whole_operations INTEGER, dbms_counters TEXT, server_run_wait_ns INTEGER, served_cpu_ns INTEGER, served_run_wait_ns INTEGER, crew_cpu_ns INTEGER, crew_run_wait_ns INTEGER, io_stalled_ns INTEGER, stated TEXT,
  UNIQUE (run_id, step_idx, system_idx, slice_idx),
  FOREIGN KEY (run_id, step_idx, system_idx) REFERENCES step_system ON DELETE CASCADE
) STRICT;
INSERT INTO slice (slice_id, run_id, step_idx, system_idx, slice_idx, start_unix_ms, duration_ns, seed, n_events, n_queries, n_operations, n_rows, lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns, window_length_ns, window_counts, response_times, usage_wall_ns, host_cpu_user_ns, host_cpu_system_ns, host_cpu_idle_ns, host_cpu_iowait_ns, host_cpu_steal_ns, host_context_switches, host_procs_running, host_procs_blocked, host_memory_available_bytes, host_swap_in_pages, host_swap_out_pages, host_n_cpus, server_cpu_user_ns, server_cpu_system_ns, server_cpu_total_ns, server_rss_bytes, server_minor_faults, server_major_faults, server_voluntary_switches, server_involuntary_switches, server_read_bytes, server_write_bytes, server_n_processes, server_n_threads, client_cpu_user_ns, client_cpu_system_ns, client_cpu_total_ns, client_rss_bytes, client_minor_faults, client_major_faults, client_voluntary_switches, client_involuntary_switches, client_read_bytes, client_write_bytes, client_n_processes, client_n_threads, storage_reads, storage_read_bytes, storage_writes, storage_write_bytes, storage_busy_ns, sampler_cpu_ns, n_rounds, whole_operations, dbms_counters, server_run_wait_ns, served_cpu_ns, served_run_wait_ns, crew_cpu_ns, crew_run_wait_ns, io_stalled_ns, stated) VALUES (1, 'r1', 0, 1, 0, -10, 6, '8439437343723734186', 199822533246714, 21316739, 163041276487664, 23, 29213570619741, 41134561804, 105222, 742186496923, 58408056, 167876212492894, '[25993,3637445,61,482,4121148,444260,362072842]', X'54DE5809F89C804A070E0EE749F16B76D68FF83579EE15', 12249728, 74522, 470596326484485, 49126, 746451, 1668560, 17557010497547, 56, 2470, 4075407, 98, 130854770, 7359, 3598490517, 162, 3084802819906530, 938122703680128181, 92610, 1200289866383832020, 842961, 1246867389471976, 3194326722, 22349304183782, 497, 16444907, 203317486149310, 584701300621263, 4462441, 32573901980316, 436237605, 795, 10356677200298, 10573302978585575, 119751, 7843, 2202, 89054, 16447442022, 7214051478158, 8480496656617531, 30098943454612, 3682164281, 4134709186, NULL, NULL, '{" ":2345641538382521932}', NULL, NULL, NULL, 631597815167189957, NULL, 5, '{"figure":12842.714285714286,"metrics":[["context-switches",83671529528750.0],["context-switches",48821.666666666664]],"response":{"n":88946245186711389,"min_ns":null,"mean_ns":24.0,"max_ns":88841694303,"percentiles_ns":[[95.0,904837461],[95.0,295964506276]]},"columns":[["",128918670840255.4]],"server_rss_bytes":521854}');
INSERT INTO slice (slice_id, run_id, step_idx, system_idx, slice_idx, start_unix_ms, duration_ns, seed, n_events, n_queries, n_operations, n_rows, lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns, window_length_ns, window_counts, response_times, usage_wall_ns, host_cpu_user_ns, host_cpu_system_ns, host_cpu_idle_ns, host_cpu_iowait_ns, host_cpu_steal_ns, host_context_switches, host_procs_running, host_procs_blocked, host_memory_available_bytes, host_swap_in_pages, host_swap_out_pages, host_n_cpus, server_cpu_user_ns, server_cpu_system_ns, server_cpu_total_ns, server_rss_bytes, server_minor_faults, server_major_faults, server_voluntary_switches, server_involuntary_switches, server_read_bytes, server_write_bytes, server_n_processes, server_n_threads, client_cpu_user_ns, client_cpu_system_ns, client_cpu_total_ns, client_rss_bytes, client_minor_faults, client_major_faults, client_voluntary_switches, client_involuntary_switches, client_read_bytes, client_write_bytes, client_n_processes, client_n_threads, storage_reads, storage_read_bytes, storage_writes, storage_write_bytes, storage_busy_ns, sampler_cpu_ns, n_rounds, whole_operations, dbms_counters, server_run_wait_ns, served_cpu_ns, served_run_wait_ns, crew_cpu_ns, crew_run_wait_ns, io_stalled_ns, stated) VALUES (2, 'r1', 0, 1, 1, -8325866991384, 31912, '10699069457155397187', 60399, 1, 11806, 300201621555118304, NULL, NULL, NULL, NULL, NULL, 323692440, '[9,371958,38,14,8234185,296,8694682,13,3]', X'E46279ABD65F87F0', 24404635451927512, 1324, 925630840466, 7032993781810283, 54576, 8064968, 26583628336, 2413727991536675026, 223, 131851214, 2181, 31847548, 1, 264, 1406141254744318, 1451200886959, 439421674422910388, 542971763681039, 7, 43041590, 25871950, 543220435573779, 1, 1274399306, 17, 2886890, 83209457607479342, 14792766937919431, 861133, 62911277, 345, 5741534, 21627815624, 457264285, 670394544717, 53487, 95993606, NULL, NULL, NULL, NULL, NULL, 508199895321, 113132, 61, '{"":238330174157,"ü€😀":557158414297}', 1964633, NULL, 998725185, NULL, NULL, NULL, '{"figure":2368.4285714285716,"metrics":[["context-switches",443065679015522.7],["context-switches",1.3020965656064568e+18]],"target_inserts_per_s":3.0,"server_rss_bytes":13076102972299310}');
INSERT INTO slice (slice_id, run_id, step_idx, system_idx, slice_idx, start_unix_ms, duration_ns, seed, n_events, n_queries, n_operations, n_rows, lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns, window_length_ns, window_counts, response_times, usage_wall_ns, host_cpu_user_ns, host_cpu_system_ns, host_cpu_idle_ns, host_cpu_iowait_ns, host_cpu_steal_ns, host_context_switches, host_procs_running, host_procs_blocked, host_memory_available_bytes, host_swap_in_pages, host_swap_out_pages, host_n_cpus, server_cpu_user_ns, server_cpu_system_ns, server_cpu_total_ns, server_rss_bytes, server_minor_faults, server_major_faults, server_voluntary_switches, server_involuntary_switches, server_read_bytes, server_write_bytes, server_n_processes, server_n_threads, client_cpu_user_ns, client_cpu_system_ns, client_cpu_total_ns, client_rss_bytes, client_minor_faults, client_major_faults, client_voluntary_switches, client_involuntary_switches, client_read_bytes, client_write_bytes, client_n_processes, client_n_threads, storage_reads, storage_read_bytes, storage_writes, storage_write_bytes, storage_busy_ns, sampler_cpu_ns, n_rounds, whole_operations, dbms_counters, server_run_wait_ns, served_cpu_ns, served_run_wait_ns, crew_cpu_ns, crew_run_wait_ns, io_stalled_ns, stated) VALUES (3, 'r1', 0, 1, 2, -685090611466760, 53729495, '6270620877612482005', 13428, 275627441, 87183, 6787, NULL, NULL, NULL, NULL, NULL, 379, '[23292734]', X'8C1133CAAAD7', 8731319892188689, 6632164642173, 704021387721, 115756909463198, 4663772, 1108454833, 271567813294789, 207010504649485994, 22451890425687099, 2779040094173642, 266437979457876981, 184965907843, 13683, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1782970240825914, 166539, 7, 17029156380, 1670916771112234, 3291, 13, 3330354123332, 2, 186352765, 1376, 749244, NULL, NULL, NULL, NULL, NULL, 11653457034081814, 149572842, NULL, NULL, NULL, NULL, NULL, 459626189107, 143160888705, NULL, '{"metrics":[["context-switches",7.791781092684459e+16],["context-switches",359681337.6666667],["context-switches",5.9683756206653416e+16]],"target_inserts_per_s":4.0,"server_rss_bytes":5004890230948}');
CREATE TABLE second (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  second_idx INTEGER NOT NULL,
  n_queries INTEGER NOT NULL,
  n_events INTEGER NOT NULL,
  n_errors INTEGER NOT NULL,
  sum_ns INTEGER NOT NULL,
  max_ns INTEGER NOT NULL,
  PRIMARY KEY (slice_id, second_idx)
) STRICT, WITHOUT ROWID;
INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (1, 0, 234870057, 566658280, 2086707, 1, 941108823);
INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (1, 1, 37, 17298, 29582, 614, 842199997);
INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (1, 2, 36715, 840295, 25611, 14592479507978, 7944580162962958);
INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (1, 3, 0, 575868753, 208431447, 430, 86777072565602);
INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (2, 0, 1, 46, 132593889, 204239515747960491, 114116869185);
INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (2, 1, 80074038, 1996339932, 5754, 245794262, 162354432412);
INSERT INTO second (slice_id, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (3, 0, 2, 2, 33836286, 219402438109066621, 69501);
CREATE TABLE sample (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  sample_idx INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  host_cpu_user_ns INTEGER NOT NULL,
  host_cpu_system_ns INTEGER NOT NULL,
  host_cpu_idle_ns INTEGER NOT NULL,
  host_cpu_iowait_ns INTEGER NOT NULL,
  host_cpu_steal_ns INTEGER NOT NULL,
  host_context_switches INTEGER NOT NULL,
  host_procs_running INTEGER NOT NULL,
  host_procs_blocked INTEGER NOT NULL,
  host_memory_available_bytes INTEGER NOT NULL,
  host_swap_in_pages INTEGER NOT NULL,
  host_swap_out_pages INTEGER NOT NULL,
  host_n_cpus INTEGER NOT NULL,
  server_cpu_user_ns INTEGER,
  server_cpu_system_ns INTEGER,
  server_cpu_total_ns INTEGER,
  server_rss_bytes INTEGER,
  server_minor_faults INTEGER,
  server_major_faults INTEGER,
  server_voluntary_switches INTEGER,
  server_involuntary_switches INTEGER,
  server_read_bytes INTEGER,
  server_write_bytes INTEGER,
  server_n_processes INTEGER,
  server_n_threads INTEGER,
  client_cpu_user_ns INTEGER NOT NULL,
  client_cpu_system_ns INTEGER NOT NULL,
  client_cpu_total_ns INTEGER NOT NULL,
  client_rss_bytes INTEGER NOT NULL,
  client_minor_faults INTEGER NOT NULL,
  client_major_faults INTEGER NOT NULL,
  client_voluntary_switches INTEGER NOT NULL,
  client_involuntary_switches INTEGER NOT NULL,
  client_read_bytes INTEGER NOT NULL,
  client_write_bytes INTEGER NOT NULL,
  client_n_processes INTEGER NOT NULL,
  client_n_threads INTEGER NOT NULL,
  storage_reads INTEGER,
  storage_read_bytes INTEGER,
  storage_writes INTEGER,
  storage_write_bytes INTEGER,
  storage_busy_ns INTEGER,
  sampler_cpu_ns INTEGER NOT NULL, server_run_wait_ns INTEGER, served_cpu_ns INTEGER, served_run_wait_ns INTEGER, crew_cpu_ns INTEGER, crew_run_wait_ns INTEGER, io_stalled_ns INTEGER,
  PRIMARY KEY (slice_id, sample_idx)
) STRICT, WITHOUT ROWID;
INSERT INTO sample (slice_id, sample_idx, at_ns, host_cpu_user_ns, host_cpu_system_ns, host_cpu_idle_ns, host_cpu_iowait_ns, host_cpu_steal_ns, host_context_switches, host_procs_running, host_procs_blocked, host_memory_available_bytes, host_swap_in_pages, host_swap_out_pages, host_n_cpus, server_cpu_user_ns, server_cpu_system_ns, server_cpu_total_ns, server_rss_bytes, server_minor_faults, server_major_faults, server_voluntary_switches, server_involuntary_switches, server_read_bytes, server_write_bytes, server_n_processes, server_n_threads, client_cpu_user_ns, client_cpu_system_ns, client_cpu_total_ns, client_rss_bytes, client_minor_faults, client_major_faults, client_voluntary_switches, client_involuntary_switches, client_read_bytes, client_write_bytes, client_n_processes, client_n_threads, storage_reads, storage_read_bytes, storage_writes, storage_write_bytes, storage_busy_ns, sampler_cpu_ns, server_run_wait_ns, served_cpu_ns, served_run_wait_ns, crew_cpu_ns, crew_run_wait_ns, io_stalled_ns) VALUES (1, 0, 1531, 37, 823859376582, 0, 89148, 247793, 2502433, 377699241354242, 430490783160156069, 2481620, 1819681, 335830462897, 1156043, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1015, 52389416616692, 6, 983418927351, 2435123011174, 270735898, 36389689184212279, 6829061199947, 355031482, 9948, 19, 104, NULL, NULL, NULL, NULL, NULL, 2196892811083758369, 260231616197458, 53817162274892974, 1904746, NULL, NULL, 8687510050066200);
INSERT INTO sample (slice_id, sample_idx, at_ns, host_cpu_user_ns, host_cpu_system_ns, host_cpu_idle_ns, host_cpu_iowait_ns, host_cpu_steal_ns, host_context_switches, host_procs_running, host_procs_blocked, host_memory_available_bytes, host_swap_in_pages, host_swap_out_pages, host_n_cpus, server_cpu_user_ns, server_cpu_system_ns, server_cpu_total_ns, server_rss_bytes, server_minor_faults, server_major_faults, server_voluntary_switches, server_involuntary_switches, server_read_bytes, server_write_bytes, server_n_processes, server_n_threads, client_cpu_user_ns, client_cpu_system_ns, client_cpu_total_ns, client_rss_bytes, client_minor_faults, client_major_faults, client_voluntary_switches, client_involuntary_switches, client_read_bytes, client_write_bytes, client_n_processes, client_n_threads, storage_reads, storage_read_bytes, storage_writes, storage_write_bytes, storage_busy_ns, sampler_cpu_ns, server_run_wait_ns, served_cpu_ns, served_run_wait_ns, crew_cpu_ns, crew_run_wait_ns, io_stalled_ns) VALUES (2, 0, 30988632779, 100, 1, 151973287942545373, 139317486941492871, 111718001264316, 9038429311733979729, 434181248, 0, 47017362811, 3389534966435461956, 320129, 3319473, 838396, 845693, 378, 6, 15912993754746, 3549377943760, 36284692, 35625408673, 309, 5, 18, 3, 109449171612712, 49016661698, 26633, 781948, 83950002864, 8195512462, 123, 0, 171633931, 1367, 70, 532817, NULL, NULL, NULL, NULL, NULL, 7767985827419, NULL, 916, NULL, 1481596, 934587, 9303843745531451);
INSERT INTO sample (slice_id, sample_idx, at_ns, host_cpu_user_ns, host_cpu_system_ns, host_cpu_idle_ns, host_cpu_iowait_ns, host_cpu_steal_ns, host_context_switches, host_procs_running, host_procs_blocked, host_memory_available_bytes, host_swap_in_pages, host_swap_out_pages, host_n_cpus, server_cpu_user_ns, server_cpu_system_ns, server_cpu_total_ns, server_rss_bytes, server_minor_faults, server_major_faults, server_voluntary_switches, server_involuntary_switches, server_read_bytes, server_write_bytes, server_n_processes, server_n_threads, client_cpu_user_ns, client_cpu_system_ns, client_cpu_total_ns, client_rss_bytes, client_minor_faults, client_major_faults, client_voluntary_switches, client_involuntary_switches, client_read_bytes, client_write_bytes, client_n_processes, client_n_threads, storage_reads, storage_read_bytes, storage_writes, storage_write_bytes, storage_busy_ns, sampler_cpu_ns, server_run_wait_ns, served_cpu_ns, served_run_wait_ns, crew_cpu_ns, crew_run_wait_ns, io_stalled_ns) VALUES (3, 0, 439541842, 1134960269837585, 261093, 14410997, 825963428733938374, 13745068222033, 0, 359791, 210066145260, 17085064400494, 969, 1121549413381458714, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3548, 24, 320471190, 1593024937865727, 6880527613412100, 5343504991, 57684338340375, 95801334369828, 41055680483, 5339701034590, 47, 13334, 169922175, 373567230298, 111394946, 326524181, 30444139424405, 30449, NULL, 1322, 65240286, 7358092686304, 9891821989356, NULL);
INSERT INTO sample (slice_id, sample_idx, at_ns, host_cpu_user_ns, host_cpu_system_ns, host_cpu_idle_ns, host_cpu_iowait_ns, host_cpu_steal_ns, host_context_switches, host_procs_running, host_procs_blocked, host_memory_available_bytes, host_swap_in_pages, host_swap_out_pages, host_n_cpus, server_cpu_user_ns, server_cpu_system_ns, server_cpu_total_ns, server_rss_bytes, server_minor_faults, server_major_faults, server_voluntary_switches, server_involuntary_switches, server_read_bytes, server_write_bytes, server_n_processes, server_n_threads, client_cpu_user_ns, client_cpu_system_ns, client_cpu_total_ns, client_rss_bytes, client_minor_faults, client_major_faults, client_voluntary_switches, client_involuntary_switches, client_read_bytes, client_write_bytes, client_n_processes, client_n_threads, storage_reads, storage_read_bytes, storage_writes, storage_write_bytes, storage_busy_ns, sampler_cpu_ns, server_run_wait_ns, served_cpu_ns, served_run_wait_ns, crew_cpu_ns, crew_run_wait_ns, io_stalled_ns) VALUES (3, 1, 253, 72749, 836981297, 11580153784306679, 300996474192, 2, 118, 705105, 115199220, 15, 42, 6473080711068730, 12211091, 1346511554029547, 29735594, 15053, 22840831042845012, 304095908959279, 1877743, 17167617315343, 0, 3658808403865400, 1, 968, 5998, 25357, 39047632010, 3, 947628675043, 248769680135, 2048366164386774, 7167249826, 14972574153409205, 1360688839972458298, 15545975761122610, 207, 18, 5282120185333, 61, 256150562, 794021, 6759, 1731800951, 43497837, NULL, 1216349033995633450, 25790, NULL, NULL);
CREATE TABLE error_count (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  error_idx INTEGER NOT NULL,
  code TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (slice_id, error_idx)
) STRICT, WITHOUT ROWID;
INSERT INTO error_count (slice_id, error_idx, code, n) VALUES (1, 0, '\demo', 5282620267319911);
INSERT INTO error_count (slice_id, error_idx, code, n) VALUES (1, 1, '', 7104486944544);
INSERT INTO error_count (slice_id, error_idx, code, n) VALUES (2, 0, '', 58);
INSERT INTO error_count (slice_id, error_idx, code, n) VALUES (3, 0, 'demodemo ', 665525621);
CREATE TABLE mark (
  slice_id INTEGER NOT NULL REFERENCES slice ON DELETE CASCADE,
  mark_idx INTEGER NOT NULL,
  mark TEXT NOT NULL,
  amount INTEGER,
  sentence TEXT,
  PRIMARY KEY (slice_id, mark_idx)
) STRICT, WITHOUT ROWID;
CREATE TABLE artifact (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  path TEXT NOT NULL,
  what TEXT NOT NULL,
  PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;
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
  response_times BLOB NOT NULL, own_delays BLOB,
  PRIMARY KEY (slice_id, role)
) STRICT, WITHOUT ROWID;
INSERT INTO stream (slice_id, role, n_clients, target_per_s, duration_ns, n_events, n_queries, n_operations, lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns, errors, delays, response_times, own_delays) VALUES (1, 'hold', 473811, NULL, 55983090256, 65170, 21101, 15907, NULL, NULL, NULL, NULL, NULL, '[{"code":" ","n":4944307626637},{"code":"{}[]{}[]","n":2}]', X'4876C2D8AE5C9820C607DA6DC735507D85AAA112459800D8A9199E774356B7E1BDCA', X'3D0268D86F5D49B81E3F932B852574BC31C42077C3C089CF1EA61EFD855F9D7D', X'4E2E171CA161CCAC8B655ED91813FC948BECB386ABC22BDA7EFD6DF136');
INSERT INTO stream (slice_id, role, n_clients, target_per_s, duration_ns, n_events, n_queries, n_operations, lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns, errors, delays, response_times, own_delays) VALUES (2, 'hold', 22, 5.0, 237689588410, 27, 33146089875479, 753138402923226183, NULL, NULL, NULL, NULL, NULL, '[{"code":"ü€😀demo","n":13461814953}]', X'080BCAF8E25ACAA4C77016AB6A3B73543416', X'57A7C8758BEC9BC3D29824', X'78C7BD553CE984EB0F008418021C2C8FEC591A8047724D75A3C828B425');
INSERT INTO stream (slice_id, role, n_clients, target_per_s, duration_ns, n_events, n_queries, n_operations, lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns, errors, delays, response_times, own_delays) VALUES (2, 'insert', 249983, NULL, 215023973299486083, 21382433990606205, 3027266, 0, NULL, NULL, NULL, NULL, NULL, '[]', X'74D525C7E0140D362A899F00EA2EE82FE846F4F59CE866581BA78C13FE46D3BC', X'5244494D29107D4C6B86769FE1BCC6C016AD7E842BD3F9', X'DE11FD1E980B59424D4DBD2CD3B511170C6B6518');
INSERT INTO stream (slice_id, role, n_clients, target_per_s, duration_ns, n_events, n_queries, n_operations, lateness_n_due, lateness_n_late, lateness_n_missed, lateness_max_ns, lateness_sum_ns, errors, delays, response_times, own_delays) VALUES (3, 'query', 14612033, 0.0, 2337185728398197, 2143254, 0, 1575692, NULL, NULL, NULL, NULL, NULL, '[{"code":"''; DROP TABLE slice; --","n":15011013568216},{"code":"","n":543487397708501}]', X'AF478951FB0F74D9949DC8851ADD72A4', X'1C29F592CB0F4C3B803A4CA2793B6095FF2B049B8D528AF02B53', X'66F24684CF');
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
INSERT INTO stream_second (slice_id, role, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (1, 'hold', 0, 1703, 480, 513414985, 15345635342185, 38);
INSERT INTO stream_second (slice_id, role, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (1, 'hold', 1, 7, 1, 6827700, 1757871455, 10701168);
INSERT INTO stream_second (slice_id, role, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (1, 'hold', 2, 11184, 29988234, 397160, 485, 7642174073);
INSERT INTO stream_second (slice_id, role, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (2, 'hold', 0, 10, 100, 4, 147, 1520007774153);
INSERT INTO stream_second (slice_id, role, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (2, 'hold', 1, 30581, 120583306, 9355079, 33581821340, 2002485171);
INSERT INTO stream_second (slice_id, role, second_idx, n_queries, n_events, n_errors, sum_ns, max_ns) VALUES (3, 'query', 0, 25, 206, 13463, 416629895824605, 132);
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
CREATE TABLE tag (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) STRICT, WITHOUT ROWID;
CREATE TABLE note (
  run_id TEXT NOT NULL PRIMARY KEY REFERENCES run ON DELETE CASCADE,
  note TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE incident (
  run_id TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
  incident_idx INTEGER NOT NULL,
  at_unix_ms INTEGER NOT NULL,
  system_idx INTEGER,
  what TEXT NOT NULL,
  PRIMARY KEY (run_id, incident_idx)
) STRICT, WITHOUT ROWID;
INSERT INTO incident (run_id, incident_idx, at_unix_ms, system_idx, what) VALUES ('r1', 0, 1800000000000, 1, 'its server was killed by signal 9');
CREATE TRIGGER slice_is_final BEFORE UPDATE ON slice
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;
CREATE TRIGGER slice_stays BEFORE DELETE ON slice
WHEN EXISTS (SELECT 1 FROM run WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;
CREATE TRIGGER second_is_final BEFORE UPDATE ON second
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;
CREATE TRIGGER second_stays BEFORE DELETE ON second
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;
CREATE TRIGGER sample_is_final BEFORE UPDATE ON sample
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;
CREATE TRIGGER sample_stays BEFORE DELETE ON sample
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;
CREATE TRIGGER error_count_is_final BEFORE UPDATE ON error_count
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;
CREATE TRIGGER error_count_stays BEFORE DELETE ON error_count
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;
CREATE TRIGGER mark_is_final BEFORE UPDATE ON mark
BEGIN SELECT RAISE(ABORT, 'a stored slice is never changed'); END;
CREATE TRIGGER mark_stays BEFORE DELETE ON mark
WHEN EXISTS (SELECT 1 FROM slice WHERE slice_id = OLD.slice_id)
BEGIN SELECT RAISE(ABORT, 'a stored slice is removed only with its run'); END;
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
CREATE TRIGGER stack_profile_is_final BEFORE UPDATE ON stack_profile
BEGIN SELECT RAISE(ABORT, 'a stored stack profile is never changed'); END;
CREATE TRIGGER stack_profile_stays BEFORE DELETE ON stack_profile
WHEN EXISTS (SELECT 1 FROM run WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'a stored stack profile is removed only with its run'); END;
COMMIT;
