//! What every dependency must have: a place in the registry, and the text of its licence, beside it or beside another package
//! of its repository. Which licences, and that
//! nothing is there twice, `cargo deny` checks (tools/deny).

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn is_licence(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["licen", "copying", "unlicense"]
        .iter()
        .any(|start| name.starts_with(start))
}

#[test]
fn every_dependency_has_a_licence_file() {
    let about = said("rustc", &["-vV"]);
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    // What other systems need is not here to look at.
    let metadata = said(
        env!("CARGO"),
        &[
            "metadata",
            "--format-version=1",
            "--offline",
            "--locked",
            "--filter-platform",
            host,
        ],
    );
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let mut looked_at = 0;
    let mut licensed = BTreeSet::new();
    let mut without = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        // What is in this repository has the licence of the whole.
        let Some(source) = package["source"].as_str() else {
            continue;
        };
        assert!(source.starts_with("registry+"), "{name} is from {source}");
        assert!(package["license"].is_string(), "{name} does not name its licence");
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let mut files = std::fs::read_dir(folder).unwrap();
        let has_one = files.any(|file| is_licence(&file.unwrap().file_name().to_string_lossy()));
        let repository = package["repository"].as_str().map(|text| text.trim_end_matches('/'));
        match has_one {
            true => licensed.extend(repository),
            false => without.push((name, repository, folder.display().to_string())),
        }
        looked_at += 1;
    }
    for (name, repository, folder) in without {
        // Several packages of one repository have one licence.
        let of_another = repository.is_some_and(|text| licensed.contains(text));
        assert!(of_another, "{name} has no licence file in {folder}");
    }
    assert!(looked_at >= 50, "only {looked_at} dependencies");
}
