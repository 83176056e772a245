//! How long a store waits for another process that writes, where that is for its owner to say.

use std::fmt;
use std::time::Duration;

/// Asked again and again, with how long was waited, whether to wait on.
pub(crate) struct Patience(Box<dyn Fn(Duration) -> bool + Send>);

impl Patience {
    pub(crate) fn new(goes_on: impl Fn(Duration) -> bool + Send + 'static) -> Self {
        Self(Box::new(goes_on))
    }

    pub(crate) fn goes_on(&self, waited: Duration) -> bool {
        (self.0)(waited)
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").finish_non_exhaustive()
    }
}
