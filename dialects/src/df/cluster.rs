//! Clusters: the devices of several processes, and their names.
//!
//! A file describes a cluster as `tf.train.ClusterSpec` does, in JSON: for each job the addresses of its tasks, as a list or by
//! number. `TF_CONFIG`, where that is the entry `cluster`, is read too. A task has one processor, `CPU:0`, unless it is an
//! object that lists its devices: `{"address": "host:2222", "devices": ["CPU:0", "GPU:0"]}`. Devices are numbered by job in
//! alphabetical order, task and place in the list.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// More devices than any cluster has.
const MOST: usize = 1 << 10;

/// The devices of a cluster, by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cluster {
    devices: Vec<Device>,
}

/// A device: `/job:worker/replica:0/task:1/device:CPU:0`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Device {
    job: String,
    task: u64,
    kind: String,
    index: u64,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Device { job, task, kind, index } = self;
        write!(f, "/job:{job}/replica:0/task:{task}/device:{kind}:{index}")
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Config { cluster: BTreeMap<String, Tasks> },
    Jobs(BTreeMap<String, Tasks>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Tasks {
    List(Vec<Task>),
    Numbered(BTreeMap<String, Task>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Task {
    Address(#[allow(dead_code, reason = "only TensorFlow connects to it")] String),
    Devices(Described),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    #[allow(dead_code, reason = "only TensorFlow connects to it")]
    address: String,
    devices: Vec<String>,
}

/// A partial device name. Omitted parts match anything.
#[derive(Default)]
struct Wanted<'a> {
    job: Option<&'a str>,
    task: Option<u64>,
    kind: Option<String>,
    index: Option<u64>,
}

impl Wanted<'_> {
    fn fits(&self, device: &Device) -> bool {
        self.job.is_none_or(|job| job == device.job)
            && self.task.is_none_or(|task| task == device.task)
            && self.kind.as_ref().is_none_or(|kind| *kind == device.kind)
            && self.index.is_none_or(|index| index == device.index)
    }
}

impl Cluster {
    /// Reads a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn read(path: &str) -> Result<Cluster, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read the cluster `{path}`: {e}"))?;
        Self::parse(&text).map_err(|why| format!("`{path}` does not describe a cluster: {why}"))
    }

    /// Reads the description of a cluster.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Cluster, String> {
        // JSON is a part of YAML.
        let file: File = serde_yaml_ng::from_str(text).map_err(|_| {
            "expected the addresses of the tasks of each job, `{\"worker\": [\"host:port\", …]}`".to_owned()
        })?;
        let (File::Config { cluster: jobs } | File::Jobs(jobs)) = file;
        let mut devices = Vec::new();
        for (job, tasks) in jobs {
            let tasks: Vec<(u64, Task)> = match tasks {
                Tasks::List(tasks) => (0..).zip(tasks).collect(),
                Tasks::Numbered(tasks) => numbered(tasks)?,
            };
            let valid = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !job.starts_with(|c: char| c.is_ascii_alphabetic()) || !job.chars().all(valid) {
                return Err(format!("`{job}` is not the name of a job"));
            }
            for (task, described) in tasks {
                let own = match described {
                    Task::Address(_) => vec!["CPU:0".to_owned()],
                    Task::Devices(described) => described.devices,
                };
                for name in own {
                    let (kind, index) =
                        kind_and_index(&name).ok_or_else(|| format!("`{name}` is not a device like `CPU:0`"))?;
                    let index = index.ok_or_else(|| format!("the device `{name}` has no number"))?;
                    let device = Device {
                        job: job.clone(),
                        task,
                        kind,
                        index,
                    };
                    if devices.contains(&device) {
                        return Err(format!("the device `{device}` is listed twice"));
                    }
                    devices.push(device);
                }
            }
        }
        match devices.len() {
            0 => Err("it has no devices".to_owned()),
            1..=MOST => Ok(Cluster { devices }),
            count => Err(format!("it has {count} devices, and at most {MOST} are supported")),
        }
    }

    /// The full names of the devices, by number.
    pub fn names(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        self.devices.iter().map(ToString::to_string)
    }

    /// How many devices there are.
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// Whether there are no devices; there is at least one.
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// The full name of a device.
    pub fn name(&self, number: usize) -> Option<String> {
        self.devices.get(number).map(ToString::to_string)
    }

    /// The number of a device by its name. A name that leaves something out, like `/job:worker/task:1`, is that of the first
    /// device that fits.
    ///
    /// # Errors
    /// If no device fits, or the text is not the name of a device.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        let wanted = wanted(name).ok_or_else(|| format!("`{name}` is not the name of a device"))?;
        let found = self.devices.iter().position(|device| wanted.fits(device));
        found.ok_or_else(|| {
            const SHOWN: usize = 4;
            let mut names: Vec<String> = self.names().take(SHOWN).map(|n| format!("`{n}`")).collect();
            if self.len() > SHOWN {
                names.push("…".to_owned());
            }
            format!(
                "the cluster has no device `{name}`; its devices are {}",
                names.join(", ")
            )
        })
    }
}

/// Tasks by their numbers, which are strings where the description is JSON.
fn numbered(tasks: BTreeMap<String, Task>) -> Result<Vec<(u64, Task)>, String> {
    let task = |(number, task): (String, Task)| match number.parse() {
        Ok(number) => Ok((number, task)),
        Err(_) => Err(format!("`{number}` is not the number of a task")),
    };
    let mut tasks = tasks.into_iter().map(task).collect::<Result<Vec<_>, _>>()?;
    tasks.sort_by_key(|&(number, _)| number);
    Ok(tasks)
}

/// `CPU:0`, `gpu:*`, `GPU`.
fn kind_and_index(text: &str) -> Option<(String, Option<u64>)> {
    let (kind, index) = match text.split_once(':') {
        Some((kind, "*")) => (kind, None),
        Some((kind, index)) => (kind, Some(index.parse().ok()?)),
        None => (text, None),
    };
    let valid = !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then(|| (kind.to_ascii_uppercase(), index))
}

fn wanted(name: &str) -> Option<Wanted<'_>> {
    let mut wanted = Wanted::default();
    for part in name.strip_prefix('/')?.split('/') {
        match part.split_once(':') {
            Some(("job", job)) => wanted.job = Some(job),
            Some(("replica", replica)) => (replica == "0" || replica == "*").then_some(())?,
            Some(("task", "*")) => {}
            Some(("task", task)) => wanted.task = Some(task.parse().ok()?),
            Some(("device", "*")) => {}
            Some(("device", rest)) => {
                let (kind, index) = kind_and_index(rest)?;
                (wanted.kind, wanted.index) = (Some(kind), index);
            }
            // As in TensorFlow 1: `/cpu:0`.
            _ => {
                let (kind, index) = kind_and_index(part)?;
                (wanted.kind, wanted.index) = (Some(kind), index);
            }
        }
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_numbered_by_job_and_task() {
        let text = r#"{"worker": ["a:1", {"address": "b:1", "devices": ["CPU:0", "GPU:0"]}], "ps": {"3": "c:1"}}"#;
        let cluster = Cluster::parse(text).unwrap();
        let names: Vec<String> = cluster.names().collect();
        assert_eq!(
            names,
            [
                "/job:ps/replica:0/task:3/device:CPU:0",
                "/job:worker/replica:0/task:0/device:CPU:0",
                "/job:worker/replica:0/task:1/device:CPU:0",
                "/job:worker/replica:0/task:1/device:GPU:0",
            ]
        );
        let config = format!("{{\"cluster\": {text}, \"task\": {{\"type\": \"worker\", \"index\": 0}}}}");
        assert_eq!(Cluster::parse(&config), Ok(cluster));
    }

    #[test]
    fn names_may_leave_parts_out() {
        let text = r#"{"worker": ["a:1", {"address": "b:1", "devices": ["CPU:0", "GPU:0"]}]}"#;
        let cluster = Cluster::parse(text).unwrap();
        for (name, number) in [
            ("/job:worker/replica:0/task:1/device:GPU:0", 2),
            ("/job:worker/task:1", 1),
            ("/task:1/gpu:0", 2),
            ("/device:GPU:*", 2),
            ("/cpu:0", 0),
        ] {
            assert_eq!(cluster.find(name), Ok(number), "{name}");
        }
        for name in [
            "/job:ps",
            "/task:7",
            "/gpu:1",
            "worker",
            "/task:x",
            "/job:localhost/device:CPU:0",
        ] {
            assert!(cluster.find(name).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_no_cluster_is_refused() {
        for text in [
            "",
            "[]",
            "3",
            "{\"worker\": 3}",
            "{}",
            "{\"a b\": [\"x:1\"]}",
            "{\"w\": [{\"address\": \"x\", \"devices\": [\"CPU\"]}]}",
        ] {
            assert!(Cluster::parse(text).is_err(), "{text}");
        }
    }
}
