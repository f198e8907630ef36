//! The inputs that the fuzzers start with: the test files.

use std::path::{Path, PathBuf};

/// Larger files are left out: changes to them are too seldom where they matter.
const LARGEST: u64 = 16 << 10;

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push(path);
        }
    }
}

fn named(path: &Path) -> String {
    path.file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The pipelines in the RUN lines of the test files.
fn pipelines(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut paths = Vec::new();
    files(folder, &mut paths);
    for path in paths.iter().filter(|p| named(p).ends_with(".pir")) {
        for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
            for option in ["--pass=", "--pass-pipeline="] {
                let Some((_, behind)) = line.split_once(option) else {
                    continue;
                };
                let end = match behind.chars().next() {
                    Some(quote @ ('\'' | '"')) => behind[1..].find(quote).map(|at| at + 1),
                    _ => behind.find(' '),
                };
                let word = &behind[..end.unwrap_or(behind.len())];
                found.push(word.trim_matches(['\'', '"']).to_owned());
            }
        }
    }
    found.sort();
    found.dedup();
    let number = |(at, text): (usize, String)| (format!("pipeline {at}"), text.into_bytes());
    found.into_iter().enumerate().map(number).collect()
}

/// What a target starts with, with names, in the same order in every run.
pub fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-files");
    let (inside, endings): (&str, &[&str]) = match target {
        "text" => ("", &[".pir", ".generic", ".debug"]),
        "execute" => ("", &[".pir"]),
        "paddle_json" => ("paddle", &[".json"]),
        "paddle_text" => ("paddle", &[".paddle.txt"]),
        "paddle_program" => ("paddle/legacy", &[".pdmodel"]),
        "paddle_program_text" => ("paddle/legacy", &[".txt"]),
        _ => return pipelines(&folder),
    };
    let mut paths = Vec::new();
    files(&folder.join(inside), &mut paths);
    paths.retain(|path| endings.iter().any(|ending| named(path).ends_with(ending)));
    paths.retain(|path| std::fs::metadata(path).is_ok_and(|m| m.len() <= LARGEST));
    paths.sort();
    let read = |path: PathBuf| Some((named(&path), std::fs::read(path).ok()?));
    paths.into_iter().filter_map(read).collect()
}

/// The inputs with which a target once went wrong.
pub fn regressions(target: &str) -> Vec<(String, Vec<u8>)> {
    let mut paths = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    files(&folder.join(target), &mut paths);
    paths.sort();
    let read = |path: PathBuf| Some((named(&path), std::fs::read(path).ok()?));
    paths.into_iter().filter_map(read).collect()
}
