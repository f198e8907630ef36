//! Every file with RUN lines under `test-files/` as a test of its own: see `tests/filecheck/`.
//!
//! `cargo test --test files -- licm` runs those whose path holds `licm`. `PIR_TEST_TIMEOUT` is the time in seconds that
//! one command may take.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, io};

use libtest_mimic::{Arguments, Completion, Trial};
use pir_filecheck::run::{Config, Outcome, is_test, run_file};

/// The tools as cargo has built them; one that does not exist yet is left out.
const PROGRAMS: &[(&str, Option<&str>)] = &[
    ("pir-opt", option_env!("CARGO_BIN_EXE_pir-opt")),
    ("pir-run", option_env!("CARGO_BIN_EXE_pir-run")),
    ("pir-translate", option_env!("CARGO_BIN_EXE_pir-translate")),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-files");
    let trials = configuration(&root).and_then(|config| trials(&root, &config));
    match trials {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn configuration(root: &Path) -> Result<Config, String> {
    let mut config = Config::default();
    for (name, path) in PROGRAMS {
        if let Some(path) = path {
            config.programs.insert((*name).to_owned(), PathBuf::from(path));
        }
    }
    let inputs = root.join("inputs").to_string_lossy().into_owned();
    config.substitutions.insert("inputs".to_owned(), inputs);
    let root = root.to_string_lossy().into_owned();
    config.substitutions.insert("test-files".to_owned(), root);
    config.features.insert(env::consts::OS.to_owned());
    if let Ok(text) = env::var("PIR_TEST_TIMEOUT") {
        let seconds = text.parse().ok().filter(|&seconds: &u64| seconds > 0);
        let seconds = seconds.ok_or_else(|| format!("PIR_TEST_TIMEOUT: `{text}` is not a number of seconds"))?;
        config.timeout = Duration::from_secs(seconds);
    }
    Ok(config)
}

/// A test for each file, in the order of their names.
fn trials(root: &Path, config: &Config) -> Result<Vec<Trial>, String> {
    let files = files(root).map_err(|error| format!("cannot list `{}`: {error}", root.display()))?;
    let mut trials = Vec::new();
    for path in files {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .replace('\\', "/");
        let config = config.clone();
        trials.push(Trial::ignorable_test(name, move || match run_file(&path, &config) {
            Outcome::Passed => Ok(Completion::Completed),
            Outcome::Ignored(reason) => Ok(Completion::ignored_with(reason)),
            Outcome::Failed(message) => Err(message.into()),
        }));
    }
    match trials.is_empty() {
        true => Err(format!("there is no test file in `{}`", root.display())),
        false => Ok(trials),
    }
}

/// The files to test. What stands in a folder `inputs` is for other files; a program elsewhere must have RUN lines,
/// so that none is left untested by a slip.
fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "inputs" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "pir") || is_test(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
