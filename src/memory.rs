//! The memory limit of the tools.

use std::fs;

use pir_ir::budget::Budget;

/// Tensors are counted exactly; their reference counts, lists, and the scratch memory of kernels may take a little
/// more.
const SLACK: u64 = 1 << 20;

/// Limits the memory of the process: to the user's limit, or three quarters of the available memory.
pub fn limit(asked: Option<u64>) {
    let budget = Budget::of_process();
    match asked {
        Some(limit) => budget.set_limit(limit.saturating_add(SLACK)),
        None => budget.set_limit_by(|| available().map_or(u64::MAX, |bytes| bytes / 4 * 3)),
    }
}

/// A number of bytes: `1000`, `64K`, `1.5G`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size: expected a number of bytes, optionally followed by K, M or G");
    let (number, shift) = match text.trim_end_matches(['b', 'B', 'i']).char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => return text.trim().parse().map_err(|_| wrong()),
    };
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    if !number.is_finite() || number < 0.0 {
        return Err(wrong());
    }
    Ok((number * (1_u64 << shift) as f64) as u64)
}

/// The smallest of the free memory, the limit of the control group and that of the address space; `None` if none of
/// them is known.
fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let free = read("/proc/meminfo").and_then(|text| free_memory(&text));
    let group = read("/proc/self/cgroup").and_then(|text| {
        let name = text.lines().find_map(|line| line.strip_prefix("0::"))?.to_owned();
        group_limit(&name, |path| read(path))
    });
    let older = read("/sys/fs/cgroup/memory/memory.limit_in_bytes").and_then(|text| text.trim().parse().ok());
    let space = read("/proc/self/limits").and_then(|text| address_space(&text));
    [free, group, older, space].into_iter().flatten().min()
}

fn free_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The smallest limit of a control group and its ancestors.
fn group_limit(name: &str, read: impl Fn(&str) -> Option<String>) -> Option<u64> {
    let mut name = name.trim_end_matches('/');
    let mut least = None;
    loop {
        let text = read(&format!("/sys/fs/cgroup{name}/memory.max"));
        let limit: Option<u64> = text.and_then(|text| text.trim().parse().ok());
        least = [least, limit].into_iter().flatten().min();
        match name.rsplit_once('/') {
            Some((outer, _)) => name = outer,
            None => return least,
        }
    }
}

fn address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_found() {
        let meminfo = "MemTotal:       16384 kB\nMemFree:  1 kB\nMemAvailable:    1000 kB\n";
        assert_eq!(free_memory(meminfo), Some(1_024_000));
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max address space         1024000000           unlimited            bytes     \n";
        assert_eq!(address_space(limits), Some(1_024_000_000));
        assert_eq!(address_space(&limits.replace("1024000000", "unlimited ")), None);
        let group = |path: &str| match path {
            "/sys/fs/cgroup/a/b/memory.max" => Some("max\n".to_owned()),
            "/sys/fs/cgroup/a/memory.max" => Some("5000\n".to_owned()),
            "/sys/fs/cgroup/memory.max" => Some("9000\n".to_owned()),
            _ => None,
        };
        assert_eq!(group_limit("/a/b", group), Some(5000));
        assert_eq!(group_limit("/", group), Some(9000));
        assert_eq!(group_limit("/", |_| None), None);
    }

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("0", 0),
            ("1000", 1000),
            ("64K", 65536),
            ("1.5M", 1_572_864),
            ("2GiB", 1 << 31),
            ("1kb", 1024),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "x", "K", "-1", "-1K", "nanK", "1T", "1.5"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
