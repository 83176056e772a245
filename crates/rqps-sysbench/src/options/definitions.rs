//! The built-in options, as sysbench 1.0.20 and 1.1 have them, and rqps's own.

use super::value::{Kind, Value};

/// An option that can be given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition {
    /// Its name, as it is shown.
    pub(crate) name: String,
    /// What it takes.
    pub(crate) kind: Kind,
    /// Its value when it is not given, as text; `None` where help texts show none.
    pub(crate) default: Option<String>,
    /// What it does.
    pub(crate) help: String,
}

impl Definition {
    /// The value when it is not given.
    pub(crate) fn default_value(&self) -> Value {
        match self.kind {
            // As in sysbench.
            Kind::Bool if self.default.is_none() => Value::Bool(true),
            kind => {
                let text = self.default.as_deref().unwrap_or_default();
                Value::parse(kind, text).unwrap_or(Value::Nothing)
            }
        }
    }
}

/// A group of options under one heading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    /// The heading with what ends it; empty for a group that follows another without one.
    pub(crate) heading: &'static str,
    /// The options in the order of the help text.
    pub(crate) options: &'static [Row],
}

/// Name, kind, default and help of an option.
type Row = (&'static str, Kind, &'static str, &'static str);

/// The definition of a built-in option, by its name with dashes or underscores.
pub(crate) fn known(name: &str) -> Option<Definition> {
    let name = name.replace('_', "-");
    all().find(|definition| definition.name == name)
}

/// All built-in options.
pub(crate) fn all() -> impl Iterator<Item = Definition> {
    GROUPS.iter().flat_map(Group::definitions)
}

/// Whether sysbench 1.0.20 does not have an option: older scripts may use its name as a global of their own.
pub(crate) fn is_newer(name: &str) -> bool {
    [NEWER, OWN].iter().any(|group| group.options.iter().any(|(newer, ..)| *newer == name))
}

impl Group {
    /// The definitions of its options.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = Definition> + use<> {
        self.options.iter().map(|(name, kind, default, help)| Definition {
            name: (*name).to_owned(),
            kind: *kind,
            default: (!NO_DEFAULT.contains(name)).then(|| (*default).to_owned()),
            help: (*help).to_owned(),
        })
    }
}

/// Options whose help texts show no default.
const NO_DEFAULT: [&str; 2] = ["config-file", "mysql-socket"];

/// All groups, in the order of the help text.
pub(crate) const GROUPS: [Group; 9] =
    [GENERAL, RANDOM, LOG, REPORT, DATABASE, MYSQL, POSTGRES, NEWER, OWN];

const GENERAL: Group = Group {
    heading: "General options:\n",
    options: &[
        ("threads", Kind::Int, "1", "number of threads to use"),
        ("events", Kind::Int, "0", "limit for total number of events"),
        ("time", Kind::Int, "10", "limit for total execution time in seconds"),
        (
            "forced-shutdown",
            Kind::Text,
            "off",
            "number of seconds to wait after the --time limit before forcing shutdown, or 'off' to disable",
        ),
        ("thread-stack-size", Kind::Size, "64K", "size of stack per thread"),
        ("rate", Kind::Double, "0", "average transactions rate. 0 for unlimited rate"),
        (
            "report-interval",
            Kind::Int,
            "0",
            "periodically report intermediate statistics with a specified interval in seconds. 0 disables \
             intermediate reports",
        ),
        (
            "report-checkpoints",
            Kind::List,
            "",
            "dump full statistics and reset all counters at specified points in time. The argument is a list of \
             comma-separated values representing the amount of time in seconds elapsed from start of test when \
             report checkpoint(s) must be performed. Report checkpoints are off by default.",
        ),
        ("debug", Kind::Bool, "off", "print more debugging info"),
        ("validate", Kind::Bool, "off", "perform validation checks where possible"),
        ("help", Kind::Bool, "off", "print help and exit"),
        ("version", Kind::Bool, "off", "print version and exit"),
        ("config-file", Kind::File, "", "File containing command line options"),
        ("tx-rate", Kind::Double, "0", "deprecated alias for --rate"),
        ("max-requests", Kind::Int, "0", "deprecated alias for --events"),
        ("max-time", Kind::Int, "0", "deprecated alias for --time"),
        ("num-threads", Kind::Int, "1", "deprecated alias for --threads"),
    ],
};

const RANDOM: Group = Group {
    heading: "Pseudo-Random Numbers Generator options:\n",
    options: &[
        (
            "rand-type",
            Kind::Text,
            "special",
            "random numbers distribution {uniform,gaussian,special,pareto}",
        ),
        ("rand-spec-iter", Kind::Int, "12", "number of iterations used for numbers generation"),
        (
            "rand-spec-pct",
            Kind::Int,
            "1",
            "percentage of values to be treated as 'special' (for special distribution)",
        ),
        (
            "rand-spec-res",
            Kind::Int,
            "75",
            "percentage of 'special' values to use (for special distribution)",
        ),
        (
            "rand-seed",
            Kind::Int,
            "0",
            "seed for random number generator. When 0, the current time is used as a RNG seed.",
        ),
        ("rand-pareto-h", Kind::Double, "0.2", "parameter h for pareto distribution"),
    ],
};

const LOG: Group = Group {
    heading: "Log options:\n",
    options: &[(
        "verbosity",
        Kind::Int,
        "3",
        "verbosity level {5 - debug, 0 - only critical messages}",
    )],
};

const REPORT: Group = Group {
    heading: "",
    options: &[
        (
            "percentile",
            Kind::List,
            "95",
            "percentile to calculate in latency statistics (1-100). Use the special value of 0 to disable \
             percentile calculations",
        ),
        ("histogram", Kind::Bool, "off", "print latency histogram in report"),
    ],
};

const DATABASE: Group = Group {
    heading: "General database options:\n\n",
    options: &[
        (
            "db-driver",
            Kind::Text,
            "mysql",
            "specifies database driver to use ('help' to get list of available drivers)",
        ),
        ("db-ps-mode", Kind::Text, "auto", "prepared statements usage mode {auto, disable}"),
        ("db-debug", Kind::Bool, "off", "print database-specific debug information"),
    ],
};

const MYSQL: Group = Group {
    heading: "mysql options:\n",
    options: &[
        ("mysql-host", Kind::List, "localhost", "MySQL server host"),
        ("mysql-port", Kind::List, "3306", "MySQL server port"),
        ("mysql-socket", Kind::List, "", "MySQL socket"),
        ("mysql-user", Kind::Text, "sbtest", "MySQL user"),
        ("mysql-password", Kind::Text, "", "MySQL password"),
        ("mysql-db", Kind::Text, "sbtest", "MySQL database name"),
        ("mysql-ssl", Kind::Text, "off", "use SSL connections, if available in the client library"),
        ("mysql-ssl-cipher", Kind::Text, "", "use specific cipher for SSL connections"),
        (
            "mysql-compression",
            Kind::Text,
            "off",
            "use compression, if available in the client library",
        ),
        ("mysql-debug", Kind::Bool, "off", "trace all client library calls"),
        (
            "mysql-ignore-errors",
            Kind::List,
            "1213,1020,1205",
            "list of errors to ignore, or \"all\"",
        ),
        (
            "mysql-dry-run",
            Kind::Bool,
            "off",
            "Dry run, pretend that all MySQL client API calls are successful without executing them",
        ),
    ],
};

const POSTGRES: Group = Group {
    heading: "pgsql options:\n",
    options: &[
        ("pgsql-host", Kind::List, "localhost", "PostgreSQL server host"),
        ("pgsql-port", Kind::List, "5432", "PostgreSQL server port"),
        ("pgsql-user", Kind::Text, "sbtest", "PostgreSQL user"),
        ("pgsql-password", Kind::Text, "", "PostgreSQL password"),
        ("pgsql-db", Kind::Text, "sbtest", "PostgreSQL database name"),
    ],
};

const NEWER: Group = Group {
    heading: "Options of sysbench 1.1:\n",
    options: &[
        ("warmup-time", Kind::Int, "0", "seconds of events before those that are counted"),
        ("thread-init-timeout", Kind::Int, "30", "seconds in which all threads must start"),
        (
            "luajit-cmd",
            Kind::Text,
            "",
            "accepted for compatibility; scripts can call jit.* themselves",
        ),
        ("rand-zipfian-exp", Kind::Double, "0.8", "exponent of --rand-type=zipfian"),
        (
            "mysql-ssl-ca",
            Kind::File,
            "",
            "PEM file of the authority that signed the server's certificate",
        ),
        ("mysql-ssl-cert", Kind::File, "", "refused: client certificates are not supported"),
        ("mysql-ssl-key", Kind::File, "", "refused: client certificates are not supported"),
        (
            "mysql-compression-algorithms",
            Kind::Text,
            "",
            "refused except uncompressed: compression is not supported",
        ),
        (
            "pgsql-sslmode",
            Kind::Text,
            "",
            "TLS over TCP: disable, prefer (where the server offers it, the default), require, verify-ca or \
             verify-full",
        ),
    ],
};

const OWN: Group = Group {
    heading: "Options of rqps:\n",
    options: &[(
        "json",
        Kind::Bool,
        "off",
        "print the report as JSON on standard output and everything else on standard error",
    )],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_of_its_kind() {
        for definition in all() {
            let parsed = definition.default.as_deref().map(|it| Value::parse(definition.kind, it));
            assert_ne!(parsed, Some(None), "{definition:?}");
        }
        assert_eq!(known("mysql_host").map(|d| d.name), Some("mysql-host".to_owned()));
        assert_eq!(known("table-size"), None);
    }
}
