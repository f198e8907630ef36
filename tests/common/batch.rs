//! Programs that are run by another engine in one process, which reads them from a file.

use std::path::{Path, PathBuf};
use std::process::Command;

use pir_interp::Tensor;
use pir_tools::arrays::write_npz;

use crate::common::{Inputs, Numbers};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Python with an engine that `tools/ENGINE/setup` installs, if it can be had.
pub fn python(engine: &str) -> Option<PathBuf> {
    let tool = format!("tools/{engine}/setup");
    let setup = Command::new(root().join(&tool)).output().unwrap();
    let said = String::from_utf8_lossy(&setup.stderr);
    match setup.status.code() {
        Some(0) => Some(root().join(String::from_utf8(setup.stdout).unwrap().trim())),
        Some(77) => {
            eprint!("skipped: {said}");
            None
        }
        status => panic!("{tool} ended with {status:?}: {said}"),
    }
}

/// Inputs of a generated program.
pub fn inputs(seed: u64) -> Inputs {
    let mut numbers = Numbers::new(seed);
    let whole = |value: f64| Tensor::new(&[1], vec![value as i64]).unwrap();
    vec![
        ("x".to_owned(), numbers.tensor(&[4], -1.0, 1.0)),
        ("y".to_owned(), numbers.tensor(&[4], -1.0, 1.0)),
        ("n".to_owned(), whole(numbers.unit() * 5.0)),
        ("z".to_owned(), whole(numbers.unit() * 3.0)),
        ("c".to_owned(), Tensor::new(&[1], vec![numbers.unit() < 0.5]).unwrap()),
    ]
}

/// Programs to be run, in a folder of their own.
pub struct Batch {
    folder: tempfile::TempDir,
    manifest: String,
}

impl Batch {
    pub fn new() -> Self {
        Batch {
            folder: tempfile::tempdir().unwrap(),
            manifest: String::new(),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    pub fn tensors(&self, name: &str, tensors: &[(String, Tensor)]) {
        let mut bytes = Vec::new();
        write_npz(tensors.iter().map(|(n, t)| (n.as_str(), t)), &mut bytes).unwrap();
        self.write(name, &bytes);
    }

    /// A program, and the options of the engine after its name.
    pub fn program(&mut self, name: &str, bytes: &[u8], how: &str) {
        self.write(name, bytes);
        self.manifest += &format!("{name} {how}\n");
    }

    /// Runs them all with a script.
    pub fn run(self, python: &Path, script: &str) {
        self.write("manifest", self.manifest.as_bytes());
        let ran = Command::new(python)
            .arg(root().join(script))
            .arg(self.folder.path().join("manifest"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        eprint!("{said}");
        if !ran.status.success() {
            let kept = self.folder.keep();
            let complaint = String::from_utf8_lossy(&ran.stderr);
            panic!("{said}\n{complaint}\nthe programs are in {}", kept.display());
        }
    }
}
