//! Reads the texts of /proc/cpuinfo and os-release: what the host is.

/// What /proc/cpuinfo says of the first CPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuInfo {
    /// The model in words; empty where the kernel gives none.
    pub model: String,
    /// Whether the CPU has the flag `hypervisor`; only x86 can say so.
    pub is_virtual: bool,
}

/// Reads the text of /proc/cpuinfo. Architectures differ in every word of it, so that there is no
/// malformed text, only text that says nothing.
#[must_use]
pub fn parse_cpuinfo(text: &str) -> CpuInfo {
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    // x86 has "model name", POWER "cpu", MIPS "cpu model"; ARM gives numbers alone.
    let model = ["model name", "cpu model", "cpu", "Model"].iter().find_map(|key| value(key));
    let model = model.or_else(|| {
        let (by, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("ARM implementer {by} part {part}"))
    });
    let is_virtual =
        value("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    CpuInfo { model: model.unwrap_or_default(), is_virtual }
}

/// The distribution's name of os-release(5): `PRETTY_NAME`, else `NAME`; empty without either.
#[must_use]
pub fn parse_os_release(text: &str) -> String {
    let value = |key: &str| {
        text.lines().find_map(|line| {
            let value = line.trim().strip_prefix(key)?.strip_prefix('=')?;
            Some(value.trim_matches(['"', '\'']).to_owned())
        })
    };
    value("PRETTY_NAME").or_else(|| value("NAME")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_of_several_architectures() {
        let x86 = "processor\t: 0\nmodel\t\t: 207\nmodel name\t: AMD EPYC 7R13\nflags\t\t: fpu \
                   hypervisor avx\n\nprocessor\t: 1\nmodel name\t: other\n";
        let expected = CpuInfo { model: "AMD EPYC 7R13".to_owned(), is_virtual: true };
        assert_eq!(parse_cpuinfo(x86), expected);
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(parse_cpuinfo(arm).model, "ARM implementer 0x41 part 0xd0c");
        assert_eq!(parse_cpuinfo("cpu\t\t: POWER9, altivec supported\n").model.len(), 25);
        assert_eq!(parse_cpuinfo("flags: fpu hypervisor2\n"), CpuInfo::default());
    }

    #[test]
    fn distributions() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(parse_os_release(text), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(parse_os_release("NAME=Alpine\n"), "Alpine");
        assert_eq!(parse_os_release("# nothing\n"), "");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(?s).{0,200}") {
            let _ = parse_cpuinfo(&text);
            let _ = parse_os_release(&text);
        }
    }
}
