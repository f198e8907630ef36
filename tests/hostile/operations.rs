//! Every operation, with operands of any types and attributes of any values: its results have types, or something is wrong with it.

use std::fmt::Write as _;

use pir_ir::{Arity, OpDef};

/// Numbers that look random, the same ones each time (Knuth's linear congruential generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A shape that real programs have, or one that none has.
    fn shape(&mut self) -> String {
        let extents: &[&str] = match self.below(2) {
            0 => &["1", "2", "3", "4", "6"],
            _ => &["0", "1", "2", "3", "5", "60000", "?", "4294967295"],
        };
        (0..self.below(6)).map(|_| format!("{}x", self.of(extents))).collect()
    }

    fn value(&mut self, ty: &str) -> Option<String> {
        const WHOLE: &[i64] = &[-5, -2, -1, 0, 1, 2, 3, 4, 16_384, 100_000, i64::MIN, i64::MAX];
        const TEXTS: &[&str] = &["mean", "NCHW", "NHWC", "L", "reduced", "constant", "add", ""];
        Some(match ty {
            "int" | "int64_t" | "Scalar(int)" => self.of(WHOLE).to_string(),
            "float" | "double" | "Scalar" | "Scalar(double)" => {
                self.of(&["0.5", "-1.0", "1e300", "0.0", "3.0"]).to_owned()
            }
            "bool" => self.of(&["true", "false"]).to_owned(),
            "str" => format!("{:?}", self.of(TEXTS)),
            "DataType" => self.of(&["f32", "i64", "i1"]).to_owned(),
            _ if ty == "IntArray" || ty.ends_with("[]") => {
                let list: Vec<String> = (0..self.below(7)).map(|_| self.of(WHOLE).to_string()).collect();
                format!("[{}]", list.join(", "))
            }
            _ => return None,
        })
    }

    /// The operation, after those that define its operands.
    fn written(&mut self, def: &OpDef, number: usize, out: &mut String) {
        let (mut operands, mut attrs, same) = (Vec::new(), Vec::new(), self.shape());
        for (at, spec) in def.operands.iter().enumerate() {
            if spec.arity == Arity::Optional && self.below(3) > 0 {
                continue;
            }
            let shape = if self.below(5) < 3 { same.clone() } else { self.shape() };
            let elem = self.of(&["f32", "f32", "f32", "f64", "i64", "i1", "complex<f32>"]);
            let _ = writeln!(out, "%v{number}_{at} = \"u.x\"() : () -> tensor<{shape}{elem}>");
            operands.push(format!("%v{number}_{at}"));
        }
        for spec in def.attrs.iter() {
            if spec.default.is_some() && self.below(2) == 0 {
                continue;
            }
            attrs.extend(self.value(&spec.ty).map(|value| format!("{} = {value}", spec.name)));
        }
        let results: Vec<String> = (0..def.results.len()).map(|at| format!("%r{number}_{at}")).collect();
        let _ = write!(out, "{} = {} ({})", results.join(", "), def.name, operands.join(", "));
        let _ = if attrs.is_empty() {
            writeln!(out)
        } else {
            writeln!(out, " {{{}}}", attrs.join(", "))
        };
    }
}

#[test]
fn operations_of_any_types() {
    let ctx = pir_dialects::context();
    let mut dice = Dice(1);
    let (mut read, mut refused) = (0, 0);
    for def in ctx.ops() {
        if !def.name.starts_with("pd.") || def.results.is_empty() || !def.regions.is_empty() {
            continue;
        }
        for number in 0..super::size::programs(200) as usize {
            let mut text = String::new();
            dice.written(def, number, &mut text);
            println!("{text}");
            match super::load(&ctx, text.as_bytes(), true) {
                Some(_) => read += 1,
                None => refused += 1,
            }
        }
    }
    // Neither is all of it nonsense.
    assert!(read > refused / 50, "{read} were read, {refused} refused");
}
