//! `linalg`: named operations, whose regions the text does not show.
//!
//! What one element of the result is computed from is an expression: `a`, `b`, `c` are elements of the inputs, `o` of the output; a
//! number of another type is cast to that of the output first.

use crate::mlir::{arith, math};
use pir_ir::text::{OdsPrinter, OdsReader, Unreadable};
use pir_ir::{Attr, AttrData, Context, OdsHook, OpId, Type, TypeData, ValueId};

use super::affine::{print_structured, structured};
use super::common::{Read, shaped};

/// The expressions, in Polish notation.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("abs", "abs a"),
    ("add", "add a b"),
    ("batch_matmul", "add o mul a b"),
    ("batch_matmul_transpose_a", "add o mul a b"),
    ("batch_matmul_transpose_b", "add o mul a b"),
    ("batch_matvec", "add o mul a b"),
    ("batch_mmt4d", "add o mul a b"),
    ("batch_reduce_matmul", "add o mul a b"),
    ("batch_vecmat", "add o mul a b"),
    ("ceil", "ceil a"),
    ("copy", "a"),
    ("div", "div a b"),
    ("div_unsigned", "div_unsigned a b"),
    ("dot", "add o mul a b"),
    ("erf", "erf a"),
    ("exp", "exp a"),
    ("fill", "a"),
    ("floor", "floor a"),
    ("log", "log a"),
    ("matmul", "add o mul a b"),
    ("matmul_transpose_a", "add o mul a b"),
    ("matmul_transpose_b", "add o mul a b"),
    ("matvec", "add o mul a b"),
    ("max", "max a b"),
    ("min", "min a b"),
    ("mmt4d", "add o mul a b"),
    ("mul", "mul a b"),
    ("negf", "negf a"),
    ("powf", "powf a b"),
    ("round", "round a"),
    ("rsqrt", "rsqrt a"),
    ("select", "select a b c"),
    ("sqrt", "sqrt a"),
    ("square", "mul a a"),
    ("sub", "sub a b"),
    ("tanh", "tanh a"),
    ("vecmat", "add o mul a b"),
    ("elemwise_unary", "FUN a"),
    ("elemwise_binary", "FUN a b"),
];

fn expression(name: &str) -> Option<&'static str> {
    let found = EXPRESSIONS.iter().find(|entry| entry.0 == name).map(|entry| entry.1);
    let quantized = name.ends_with("_q") || name.starts_with("quantized");
    found.or_else(|| match name {
        _ if quantized => None,
        name if name.contains("conv_") => Some("add o mul a b"),
        name if !name.starts_with("pooling") => None,
        name if name.ends_with("_sum") => Some("add o a"),
        name if name.ends_with("_max") => Some("max o a"),
        name if name.ends_with("_min") => Some("min o a"),
        name if name.ends_with("_max_unsigned") => Some("max_unsigned o a"),
        name if name.ends_with("_min_unsigned") => Some("min_unsigned o a"),
        _ => None,
    })
}

/// `{…} ins(%a : T) outs(%b : U)`.
pub(super) const NAMED: OdsHook = OdsHook {
    name: "Named",
    read: |r| {
        r.dict()?;
        structured(r, ["inputs", "outputs"])?;
        r.dict()?;
        payload(r)
    },
    print: |p| {
        // A given attribute is printed, even if it is the default.
        p.dict_with(&["strides", "dilations", "cast", "fun"]);
        print_structured(p, ["inputs", "outputs"]);
    },
};

/// `ins(%a : T) outs(%b : U) permutation = [1, 0]`.
pub(super) const MOVE: OdsHook = OdsHook {
    name: "Move",
    read: |r| {
        let (mut elems, mut last) = (Vec::new(), None);
        for (word, name) in [("ins", "input"), ("outs", "init")] {
            r.expect(word)?;
            r.expect("(")?;
            r.operand(name)?;
            r.expect(":")?;
            let ty = r.ty()?;
            r.expect(")")?;
            r.set_types(name, &[ty]);
            elems.push(shaped(r.ctx(), ty).map_or(ty, |(_, elem)| elem));
            last = Some(ty);
        }
        let attr = r.arg(0);
        r.expect(attr)?;
        r.expect("=")?;
        r.attr(attr)?;
        let is_tensor = |ty: &Type| {
            matches!(
                r.ctx().type_data(*ty),
                TypeData::Tensor { .. } | TypeData::EncodedTensor { .. }
            )
        };
        let results: Vec<Type> = last.into_iter().filter(is_tensor).collect();
        r.set_types("result", &results);
        let args = r.begin_region(&elems);
        r.op("linalg.yield", &args[..1], None, &[]);
        Ok(())
    },
    print: |p| {
        for (word, name) in [("ins(", "input"), (") outs(", "init")] {
            p.text(word);
            let values = p.values(name);
            p.values_list(&values);
            p.text(" : ");
            let types = p.types_of(&values);
            p.types(&types);
        }
        let attr = p.arg(0);
        p.text(") ");
        p.text(attr);
        p.text(" = ");
        p.attr(attr);
        p.text(" ");
    },
};

/// `{ arith.addf } ins(%a, %b : T, T) outs(%c : T)`, or the region after it.
pub(super) const MAP: OdsHook = OdsHook {
    name: "Map",
    read: |r| of_elements(r, ["inputs", "init"], None),
    print: |p| print_of_elements(p, ["inputs", "init"], None),
};

/// `{ arith.addf } ins(%a : T) outs(%b : U) dimensions = [1]`, or the region after it.
pub(super) const REDUCE: OdsHook = OdsHook {
    name: "Reduce",
    read: |r| of_elements(r, ["inputs", "inits"], Some("dimensions")),
    print: |p| print_of_elements(p, ["inputs", "inits"], Some("dimensions")),
};

/// Ends what [`MAP`] and [`REDUCE`] begin, after the region.
pub(super) const END_OF_ELEMENTS: OdsHook = OdsHook {
    name: "EndOfElements",
    read: |_| Ok(()),
    print: |p| p.indent(false),
};

/// The name and the attributes of an operation.
type Operation = (String, Vec<(String, Attr)>);

/// The only operation of a region, in braces.
fn only_operation(r: &mut dyn OdsReader<'_>) -> Result<Option<Operation>, Unreadable> {
    if !r.eat("{") {
        return Ok(None);
    }
    let Some(name) = r.word().filter(|name| name.contains('.')) else {
        return Err(r.expected("the name of an operation"));
    };
    let mut attrs = Vec::new();
    if r.is_next('{') {
        let value = r.value()?;
        if let AttrData::Dict(dict) = r.ctx().attr_data(value) {
            let entries = r.ctx().dict_entries(*dict).iter();
            attrs = entries
                .map(|&(name, value)| (r.ctx().str(name).to_owned(), value))
                .collect();
        }
    }
    r.expect("}")?;
    Ok(Some((name, attrs)))
}

fn of_elements(r: &mut dyn OdsReader<'_>, names: [&str; 2], attr: Option<&str>) -> Read {
    let operation = only_operation(r)?;
    structured(r, names)?;
    let tensors = |ty: &Type| {
        let data = r.ctx().type_data(*ty);
        matches!(data, TypeData::Tensor { .. } | TypeData::EncodedTensor { .. })
    };
    let (inputs, outputs) = (r.read_types(names[0]), r.read_types(names[1]));
    let results: Vec<Type> = outputs.iter().copied().filter(tensors).collect();
    r.set_types(if attr.is_some() { "results" } else { "result" }, &results);
    if let Some(attr) = attr {
        r.expect(attr)?;
        r.expect("=")?;
        r.attr(attr)?;
    }
    r.dict()?;
    let Some((name, attrs)) = operation else {
        r.expect("(")?;
        if !r.eat(")") {
            loop {
                let name = r.arg_name()?;
                r.expect(":")?;
                let ty = r.ty()?;
                r.argument(name, ty)?;
                r.argument_location()?;
                if r.eat(")") {
                    break;
                }
                r.expect(",")?;
            }
        }
        return match r.is_next('{') {
            true => Ok(()),
            false => Err(r.expected("`{`")),
        };
    };
    // The operation takes an element of each input; in a reduction, that of the result in front of them.
    let taken = match attr {
        Some(_) => [inputs, outputs.clone()].concat(),
        None => inputs,
    };
    let elem = |ty: &Type| shaped(r.ctx(), *ty).map_or(*ty, |(_, elem)| elem);
    let elems: Vec<Type> = taken.iter().map(elem).collect();
    let Some(result) = outputs.last().map(elem) else {
        return Err(r.expected("`outs` before"));
    };
    let attrs = r.with_defaults(&name, attrs)?;
    let mut args = r.begin_region(&elems);
    if attr.is_some() {
        args.rotate_right(1);
    }
    let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(name, value)| (&**name, *value)).collect();
    let value = r.op(&name, &args, Some(result), &attrs);
    r.op("linalg.yield", value.as_slice(), None, &[]);
    Ok(())
}

fn print_of_elements(p: &mut dyn OdsPrinter<'_>, names: [&str; 2], attr: Option<&str>) {
    let operation = shown_operation(p, attr.is_some());
    if let Some(op) = operation {
        p.text("{ ");
        let ctx = p.ctx();
        p.head_of(op, &|attr| {
            pir_ir::text::print_attr(ctx, attr) != "#arith.fastmath<none>"
        });
        p.text(" }");
    }
    print_structured(p, names);
    if let Some(attr) = attr {
        p.text(" ");
        p.text(attr);
        p.text(" = ");
        p.attr(attr);
        p.text(" ");
    }
    p.dict();
    if operation.is_some() {
        p.hide_regions();
        return;
    }
    p.indent(true);
    p.new_line(false);
    p.text("(");
    for (at, arg) in p.region_args(0).into_iter().enumerate() {
        p.text(if at > 0 { ", " } else { "" });
        p.value(arg);
        p.text(": ");
        let types = p.types_of(&[arg]);
        p.types(&types);
    }
    p.text(")");
}

/// The operation that abbreviates the region: it takes all arguments in order, and its result is yielded.
fn shown_operation(p: &dyn OdsPrinter<'_>, reduces: bool) -> Option<OpId> {
    let body = p.body();
    let block = body.single_block(*body.op_regions(p.op()).first()?)?;
    let (first, last) = (body.first_op(block)?, body.last_op(block)?);
    let mut args = body.block_args(block).to_vec();
    if reduces && !args.is_empty() {
        args.rotate_right(1);
    }
    let results: Vec<ValueId> = body.results(first).collect();
    let target = body.operands(p.op()).last().map(|value| body.value_type(value))?;
    let target = shaped(p.ctx(), target).map_or(target, |(_, elem)| elem);
    let stands = body.next_op(first) == Some(last)
        && !args.is_empty()
        && body.operands_vec(first)[..] == args[..]
        && results.len() == 1
        && body.operands_vec(last)[..] == results[..]
        && body.value_type(results[0]) == target
        && body.op_regions(first).is_empty();
    stands.then_some(first)
}

/// The region of a named operation.
fn payload(r: &mut dyn OdsReader<'_>) -> Read {
    let name = r.op_name().strip_prefix("linalg.").unwrap_or_default().to_owned();
    let types: Vec<Type> = [r.read_types("inputs"), r.read_types("outputs")].concat();
    let elems: Vec<Type> = types
        .iter()
        .map(|&ty| shaped(r.ctx(), ty).map_or(ty, |(_, elem)| elem))
        .collect();
    let Some(text) = expression(&name).filter(|_| !elems.is_empty()) else {
        return Err(r.expected("an operation whose region is known, before"));
    };
    let fun = match r.get_attr("fun").map(|fun| r.ctx().attr_data(fun)) {
        Some(AttrData::Opaque(text)) => text
            .split_once('<')
            .map_or("", |text| text.1)
            .trim_end_matches('>')
            .to_owned(),
        _ if name == "elemwise_unary" => "exp".to_owned(),
        _ => "add".to_owned(),
    };
    let unsigned = match r.get_attr("cast").map(|cast| r.ctx().attr_data(cast)) {
        Some(AttrData::Opaque(text)) => text.contains("cast_unsigned"),
        _ => name.ends_with("_unsigned"),
    };
    let args = r.begin_region(&elems);
    let target = elems[elems.len() - 1];
    let mut words = text.split(' ');
    let mut payload = Payload {
        args,
        elems,
        target,
        unsigned,
        fun,
    };
    let Some(value) = payload.value(r, &mut words)? else {
        return Err(r.expected("elements that the operation can compute with, before"));
    };
    r.op("linalg.yield", &[value], None, &[]);
    Ok(())
}

struct Payload {
    args: Vec<ValueId>,
    elems: Vec<Type>,
    target: Type,
    unsigned: bool,
    fun: String,
}

impl Payload {
    fn value<'w>(
        &mut self,
        r: &mut dyn OdsReader<'_>,
        words: &mut impl Iterator<Item = &'w str>,
    ) -> Result<Option<ValueId>, Unreadable> {
        let word = words.next().unwrap_or_default();
        let inputs = ["a", "b", "c"].iter().position(|name| *name == word);
        if word == "o" {
            return Ok(self.args.last().copied());
        }
        if let Some(at) = inputs {
            let (Some(&value), Some(&ty)) = (self.args.get(at), self.elems.get(at)) else {
                return Ok(None);
            };
            return cast(r, value, ty, self.target, self.unsigned);
        }
        let fun = self.fun.clone();
        let word = if word == "FUN" { &fun } else { word };
        if word == "select" {
            let (Some(&c), Some(&a), Some(&b)) = (self.args.first(), self.args.get(1), self.args.get(2)) else {
                return Ok(None);
            };
            return Ok(r.op(arith::Select::NAME, &[c, a, b], Some(self.target), &[]));
        }
        let Some((name, arity, extra)) = operation(r.ctx(), word, self.target) else {
            return Ok(None);
        };
        let mut operands = Vec::new();
        for _ in 0..arity {
            let Some(value) = self.value(r, words)? else {
                return Ok(None);
            };
            operands.push(value);
        }
        let attrs = match extra {
            "" => Vec::new(),
            extra => {
                let (name, text) = extra.split_once(' ').unwrap_or((extra, "unit"));
                vec![(name, r.composed(text)?)]
            }
        };
        Ok(r.op(name, &operands, Some(self.target), &attrs))
    }
}

/// The operation of a function on numbers of a type, how many operands it has, and an attribute.
fn operation(ctx: &Context, word: &str, ty: Type) -> Option<(&'static str, usize, &'static str)> {
    const FAST: &str = "fastmath #arith.fastmath<none>";
    const OVERFLOW: &str = "overflowFlags #arith.overflow<none>";
    let data = ctx.type_data(ty);
    let float = matches!(data, TypeData::Float(_));
    let complex = matches!(data, TypeData::Complex(_));
    let integer = matches!(data, TypeData::Integer { .. } | TypeData::Index);
    let truth = ty == Type::I1;
    Some(match word {
        "add" if complex => ("complex.add", 2, FAST),
        "add" if float => (arith::Addf::NAME, 2, FAST),
        "add" if truth => (arith::Ori::NAME, 2, ""),
        "add" if integer => (arith::Addi::NAME, 2, OVERFLOW),
        "sub" if complex => ("complex.sub", 2, FAST),
        "sub" if float => (arith::Subf::NAME, 2, FAST),
        "sub" if integer && !truth => (arith::Subi::NAME, 2, OVERFLOW),
        "mul" if complex => ("complex.mul", 2, FAST),
        "mul" if float => (arith::Mulf::NAME, 2, FAST),
        "mul" if truth => (arith::Andi::NAME, 2, ""),
        "mul" if integer => (arith::Muli::NAME, 2, OVERFLOW),
        "div" if complex => ("complex.div", 2, FAST),
        "div" if float => (arith::Divf::NAME, 2, FAST),
        "div" if integer && !truth => (arith::Divsi::NAME, 2, ""),
        "div_unsigned" if integer && !truth => (arith::Divui::NAME, 2, ""),
        "max" | "max_signed" if float => (arith::Maximumf::NAME, 2, FAST),
        "max" | "max_signed" if integer => (arith::Maxsi::NAME, 2, ""),
        "min" | "min_signed" if float => (arith::Minimumf::NAME, 2, FAST),
        "min" | "min_signed" if integer => (arith::Minsi::NAME, 2, ""),
        "max_unsigned" if float => (arith::Maximumf::NAME, 2, FAST),
        "max_unsigned" if integer => (arith::Maxui::NAME, 2, ""),
        "min_unsigned" if float => (arith::Minimumf::NAME, 2, FAST),
        "min_unsigned" if integer => (arith::Minui::NAME, 2, ""),
        "powf" if float => (math::Powf::NAME, 2, FAST),
        "exp" if float => (math::Exp::NAME, 1, FAST),
        "log" if float => (math::Log::NAME, 1, FAST),
        "abs" if float => (math::Absf::NAME, 1, FAST),
        "ceil" if float => (math::Ceil::NAME, 1, FAST),
        "floor" if float => (math::Floor::NAME, 1, FAST),
        "negf" if float => (arith::Negf::NAME, 1, FAST),
        "round" if float => (math::Round::NAME, 1, FAST),
        "sqrt" if float => (math::Sqrt::NAME, 1, FAST),
        "rsqrt" if float => (math::Rsqrt::NAME, 1, FAST),
        "tanh" if float => (math::Tanh::NAME, 1, FAST),
        "erf" if float => (math::Erf::NAME, 1, FAST),
        _ => return None,
    })
}

/// A number as one of another type.
fn cast(
    r: &mut dyn OdsReader<'_>,
    value: ValueId,
    from: Type,
    to: Type,
    unsigned: bool,
) -> Result<Option<ValueId>, Unreadable> {
    if from == to {
        return Ok(Some(value));
    }
    let width = |data: &TypeData| match data {
        TypeData::Integer { width, .. } => Some((false, *width)),
        TypeData::Float(kind) => Some((true, kind.bits())),
        _ => None,
    };
    let ctx = r.ctx();
    let (Some((from_float, from_width)), Some((to_float, to_width))) =
        (width(ctx.type_data(from)), width(ctx.type_data(to)))
    else {
        return Ok(None);
    };
    let name = match (from_float, to_float) {
        (false, true) if unsigned => arith::Uitofp::NAME,
        (false, true) => arith::Sitofp::NAME,
        (true, false) if unsigned => arith::Fptoui::NAME,
        (true, false) => arith::Fptosi::NAME,
        (true, true) if from_width < to_width => arith::Extf::NAME,
        (true, true) if from_width > to_width => arith::Truncf::NAME,
        (false, false) if from_width > to_width => arith::Trunci::NAME,
        (false, false) if from_width < to_width && unsigned => arith::Extui::NAME,
        (false, false) if from_width < to_width => arith::Extsi::NAME,
        _ => return Ok(None),
    };
    Ok(r.op(name, &[value], Some(to), &[]))
}
