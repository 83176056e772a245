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
    /// The heading; empty for a group that follows another without one.
    pub(crate) title: &'static str,
    /// Name, kind, default and help of each.
    pub(crate) options: &'static [(&'static str, Kind, &'static str, &'static str)],
}

/// The definition of a built-in option, by its name with dashes or underscores.
pub(crate) fn known(name: &str) -> Option<Definition> {
    let name = name.replace('_', "-");
    all().find(|definition| definition.name == name)
}

/// All built-in options.
pub(crate) fn all() -> impl Iterator<Item = Definition> {
    GROUPS.iter().flat_map(|group| group.options).map(|(name, kind, default, help)| Definition {
        name: (*name).to_owned(),
        kind: *kind,
        default: (*name != "config-file").then(|| (*default).to_owned()),
        help: (*help).to_owned(),
    })
}

/// All groups, in the order of the help text.
pub(crate) const GROUPS: [Group; 7] = [GENERAL, RANDOM, LOG, REPORT, DATABASE, MYSQL, POSTGRES];

const GENERAL: Group = Group {
    title: "General options",
    options: &[
        ("threads", Kind::Int, "1", "number of client threads, each with connections of its own"),
        (
            "events",
            Kind::Int,
            "0",
            "end after so many events of all threads together; 0 for no limit",
        ),
        ("time", Kind::Int, "10", "end after so many seconds; 0 for no limit"),
        ("warmup-time", Kind::Int, "0", "seconds of events before those that are counted"),
        (
            "forced-shutdown",
            Kind::Text,
            "off",
            "seconds after the limit of --time at which unfinished events are given up, or 'off'",
        ),
        (
            "thread-stack-size",
            Kind::Size,
            "64K",
            "accepted for compatibility; threads have what they need",
        ),
        (
            "thread-init-timeout",
            Kind::Int,
            "30",
            "seconds that all threads together may take to begin",
        ),
        (
            "rate",
            Kind::Double,
            "0",
            "events per second of all threads together, at random moments; response times then count \
             from the intended start. 0 for as fast as possible",
        ),
        ("report-interval", Kind::Int, "0", "seconds between intermediate reports; 0 for none"),
        (
            "report-checkpoints",
            Kind::List,
            "",
            "seconds after the start at which a whole report is printed and counting begins anew",
        ),
        ("debug", Kind::Bool, "off", "say more about what happens"),
        ("validate", Kind::Bool, "off", "accepted for compatibility; scripts can read it"),
        ("help", Kind::Bool, "off", "print this text and exit"),
        ("version", Kind::Bool, "off", "print the version and exit"),
        ("config-file", Kind::File, "", "file of options, one NAME=VALUE a line"),
        (
            "luajit-cmd",
            Kind::Text,
            "",
            "accepted for compatibility; scripts can call jit.* themselves",
        ),
        ("tx-rate", Kind::Double, "0", "older name of --rate"),
        ("max-requests", Kind::Int, "0", "older name of --events"),
        ("max-time", Kind::Int, "0", "older name of --time"),
        ("num-threads", Kind::Int, "1", "older name of --threads"),
    ],
};

const RANDOM: Group = Group {
    title: "Random number options",
    options: &[
        (
            "rand-type",
            Kind::Text,
            "special",
            "distribution of sysbench.rand.default: uniform, gaussian, special, pareto or zipfian",
        ),
        (
            "rand-spec-iter",
            Kind::Int,
            "12",
            "uniform numbers in the mean that is a gaussian or special one",
        ),
        ("rand-spec-pct", Kind::Int, "1", "percentage of values that 'special' prefers"),
        ("rand-spec-res", Kind::Int, "75", "percentage of draws that they get"),
        ("rand-seed", Kind::Int, "0", "seed; 0 for one drawn from the clock"),
        ("rand-pareto-h", Kind::Double, "0.2", "parameter h of 'pareto'"),
        ("rand-zipfian-exp", Kind::Double, "0.8", "exponent of 'zipfian'"),
    ],
};

const LOG: Group = Group {
    title: "Log options",
    options: &[("verbosity", Kind::Int, "3", "0 for errors alone, 5 for everything")],
};

const REPORT: Group = Group {
    title: "",
    options: &[
        (
            "percentile",
            Kind::List,
            "95",
            "percentile of response times, or several with commas between them (50,95,99.9); 0 for none",
        ),
        ("histogram", Kind::Bool, "off", "print how response times are distributed"),
        (
            "json",
            Kind::Bool,
            "off",
            "print the report as JSON on standard output and everything else on standard error",
        ),
    ],
};

const DATABASE: Group = Group {
    title: "General database options",
    options: &[
        ("db-driver", Kind::Text, "mysql", "kind of server: mysql or pgsql"),
        ("db-ps-mode", Kind::Text, "auto", "prepared statements: auto, or disable to send text"),
        ("db-debug", Kind::Bool, "off", "print every statement"),
    ],
};

const MYSQL: Group = Group {
    title: "mysql options",
    options: &[
        ("mysql-host", Kind::List, "localhost", "hosts, taken in turn by connections"),
        ("mysql-port", Kind::List, "3306", "ports, taken in turn with the hosts"),
        ("mysql-socket", Kind::List, "", "unix sockets, in place of hosts"),
        ("mysql-user", Kind::Text, "sbtest", "user"),
        ("mysql-password", Kind::Text, "", "password"),
        ("mysql-db", Kind::Text, "sbtest", "database"),
        (
            "mysql-ssl",
            Kind::Text,
            "off",
            "TLS: off or DISABLED; PREFERRED, where the server offers it; on or REQUIRED; VERIFY_CA or \
             VERIFY_IDENTITY, which need --mysql-ssl-ca",
        ),
        (
            "mysql-ssl-ca",
            Kind::File,
            "",
            "PEM file of the authority that signed the server's certificate",
        ),
        ("mysql-ssl-cert", Kind::File, "", "refused when given: no certificates of clients"),
        ("mysql-ssl-key", Kind::File, "", "refused when given: no certificates of clients"),
        (
            "mysql-ssl-cipher",
            Kind::Text,
            "",
            "refused when given: ciphers are those of the TLS library",
        ),
        ("mysql-compression", Kind::Text, "off", "refused when on: traffic is never compressed"),
        (
            "mysql-compression-algorithms",
            Kind::Text,
            "",
            "refused but for uncompressed: traffic is never compressed",
        ),
        ("mysql-debug", Kind::Bool, "off", "accepted for compatibility"),
        (
            "mysql-ignore-errors",
            Kind::List,
            "1213,1020,1205",
            "numbers of errors after which an event is begun again, or \"all\"",
        ),
        ("mysql-dry-run", Kind::Bool, "off", "send nothing; every statement succeeds without rows"),
    ],
};

const POSTGRES: Group = Group {
    title: "pgsql options",
    options: &[
        (
            "pgsql-host",
            Kind::List,
            "localhost",
            "hosts, or directories of unix sockets, taken in turn",
        ),
        ("pgsql-port", Kind::List, "5432", "ports, taken in turn with the hosts"),
        ("pgsql-user", Kind::Text, "sbtest", "user"),
        ("pgsql-password", Kind::Text, "", "password"),
        ("pgsql-db", Kind::Text, "sbtest", "database"),
        (
            "pgsql-sslmode",
            Kind::Text,
            "",
            "TLS over TCP: disable, prefer (where the server offers it, the default), require, verify-ca or \
             verify-full",
        ),
    ],
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
