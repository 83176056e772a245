//! Variables of the environment that hold a secret: what rqps starts does not inherit them.
//!
//! All else stays: registries' clients need the user's proxies, settings and paths.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The token of `rqps serve`.
const ALWAYS: [&str; 1] = ["RQPS_TOKEN"];

/// Those that addresses have named.
static NAMED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// From now on nothing inherits the variable `name`, as an address says that it holds a password.
pub(crate) fn withhold(name: &str) {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
}

/// Removes the known secrets from a command's environment.
pub fn keep_from(command: &mut Command) {
    for name in ALWAYS {
        command.env_remove(name);
    }
    for name in NAMED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        command.env_remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dsn;

    #[test]
    fn what_an_address_names_is_withheld_and_nothing_else() {
        Dsn::parse("mysql://u@h/d?password_env=SECRETS_OF_TEST").unwrap();
        assert!(Dsn::parse("mysql://u@h/d?password_env=NOT=A_NAME").is_err());
        let mut command = Command::new("true");
        keep_from(&mut command);
        let removed: Vec<&str> = command
            .get_envs()
            .map(|(name, value)| {
                assert!(value.is_none());
                name.to_str().unwrap()
            })
            .collect();
        // Other tests of this process may name others.
        assert!(removed.contains(&"RQPS_TOKEN") && removed.contains(&"SECRETS_OF_TEST"));
        assert!(!removed.contains(&"PATH") && !removed.contains(&"NOT"), "{removed:?}");
    }
}
