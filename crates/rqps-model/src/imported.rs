//! Runs of other tools: where they come from, and what their files state instead of rqps's counts.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UnknownWord;
use crate::{Metric, Role};

/// A tool whose results can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// The field's scripts around sysbench: tables of QPS, tables per operation, or the raw files.
    Mytools,
    /// Logs of sysbench 0.4 to 1.1.
    Sysbench,
    /// The Insert Benchmark's own client and its scripts.
    Iibench,
}

impl FromStr for Tool {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "mytools" => Ok(Self::Mytools),
            "sysbench" => Ok(Self::Sysbench),
            "iibench" => Ok(Self::Iibench),
            _ => Err(UnknownWord {
                what: "tool",
                value: text.to_owned(),
                known: "mytools, sysbench, iibench",
            }),
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Mytools => "mytools",
            Self::Sysbench => "sysbench",
            Self::Iibench => "iibench",
        })
    }
}

/// The origin of an imported run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The tool that made the files.
    pub tool: Tool,
    /// The directory or files, as the user named them.
    pub source: String,
    /// Notes on what was excluded or is not known, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Imported {
    /// The host of files whose host is not known.
    pub const UNKNOWN_HOST: &'static str = "unknown";
}

impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "imported from {} ({})", self.source, self.tool)
    }
}

/// Values that a file states for one measurement, as they are written there.
///
/// They replace values from a slice's counts: files with rounded rates have neither the measured
/// time nor the counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stated {
    /// Operations per second; absent where the slice's own counts say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<f64>,
    /// Metrics, in the order of the file's columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<(Metric, f64)>,
    /// Response times of events; absent where the file has none or the slice has its histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<StatedResponse>,
    /// Response times of the clients of each kind beside them, where the slice has streams.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stream_responses: BTreeMap<Role, StatedResponse>,
    /// Values of the step in tables of the Insert Benchmark, by the headings of their columns and
    /// in their order: `(maxop, 0.477)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<(String, f64)>,
    /// Target of inserts beside the measured queries, rows per second; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_inserts_per_s: Option<f64>,
    /// Resident memory of the server at the end of the step, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_rss_bytes: Option<u64>,
}

impl Stated {
    /// The value of one metric.
    #[must_use]
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.metrics.iter().find(|(m, _)| *m == metric).map(|(_, value)| *value)
    }

    /// The value in one column of the Insert Benchmark's tables.
    #[must_use]
    pub fn column(&self, heading: &str) -> Option<f64> {
        self.columns.iter().find(|(known, _)| known == heading).map(|(_, value)| *value)
    }
}

/// A few numbers on response times, as a file states them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StatedResponse {
    /// Responses.
    pub n: u64,
    /// Shortest, nanoseconds; absent where only counts by bucket are stated.
    pub min_ns: Option<u64>,
    /// Mean, nanoseconds; absent where only counts by bucket are stated.
    pub mean_ns: Option<f64>,
    /// Longest, nanoseconds.
    pub max_ns: u64,
    /// Percentile and its value in nanoseconds: `(95.0, 520000)`.
    pub percentiles_ns: Vec<(f64, u64)>,
    /// Responses in each of the ten buckets of the Insert Benchmark, from at most 256 us to more than 16 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buckets: Option<[u64; 10]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_by_name() {
        for tool in [Tool::Mytools, Tool::Sysbench, Tool::Iibench] {
            assert_eq!(tool.to_string().parse::<Tool>(), Ok(tool));
        }
        assert!("hammerdb".parse::<Tool>().is_err());
    }

    #[test]
    fn a_stated_metric_is_read_back() {
        let stated = Stated {
            figure: Some(4527.0),
            metrics: vec![(Metric::HostCpuShare, 0.000_098)],
            columns: vec![("maxop".to_owned(), 0.477)],
            ..Stated::default()
        };
        assert_eq!(stated.get(Metric::HostCpuShare), Some(0.000_098));
        assert_eq!(stated.get(Metric::Reads), None);
        assert_eq!((stated.column("maxop"), stated.column("p50")), (Some(0.477), None));
        let imported = Imported { tool: Tool::Mytools, source: "dir".to_owned(), notes: vec![] };
        assert_eq!(imported.to_string(), "imported from dir (mytools)");
    }
}
