//! The devices of a graph. Here they are numbers; their names are kept beside the numbers.

use rustc_hash::FxHashMap;

use super::super::proto::NodeDef;
use super::super::write::device_name;

/// The numbers of the devices that nodes name.
pub(super) struct Devices {
    numbers: FxHashMap<String, i64>,
    named: bool,
}

impl Devices {
    /// The number after the last colon if it differs between all devices, else the position in the order of the file.
    /// Names are kept unless each is the one that would be written for its number.
    pub(super) fn of(nodes: &[NodeDef]) -> Devices {
        let mut names: Vec<&str> = Vec::new();
        let mut numbers: FxHashMap<String, i64> = FxHashMap::default();
        for name in nodes.iter().map(|n| n.device.as_str()).filter(|d| !d.is_empty()) {
            if !numbers.contains_key(name) {
                numbers.insert(name.to_owned(), names.len() as i64);
                names.push(name);
            }
        }
        let own: Option<Vec<i64>> = names.iter().map(|name| last_number(name)).collect();
        if let Some(own) = own {
            let mut sorted = own.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() == own.len() {
                numbers = names.iter().map(|n| (*n).to_owned()).zip(own).collect();
            }
        }
        let named = numbers.iter().any(|(name, &number)| *name != device_name(number));
        Devices { numbers, named }
    }

    /// The number of a device; nothing for a node that may run anywhere.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.numbers.get(name).copied()
    }

    /// Whether the names carry more information than the numbers.
    pub(super) fn are_named(&self) -> bool {
        self.named
    }
}

/// `/device:CPU:1` ends with the number of the device; `/job:worker/task:1` with another one.
fn last_number(name: &str) -> Option<i64> {
    let last = name.rsplit('/').next()?;
    let mut parts = last.split(':');
    let (kind, number) = (parts.next()?, parts.next_back()?);
    if !matches!(kind, "device" | "cpu" | "gpu" | "CPU" | "GPU") {
        return None;
    }
    // A larger number cannot be a device.
    number.parse().ok().filter(|n| (0..1 << 16).contains(n))
}
