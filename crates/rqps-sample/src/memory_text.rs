//! Reads the texts of /proc/meminfo and /proc/vmstat: free memory and swapping.

use crate::TextError;

/// What /proc/meminfo says (`proc_meminfo(5)`), bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Meminfo {
    /// `MemTotal`.
    pub total_bytes: u64,
    /// `MemAvailable`; where the kernel does not give it (before Linux 3.14), the sum of
    /// `MemFree`, `Buffers` and `Cached`, which is somewhat too high.
    pub available_bytes: u64,
}

/// What /proc/vmstat says (`proc_vmstat(5)`); 0 on kernels without swap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vmstat {
    /// `pswpin`, pages.
    pub swap_in_pages: u64,
    /// `pswpout`, pages.
    pub swap_out_pages: u64,
}

/// Reads the text of /proc/meminfo.
///
/// # Errors
/// Names the line that is malformed or absent.
pub fn parse_meminfo(text: &str) -> Result<Meminfo, TextError> {
    let (mut total, mut available, mut free_and_cached) = (None, None, 0_u64);
    for (i, line) in text.lines().enumerate() {
        let Some((key, rest)) = line.split_once(':') else { continue };
        match key {
            "MemTotal" => total = Some(parse_kb(i, line, rest)?),
            "MemAvailable" => available = Some(parse_kb(i, line, rest)?),
            "MemFree" | "Buffers" | "Cached" => {
                free_and_cached = free_and_cached.saturating_add(parse_kb(i, line, rest)?);
            }
            _ => {}
        }
    }
    Ok(Meminfo {
        total_bytes: total.ok_or_else(|| TextError::absent(text, "MemTotal"))?,
        available_bytes: available.unwrap_or(free_and_cached),
    })
}

/// Reads the text of /proc/vmstat.
///
/// # Errors
/// Names the line that is malformed.
pub fn parse_vmstat(text: &str) -> Result<Vmstat, TextError> {
    let mut vmstat = Vmstat::default();
    for (i, line) in text.lines().enumerate() {
        // There are 150 lines and more; two of them matter.
        let Some(rest) = line.strip_prefix("pswp") else { continue };
        let Some((direction, value)) = rest.split_once(' ') else { continue };
        let value = value.trim().parse().map_err(|_| TextError::at(i, line, "not a number"));
        match direction {
            "in" => vmstat.swap_in_pages = value?,
            "out" => vmstat.swap_out_pages = value?,
            _ => {}
        }
    }
    Ok(vmstat)
}

/// Reads ` 1234 kB` as bytes. The kernel's kB are 1024 bytes.
pub(crate) fn parse_kb(line_idx: usize, line: &str, text: &str) -> Result<u64, TextError> {
    let number = text.trim().strip_suffix("kB").map(str::trim);
    number
        .and_then(|n| n.parse::<u64>().ok())
        .and_then(|n| n.checked_mul(1024))
        .ok_or_else(|| TextError::at(line_idx, line, "not a number of kB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_6() {
        let text = "MemTotal:       24684092 kB\nMemFree:        20060984 kB\n\
                    MemAvailable:   24240536 kB\nBuffers:          246704 kB\n\
                    HugePages_Total:       0\n";
        let expected =
            Meminfo { total_bytes: 24_684_092 * 1024, available_bytes: 24_240_536 * 1024 };
        assert_eq!(parse_meminfo(text), Ok(expected));
        let text = "nr_free_pages 5015246\npswpin 12\npswpout 345\npgalloc_dma 0\n";
        assert_eq!(parse_vmstat(text), Ok(Vmstat { swap_in_pages: 12, swap_out_pages: 345 }));
    }

    #[test]
    fn kernel_2_6_32_knows_no_available_memory() {
        let text = "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 20 kB\nCached: 3 kB\n\
                    SwapCached: 5 kB\n";
        assert_eq!(parse_meminfo(text).unwrap().available_bytes, 123 * 1024);
        assert_eq!(parse_vmstat("pgpgin 5\n"), Ok(Vmstat::default()));
    }

    #[test]
    fn names_the_line() {
        let error = parse_meminfo("MemTotal: 12 kB\nMemAvailable: lots\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2 \"MemAvailable: lots\": not a number of kB");
        let error = parse_vmstat("a 1\npswpin x\n").unwrap_err();
        assert_eq!(error.to_string(), "line 2 \"pswpin x\": not a number");
        assert!(parse_meminfo("").unwrap_err().to_string().contains("MemTotal is absent"));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(?s).{0,200}", line in "(MemTotal:|pswpin) [ 0-9kB]{0,40}") {
            let _ = (parse_meminfo(&text), parse_vmstat(&text));
            let _ = (parse_meminfo(&line), parse_vmstat(&line));
        }
    }
}
