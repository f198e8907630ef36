//! Pipelines of any passes with any options.

use pir_passes::{OptionKind, OptionSpec};

use crate::generate::Random;

/// What options that want texts are given: names of the programs that are generated, and what is none.
const NAMES: &[&str] = &[
    "x", "y", "n", "c", "out0", "out1", "%x", "w", "main", "f0", "f1", "b", "", "all", "%v3", "@main", "0", "*",
];

fn value(random: &mut Random, kind: OptionKind) -> String {
    match kind {
        OptionKind::Bool => ["true", "false"][random.below(2)].to_owned(),
        OptionKind::Int(least, most) => {
            let near = [1, 2, 3, 4, 8, 17, 1000].map(|n: i64| n.clamp(least, most));
            random.pick(&[&near[..], &[least, most]].concat()).to_string()
        }
        OptionKind::Count => random.pick(&[0, 1, 2, 3, 10, 1000, i64::MAX]).to_string(),
        OptionKind::Enum(words) => (*random.pick(words)).to_owned(),
        OptionKind::Str => format!("\"{}\"", random.pick(NAMES)),
        OptionKind::List => {
            let names: Vec<String> = (0..random.below(3))
                .map(|_| format!("\"{}\"", random.pick(NAMES)))
                .collect();
            format!("[{}]", names.join(", "))
        }
    }
}

fn options(random: &mut Random, specs: &[OptionSpec]) -> String {
    if specs.is_empty() || random.below(3) == 0 {
        return String::new();
    }
    let mut said = Vec::new();
    for spec in specs {
        if random.below(specs.len() + 1) < 2 {
            said.push(format!("{}={}", spec.name, value(random, spec.kind)));
        }
    }
    format!("{{{}}}", said.join(" "))
}

/// One to four passes.
pub(crate) fn pipeline(random: &mut Random) -> String {
    let count = 1 + random.below(4);
    let mut chosen = Vec::new();
    for _ in 0..count {
        let passes: Vec<_> = pir_passes::PassRegistry::standard().iter().collect();
        let pass = random.pick(&passes);
        // It would draw every program on the terminal.
        if pass.name() != "view-graph" {
            chosen.push(format!("{}{}", pass.name(), options(random, pass.options())));
        }
    }
    chosen.join(",")
}

/// The words of pipelines.
pub(crate) fn words() -> Vec<String> {
    let signs = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        "=",
        "\"",
        "any",
        "builtin.module",
        "func.func",
    ];
    let passes = pir_passes::PassRegistry::standard();
    let names = passes.iter().map(|pass| pass.name());
    let options = passes
        .iter()
        .flat_map(|pass| pass.options().iter().map(|spec| spec.name));
    signs
        .into_iter()
        .chain(names)
        .chain(options)
        .chain(NAMES.iter().copied())
        .map(str::to_owned)
        .collect()
}
