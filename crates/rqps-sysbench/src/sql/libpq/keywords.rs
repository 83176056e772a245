//! The connection parameters of libpq, with their environment variables and what becomes of them here.

/// What becomes of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It has its effect.
    Honoured,
    /// It is sent to the server as a startup parameter of its own name.
    Sent,
    /// It cannot change what is measured.
    Ignored,
    /// Only these values are taken, which ask for nothing.
    Refused {
        /// The values that are taken.
        but: &'static [&'static str],
        /// Why others are not.
        why: &'static str,
    },
}

/// A connection parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Keyword {
    /// Its name in connection strings and service files.
    pub(super) name: &'static str,
    /// Its environment variable; empty for none.
    pub(super) variable: &'static str,
    /// What becomes of it.
    pub(super) usage: Use,
}

const fn keyword(name: &'static str, variable: &'static str, usage: Use) -> Keyword {
    Keyword { name, variable, usage }
}

const fn refused(
    name: &'static str,
    variable: &'static str,
    but: &'static [&'static str],
    why: &'static str,
) -> Keyword {
    Keyword { name, variable, usage: Use::Refused { but, why } }
}

const NO_CERTIFICATE: &str = "client certificates are not supported";
const NO_REVOCATION: &str = "revocation lists are not supported";
const NO_CHOICE: &str = "every server of the list is used, whatever its state";
const NO_KERBEROS: &str = "GSSAPI encryption is not supported";
const TLS_VERSIONS: &str = "TLS is 1.2 or 1.3, as the server chooses";

/// The parameter of a name.
pub(super) fn known(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|keyword| keyword.name == name)
}

/// All parameters, as of PostgreSQL 18.
pub(super) static KEYWORDS: [Keyword; 50] = [
    keyword("service", "PGSERVICE", Use::Honoured),
    keyword("host", "PGHOST", Use::Honoured),
    keyword("hostaddr", "PGHOSTADDR", Use::Honoured),
    keyword("port", "PGPORT", Use::Honoured),
    keyword("dbname", "PGDATABASE", Use::Honoured),
    keyword("user", "PGUSER", Use::Honoured),
    keyword("password", "PGPASSWORD", Use::Honoured),
    keyword("passfile", "PGPASSFILE", Use::Honoured),
    keyword("connect_timeout", "PGCONNECT_TIMEOUT", Use::Honoured),
    keyword("sslmode", "PGSSLMODE", Use::Honoured),
    keyword("requiressl", "PGREQUIRESSL", Use::Honoured),
    keyword("sslrootcert", "PGSSLROOTCERT", Use::Honoured),
    keyword("client_encoding", "PGCLIENTENCODING", Use::Honoured),
    keyword("options", "PGOPTIONS", Use::Honoured),
    keyword("application_name", "PGAPPNAME", Use::Sent),
    keyword("fallback_application_name", "", Use::Ignored),
    keyword("timezone", "PGTZ", Use::Sent),
    keyword("datestyle", "PGDATESTYLE", Use::Sent),
    keyword("geqo", "PGGEQO", Use::Sent),
    keyword("keepalives", "", Use::Ignored),
    keyword("keepalives_idle", "", Use::Ignored),
    keyword("keepalives_interval", "", Use::Ignored),
    keyword("keepalives_count", "", Use::Ignored),
    keyword("tcp_user_timeout", "", Use::Ignored),
    keyword("sslcompression", "PGSSLCOMPRESSION", Use::Ignored),
    keyword("sslsni", "PGSSLSNI", Use::Ignored),
    keyword("krbsrvname", "PGKRBSRVNAME", Use::Ignored),
    keyword("gsslib", "PGGSSLIB", Use::Ignored),
    keyword("gssdelegation", "PGGSSDELEGATION", Use::Ignored),
    keyword("authtype", "", Use::Ignored),
    keyword("tty", "", Use::Ignored),
    keyword("sslkeylogfile", "", Use::Ignored),
    refused(
        "sslnegotiation",
        "PGSSLNEGOTIATION",
        &["postgres"],
        "TLS is negotiated by the protocol",
    ),
    refused("sslcert", "PGSSLCERT", &[], NO_CERTIFICATE),
    refused("sslkey", "PGSSLKEY", &[], NO_CERTIFICATE),
    refused("sslpassword", "", &[], NO_CERTIFICATE),
    refused("sslcertmode", "PGSSLCERTMODE", &["disable", "allow"], NO_CERTIFICATE),
    refused("sslcrl", "PGSSLCRL", &[], NO_REVOCATION),
    refused("sslcrldir", "PGSSLCRLDIR", &[], NO_REVOCATION),
    refused(
        "ssl_min_protocol_version",
        "PGSSLMINPROTOCOLVERSION",
        &["TLSv1", "TLSv1.1", "TLSv1.2"],
        TLS_VERSIONS,
    ),
    refused("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", &["TLSv1.3"], TLS_VERSIONS),
    refused("requirepeer", "PGREQUIREPEER", &[], "the server's user is not checked"),
    refused("require_auth", "PGREQUIREAUTH", &[], "the server chooses how it authenticates"),
    refused(
        "channel_binding",
        "PGCHANNELBINDING",
        &["disable", "prefer"],
        "channel binding is not supported",
    ),
    refused("gssencmode", "PGGSSENCMODE", &["disable", "prefer"], NO_KERBEROS),
    refused("target_session_attrs", "PGTARGETSESSIONATTRS", &["any"], NO_CHOICE),
    refused("load_balance_hosts", "PGLOADBALANCEHOSTS", &["disable"], NO_CHOICE),
    refused("min_protocol_version", "PGMINPROTOCOLVERSION", &["3.0"], "the protocol is 3.0"),
    refused("max_protocol_version", "PGMAXPROTOCOLVERSION", &["3.0"], "the protocol is 3.0"),
    refused("replication", "", &["off", "false", "no", "0"], "replication is not supported"),
];
