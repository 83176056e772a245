//! How fast the CPUs are: their frequency and how often heat has slowed them, where the kernel says.
//!
//! Virtual machines mostly have neither. Budget: two files per CPU and look, a few looks a minute.

use std::fs;
use std::path::{Path, PathBuf};

/// The files that tell, found once.
#[derive(Debug, Clone, Default)]
pub struct SpeedReader {
    /// `scaling_cur_freq` of each CPU: kernel documentation, admin-guide/pm/cpufreq.
    frequencies: Vec<PathBuf>,
    /// `core_throttle_count` and `package_throttle_count` of each CPU: kernel documentation,
    /// ABI/testing/sysfs-devices-system-cpu.
    throttles: Vec<PathBuf>,
}

/// One look; what no file tells is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Speed {
    /// Frequency of the fastest CPU, kHz: of those that have nothing to do it says little.
    pub fastest_khz: Option<u64>,
    /// How often CPUs have slowed down because they, or their package, were hot, since the host started.
    pub n_throttled: Option<u64>,
}

impl SpeedReader {
    /// Finds the files of the host whose `/sys` is below `root`.
    #[must_use]
    pub fn find(root: &Path) -> Self {
        let dir = fs::read_dir(root.join("sys/devices/system/cpu"));
        let mut cpus: Vec<PathBuf> = dir
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| is_cpu(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .collect();
        cpus.sort();
        let those = |names: &[&str]| -> Vec<PathBuf> {
            let paths = cpus.iter().flat_map(|cpu| names.iter().map(move |name| cpu.join(name)));
            paths.filter(|path| read_count(path).is_some()).collect()
        };
        Self {
            frequencies: those(&["cpufreq/scaling_cur_freq"]),
            throttles: those(&[
                "thermal_throttle/core_throttle_count",
                "thermal_throttle/package_throttle_count",
            ]),
        }
    }

    /// Looks now.
    #[must_use]
    pub fn read(&self) -> Speed {
        let counts = |paths: &[PathBuf]| -> Vec<u64> {
            paths.iter().filter_map(|path| read_count(path)).collect()
        };
        let throttles = counts(&self.throttles);
        Speed {
            fastest_khz: counts(&self.frequencies).into_iter().max(),
            n_throttled: (!throttles.is_empty()).then(|| throttles.into_iter().sum()),
        }
    }
}

/// `cpu0`, and not `cpufreq` or `cpuidle`.
fn is_cpu(name: &str) -> bool {
    let number = name.strip_prefix("cpu").unwrap_or_default();
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

fn read_count(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_laptop_says() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join("sys/devices/system/cpu").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("cpu0/cpufreq/scaling_cur_freq", "800000\n");
        write("cpu1/cpufreq/scaling_cur_freq", "3400000\n");
        write("cpufreq/policy0/scaling_cur_freq", "9900000\n");
        let reader = SpeedReader::find(root.path());
        assert_eq!(reader.read(), Speed { fastest_khz: Some(3_400_000), n_throttled: None });
        for cpu in [0, 1] {
            write(&format!("cpu{cpu}/thermal_throttle/core_throttle_count"), "2\n");
            write(&format!("cpu{cpu}/thermal_throttle/package_throttle_count"), "3\n");
        }
        let reader = SpeedReader::find(root.path());
        assert_eq!(reader.read().n_throttled, Some(10));
        // A CPU that goes, or tells nonsense, is skipped.
        write("cpu1/cpufreq/scaling_cur_freq", "<unknown>\n");
        assert_eq!(reader.read().fastest_khz, Some(800_000));
    }

    #[test]
    fn a_host_that_says_nothing_is_no_error() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(SpeedReader::find(root.path()).read(), Speed::default());
    }
}
