//! Who has shown the token: sessions in memory, gone with the server.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::token::{random_text, sealed};

/// How long a session lasts without a login.
pub(crate) const LASTS: Duration = Duration::from_secs(12 * 3600);

/// The most sessions; the oldest goes when there is one more.
const MOST: usize = 100;

/// The name of the cookie. Cookies do not know ports: servers on one host have different ones.
const COOKIE: &str = "rqps_session";

/// The sessions of a server.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// By what the browser keeps, sealed: who could read this could not log in with it.
    begun: Mutex<HashMap<String, Instant>>,
    secret: String,
    cookie: String,
}

impl Sessions {
    pub(crate) fn new(port: u16) -> std::io::Result<Self> {
        let cookie = format!("{COOKIE}_{port}");
        Ok(Self { begun: Mutex::default(), secret: random_text()?, cookie })
    }

    /// Begins a session; gives the header that has the browser keep it.
    pub(crate) fn begin(&self) -> std::io::Result<String> {
        let key = random_text()?;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.retain(|_, at| at.elapsed() < LASTS);
        if begun.len() >= MOST {
            let oldest = begun.iter().min_by_key(|(_, at)| **at).map(|(key, _)| key.clone());
            oldest.map(|key| begun.remove(&key));
        }
        begun.insert(sealed(&self.secret, &key), Instant::now());
        let seconds = LASTS.as_secs();
        let name = &self.cookie;
        Ok(format!("{name}={key}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax"))
    }

    /// Whether a browser's cookies hold a session.
    pub(crate) fn is_in(&self, cookies: &str) -> bool {
        let Some(key) = self.key(cookies) else { return false };
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.get(&sealed(&self.secret, key)).is_some_and(|at| at.elapsed() < LASTS)
    }

    /// Ends a browser's session; gives the header that has it forget.
    pub(crate) fn end(&self, cookies: &str) -> String {
        if let Some(key) = self.key(cookies) {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            begun.remove(&sealed(&self.secret, key));
        }
        format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax", self.cookie)
    }

    /// What a form of this browser must bring back: other sites' pages cannot read it.
    pub(crate) fn form_key(&self, cookies: &str) -> String {
        sealed(&self.secret, &format!("form {}", self.key(cookies).unwrap_or_default()))
    }

    fn key<'c>(&self, cookies: &'c str) -> Option<&'c str> {
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_until_it_is_ended() {
        let sessions = Sessions::new(7477).unwrap();
        assert!(!sessions.is_in("") && !sessions.is_in("rqps_session_7477=x"));
        let header = sessions.begin().unwrap();
        assert!(header.contains("HttpOnly; SameSite=Lax"));
        let cookie = header.split(';').next().unwrap();
        let cookies = format!("a=b; {cookie}");
        assert!(sessions.is_in(&cookies));
        assert_ne!(sessions.form_key(&cookies), sessions.form_key(""));
        assert!(!Sessions::new(7477).unwrap().is_in(&cookies), "another server's");
        sessions.end(&cookies);
        assert!(!sessions.is_in(&cookies));
    }

    #[test]
    fn the_oldest_of_too_many_goes() {
        let sessions = Sessions::new(1).unwrap();
        let begin = || sessions.begin().unwrap().split(';').next().unwrap().to_owned();
        let first = begin();
        let all: Vec<String> = (0..MOST).map(|_| begin()).collect();
        assert!(!sessions.is_in(&first));
        assert!(all.iter().all(|cookie| sessions.is_in(cookie)));
    }
}
