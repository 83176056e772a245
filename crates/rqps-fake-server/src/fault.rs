//! What a fake server does wrong, and when: values that tests write to a file and the server reads.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use nix::sys::signal::Signal;

/// What it does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It sends itself a signal: dies of it, or stands still.
    Die(Signal),
    /// It ends with an exit code, after a word in its log.
    End(u8),
    /// It answers nobody any more, and lets nobody in.
    Hang,
    /// It lets nobody in any more: its sockets are closed. Who is in stays in.
    Refuse,
    /// It refuses everybody who logs in, as too many are there.
    Crowded,
    /// It answers every statement so much later.
    Slow(Duration),
    /// It closes the connection on which the fault is met; of [`When::Now`], all connections at their next
    /// statement.
    EndConnection,
    /// Every statement that writes fails for want of space, and so does making a data directory.
    DiskFull,
    /// Every result and every count has so many rows more or, if negative, less.
    WrongRows(i64),
    /// Vacuum would have so many dead rows to remove; of PostgreSQL.
    DeadRows(u64),
    /// It is another version than its program says.
    Version(String),
    /// It ignores the signal to stop.
    KeepRunning,
    /// It does not know a prepared statement that is executed, as behind a proxy that shares connections.
    LoseStatements,
}

/// When it does it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// As soon as the server reads it, a few milliseconds after it was written.
    Now,
    /// When the server is started for the n-th time, from 1, whatever data it has.
    Start(u32),
    /// When a data directory is made for the n-th time, from 1.
    Initialise(u32),
    /// Before the n-th statement since a start, from 1, is answered.
    Statement(u64),
    /// Before the n-th statement since a start, from 1, that contains a text is answered.
    Text(u64, String),
}

/// A fault with its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) when: When,
    pub(crate) fault: Fault,
    /// Whether it is met again each time; else once in the life of a server's tree.
    pub(crate) is_repeated: bool,
}

impl Fault {
    /// Whether it is a state that lasts, in place of something that happens.
    pub(crate) fn lasts(&self) -> bool {
        !matches!(self, Self::Die(_) | Self::End(_) | Self::EndConnection)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Die(signal) => write!(f, "die {signal}"),
            Self::End(code) => write!(f, "end {code}"),
            Self::Hang => f.write_str("hang"),
            Self::Refuse => f.write_str("refuse"),
            Self::Crowded => f.write_str("crowded"),
            Self::Slow(by) => write!(f, "slow {}", by.as_millis()),
            Self::EndConnection => f.write_str("end-connection"),
            Self::DiskFull => f.write_str("disk-full"),
            Self::WrongRows(by) => write!(f, "wrong-rows {by}"),
            Self::DeadRows(n) => write!(f, "dead-rows {n}"),
            Self::Version(version) => write!(f, "version {version}"),
            Self::KeepRunning => f.write_str("keep-running"),
            Self::LoseStatements => f.write_str("lose-statements"),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let bad = || format!("{text:?} is no fault");
        Ok(match word {
            "die" => Self::Die(rest.parse().map_err(|_| bad())?),
            "end" => Self::End(rest.parse().map_err(|_| bad())?),
            "hang" => Self::Hang,
            "refuse" => Self::Refuse,
            "crowded" => Self::Crowded,
            "slow" => Self::Slow(Duration::from_millis(rest.parse().map_err(|_| bad())?)),
            "end-connection" => Self::EndConnection,
            "disk-full" => Self::DiskFull,
            "wrong-rows" => Self::WrongRows(rest.parse().map_err(|_| bad())?),
            "dead-rows" => Self::DeadRows(rest.parse().map_err(|_| bad())?),
            "version" => Self::Version(rest.to_owned()),
            "keep-running" => Self::KeepRunning,
            "lose-statements" => Self::LoseStatements,
            _ => return Err(bad()),
        })
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now => f.write_str("now"),
            Self::Start(n) => write!(f, "start {n}"),
            Self::Initialise(n) => write!(f, "initialise {n}"),
            Self::Statement(n) => write!(f, "statement {n}"),
            Self::Text(n, text) => write!(f, "text {n} {text}"),
        }
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let bad = || format!("{text:?} is no time");
        Ok(match word {
            "now" => Self::Now,
            "start" => Self::Start(rest.parse().map_err(|_| bad())?),
            "initialise" => Self::Initialise(rest.parse().map_err(|_| bad())?),
            "statement" => Self::Statement(rest.parse().map_err(|_| bad())?),
            "text" => {
                let (n, wanted) = rest.split_once(' ').ok_or_else(bad)?;
                Self::Text(n.parse().map_err(|_| bad())?, wanted.to_owned())
            }
            _ => return Err(bad()),
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let often = if self.is_repeated { "each" } else { "once" };
        // A text may hold anything but the end of a line.
        write!(f, "{often}\t{}\t{}", self.when, self.fault)
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let parts: Vec<&str> = line.split('\t').collect();
        let [often, when, fault] = parts[..] else { return Err(format!("{line:?} is no rule")) };
        Ok(Self { when: when.parse()?, fault: fault.parse()?, is_repeated: often == "each" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_were_written() {
        let faults = [
            Fault::Die(Signal::SIGKILL),
            Fault::End(3),
            Fault::Hang,
            Fault::Refuse,
            Fault::Crowded,
            Fault::Slow(Duration::from_millis(50)),
            Fault::EndConnection,
            Fault::DiskFull,
            Fault::WrongRows(-1),
            Fault::Version("17.9".to_owned()),
            Fault::KeepRunning,
            Fault::LoseStatements,
        ];
        let times = [
            When::Now,
            When::Start(2),
            When::Initialise(1),
            When::Statement(500),
            When::Text(3, "COUNT(*) FROM: x".to_owned()),
        ];
        for (fault, when) in faults.into_iter().zip(times.iter().cycle()) {
            let rule = Rule { when: when.clone(), fault, is_repeated: when == &When::Now };
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        assert!("once\tnow\tdie SIGNOTHING".parse::<Rule>().is_err());
        assert!("hang".parse::<Rule>().is_err());
    }
}
