//! The checker as a program, to be compared with other implementations: `filecheck-rs FILE [options] < input`.

use std::io::Read;
use std::process::ExitCode;

use pir_filecheck::{CheckError, CommandLine, check};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(CheckError::Mismatch(message)) => {
            eprintln!("{message}");
            ExitCode::from(1)
        }
        Err(CheckError::Invalid(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), CheckError> {
    let invalid = |error: String| CheckError::Invalid(error);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = CommandLine::parse(&arguments).map_err(invalid)?;
    let read = |path: &str| std::fs::read_to_string(path).map_err(|e| invalid(format!("cannot read `{path}`: {e}")));
    let check_text = read(&command.check_file)?;
    let mut input = String::new();
    match &command.input_file {
        Some(path) => input = read(path)?,
        None => {
            let read = std::io::stdin().read_to_string(&mut input);
            read.map_err(|e| invalid(format!("cannot read standard input: {e}")))?;
        }
    }
    check(&command.options, &command.check_file, &check_text, &input)
}
