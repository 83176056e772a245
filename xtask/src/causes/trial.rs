//! The causes that are put there, each as a plan of two systems of which the second has it.

use rqps_explain::Kind;

use super::hog::Where;

/// A cause that is put there.
#[derive(Debug)]
pub(super) struct Trial {
    /// Its name, of runs and of the matrix's rows.
    pub(super) name: &'static str,
    /// What the report should call it.
    pub(super) expected: Kind,
    /// A word that the sentence or a warning at the top must have besides.
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
    /// Keys of the schedule.
    schedule: &'static str,
    /// What burns CPU while the second one is measured.
    pub(super) hog: Option<Where>,
}

/// Label of the second system.
const SECOND: &str = "changed";

const MARIADB: (&str, &str) = ("mariadb", "10.11.5");

const IN_TURNS: &str = "mode = \"interleaved\"\nplacement = \"paired\"\n";

/// Every trial.
pub(super) static TRIALS: [Trial; 9] = [
    Trial {
        name: "handicap",
        expected: Kind::Waiting,
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "handicap = 15\n",
        rows: 50_000,
        schedule: IN_TURNS,
        hog: None,
    },
    Trial {
        name: "general-log",
        expected: Kind::CpuOverhead,
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        // Written and thrown away: what it costs is CPU.
        second: "options = { general_log = \"1\", general_log_file = \"/dev/null\" }\n",
        rows: 50_000,
        schedule: IN_TURNS,
        hog: None,
    },
    Trial {
        name: "log-statement",
        expected: Kind::CpuOverhead,
        must_name: None,
        server: ("postgres", "17.4"),
        step: "point-query",
        both: "",
        // To a system log that is not there.
        second: "options = { log_statement = \"all\", log_destination = \"syslog\" }\n",
        rows: 50_000,
        schedule: IN_TURNS,
        hog: None,
    },
    Trial {
        name: "small-cache",
        expected: Kind::StorageReads,
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        // Direct IO, the version's default, keeps the page cache from hiding it.
        second: "options = { innodb_buffer_pool_size = \"8M\" }\n",
        rows: 500_000,
        schedule: IN_TURNS,
        hog: None,
    },
    Trial {
        name: "fsync",
        expected: Kind::StorageWrites,
        must_name: None,
        server: MARIADB,
        step: "update-index",
        both: "",
        second: "durability = \"full\"\n",
        rows: 50_000,
        schedule: IN_TURNS,
        hog: None,
    },
    Trial {
        name: "tls",
        expected: Kind::CpuOverhead,
        must_name: Some("tls"),
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "transport = \"tls\"\n",
        rows: 50_000,
        schedule: IN_TURNS,
        hog: None,
    },
    Trial {
        name: "dropped-index",
        expected: Kind::PlanChange,
        must_name: None,
        server: MARIADB,
        step: "points-covered-si",
        both: "",
        second: "sql_after_load = [\"ALTER TABLE sbtest1 DROP INDEX k_1\"]\n",
        rows: 20_000,
        schedule: IN_TURNS,
        hog: None,
    },
    Trial {
        name: "busy-host",
        expected: Kind::HostLimited,
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "",
        rows: 50_000,
        // In turns it would hit both sides alike.
        schedule: "mode = \"sequential\"\nplacement = \"paired\"\nslices = 8\n",
        hog: Some(Where::Everywhere),
    },
    Trial {
        name: "busy-client",
        expected: Kind::ClientLimited,
        must_name: None,
        server: MARIADB,
        step: "point-query",
        both: "",
        second: "",
        rows: 50_000,
        schedule: "mode = \"sequential\"\nplacement = \"split\"\nslices = 8\n",
        hog: Some(Where::OnClients),
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
            "name = \"{name}\"\nbase = \"base\"\n\n{}{}[[suite]]\nsize = \"tiny\"\nrows = {}\n\
             clients = [1]\nsteps = [\"{}\"]\nseconds = {{ read = {time:?}, write = {time:?} }}\n\n\
             [schedule]\n{}{budget}seed = {seed}\n",
            system("base", ""),
            system(SECOND, self.second),
            self.rows,
            self.step,
            self.schedule,
        )
    }

    /// What rqps says when the second system begins with the step.
    pub(super) fn starts_hog(&self) -> String {
        format!("{SECOND}: {}", self.step)
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
            let plan = rqps_lab::PlanFile::parse(&text, trial.name).unwrap();
            let plan = plan.resolve(trial.name, &catalogue).unwrap();
            assert_eq!(plan.systems.len(), 2, "{}", trial.name);
            assert_eq!(plan.systems[1].label.as_str(), SECOND);
        }
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = TRIALS.iter().map(|t| t.name).collect();
        assert_eq!(names.len(), TRIALS.len());
    }
}
