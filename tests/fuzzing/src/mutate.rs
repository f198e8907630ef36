//! Changes to inputs that know what words, lines and numbers are, so that many of them are still programs.

use std::ops::Range;
use std::sync::OnceLock;

use crate::random::Random;
use crate::{pipelines, protobuf};

/// Numbers at which something may break.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "64",
    "255",
    "256",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551616",
    "0.0",
    "-0.0",
    "1.0",
    "0.5",
    "1e308",
    "1e-320",
    "0x7FC00000",
    "0xFF",
    "1e400",
];

/// Words of the text format.
const WORDS: &[&str] = &[
    "true",
    "false",
    "unit",
    "loc",
    "tensor<4xf32>",
    "tensor<f32>",
    "tensor<?xf32>",
    "tensor<1xi64>",
    "tensor<i1>",
    "tensor<0xf32>",
    "tensor<2x3xf64>",
    "f16",
    "bf16",
    "f32",
    "f64",
    "i1",
    "i8",
    "i32",
    "i64",
    "ui8",
    "index",
    "none",
    "vector<4xf32>",
    "memref<2xf32>",
    "complex<f32>",
    "tuple<>",
    "() -> ()",
    "dense<0>",
    "dense<[1, 2]>",
    "array<i64>",
    "affine_map<(d0) -> (d0)>",
    "opaque<\"a\", \"b\">",
    "#a",
    "!a",
    "^bb0",
    "@f",
    "->",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ":",
    "=",
    "\"",
    "\\",
    "//",
    "\0",
    "\u{FEFF}",
    "é",
    "\r\n",
    "init",
    "cond",
    "body",
    "else",
    "attributes",
    "private",
    "unknown",
    "fused",
    "callsite",
    "{-#",
    "#-}",
];

/// The words of a target's inputs: those of the text format and the names of all operations, or those of pipelines.
pub fn dictionary(target: &str) -> &'static [String] {
    static WORDS_AND_NAMES: OnceLock<Vec<String>> = OnceLock::new();
    static OF_PIPELINES: OnceLock<Vec<String>> = OnceLock::new();
    if target == "pipeline" {
        return OF_PIPELINES.get_or_init(pipelines::words);
    }
    WORDS_AND_NAMES.get_or_init(|| {
        let words = WORDS.iter().chain(NUMBERS).map(|&w| w.to_owned());
        let ctx = pir_dialects::context();
        words.chain(ctx.ops().map(|op| op.name.to_string())).collect()
    })
}

/// What kind of word one is; words are exchanged for others of their kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Word,
    Name,
    Number,
    Text,
    Sign,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

/// The words of a text, without gaps between them.
fn words(text: &[u8]) -> Vec<(Kind, Range<usize>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&first) = text.get(at) {
        let rest = &text[at + 1..];
        let run = |f: fn(u8) -> bool| rest.iter().position(|&b| !f(b)).unwrap_or(rest.len()) + 1;
        let (kind, length) = match first {
            b'%' | b'@' | b'#' | b'!' | b'^' => (Kind::Name, run(is_word)),
            b'"' => (Kind::Text, run(|b| b != b'"' && b != b'\n') + 1),
            b'0'..=b'9' => (Kind::Number, run(|b| b.is_ascii_digit() || b == b'.')),
            b if is_word(b) => (Kind::Word, run(is_word)),
            b if b.is_ascii_whitespace() => (Kind::Blank, run(|b| b.is_ascii_whitespace())),
            _ => (Kind::Sign, 1),
        };
        let end = (at + length).min(text.len());
        found.push((kind, at..end));
        at = end;
    }
    found
}

fn lines(text: &[u8]) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = text.split_inclusive(|&b| b == b'\n').map(|line| {
        let range = start..start + line.len();
        start = range.end;
        range
    });
    ends.collect()
}

fn replace(text: &mut Vec<u8>, at: Range<usize>, by: &[u8]) {
    text.splice(at, by.iter().copied());
}

/// One word in place of another, of the same text, or of the dictionary.
fn change_word(random: &mut Random, dictionary: &[String], text: &mut Vec<u8>) {
    let all = words(text);
    let solid: Vec<_> = all.into_iter().filter(|(kind, _)| *kind != Kind::Blank).collect();
    let Some((kind, at)) = random.pick(&solid).cloned() else {
        return;
    };
    let by = match (random.below(4), kind) {
        (0, _) => random.pick(dictionary).map(|w| w.clone().into_bytes()),
        (1, Kind::Number) => random.pick(NUMBERS).map(|n| n.as_bytes().to_vec()),
        _ => {
            let alike: Vec<_> = solid.iter().filter(|(k, _)| *k == kind).collect();
            random.pick(&alike).map(|(_, r)| text[r.clone()].to_vec())
        }
    };
    replace(text, at, &by.unwrap_or_default());
}

/// An operation in place of another.
fn change_operation(random: &mut Random, dictionary: &[String], text: &mut Vec<u8>) {
    let dotted = |r: &Range<usize>| text[r.clone()].contains(&b'.');
    let names: Vec<Range<usize>> = words(text)
        .into_iter()
        .filter(|(kind, range)| *kind == Kind::Word && dotted(range))
        .map(|(_, range)| range)
        .collect();
    let operations: Vec<&String> = dictionary.iter().filter(|w| w.contains('.')).collect();
    if let (Some(at), Some(by)) = (random.pick(&names), random.pick(&operations)) {
        replace(text, at.clone(), by.as_bytes());
    }
}

fn change_line(random: &mut Random, text: &mut Vec<u8>) {
    let all = lines(text);
    let (Some(a), Some(b)) = (random.pick(&all).cloned(), random.pick(&all).cloned()) else {
        return;
    };
    let (line, other) = (text[a.clone()].to_vec(), text[b.clone()].to_vec());
    match random.below(4) {
        0 => replace(text, a, b""),
        1 => replace(text, b.start..b.start, &line),
        2 => replace(text, a, &other),
        _ => {
            let (first, second) = if a.start < b.start { (a, b) } else { (b, a) };
            let (early, late) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
            replace(text, second, &early);
            replace(text, first, &late);
        }
    }
}

fn change_bytes(random: &mut Random, text: &mut Vec<u8>) {
    let at = random.below(text.len());
    match random.below(5) {
        0 if !text.is_empty() => text[at] ^= 1 << random.below(8),
        1 if !text.is_empty() => text[at] = random.number() as u8,
        2 => text.truncate(at),
        3 => {
            let end = (at + 1 + random.below(8)).min(text.len());
            replace(text, at..end, b"");
        }
        _ => {
            let by = (0..1 + random.below(4))
                .map(|_| random.number() as u8)
                .collect::<Vec<_>>();
            replace(text, at..at, &by);
        }
    }
}

/// Puts lines or bytes of another input in.
fn cross(random: &mut Random, text: &mut Vec<u8>, other: &[u8]) {
    let (here, there) = (lines(text), lines(other));
    if let (Some(at), Some(from)) = (random.pick(&here), random.pick(&there)) {
        let end = (from.start + 1 + random.below(400)).min(other.len());
        let end = if random.below(2) == 0 { from.end } else { end };
        replace(text, at.start..at.start, &other[from.start..end]);
    }
}

/// Changes an input of a target in one to six places, and takes something of another one. The result is not longer than
/// `longest`.
pub fn mutate(random: &mut Random, target: &str, input: &[u8], other: &[u8], longest: usize) -> Vec<u8> {
    if matches!(target, "graphdef" | "paddle_program")
        && random.below(4) > 0
        && let Some(changed) = protobuf::mutate(random, input, other, longest)
    {
        return changed;
    }
    let dictionary = dictionary(target);
    let mut text = input.to_vec();
    for _ in 0..1 + random.below(6) {
        match random.below(16) {
            0..=5 => change_word(random, dictionary, &mut text),
            6..=8 => change_operation(random, dictionary, &mut text),
            9..=12 => change_line(random, &mut text),
            13..=14 => change_bytes(random, &mut text),
            _ => cross(random, &mut text, other),
        }
    }
    text.truncate(longest);
    text
}
