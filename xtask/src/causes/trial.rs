//! The causes that are put there, each as a plan of two systems of which the second has it.

use rqps_explain::Kind;

use super::hog::Where;

/// A cause that is put there.
#[derive(Debug)]
pub(super) struct Trial {
    /// Its name, of runs and of the matrix's rows.
    pub(super) name: &'static str,
    /// What the report should call it; absent where nothing is there and no verdict is right.
    pub(super) expected: Option<Kind>,
    /// The setting that evidence or a warning at the top must name besides.
    pub(super) must_name: Option<&'static str>,
    /// DBMS and version.
    server: (&'static str, &'static str),
    /// The step that is measured.
    pub(super) step: &'static str,
    /// Keys of both systems.
    both: &'static str,
    /// Keys of the second one alone.
    second: &'static str,
    /// Rows of the table.
    rows: u64,
    /// Clients at once.
    clients: u32,
    /// Keys of the schedule.
    schedule: &'static str,
    /// What burns CPU while the second one is measured.
    pub(super) hog: Option<Where>,
}

/// Label of the first system.
const BASE: &str = "base";

/// Label of the second system.
const SECOND: &str = "changed";

const MARIADB: (&str, &str) = ("mariadb", "10.11.5");

const INTERLEAVED: &str = "mode = \"interleaved\"\nplacement = \"paired\"\n";

/// Every trial.
pub(super) static TRIALS: [Trial; 14] = [
    Trial {
        name: "injected-slowdown",
        expected: Some(Kind::Waiting),
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "injected_slowdown = 15\n",
        rows: 50_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "general-log",
        expected: Some(Kind::CpuOverhead),
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        // Written and thrown away: what it costs is CPU.
        second: "options = { general_log = \"1\", general_log_file = \"/dev/null\" }\n",
        rows: 50_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "log-statement",
        expected: Some(Kind::CpuOverhead),
        must_name: None,
        server: ("postgres", "17.4"),
        step: "point-query",
        both: "",
        // To a system log that is not there.
        second: "options = { log_statement = \"all\", log_destination = \"syslog\" }\n",
        rows: 50_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "small-cache",
        expected: Some(Kind::StorageReads),
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        // Direct IO, the version's default, keeps the page cache from hiding it.
        second: "options = { innodb_buffer_pool_size = \"8M\" }\n",
        rows: 500_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "fsync",
        expected: Some(Kind::StorageWrites),
        must_name: None,
        server: MARIADB,
        step: "update-index",
        both: "",
        second: "durability = \"full\"\n",
        rows: 50_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "tls",
        expected: Some(Kind::CpuOverhead),
        must_name: Some("tls"),
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "transport = \"tls\"\n",
        rows: 50_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "dropped-index",
        expected: Some(Kind::PlanChange),
        must_name: None,
        server: MARIADB,
        step: "points-covered-si",
        both: "",
        second: "sql_after_load = [\"ALTER TABLE sbtest1 DROP INDEX k_1\"]\n",
        rows: 20_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "busy-host",
        expected: Some(Kind::HostLimited),
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "",
        rows: 50_000,
        clients: 1,
        // It would hit interleaved sides alike.
        schedule: "mode = \"sequential\"\nplacement = \"paired\"\nslices = 8\n",
        hog: Some(Where::Everywhere),
    },
    Trial {
        name: "busy-client",
        expected: Some(Kind::ClientLimited),
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "",
        rows: 50_000,
        clients: 1,
        schedule: "mode = \"sequential\"\nplacement = \"split\"\nslices = 8\n",
        hog: Some(Where::OnClients),
    },
    Trial {
        name: "slowdown-clients",
        expected: Some(Kind::Waiting),
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "injected_slowdown = 15\n",
        rows: 50_000,
        clients: 4,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "slowdown-writes",
        expected: Some(Kind::Waiting),
        must_name: None,
        server: MARIADB,
        step: "update-index",
        both: "",
        second: "injected_slowdown = 50\n",
        rows: 50_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "dropped-index-slowdown",
        expected: Some(Kind::PlanChange),
        must_name: None,
        server: MARIADB,
        step: "points-covered-si",
        both: "",
        // A mixture: without the index all rows are read, beside which the injected slowdown is little.
        second: "injected_slowdown = 20\nsql_after_load = [\"ALTER TABLE sbtest1 DROP INDEX k_1\"]\n",
        rows: 20_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "nothing",
        expected: None,
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "",
        rows: 50_000,
        clients: 1,
        schedule: INTERLEAVED,
        hog: None,
    },
    Trial {
        name: "nothing-clients",
        expected: None,
        must_name: None,
        server: MARIADB,
        step: "update-index",
        both: "",
        second: "",
        rows: 50_000,
        clients: 4,
        schedule: INTERLEAVED,
        hog: None,
    },
];

impl Trial {
    /// The plan of a run, measured for `seconds` on each system.
    pub(super) fn plan(&self, name: &str, seconds: u64, seed: u64) -> String {
        let (dbms, version) = self.server;
        let transport = if self.must_name == Some("tls") { "tcp" } else { "socket" };
        let system = |label: &str, own: &str| {
            let transport = if own.contains("transport") {
                String::new()
            } else {
                format!("transport = \"{transport}\"\n")
            };
            format!(
                "[[system]]\ndbms = \"{dbms}\"\nversion = \"{version}\"\nlabel = \"{label}\"\n\
                 {transport}{}{own}\n",
                self.both
            )
        };
        let is_sequential = self.schedule.contains("sequential");
        let time = if is_sequential { seconds as f64 / 8.0 } else { seconds as f64 };
        let budget =
            if is_sequential { String::new() } else { format!("budget = \"{seconds}s\"\n") };
        format!(
            "name = \"{name}\"\nbase = \"{BASE}\"\n\n{}{}[[suite]]\nsize = \"tiny\"\nrows = {}\n\
             clients = [{}]\nsteps = [\"{}\"]\nseconds = {{ read = {time:?}, write = {time:?} }}\n\n\
             [schedule]\n{}{budget}seed = {seed}\n",
            system(BASE, ""),
            system(SECOND, self.second),
            self.rows,
            self.clients,
            self.step,
            self.schedule,
        )
    }

    /// Whether a line of rqps says that the base is done with the step, one after the other: the second
    /// system is next. What it says of the beginning of a step may be absent where much is said.
    pub(super) fn starts_hog(&self, line: &str) -> bool {
        let mut words = line.split_whitespace().skip(1);
        words.next() == Some(BASE) && words.next() == Some(self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_can_be_carried_out() {
        let catalogue = rqps_server::Catalogue::builtin().unwrap();
        for trial in &TRIALS {
            let text = trial.plan("causes-test", 20, 1);
            let plan = rqps_runner::PlanFile::parse(&text, trial.name).unwrap();
            let plan = plan.resolve(trial.name, &catalogue).unwrap();
            assert_eq!(plan.systems.len(), 2, "{}", trial.name);
            assert_eq!(plan.systems[1].label.as_str(), SECOND);
        }
    }

    #[test]
    fn the_hog_starts_when_the_base_is_done() {
        let busy = TRIALS.iter().find(|trial| trial.hog.is_some()).unwrap();
        let ended =
            format!("00:00:31 {:18} {:32}   1 client        41234 queries/s\n", BASE, busy.step);
        assert!(busy.starts_hog(&ended));
        for line in [
            format!("00:00:20 {BASE}: {}, 1 client\n", busy.step),
            format!("00:00:31 {SECOND:18} {:32}   1 client        41234 queries/s\n", busy.step),
            format!("00:00:12 {BASE:18} {:32}   1 client\n", "load"),
            "00:00:01 run x: 4 steps\n".to_owned(),
        ] {
            assert!(!busy.starts_hog(&line), "{line}");
        }
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = TRIALS.iter().map(|t| t.name).collect();
        assert_eq!(names.len(), TRIALS.len());
    }
}
