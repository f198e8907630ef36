//! Every file with RUN lines under `test-files/` as a separate test: see `tests/filecheck/`.
//!
//! `cargo test --test files -- licm` runs those whose path contains `licm`. `PIR_TEST_TIMEOUT` is the time limit of a
//! command in seconds. `BLESS=1` rewrites the CHECK lines of files in which they are generated.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Completion, Trial};
use pir_filecheck::run::{Config, Outcome, bless_file, collect, run_file};

/// The tools as cargo has built them; one that does not exist yet is omitted.
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
    let bless = env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut trials = Vec::new();
    for path in collect(root)? {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .replace('\\', "/");
        let config = config.clone();
        trials.push(Trial::ignorable_test(name, move || {
            if bless {
                bless_file(&path, &config)?;
            }
            match run_file(&path, &config) {
                Outcome::Passed => Ok(Completion::Completed),
                Outcome::Ignored(reason) => Ok(Completion::ignored_with(reason)),
                Outcome::Failed(message) => Err(message.into()),
            }
        }));
    }
    Ok(trials)
}
