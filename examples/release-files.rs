//! Writes what a package has beside the tools: a man page for each tool, and completions for each shell.
//!
//!     cargo run --example release-files -- FOLDER
//!
//! `tools/release` calls it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use pir_tools::cli::{CompletionShell, write_completions};
use pir_tools::{Tool, opt, run, translate};

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("a folder is missing")?.into();
    write::<opt::Args>("pir-opt", &folder)?;
    write::<run::Args>("pir-run", &folder)?;
    write::<translate::Args>("pir-translate", &folder)
}

fn write<Args: CommandFactory>(name: &'static str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let pages = folder.join("share/man/man1");
    fs::create_dir_all(&pages)?;
    let mut page = Vec::new();
    let command: Command = Args::command().name(name);
    clap_mangen::Man::new(command).render(&mut page)?;
    fs::write(pages.join(format!("{name}.1")), page)?;
    let tool = Tool::new(name);
    let ctx = tool.context();
    for (shell, file) in [
        (
            CompletionShell::Bash,
            format!("share/bash-completion/completions/{name}"),
        ),
        (CompletionShell::Zsh, format!("share/zsh/site-functions/_{name}")),
        (
            CompletionShell::Fish,
            format!("share/fish/vendor_completions.d/{name}.fish"),
        ),
    ] {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        let mut script = Vec::new();
        write_completions::<Args>(&tool, shell, &ctx, &mut script)?;
        fs::write(path, script)?;
    }
    Ok(())
}
