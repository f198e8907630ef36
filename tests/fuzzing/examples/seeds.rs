//! Writes what a target starts with into a folder, a file for each input, and the words of its inputs for libFuzzer into a
//! file: `cargo run -p pir-fuzzing --example seeds -- TARGET FOLDER WORDS`.

use std::path::Path;
use std::process::ExitCode;

use pir_fuzzing::{dictionary, regressions, seeds, target};

fn write(target: &str, folder: &Path, words: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let inputs = seeds(target).into_iter().chain(regressions(target));
    for (at, (name, bytes)) in inputs.enumerate() {
        let name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
        std::fs::write(folder.join(format!("{at}-{name}")), bytes)?;
    }
    let quoted = |word: &String| {
        let escaped = word.bytes().map(|byte| format!("\\x{byte:02x}"));
        format!("\"{}\"\n", escaped.collect::<String>())
    };
    let words_of_it = dictionary(target).iter().filter(|word| (1..60).contains(&word.len()));
    std::fs::write(words, words_of_it.map(quoted).collect::<String>())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder, words] = &args[..] else {
        eprintln!("seeds TARGET FOLDER WORDS");
        return ExitCode::from(2);
    };
    if target(name).is_none() {
        eprintln!("there is no target {name}");
        return ExitCode::from(2);
    }
    match write(name, Path::new(folder), Path::new(words)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
