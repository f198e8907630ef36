//! Damaged programs: an error or another program, never a panic.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use pir_dialects::context;
use pir_ir::verify::verify;
use pir_translate::Format;
use pir_translate::paddle::Options;

/// A deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Fragments of programs, to be inserted at wrong places.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "0",
    "-1",
    "9223372036854775807",
    "1e999",
    "null",
    "true",
    "\"%\"",
    "\"D\"",
    "{\"#\":\"NULL\"}",
    "\"0.t_vec\"",
    "\"0.a_array\"",
    "pd_op.while",
    "cf.yield",
    "(%0)",
    "%arg_0",
    "tensor<-1x",
    "<<NULL VALUE>>",
    "é",
    "\\u12",
    "2.yield",
    "1.while",
    "1.if",
    "0.combine",
    "0.split",
];

fn damage(source: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = source.to_vec();
    for _ in 0..1 + random.below(3) {
        if out.is_empty() {
            break;
        }
        let at = random.below(out.len());
        match random.below(12) {
            // Numbers and names from elsewhere: the syntax stays valid.
            5.. => {
                let Some(digit) = out[at..].iter().position(u8::is_ascii_digit) else {
                    continue;
                };
                out[at + digit] = b'0' + random.below(10) as u8;
            }
            4 => {
                let names: [&[u8]; 2] = [b"pd_op.", b"\"1."];
                let Some(length) = names
                    .iter()
                    .find_map(|n| out[at..].windows(n.len()).position(|w| w == *n))
                else {
                    continue;
                };
                let start = at + length + if out[at + length] == b'"' { 3 } else { 6 };
                let Some(length) = out[start..].iter().position(|&c| c == b'"') else {
                    continue;
                };
                let name = ["while", "if", "full", "concat", "split", "sum", "fetch", "add_"][random.below(8)];
                out.splice(start..start + length, name.bytes());
            }
            0 => out.truncate(at),
            1 => {
                let end = (at + random.below(60)).min(out.len());
                out.drain(at..end);
            }
            2 => {
                let piece = PIECES[random.below(PIECES.len())];
                out.splice(at..at, piece.bytes());
            }
            _ => {
                // Repeats a part of the program elsewhere.
                let start = random.below(out.len());
                let end = (start + random.below(200)).min(out.len());
                let piece = out[start..end].to_vec();
                out.splice(at..at, piece);
            }
        }
    }
    out
}

fn survive(extension: &str, format: Format, rounds: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-files/paddle");
    let ctx = context();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for name in ["while_in_if", "nested_while", "gru_cell_loop", "seed_cond"] {
        let source = std::fs::read(folder.join(format!("{name}.{extension}"))).unwrap();
        for _ in 0..rounds {
            let damaged = damage(&source, &mut random);
            let paddle = Options {
                allow_unregistered: random.below(2) == 0,
            };
            let options = pir_translate::Options {
                paddle,
                ..Default::default()
            };
            match format.read(&ctx, &damaged, &options) {
                // The program may be invalid, but it must be safe to inspect.
                Ok(module) => {
                    verify(&module);
                    pir_ir::text::print(&module, &Default::default());
                }
                Err(errors) => {
                    assert!(!errors.is_empty());
                    for label in errors.iter().flat_map(|e| &e.labels) {
                        assert!(label.span.start as usize <= damaged.len(), "{errors:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn damaged_saved_programs() {
    survive("json", Format::PaddleJson, 1000);
}

#[test]
fn damaged_printed_programs() {
    survive("paddle.txt", Format::PaddleText, 1000);
}
