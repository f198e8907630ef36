//! The inputs that the fuzzers start with: the test files.

use std::path::{Path, PathBuf};

use pir_passes::{PassManager, Pipeline};
use pir_translate::graphdef;

use crate::random::Random;
use crate::targets::{context, read};

/// Larger files are omitted: changes to them are too seldom where they matter.
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

/// The programs of the test files as graphs of TensorFlow, where they can be.
fn graphs(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(lower) = Pipeline::parse("lower-to-dataflow") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (name, bytes) in seeds("execute") {
        let ctx = context();
        let Some(module) = read(&ctx, &bytes, false) else {
            continue;
        };
        let mut lowered = module.clone();
        let ran = PassManager::new().run(&mut lowered, &lower);
        let module = if ran.is_ok() { lowered } else { module };
        if let Ok(message) = graphdef::write(&module, None)
            && message.len() as u64 <= LARGEST
        {
            found.push((name, message));
        }
    }
    let mut paths = Vec::new();
    files(folder, &mut paths);
    paths.retain(|path| named(path).ends_with(".pb"));
    paths.sort();
    let read = |path: PathBuf| Some((named(&path), std::fs::read(path).ok()?));
    found.extend(paths.into_iter().filter_map(read));
    found
}

/// Raw bytes of several lengths, from which programs are generated.
fn numbers() -> Vec<(String, Vec<u8>)> {
    let of = |seed: u64| {
        let mut random = Random::new(seed);
        let length = 1 + random.below(300);
        let bytes = (0..length).map(|_| random.number() as u8).collect();
        (format!("numbers {seed}"), bytes)
    };
    (0..150).map(of).collect()
}

/// Files of one tensor, after the archives of the test files.
fn tensors() -> Vec<(String, Vec<u8>)> {
    let npy = |header: &str, data: &[u8]| {
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    };
    let safe = |header: &str, data: &[u8]| {
        let length = (header.len() as u64).to_le_bytes();
        [&length[..], header.as_bytes(), data].concat()
    };
    let data: Vec<u8> = (0..48).collect();
    vec![
        (
            "a.npy".to_owned(),
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", &data),
        ),
        (
            "b.npy".to_owned(),
            npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3, 4), }\n", &data),
        ),
        (
            "a.safetensors".to_owned(),
            safe(
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[0,48]}}",
                &data,
            ),
        ),
        (
            "b.safetensors".to_owned(),
            safe(
                "{\"__metadata__\":{\"x\":\"y\"},\"a\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[0,2]},\
                 \"b\":{\"dtype\":\"BOOL\",\"shape\":[2,1],\"data_offsets\":[2,4]}}",
                &data[..4],
            ),
        ),
    ]
}

/// What a target starts with, with names, in the same order in every run.
pub fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-files");
    let (inside, endings): (&str, &[&str]) = match target {
        "text" => ("", &[".pir", ".generic", ".debug"]),
        "execute" => ("", &[".pir"]),
        "graphdef" => return graphs(&folder),
        "generated" => return numbers(),
        "arrays" => ("", &[".npz"]),
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
    let mut found: Vec<_> = paths.into_iter().filter_map(read).collect();
    if target == "arrays" {
        found.extend(tensors());
    }
    found
}

/// The past failures of a target.
pub fn regressions(target: &str) -> Vec<(String, Vec<u8>)> {
    let mut paths = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    files(&folder.join(target), &mut paths);
    paths.sort();
    let read = |path: PathBuf| Some((named(&path), std::fs::read(path).ok()?));
    paths.into_iter().filter_map(read).collect()
}
