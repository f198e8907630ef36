//! Printing of types and attributes.

use crate::context::Context;
use crate::elements::ElementsForm;
use crate::types::{Attr, AttrData, AttrDict, DYNAMIC, Signedness, Type, TypeData, TypeParam};

/// Writes a type; with `bang`, dialect types begin with `!`, as other tools require.
pub(super) fn write_type(ctx: &Context, out: &mut String, ty: Type, bang: bool) {
    match ctx.type_data(ty) {
        // Most types nest in nothing; the others are as deep as the input nests.
        TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Index | TypeData::None => {
            write_type_inner(ctx, out, ty, bang)
        }
        TypeData::Tensor { elem, .. }
            if matches!(ctx.type_data(*elem), TypeData::Integer { .. } | TypeData::Float(_)) =>
        {
            write_type_inner(ctx, out, ty, bang)
        }
        _ => stacker::maybe_grow(64 * 1024, 1024 * 1024, || write_type_inner(ctx, out, ty, bang)),
    }
}

fn write_type_inner(ctx: &Context, out: &mut String, ty: Type, bang: bool) {
    match ctx.type_data(ty) {
        TypeData::Integer { width, sign } => {
            out.push_str(match sign {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            });
            push_int(out, i128::from(*width));
        }
        TypeData::Float(kind) => out.push_str(kind.name()),
        TypeData::Index => out.push_str("index"),
        TypeData::None => out.push_str("none"),
        TypeData::Tensor { shape, elem } => {
            out.push_str("tensor<");
            write_dims(out, shape);
            write_type(ctx, out, *elem, bang);
            out.push('>');
        }
        TypeData::EncodedTensor { shape, elem, encoding } => {
            out.push_str("tensor<");
            write_dims(out, shape);
            write_type(ctx, out, *elem, bang);
            write_param_attr(ctx, out, Some(*encoding), bang);
            out.push('>');
        }
        TypeData::UnrankedTensor(elem) => {
            out.push_str("tensor<*x");
            write_type(ctx, out, *elem, bang);
            out.push('>');
        }
        TypeData::MemRef {
            shape,
            elem,
            layout,
            space,
        } => {
            out.push_str("memref<");
            match shape {
                Some(shape) => write_dims(out, shape),
                None => out.push_str("*x"),
            }
            write_type(ctx, out, *elem, bang);
            write_param_attr(ctx, out, *layout, bang);
            write_param_attr(ctx, out, *space, bang);
            out.push('>');
        }
        TypeData::Vector { shape, scalable, elem } => {
            out.push_str("vector<");
            for (&dim, &scalable) in shape.iter().zip(scalable) {
                match scalable {
                    true => out.extend(["[", itoa::Buffer::new().format(dim), "]x"]),
                    false => write_dims(out, &[dim]),
                }
            }
            write_type(ctx, out, *elem, bang);
            out.push('>');
        }
        TypeData::Complex(part) => {
            out.push_str("complex<");
            write_type(ctx, out, *part, bang);
            out.push('>');
        }
        TypeData::Tuple(items) => {
            out.push_str("tuple<");
            write_types(ctx, out, items, bang);
            out.push('>');
        }
        TypeData::Function { inputs, results } => {
            out.push('(');
            write_types(ctx, out, inputs, bang);
            out.push_str(") -> ");
            write_results(ctx, out, results, bang);
        }
        TypeData::List(items) => {
            match bang {
                true => out.extend(["!", ctx.list_type(), "<"]),
                false => out.push_str("vec<"),
            }
            write_types(ctx, out, items, bang);
            out.push('>');
        }
        TypeData::Dialect { name, params } => {
            if bang || !params.is_empty() {
                out.push('!');
            }
            out.push_str(&ctx.type_def(*name).name);
            write_params(ctx, out, params, bang);
        }
        TypeData::Unregistered(text) => out.extend(["!", text]),
    }
}

/// The parameters of a type of a dialect.
fn write_params(ctx: &Context, out: &mut String, params: &[TypeParam], bang: bool) {
    let mut before = "<";
    for param in params {
        out.push_str(before);
        before = ", ";
        match param {
            TypeParam::Type(ty) => write_type(ctx, out, *ty, bang),
            TypeParam::Int(value) => push_int(out, i128::from(*value)),
            TypeParam::Shape(dims) => {
                write_dims(out, dims);
                before = "";
            }
            TypeParam::Attr(attr) => write_attr(ctx, out, *attr, bang),
        }
    }
    if !params.is_empty() {
        out.push('>');
    }
}

fn write_attr(ctx: &Context, out: &mut String, attr: Attr, generic: bool) {
    let writer = AttrWriter {
        ctx,
        generic,
        elide: None,
        mlir: false,
    };
    writer.write(out, attr, false);
}

/// An attribute after a comma, if there is one.
fn write_param_attr(ctx: &Context, out: &mut String, attr: Option<Attr>, bang: bool) {
    if let Some(attr) = attr {
        out.push_str(", ");
        write_attr(ctx, out, attr, bang);
    }
}

/// Dimensions, an `x` after each.
fn write_dims(out: &mut String, dims: &[i64]) {
    for &dim in dims {
        if dim == DYNAMIC {
            out.push('?');
        } else {
            push_int(out, i128::from(dim));
        }
        out.push('x');
    }
}

/// Types separated by commas.
pub(super) fn write_types(ctx: &Context, out: &mut String, types: &[Type], bang: bool) {
    for (at, &ty) in types.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_type(ctx, out, ty, bang);
    }
}

/// The types after an arrow: parentheses unless it is one type that is not a function.
pub(super) fn write_results(ctx: &Context, out: &mut String, types: &[Type], bang: bool) {
    match types {
        &[one] if !matches!(ctx.type_data(one), TypeData::Function { .. }) => write_type(ctx, out, one, bang),
        _ => {
            out.push('(');
            write_types(ctx, out, types, bang);
            out.push(')');
        }
    }
}

pub(super) fn push_int(out: &mut String, value: i128) {
    match i64::try_from(value) {
        Ok(value) => out.push_str(itoa::Buffer::new().format(value)),
        Err(_) => out.push_str(itoa::Buffer::new().format(value)),
    }
}

/// Writes attributes.
#[derive(Clone, Copy)]
pub(super) struct AttrWriter<'a> {
    pub(super) ctx: &'a Context,
    pub(super) generic: bool,
    pub(super) elide: Option<usize>,
    /// Whether numbers are written with the digits that MLIR gives them.
    pub(super) mlir: bool,
}

impl AttrWriter<'_> {
    /// Writes an attribute; `typed` writes the types of plain numbers too.
    pub(super) fn write(&self, out: &mut String, attr: Attr, typed: bool) {
        match self.ctx.attr_data(attr) {
            AttrData::Array(_) | AttrData::Dict(_) => {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.write_inner(out, attr, typed));
            }
            // What nests in nothing, or in types only.
            _ => self.write_inner(out, attr, typed),
        }
    }

    fn write_inner(&self, out: &mut String, attr: Attr, typed: bool) {
        match self.ctx.attr_data(attr) {
            AttrData::Unit => out.push_str("unit"),
            AttrData::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            AttrData::Int { value, ty } => {
                push_int(out, *value);
                if typed || *ty != Type::I64 {
                    self.colon_type(out, *ty);
                }
            }
            AttrData::Float { bits, ty } => self.float(out, *bits, *ty, typed),
            AttrData::Str(text) => self.string(out, text),
            AttrData::Ints(values) => {
                if self.is_large(values.len()) {
                    out.push_str("[...]");
                    return;
                }
                out.push('[');
                for (at, &value) in values.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    push_int(out, i128::from(value));
                }
                out.push(']');
            }
            AttrData::Array(items) => {
                if self.is_large(items.len()) {
                    out.push_str("[...]");
                    return;
                }
                out.push('[');
                for (at, &item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    // In a list with a number of another type, the plain ones need theirs no more than elsewhere.
                    self.write(out, item, false);
                }
                out.push(']');
            }
            AttrData::Dict(dict) => self.dict(out, *dict),
            AttrData::Type(ty) => write_type(self.ctx, out, *ty, self.generic),
            AttrData::Symbol(path) => {
                for (at, &sym) in path.iter().enumerate() {
                    if at > 0 {
                        out.push_str("::");
                    }
                    write_symbol(out, self.ctx.str(sym));
                }
            }
            AttrData::Elements(elements) => {
                super::elements::write_elements(self.ctx, out, elements, self.elide);
                if elements.form() == ElementsForm::Dense {
                    self.colon_type(out, elements.ty());
                }
            }
            AttrData::Opaque(text) => {
                if self.is_large(text.len()) {
                    out.push_str("\"...\"");
                } else {
                    out.push_str(text);
                }
            }
        }
    }

    fn is_large(&self, len: usize) -> bool {
        self.elide.is_some_and(|limit| len > limit)
    }

    fn colon_type(&self, out: &mut String, ty: Type) {
        out.push_str(" : ");
        write_type(self.ctx, out, ty, self.generic);
    }

    /// `{a = 1, b}`, braces included.
    pub(super) fn dict(&self, out: &mut String, dict: AttrDict) {
        out.push('{');
        for (at, &(name, value)) in self.ctx.dict_entries(dict).iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            self.entry(out, self.ctx.str(name), value);
        }
        out.push('}');
    }

    /// `name = value`.
    pub(super) fn entry(&self, out: &mut String, name: &str, value: Attr) {
        if is_bare_name(name) {
            out.push_str(name);
        } else {
            write_string(out, name);
        }
        if !matches!(self.ctx.attr_data(value), AttrData::Unit) {
            out.push_str(" = ");
            self.write(out, value, self.generic);
        }
    }

    fn float(&self, out: &mut String, bits: u64, ty: Type, typed: bool) {
        let value = f64::from_bits(bits);
        let typed = typed || ty != Type::F64;
        let kind = match self.ctx.type_data(ty) {
            TypeData::Float(kind) if self.mlir => Some(*kind),
            _ => None,
        };
        if let Some((kind, bits)) = kind.and_then(|kind| Some((kind, kind.encode(value)?))) {
            super::elements::float(out, kind, bits, value);
        } else if value.is_finite() {
            let mut buffer = zmij::Buffer::new();
            // A number of a narrow type needs only the digits that distinguish it from its neighbours in that type.
            let text = if ty == Type::F32 {
                buffer.format_finite(value as f32)
            } else {
                buffer.format_finite(value)
            };
            out.push_str(text);
            if !text.contains(['.', 'e']) {
                out.push_str(".0");
            } else if let Some(at) = text.find('e').filter(|_| !text.contains('.')) {
                // MLIR reads an exponent only after a fraction.
                let split = out.len() - text.len() + at;
                out.insert_str(split, ".0");
            }
        } else if ty == Type::F32 {
            let sign = (bits >> 63) << 31;
            let payload = (bits >> 29) & 0x007f_ffff;
            out.push_str(&format!("0x{:08X}", sign | 0x7f80_0000 | payload));
        } else {
            out.push_str(&format!("0x{bits:016X}"));
            self.colon_type(out, ty);
            return;
        }
        if typed {
            self.colon_type(out, ty);
        }
    }

    fn string(&self, out: &mut String, text: &str) {
        if self.is_large(text.len()) {
            out.push_str("\"...\"");
        } else {
            write_string(out, text);
        }
    }
}

fn is_bare_name(name: &str) -> bool {
    crate::text::cursor::name(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty())
}

/// `@name`, in quotes where it has to be.
pub(super) fn write_symbol(out: &mut String, name: &str) {
    out.push('@');
    if is_bare_name(name) {
        out.push_str(name);
    } else {
        write_string(out, name);
    }
}

/// A string in quotes, with escapes.
pub(super) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    // Without a way out of the loop several bytes are looked at at once.
    let is_plain = |b: u8| (b' '..=b'~').contains(&b) & (b != b'"') & (b != b'\\');
    if text.bytes().fold(true, |all, b| all & is_plain(b)) {
        out.push_str(text);
        out.push('"');
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\22"),
            '\\' => out.push_str("\\\\"),
            ' '..='~' => out.push(c),
            c if c.is_ascii() => out.push_str(&format!("\\{:02X}", c as u32)),
            c => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    out.push_str(&format!("\\{byte:02X}"));
                }
            }
        }
    }
    out.push('"');
}

/// Prints a type.
pub fn print_type(ctx: &Context, ty: Type) -> String {
    let mut out = String::new();
    write_type(ctx, &mut out, ty, false);
    out
}

/// Prints an attribute.
pub fn print_attr(ctx: &Context, attr: Attr) -> String {
    let mut out = String::new();
    AttrWriter {
        ctx,
        generic: false,
        elide: None,
        mlir: false,
    }
    .write(&mut out, attr, false);
    out
}
