//! A user's production configuration on real servers: nothing outside of the run's directory is touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

use crate::bench::{Bench, Said};

/// Files of a production that stand beside what a configuration names, open to everybody: only rqps keeps its
/// servers from writing to them.
struct Production {
    dir: PathBuf,
    before: BTreeMap<PathBuf, String>,
    notify: Inotify,
}

impl Production {
    fn make(bench: &Bench, files: &[&str]) -> Self {
        let dir = bench.path("production");
        let notify = Inotify::init(InitFlags::IN_NONBLOCK).unwrap();
        bench.write("theirs", "theirs");
        for file in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // By a process of its own: what this one opens to write, another test's child may close later.
            let copy = Command::new("cp").arg(bench.path("theirs")).arg(&path).status().unwrap();
            assert!(copy.success());
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        }
        for dir in directories(&dir) {
            fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
        }
        for dir in directories(&dir) {
            let flags = AddWatchFlags::IN_MODIFY
                | AddWatchFlags::IN_CLOSE_WRITE
                | AddWatchFlags::IN_CREATE
                | AddWatchFlags::IN_DELETE
                | AddWatchFlags::IN_MOVE
                | AddWatchFlags::IN_ATTRIB;
            notify.add_watch(&dir, flags).unwrap();
        }
        let before = contents(&dir);
        Self { dir, before, notify }
    }

    fn assert_untouched(&self) {
        let events = self.notify.read_events().unwrap_or_default();
        assert!(events.is_empty(), "{events:?}");
        assert_eq!(contents(&self.dir), self.before);
    }
}

fn directories(dir: &Path) -> Vec<PathBuf> {
    let below = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let below = below.filter(|path| path.is_dir()).flat_map(|path| directories(&path));
    std::iter::once(dir.to_owned()).chain(below).collect()
}

fn contents(dir: &Path) -> BTreeMap<PathBuf, String> {
    let all = directories(dir).into_iter().flat_map(|dir| fs::read_dir(dir).unwrap());
    let files = all.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.map(|path| (path.clone(), fs::read_to_string(&path).unwrap())).collect()
}

/// Two systems of one configuration, measured for a moment: steps that read, write, settle.
fn run(bench: &Bench, (dbms, version): (&str, &str), config: &str) -> Said {
    let system = |label: &str| {
        format!(
            "[[system]]\ndbms = {dbms:?}\nversion = {version:?}\nlabel = {label:?}\nconfig = {config:?}\n"
        )
    };
    let plan = format!(
        "name = 'own'\n{}{}[[suite]]\nrows = 2000\ntables = 1\nsteps = ['point-query', 'update-index']\n\
         [suite.seconds]\nread = 0.3\nwrite = 0.3\ninsert = 0.3\nwarm_up = 0.05\nfixed_at_most = 0.3\n\
         [schedule]\nstarts = 1\nslices = 2\n",
        system("a"),
        system("b")
    );
    bench.write("plan.toml", &plan);
    bench.run(&["run", "plan.toml", "--no-html"])
}

#[test]
fn a_my_cnf_of_production_harms_nothing() {
    for server in [("mariadb", "10.2.11"), ("mysql", "9.7.4")] {
        my_cnf_of_production(server);
    }
}

fn my_cnf_of_production(server: (&str, &str)) {
    let bench = Bench::new();
    let production = Production::make(
        &bench,
        &[
            "binlog/mysql-bin.000001",
            "binlog/mysql-bin.index",
            "redo/ib_logfile0",
            "ibdata/ibdata1",
            "undo/undo001",
            "aria/aria_log_control",
            "data/ibdata1",
            "log/slow.log",
            "log/error.log",
            "run/mysqld.pid",
            "init.sql",
            "keys.txt",
        ],
    );
    let dir = production.dir.display();
    fs::create_dir(bench.path("conf.d")).unwrap();
    bench.write(
        "conf.d/50-server.cnf",
        &format!(
            "[mysqld]\nlog-bin = {dir}/binlog/mysql-bin\nserver-id = 1\nmax_binlog_size = 100M\n\
             innodb_data_home_dir = {dir}/ibdata\ninnodb-log-group-home-dir = \"{dir}/redo\"\n\
             innodb_undo_directory={dir}/undo\naria_log_dir_path = {dir}/aria\n\
             [mariadb]\nloose-slow_query_log_file = {dir}/log/slow.log # a comment\nslow_query_log = 1\n\
             long_query_time = 0\ngeneral_log=1\ngeneral_log_file={dir}/log/general.log\n"
        ),
    );
    bench.write(
        "my.cnf",
        &format!(
            "[client]\nsocket = {dir}/run/mysqld.sock\n[mysqld]\ndatadir = {dir}/data\nsocket = {dir}/run/my.sock\n\
             port = 3306\nbind-address = 0.0.0.0\npid-file = {dir}/run/mysqld.pid\nlog_error = {dir}/log/error.log\n\
             tmpdir = {dir}/log\ninit_file = {dir}/init.sql\nevent_scheduler = ON\nreport_host = db1.example.com\n\
             plugin_load_add = file_key_management\nfile_key_management_filename = {dir}/keys.txt\n\
             innodb_buffer_pool_size = 64M\n!includedir {}\n",
            bench.path("conf.d").display()
        ),
    );
    let said = run(&bench, server, "my.cnf");
    assert_eq!(said.code(), 0, "{}", said.stderr);
    production.assert_untouched();
    for told in [
        "my.cnf: rqps sets datadir, socket, port, bind-address, pid-file, log_error, tmpdir itself",
        "50-server.cnf:2: log-bin = ",
        "became mysql-bin in the data directory",
        "init_file (line ",
    ] {
        assert!(said.stderr.contains(told), "{told}: {}", said.stderr);
    }
    let run = bench.latest();
    let settings = run["systems"][0]["settings"].as_object().unwrap();
    assert!(settings["innodb_buffer_pool_size"].as_str().unwrap().starts_with("67108864"));
    for setting in settings.values() {
        assert!(!setting.as_str().unwrap().contains("production"), "{setting}");
    }
    assert_eq!(settings["log_bin"], "ON", "the binary log that the file asks for is written");
}

#[test]
fn a_postgresql_conf_of_production_harms_nothing() {
    let bench = Bench::new();
    let production = Production::make(
        &bench,
        &[
            "archive/000000010000000000000001",
            "data/PG_VERSION",
            "15-main.pid",
            "log/server.log",
            "tmp/x",
        ],
    );
    let dir = production.dir.display();
    fs::create_dir(bench.path("conf.d")).unwrap();
    bench.write(
        "postgresql.conf",
        &format!(
            "data_directory = '{dir}/data'\t\t# use data in another directory\nhba_file = '{dir}/pg_hba.conf'\n\
             ident_file = '{dir}/pg_ident.conf'\nexternal_pid_file = '{dir}/15-main.pid'\nport = 5432\n\
             max_connections = 100\nlisten_addresses = '*'\nunix_socket_directories = '{dir}'\nssl = on\n\
             ssl_cert_file = '/etc/ssl/certs/ssl-cert-snakeoil.pem'\nssl_key_file = '/etc/ssl/private/ssl-cert-snakeoil.key'\n\
             shared_buffers = 64MB\ndynamic_shared_memory_type = posix\nlog_line_prefix = '%m [%p] %q%u@%d '\n\
             log_timezone = 'Etc/UTC'\ncluster_name = '15/main'\ndatestyle = 'iso, mdy'\ntimezone = 'Etc/UTC'\n\
             lc_messages = 'en_US.UTF-8'\nlc_monetary = 'en_US.UTF-8'\nlc_numeric = 'en_US.UTF-8'\n\
             lc_time = 'en_US.UTF-8'\ndefault_text_search_config = 'pg_catalog.english'\n\
             stats_temp_directory = '{dir}/tmp'\ninclude_dir = 'conf.d'\ninclude_if_exists = 'none.conf'\n\
             include 'site.conf'\n"
        ),
    );
    bench.write("conf.d/10.conf", "work_mem = 5MB\n");
    bench.write(
        "site.conf",
        &format!(
            "archive_mode = on\narchive_command = 'cp %p {dir}/archive/%f'\nlogging_collector = on\n\
             log_directory = '{dir}/log'\nsynchronous_standby_names = '*'\nsynchronous_commit = on\n\
             shared_preload_libraries = 'pg_stat_statements, pg_cron'\ncron.host = '10.0.0.1'\n"
        ),
    );
    let said = run(&bench, ("postgres", "11.22"), "postgresql.conf");
    assert_eq!(said.code(), 0, "{}", said.stderr);
    production.assert_untouched();
    for told in ["archive_command (line 2): archiving", "shared_preload_libraries loads no pg_cron"]
    {
        assert!(said.stderr.contains(told), "{told}: {}", said.stderr);
    }
    let run = bench.latest();
    let settings = &run["systems"][0]["settings"];
    assert_eq!(settings["work_mem"], "5MB", "the included directory counts");
    assert_eq!(settings["shared_preload_libraries"], "pg_stat_statements");
    assert_eq!(settings["archive_mode"], "off");
}

#[test]
fn what_nobody_knows_is_refused_before_anything_starts() {
    let bench = Bench::new();
    let refused = |config: &str, text: &str, found: &str| {
        bench.write(config, text);
        let (dbms, version) =
            if config == "my.cnf" { ("mariadb", "10.2.11") } else { ("postgres", "11.22") };
        let said = run(&bench, (dbms, version), config);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains(found), "{}", said.stderr);
    };
    refused(
        "my.cnf",
        "[mysqld]\n\nnew_hook = /usr/bin/backup\n",
        "my.cnf:3: new_hook = /usr/bin/backup: ",
    );
    refused(
        "my.cnf",
        "[mysqld]\ndatad = /var/lib/mysql\n",
        "my.cnf:2: datad = /var/lib/mysql: a server may take it for datadir",
    );
    refused("my.cnf", "[mysqld]\nskip-grant-tables\n", "my.cnf:2: skip-grant-tables: ");
    refused("my.cnf", "[mysqld]\n!include /no/such.cnf\n", "my.cnf:2: /no/such.cnf: ");
    refused("postgresql.conf", "include_dir 'gone'\n", "postgresql.conf:1: include_dir ");
    refused("postgresql.conf", "a = b c\n", "postgresql.conf:1: ");
}
