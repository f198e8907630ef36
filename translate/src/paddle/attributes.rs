//! Types and attributes of saved programs.

use pir_dialects::cf;
use pir_ir::{Attr, AttrData, Context, DYNAMIC, Diagnostic, FloatKind, Span, Sym, Type, TypeData, TypeParam};

use crate::json::{JsonKind, Value};

/// An element type by the name that Paddle prints: `float32`.
pub(crate) fn dtype(ctx: &Context, name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::I1,
        "uint8" => Type::UI8,
        "int8" => Type::I8,
        "int16" => Type::I16,
        "int32" => Type::I32,
        "int64" => Type::I64,
        "float16" => Type::F16,
        "bfloat16" => Type::BF16,
        "float32" => Type::F32,
        "float64" => Type::F64,
        "complex64" => ctx.complex_type(Type::F32),
        "complex128" => ctx.complex_type(Type::F64),
        "float8_e4m3fn" => ctx.float_type(FloatKind::F8E4M3FN),
        "float8_e5m2" => ctx.float_type(FloatKind::F8E5M2),
        _ => return None,
    })
}

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("paddle-json", message)
        .label(span, "")
        .help(super::SAVED)
}

/// The kind of a node, `0.a_str`: its key `#`.
fn kind_of(node: Value<'_>) -> Result<String, Diagnostic> {
    let kind = node.get("#").and_then(Value::str);
    kind.map(|k| k.into_owned())
        .ok_or_else(|| error(node.span(), "expected an object with a kind, `\"#\"`"))
}

/// The type of a node; `None` for the type of an absent value.
pub(crate) fn read_type(ctx: &Context, node: Value<'_>) -> Result<Option<Type>, Diagnostic> {
    let kind = kind_of(node)?;
    if kind == "NULL" {
        return Ok(None);
    }
    if kind == "0.t_vec" {
        let mut items = Vec::new();
        for item in node.get("D").into_iter().flat_map(Value::items) {
            // Vectors of vectors do not exist, so the recursion is bounded.
            if kind_of(item)? == "0.t_vec" {
                return Err(error(item.span(), "a vector of vectors"));
            }
            items.push(read_type(ctx, item)?.unwrap_or(Type::NONE));
        }
        return Ok(Some(ctx.intern_type(TypeData::List(items.into()))));
    }
    if let Some(scalar) = scalar_type(ctx, &kind) {
        return Ok(Some(scalar));
    }
    let name = kind.split_once(".t_").map_or("", |(_, name)| name);
    if let Some(ty) = stack_part(ctx, name) {
        return Ok(Some(ty));
    }
    let mut parts = node.get("D").into_iter().flat_map(Value::items);
    let (Some(elem), Some(dims)) = (parts.next(), parts.next()) else {
        return Err(error(node.span(), format!("the type `{kind}` is unknown")));
    };
    let elem_kind = kind_of(elem)?;
    let elem = scalar_type(ctx, &elem_kind)
        .ok_or_else(|| error(elem.span(), format!("`{elem_kind}` is not the type of an element")))?;
    let mut shape = Vec::new();
    for dim in dims.items() {
        match dim.int() {
            Some(extent) if extent >= 0 => shape.push(extent),
            // Extents that are not known are -1, and products of them with others are multiples of that.
            Some(_) => shape.push(DYNAMIC),
            _ => return Err(error(dim.span(), "expected the extent of a dimension")),
        }
    }
    if name == "dtensor" {
        return Ok(Some(ctx.tensor(&shape, elem)));
    }
    let ty = other_type(ctx, name, &shape, elem);
    ty.map(Some)
        .ok_or_else(|| error(node.span(), format!("the type `{}` is unknown", kind.escape_debug())))
}

/// A stack of Paddle's, or one of its ends.
pub(super) fn stack_part(ctx: &Context, name: &str) -> Option<Type> {
    Some(match name {
        "stack" => cf::stack_type(ctx),
        "inlet" => ctx.dialect_type::<cf::Inlet>(),
        "outlet" => ctx.dialect_type::<cf::Outlet>(),
        _ => return None,
    })
}

/// A type of Paddle's that is not a tensor, `!pd.name<2x?xf32>`; `None` if there is none of the name.
pub(super) fn other_type(ctx: &Context, name: &str, shape: &[i64], elem: Type) -> Option<Type> {
    // Printed programs have the short name.
    let name = match name {
        "tensor_array" => "dense_tensor_array",
        name => name,
    };
    Some(ctx.intern_type(TypeData::Dialect {
        name: ctx.find_type_def(&format!("pd.{name}"))?,
        params: [TypeParam::Shape(shape.into()), TypeParam::Type(elem)].into(),
    }))
}

fn scalar_type(ctx: &Context, kind: &str) -> Option<Type> {
    let name = kind.strip_prefix("0.t_")?;
    Some(match name {
        "bool" => Type::I1,
        "i8" => Type::I8,
        "ui8" => Type::UI8,
        "i16" => Type::I16,
        "i32" => Type::I32,
        "i64" => Type::I64,
        "f16" => Type::F16,
        "bf16" => Type::BF16,
        "f32" => Type::F32,
        "f64" => Type::F64,
        "index" => Type::INDEX,
        "c64" => ctx.complex_type(Type::F32),
        "c128" => ctx.complex_type(Type::F64),
        "f8e4m3fn" => ctx.float_type(FloatKind::F8E4M3FN),
        "f8e5m2" => ctx.float_type(FloatKind::F8E5M2),
        _ => return None,
    })
}

/// Options for reading attributes.
#[derive(Clone, Copy)]
pub(crate) struct AttrReader<'c> {
    pub(crate) ctx: &'c Context,
    /// Keep the widths of numbers. The definition of a known operation declares them; those of an unknown one would be
    /// lost.
    pub(crate) typed: bool,
}

impl AttrReader<'_> {
    /// The attributes in a list of `{"N": name, "AT": {…}}`, without empty ones.
    pub(crate) fn list(self, list: Value<'_>, out: &mut Vec<(Sym, Attr)>) -> Result<(), Diagnostic> {
        for entry in list.items() {
            let name = entry
                .get("N")
                .and_then(Value::str)
                .ok_or_else(|| error(entry.span(), "an attribute without its name, `\"N\"`"))?;
            let value = entry
                .get("AT")
                .ok_or_else(|| error(entry.span(), "an attribute without its value, `\"AT\"`"))?;
            // The place of the operation in the Python code, and annotations of the distributed passes.
            if matches!(&*name, "struct_name" | "op_role" | "op_dist_attr" | "op_callstack") {
                continue;
            }
            if let Some(value) = self.value(value)? {
                out.push((self.ctx.sym(&name), value));
            }
        }
        Ok(())
    }

    fn int(self, value: i64, ty: Type) -> Attr {
        let ty = if self.typed { ty } else { Type::I64 };
        self.ctx.attr(AttrData::Int {
            value: value.into(),
            ty,
        })
    }

    fn float(self, value: f64, ty: Type) -> Attr {
        let ty = if self.typed { ty } else { Type::F64 };
        let bits = value.to_bits();
        self.ctx.attr(AttrData::Float { bits, ty })
    }

    /// The attribute of a node; `None` for an empty one.
    fn value(self, node: Value<'_>) -> Result<Option<Attr>, Diagnostic> {
        if kind_of(node)? != "0.a_array" {
            return self.leaf(node);
        }
        // Arrays may be nested at any depth: the innermost open one is on top.
        let mut open: Vec<(Vec<Value<'_>>, Vec<Attr>)> = vec![(items_reversed(node), Vec::new())];
        loop {
            let Some((pending, done)) = open.last_mut() else {
                return Ok(None);
            };
            match pending.pop() {
                Some(item) if kind_of(item)? == "0.a_array" => {
                    open.push((items_reversed(item), Vec::new()));
                }
                Some(item) => done.extend(self.leaf(item)?),
                None => {
                    let array = self.ctx.attr(AttrData::Array(std::mem::take(done).into()));
                    open.pop();
                    match open.last_mut() {
                        Some((_, outer)) => outer.push(array),
                        None => return Ok(Some(array)),
                    }
                }
            }
        }
    }

    fn leaf(self, node: Value<'_>) -> Result<Option<Attr>, Diagnostic> {
        let ctx = self.ctx;
        let kind = kind_of(node)?;
        if self.typed && !SPELLED.contains(&kind.as_str()) {
            return Ok(Some(as_written(ctx, node)));
        }
        let data = node.get("D");
        let expected = |what: &str| error(node.span(), format!("expected {what} in `{kind}`"));
        let int = || data.and_then(Value::int).ok_or_else(|| expected("an integer"));
        let text = || data.and_then(Value::str).ok_or_else(|| expected("a text"));
        Ok(Some(match kind.as_str() {
            "NULL" => return Ok(None),
            "0.a_bool" => ctx.bool_attr(
                data.and_then(Value::bool)
                    .ok_or_else(|| expected("`true` or `false`"))?,
            ),
            "0.a_i32" => self.int(int()?, Type::I32),
            "0.a_i64" => self.int(int()?, Type::I64),
            "0.a_index" => self.int(int()?, Type::INDEX),
            "0.a_f32" => self.float(number(node).ok_or_else(|| expected("a number"))?, Type::F32),
            "0.a_f64" => self.float(number(node).ok_or_else(|| expected("a number"))?, Type::F64),
            "0.a_str" | "0.a_tensorname" | "1.a_layout" => ctx.str_attr(&text()?),
            "0.a_c64" | "0.a_c128" => {
                let ty = if kind == "0.a_c64" { Type::F32 } else { Type::F64 };
                let parts: Option<Box<[Attr]>> = data
                    .into_iter()
                    .flat_map(Value::items)
                    .map(|part| part.float().map(|f| self.float(f, ty)))
                    .collect();
                ctx.attr(AttrData::Array(parts.ok_or_else(|| expected("two numbers"))?))
            }
            "0.a_type" => {
                let ty = read_type(ctx, data.ok_or_else(|| expected("a type"))?)?;
                match ty {
                    Some(ty) => ctx.type_attr(ty),
                    None => return Ok(None),
                }
            }
            "1.a_intarray" => {
                let ints: Option<Vec<i64>> = data.into_iter().flat_map(Value::items).map(Value::int).collect();
                ctx.ints_attr(&ints.ok_or_else(|| expected("integers"))?)
            }
            "1.a_scalar" => self.scalar(node)?,
            "1.a_dtype" => {
                let name = text()?;
                match dtype(ctx, &name) {
                    Some(ty) => ctx.type_attr(ty),
                    None if name.starts_with("Undefined") && self.typed => ctx.str_attr(&name),
                    None if name.starts_with("Undefined") => return Ok(None),
                    None => return Err(error(node.span(), format!("the element type `{name}` is unknown"))),
                }
            }
            "1.a_place" => {
                let parts: Vec<i64> = data.into_iter().flat_map(Value::items).filter_map(Value::int).collect();
                let device = parts.get(1).copied().unwrap_or(0);
                match parts.first().copied().unwrap_or(0) {
                    0 if self.typed => ctx.str_attr("undefined"),
                    0 => return Ok(None),
                    1 => ctx.str_attr("cpu"),
                    2 => ctx.str_attr(&format!("gpu:{device}")),
                    other => ctx.str_attr(&format!("{other}:{device}")),
                }
            }
            // A pointer in the process that wrote the file.
            "0.a_pointer" => return Ok(None),
            _ => return Err(error(node.span(), format!("the attribute kind `{kind}` is unknown"))),
        }))
    }

    /// `["float32", 0.5]`.
    fn scalar(self, node: Value<'_>) -> Result<Attr, Diagnostic> {
        let mut parts = node.get("D").into_iter().flat_map(Value::items);
        let (name, value) = (parts.next().and_then(Value::str), parts.next());
        let ty = name.and_then(|name| dtype(self.ctx, &name));
        let (Some(ty), Some(value)) = (ty, value) else {
            return Err(error(node.span(), "expected a type and a value in `1.a_scalar`"));
        };
        let wrong = || error(value.span(), "expected a number");
        if ty == Type::I1 {
            return Ok(self.ctx.bool_attr(value.bool().ok_or_else(wrong)?));
        }
        if let Some(int) = value.int().filter(|_| !self.ctx.is_float(ty)) {
            return Ok(self.int(int, ty));
        }
        Ok(self.float(value.float().ok_or_else(wrong)?, ty))
    }
}

/// The kinds of attribute that the IR's attribute types express for unknown operations.
const SPELLED: &[&str] = &[
    "NULL",
    "0.a_bool",
    "0.a_i32",
    "0.a_i64",
    "0.a_index",
    "0.a_f32",
    "0.a_f64",
    "0.a_str",
    "0.a_type",
    "1.a_dtype",
    "1.a_place",
    "0.a_pointer",
];

/// The prefix of an attribute of another kind, kept as opaque text.
pub(super) const AS_WRITTEN: &str = "#pd.attribute<";

/// An attribute of an unknown operation, of a kind that the IR does not have: kept as opaque text.
fn as_written(ctx: &Context, node: Value<'_>) -> Attr {
    ctx.attr(AttrData::Opaque(format!("{AS_WRITTEN}{}>", node.raw()).into()))
}

fn items_reversed(node: Value<'_>) -> Vec<Value<'_>> {
    let mut items: Vec<_> = node.get("D").into_iter().flat_map(Value::items).collect();
    items.reverse();
    items
}

/// The number of a float attribute. Infinities and NaN, which JSON cannot express, are under a key of their own.
fn number(node: Value<'_>) -> Option<f64> {
    if let Some(word) = node.get("VD").and_then(Value::str) {
        return match word.to_ascii_uppercase().as_str() {
            "INF" => Some(f64::INFINITY),
            "-INF" => Some(f64::NEG_INFINITY),
            "NAN" => Some(f64::NAN),
            _ => None,
        };
    }
    let data = node.get("D").filter(|d| d.kind() == JsonKind::Number)?;
    data.float()
}
