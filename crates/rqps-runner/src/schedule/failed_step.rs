//! Why a step failed, in words, with what to do where that is known.

use rqps_client::Error as ClientError;
use rqps_workload::EventError;

/// The remedy where a prepared statement was not there.
const LOST_STATEMENT: &str = "a proxy in front of the server does not keep prepared statements; write protocol = \
                              \"text\" in the suite, or name the server itself";

/// Why a step failed.
pub(crate) fn reason(error: &anyhow::Error) -> String {
    let is_lost = |cause: &(dyn std::error::Error + 'static)| {
        let of_event = || match cause.downcast_ref()? {
            EventError::Client(error) => Some(error),
            EventError::WrongRows { .. } => None,
        };
        let error = cause.downcast_ref::<ClientError>().or_else(of_event);
        matches!(error, Some(ClientError::Server(said)) if said.is_lost_statement())
    };
    if error.chain().any(is_lost) {
        return format!("{LOST_STATEMENT}: {error:#}");
    }
    format!("{error:#}")
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use rqps_client::ServerError;

    use super::*;

    #[test]
    fn a_lost_statement_has_its_remedy_whatever_is_around_it() {
        let said = |sqlstate: &str| {
            let (sqlstate, message) = (sqlstate.to_owned(), "s0".to_owned());
            ClientError::Server(ServerError { errno: 0, sqlstate, message, notes: None })
        };
        let prepared: Result<(), _> = Err(said("42P05"));
        let prepared = prepared.context("prepare").unwrap_err();
        let executed: Result<(), _> = Err(EventError::Client(said("26000")));
        let executed = executed.context("client 0").unwrap_err();
        for error in [prepared, executed] {
            let reason = reason(&error);
            assert!(reason.starts_with(LOST_STATEMENT) && reason.ends_with("s0"), "{reason}");
        }
        let other = anyhow::Error::from(said("42601"));
        assert_eq!(reason(&other), "server error 42601: s0");
    }
}
