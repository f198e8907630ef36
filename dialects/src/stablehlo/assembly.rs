//! The hooks that formats of rows call `custom<NAME>`.

use pir_ir::AssemblyHook;
use pir_ir::text::{AssemblyReader, Unreadable};

type Read = Result<(), Unreadable>;

/// The format of an operation whose row has none.
pub(super) const DEFAULT: &str = "operands attr-dict `:` types";

pub(super) const HOOKS: &[(&str, AssemblyHook)] = &[
    ("Ranges", ranges),
    ("DotDimensions", dot_dimensions),
    ("Precision", precision),
    ("ConvolutionDimensions", convolution_dimensions),
    ("Window", window),
    ("ExponentMantissa", exponent_mantissa),
    ("Reduction", reduction),
    ("Arguments", arguments),
];

/// `[1:4:2, 0:3]`.
fn ranges(r: &mut dyn AssemblyReader) -> Read {
    let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    r.expect("[")?;
    while !r.eat("]") {
        if !starts.is_empty() {
            r.expect(",")?;
        }
        starts.push(r.int()?);
        r.expect(":")?;
        limits.push(r.int()?);
        strides.push(if r.eat(":") { r.int()? } else { 1 });
    }
    r.set_array("start_indices", "i64", &starts)?;
    r.set_array("limit_indices", "i64", &limits)?;
    r.set_array("strides", "i64", &strides)
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = […], algorithm = <…>`; each may be missing.
fn dot_dimensions(r: &mut dyn AssemblyReader) -> Read {
    let mut fields = Vec::new();
    let (mut found, mut more) = (false, true);
    for (word, name) in [("batching_dims", "batching"), ("contracting_dims", "contracting")] {
        if !(more && r.eat(word)) {
            continue;
        }
        r.expect("=")?;
        let lhs = r.ints()?;
        r.expect("x")?;
        let rhs = r.ints()?;
        for (side, dims) in [("lhs", lhs), ("rhs", rhs)] {
            if !dims.is_empty() {
                fields.push((format!("{side}_{name}_dimensions"), dims));
            }
        }
        (found, more) = (true, r.eat(","));
    }
    let fields: Vec<String> = fields.iter().map(|(name, dims)| format!("{name} = {dims:?}")).collect();
    r.set(
        "dot_dimension_numbers",
        &format!("#stablehlo.dot<{}>", fields.join(", ")),
    )?;
    if more && (!found || r.is_next('p')) {
        precision(r)?;
        more = r.eat(",");
    }
    if more {
        r.expect("algorithm")?;
        r.expect("=")?;
        let text = r.bracketed('<')?;
        r.set("algorithm", &format!("#stablehlo.dot_algorithm{text}"))?;
    }
    Ok(())
}

/// `precision = [DEFAULT, HIGH]`.
fn precision(r: &mut dyn AssemblyReader) -> Read {
    r.expect("precision")?;
    r.expect("=")?;
    r.expect("[")?;
    let mut words = Vec::new();
    while !r.eat("]") {
        if !words.is_empty() {
            r.expect(",")?;
        }
        let word = ["DEFAULT", "HIGHEST", "HIGH"].into_iter().find(|word| r.eat(word));
        let word = word.ok_or_else(|| r.expected("one of `DEFAULT`, `HIGH`, `HIGHEST`"))?;
        words.push(format!("#stablehlo<precision {word}>"));
    }
    r.set("precision_config", &format!("[{}]", words.join(", ")))
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
fn convolution_dimensions(r: &mut dyn AssemblyReader) -> Read {
    let input = r.bracketed('[')?;
    r.expect("x")?;
    let kernel = r.bracketed('[')?;
    r.expect("->")?;
    let output = r.bracketed('[')?;
    r.set(
        "dimension_numbers",
        &format!("#stablehlo.conv<{input}x{kernel}->{output}>"),
    )
}

/// `stride = [2, 1], pad = [[1, 0], [0, 2]], lhs_dilate = […], rhs_dilate = […], reverse = [false, false]`; each may be missing.
fn window(r: &mut dyn AssemblyReader) -> Read {
    const LISTS: [(&str, &str); 3] = [
        ("stride", "window_strides"),
        ("lhs_dilate", "lhs_dilation"),
        ("rhs_dilate", "rhs_dilation"),
    ];
    while !r.is_next('}') {
        if let Some((_, name)) = LISTS.into_iter().find(|list| r.eat(list.0)) {
            r.expect("=")?;
            let list = r.ints()?;
            r.set_array(name, "i64", &list)?;
        } else if r.eat("pad") {
            padding(r)?;
        } else if r.eat("reverse") {
            r.expect("=")?;
            reversal(r)?;
        } else {
            return Err(r.expected("one of `stride`, `pad`, `lhs_dilate`, `rhs_dilate`, `reverse`"));
        }
        if !r.eat(",") {
            break;
        }
    }
    Ok(())
}

/// `= [[1, 0], [0, 2]]`.
fn padding(r: &mut dyn AssemblyReader) -> Read {
    r.expect("=")?;
    r.expect("[")?;
    let mut rows: Vec<Vec<i64>> = Vec::new();
    while !r.eat("]") {
        if !rows.is_empty() {
            r.expect(",")?;
        }
        let row = r.ints()?;
        if row.len() != 2 {
            return Err(r.expected("two numbers for each dimension, before"));
        }
        rows.push(row);
    }
    let first = rows.iter().flatten().next().copied().unwrap_or(0);
    let elements = match rows.iter().flatten().all(|&value| value == first) {
        true if rows.is_empty() => String::new(),
        true => first.to_string(),
        false => format!("{rows:?}"),
    };
    r.set("padding", &format!("dense<{elements}> : tensor<{}x2xi64>", rows.len()))
}

/// `[false, true]`.
fn reversal(r: &mut dyn AssemblyReader) -> Read {
    r.expect("[")?;
    let mut words = Vec::new();
    while !r.eat("]") {
        if !words.is_empty() {
            r.expect(",")?;
        }
        let word = ["true", "false"].into_iter().find(|word| r.eat(word));
        words.push(word.ok_or_else(|| r.expected("`true` or `false`"))?);
    }
    let colon = if words.is_empty() { "" } else { ": " };
    r.set("window_reversal", &format!("array<i1{colon}{}>", words.join(", ")))
}

/// `e5m10`.
fn exponent_mantissa(r: &mut dyn AssemblyReader) -> Read {
    let word = r.word("a format like `e5m10`")?;
    let bits = word.strip_prefix('e').and_then(|rest| rest.split_once('m'));
    let bits = bits.and_then(|(e, m)| Some((e.parse::<u32>().ok()?, m.parse::<u32>().ok()?)));
    let (exponent, mantissa) = bits.ok_or_else(|| r.expected("a format like `e5m10` before"))?;
    r.set("exponent_bits", &format!("{exponent} : i32"))?;
    r.set("mantissa_bits", &format!("{mantissa} : i32"))
}

/// `(%x init: %a), (%y init: %b)`, then `applies stablehlo.add` if that is the region.
fn reduction(r: &mut dyn AssemblyReader) -> Read {
    loop {
        r.expect("(")?;
        r.operand()?;
        r.expect("init")?;
        r.expect(":")?;
        r.operand()?;
        r.expect(")")?;
        if !r.eat(",") {
            break;
        }
    }
    r.separate_operands();
    if r.eat("applies") {
        r.applied()?;
    }
    Ok(())
}

/// `(%p: T, %q: T) (%r: U, %s: U)`.
fn arguments(r: &mut dyn AssemblyReader) -> Read {
    while r.eat("(") {
        r.argument()?;
        r.expect(",")?;
        r.argument()?;
        r.expect(")")?;
    }
    r.separate_arguments();
    Ok(())
}
