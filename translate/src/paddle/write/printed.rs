//! Programs as Paddle prints them: the output of `print(program)` for a saved program.
//!
//! The saved form has all the information of the printed one, in the same order, so this converts one to the other. The
//! result is what Paddle prints after loading the same file, except that Paddle forgets at which loop arguments
//! gradients stop, which are those of the results.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::json::{Json, Value};

/// The indentation of a level, in spaces.
const INDENTATION: usize = 4;

/// Deeper levels are not indented further: a deep program would be mostly blanks.
const MAX_INDENTATION: usize = 64 * INDENTATION;

/// The flags of a parameter, in the order of the lists in the saved form.
const PARAMETER: [&[&str]; 2] = [
    &["is_distributed", "is_parameter", "need_clip"],
    &["persistable", "stop_gradient", "trainable"],
];

/// Paddle's name of a value.
#[derive(Clone, Copy)]
enum Name {
    Result(usize),
    Argument(usize),
    /// A handle of a stack: its prefix, and the number of the stack.
    Stack(&'static str, usize),
}

/// A block being printed.
struct Open<'j> {
    ops: Box<dyn Iterator<Item = Value<'j>> + 'j>,
    /// The `else` branch.
    otherwise: Option<Value<'j>>,
}

struct Printer<'j> {
    out: String,
    values: FxHashMap<i64, (Name, Option<Value<'j>>)>,
    results: usize,
    arguments: usize,
    stacks: usize,
    level: usize,
}

/// Prints a program from its saved form.
pub(super) fn print(saved: &str) -> String {
    // The file was written here, so it parses.
    let Ok(json) = Json::parse(saved.as_bytes()) else {
        return String::new();
    };
    let mut printer = Printer {
        out: String::new(),
        values: FxHashMap::default(),
        results: 0,
        arguments: 0,
        stacks: 0,
        level: 1,
    };
    let regions = json.root().get("program").and_then(|p| p.get("regions"));
    if let Some(region) = regions.and_then(|r| r.items().next()) {
        printer.program(region);
    }
    printer.out
}

/// The operations of a region, which has one block.
fn operations<'j>(region: Value<'j>) -> Box<dyn Iterator<Item = Value<'j>> + 'j> {
    let ops = block(region).and_then(|b| b.get("ops"));
    Box::new(ops.into_iter().flat_map(Value::items))
}

fn block(region: Value<'_>) -> Option<Value<'_>> {
    region.get("blocks").and_then(|b| b.items().next())
}

impl<'j> Printer<'j> {
    fn program(&mut self, region: Value<'j>) {
        self.out.push_str("{\n");
        let mut open = vec![Open {
            ops: operations(region),
            otherwise: None,
        }];
        while let Some(level) = open.last_mut() {
            if let Some(op) = level.ops.next() {
                open.extend(self.op(op));
                continue;
            }
            self.level -= 1;
            self.indent();
            match level.otherwise.take() {
                Some(region) => {
                    self.out.push_str("} else {\n");
                    level.ops = operations(region);
                    self.level += 1;
                }
                None => {
                    self.out.push_str("}\n");
                    open.pop();
                }
            }
        }
    }

    fn indent(&mut self) {
        let width = (self.level * INDENTATION).min(MAX_INDENTATION);
        self.out.extend(std::iter::repeat_n(' ', width));
    }

    /// Prints an operation up to its first region.
    fn op(&mut self, op: Value<'j>) -> Option<Open<'j>> {
        self.indent();
        let name = op.get("#").and_then(Value::str).unwrap_or_default();
        let name = match name.split_once('.') {
            Some(("0", name)) => format!("builtin.{name}"),
            Some(("1", name)) => format!("pd_op.{name}"),
            Some(("2", name)) => format!("cf.{name}"),
            Some(("3", name)) => format!("custom_op.{name}"),
            Some(("4", name)) => format!("pd_dist.{name}"),
            _ => "builtin.parameter".to_owned(),
        };
        let results: Vec<Value<'j>> = match op.get("O") {
            // The result of a parameter is not in a list.
            Some(one) if one.get("%").is_some() => vec![one],
            list => list.into_iter().flat_map(Value::items).collect(),
        };
        let inputs: Vec<i64> = op
            .get("I")
            .into_iter()
            .flat_map(Value::items)
            .map(|input| input.get("%").and_then(Value::int).unwrap_or(0))
            .collect();
        self.out.push('(');
        for (at, result) in results.iter().enumerate() {
            self.comma(at);
            let name = match (&*name, at) {
                ("cf.stack_create", 0) => Name::Stack("stack", self.stacks),
                ("cf.stack_create", 1) => Name::Stack("inlet", self.stacks),
                ("cf.stack_create", _) => Name::Stack("outlet", self.stacks),
                _ => {
                    self.results += 1;
                    Name::Result(self.results - 1)
                }
            };
            self.define(*result, "%", name);
        }
        self.stacks += usize::from(name == "cf.stack_create");
        let _ = write!(self.out, ") = {} (", quoted(&name));
        let mut regions = op.get("regions").into_iter().flat_map(Value::items);
        match &*name {
            "pd_op.while" => {
                self.out.push_str("cond=");
                for (at, &id) in inputs.iter().enumerate() {
                    self.comma(at);
                    self.out.push_str(if at == 1 { "inputs=" } else { "" });
                    self.value(id);
                }
                self.out.push_str(if inputs.len() > 1 { "" } else { ", inputs=" });
                // There is a blank after the brace.
                self.out.push_str(") { \n");
                let region = regions.next();
                self.loop_arguments(op, region);
                self.level += 1;
                return Some(Open {
                    ops: region.map_or(Box::new(std::iter::empty()), operations),
                    otherwise: None,
                });
            }
            "pd_op.if" => {
                self.list(&inputs, Self::value);
                self.out.push_str(") {");
                self.attributes(op);
                self.out.push_str("} -> ");
                self.types(&results);
                self.out.push_str(" {\n");
                self.level += 1;
                return Some(Open {
                    ops: regions.next().map_or(Box::new(std::iter::empty()), operations),
                    otherwise: regions.next(),
                });
            }
            _ => {}
        }
        self.list(&inputs, Self::value);
        self.out.push_str(") {");
        self.attributes(op);
        self.out.push_str("} : (");
        self.list(&inputs, |this, id| {
            let ty = this.values.get(&id).and_then(|&(_, ty)| ty);
            this.ty(ty);
        });
        self.out.push_str(") -> ");
        self.types(&results);
        self.out.push('\n');
        None
    }

    fn comma(&mut self, at: usize) {
        if at > 0 {
            self.out.push_str(", ");
        }
    }

    fn list(&mut self, ids: &[i64], print: impl Fn(&mut Self, i64)) {
        for (at, &id) in ids.iter().enumerate() {
            self.comma(at);
            print(self, id);
        }
    }

    // ----- values -----

    /// Prints the definition of a value, whose number is under the key.
    fn define(&mut self, definition: Value<'j>, key: &str, name: Name) {
        if let Some(id) = definition.get(key).and_then(Value::int) {
            self.values.insert(id, (name, definition.get("TT")));
        }
        self.name(name);
    }

    fn name(&mut self, name: Name) {
        let _ = match name {
            Name::Result(number) => write!(self.out, "%{number}"),
            Name::Argument(number) => write!(self.out, "%arg_{number}"),
            Name::Stack(word, number) => write!(self.out, "%{word}_{number}"),
        };
    }

    fn value(&mut self, id: i64) {
        match self.values.get(&id) {
            Some(&(name, _)) => self.name(name),
            None => self.out.push_str("<<NULL VALUE>>"),
        }
    }

    /// The arguments of the body of a loop. Gradients stop at them where they stop at the results.
    fn loop_arguments(&mut self, op: Value<'j>, region: Option<Value<'j>>) {
        let mut stops = result_flags(op);
        self.indent();
        self.out.push('^');
        let args = region.and_then(block).and_then(|b| b.get("args"));
        for (at, arg) in args.into_iter().flat_map(Value::items).enumerate() {
            self.comma(at);
            self.arguments += 1;
            self.define(arg, "#", Name::Argument(self.arguments - 1));
            match stops.next() {
                Some(stop) => {
                    let _ = write!(self.out, " {{stop_gradient:{}}}", stop.raw());
                }
                None => self.out.push_str(" {}"),
            }
        }
        self.out.push('\n');
    }

    // ----- types -----

    fn types(&mut self, results: &[Value<'j>]) {
        for (at, result) in results.iter().enumerate() {
            self.comma(at);
            self.ty(result.get("TT"));
        }
    }

    fn ty(&mut self, ty: Option<Value<'_>>) {
        let kind = ty.and_then(|ty| ty.get("#")?.str()).unwrap_or_default();
        let data = ty.and_then(|ty| ty.get("D"));
        match kind.split_once('.') {
            Some(("0", "t_vec")) => {
                self.out.push_str("vec[");
                for (at, item) in data.into_iter().flat_map(Value::items).enumerate() {
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.ty(Some(item));
                }
                self.out.push(']');
            }
            Some(("0", "t_dtensor")) => {
                let mut parts = data.into_iter().flat_map(Value::items);
                let elem = parts.next();
                self.out.push_str("tensor<");
                for dim in parts.next().into_iter().flat_map(Value::items) {
                    let _ = write!(self.out, "{}x", dim.raw());
                }
                self.ty(elem);
                self.out.push('>');
            }
            Some(("0", "t_bool")) => self.out.push('b'),
            Some(("0", "t_ui8")) => self.out.push_str("u8"),
            Some(("0", name)) => self.out.push_str(name.trim_start_matches("t_")),
            Some((_, name)) => {
                let _ = write!(self.out, "cf.{}", name.trim_start_matches("t_"));
            }
            None => self.out.push_str("<<NULL TYPE>>"),
        }
    }

    // ----- attributes -----

    /// The attributes of an operation and those of its results, by their names.
    fn attributes(&mut self, op: Value<'_>) {
        let mut entries: Vec<(String, String)> = Vec::new();
        if op.get("#").and_then(Value::str).as_deref() == Some("p") {
            for (key, names) in ["A", "OA"].into_iter().zip(PARAMETER) {
                let mut names = names.iter();
                for value in op.get(key).into_iter().flat_map(Value::items) {
                    match value.str() {
                        Some(name) => entries.push(("parameter_name".to_owned(), quoted(&name))),
                        None => {
                            let flag = value.int() == Some(1);
                            entries.extend(names.next().map(|&name| (name.to_owned(), format!("[{flag}]"))));
                        }
                    }
                }
            }
        }
        for entry in ["A", "OA"]
            .into_iter()
            .filter_map(|key| op.get(key))
            .flat_map(Value::items)
        {
            if let (Some(name), Some(value)) = (entry.get("N").and_then(Value::str), entry.get("AT")) {
                entries.push((name.into_owned(), attribute(value)));
            }
        }
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (at, (name, value)) in entries.iter().enumerate() {
            let _ = write!(self.out, "{}{name}:{value}", if at > 0 { "," } else { "" });
        }
    }
}

/// The flags of the results.
fn result_flags(op: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let entries = op.get("OA").into_iter().flat_map(Value::items);
    let stops = entries.filter(|e| e.get("N").and_then(Value::str).as_deref() == Some("stop_gradient"));
    let lists = stops.filter_map(|e| e.get("AT")?.get("D"));
    lists.flat_map(Value::items).filter_map(|flag| flag.get("D"))
}

/// A quoted string; Paddle escapes quotes only.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}

/// An attribute. Lists may be nested: an explicit stack holds the open ones.
fn attribute(attr: Value<'_>) -> String {
    let mut out = String::new();
    let mut open: Vec<Box<dyn Iterator<Item = Value<'_>> + '_>> = Vec::new();
    let mut next = Some(attr);
    loop {
        if let Some(attr) = next.take() {
            let kind = attr.get("#").and_then(Value::str).unwrap_or_default();
            let data = attr.get("D");
            if kind == "0.a_array" {
                out.push('[');
                open.push(Box::new(data.into_iter().flat_map(Value::items)));
            } else {
                leaf(&kind, attr, &mut out);
            }
        }
        let Some(items) = open.last_mut() else { return out };
        next = items.next();
        match next {
            Some(_) if !out.ends_with('[') => out.push(','),
            Some(_) => {}
            None => {
                open.pop();
                out.push(']');
            }
        }
    }
}

fn leaf(kind: &str, attr: Value<'_>, out: &mut String) {
    let data = attr.get("D");
    let raw = data.map(Value::raw).unwrap_or_default();
    let items = || data.into_iter().flat_map(Value::items);
    let at = |index: usize| items().nth(index);
    match kind.split_once('.').map_or("", |(_, kind)| kind) {
        "a_str" | "a_tensorname" => out.push_str(&quoted(&data.and_then(Value::str).unwrap_or_default())),
        "a_f32" | "a_f64" => {
            let word = attr.get("VD").and_then(Value::str);
            let value = word.and_then(|w| w.to_lowercase().parse().ok());
            let value = value.or(data.and_then(Value::float)).unwrap_or(0.0);
            // All digits are saved, but in single precision.
            let single = kind.ends_with("32");
            out.push_str(&number(if single { f64::from(value as f32) } else { value }));
        }
        "a_c64" | "a_c128" => {
            let part = |index| number(at(index).and_then(Value::float).unwrap_or(0.0));
            let _ = write!(out, "real:{} imag:{}", part(0), part(1));
        }
        "a_dtype" => out.push_str(raw.trim_matches('"').trim_end_matches("(ALL_DTYPE)")),
        "a_layout" => out.push_str(raw.trim_matches('"')),
        "a_intarray" => {
            let items: Vec<&str> = items().map(Value::raw).collect();
            let _ = write!(out, "[{}]", items.join(","));
        }
        "a_scalar" => match at(1).and_then(|v| Some((v, v.float()?))) {
            Some((_, value)) if at(0).and_then(Value::str).is_some_and(|t| t.starts_with("float")) => {
                out.push_str(&number(value));
            }
            Some((value, _)) => out.push_str(value.raw()),
            None => out.push_str(at(1).map_or("", Value::raw)),
        },
        "a_place" => {
            let part = |index| at(index).and_then(Value::int).unwrap_or(0);
            match part(0) {
                0 => out.push_str("Place(undefined:0)"),
                1 => out.push_str("Place(cpu)"),
                2 => {
                    let _ = write!(out, "Place(gpu:{})", part(1));
                }
                3 => out.push_str("Place(gpu_pinned)"),
                kind => {
                    let _ = write!(out, "Place({kind}:{})", part(1));
                }
            }
        }
        "a_type" => {
            let mut printer = Printer {
                out: std::mem::take(out),
                values: FxHashMap::default(),
                results: 0,
                arguments: 0,
                stacks: 0,
                level: 0,
            };
            printer.ty(data);
            *out = printer.out;
        }
        "" => out.push_str("<#AttrNull>"),
        _ => out.push_str(raw),
    }
}

/// A number with six digits, as C++ prints it.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() || value == 0.0 {
        return format!("{value}");
    }
    let text = format!("{value:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let shortened = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent).max(0) as usize;
        return shortened(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", shortened(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_six_digits() {
        // The output of Paddle 3.3.1 for these.
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (2.0, "2"),
            (0.1, "0.1"),
            (1e-10, "1e-10"),
            (1_234_567.0, "1.23457e+06"),
            (100_000.0, "100000"),
            (1e22, "1e+22"),
            (1e-5, "1e-05"),
            (1e-4, "0.0001"),
            (999_999.5, "1e+06"),
            (123_456.5, "123456"),
            (-1.5e-300, "-1.5e-300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
