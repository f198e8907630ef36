//! Forms of result types: `like x`, `broadcast x y`, `shape [x.0, 4, $n]`, each with ` of ELEMENT` after.

use pir_ir::{Arity, DYNAMIC, InferArgs, OpDef, Type, nearest};
use smallvec::SmallVec;

use crate::pd::infer;

/// The type of a result.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Form {
    shape: Shape,
    elem: Elem,
}

#[derive(Clone, PartialEq, Debug)]
enum Shape {
    /// The type of an operand.
    Like(usize),
    /// The broadcast type of operands.
    Broadcast(Vec<usize>),
    Dims(Vec<Dim>),
}

#[derive(Clone, PartialEq, Debug)]
enum Dim {
    Unknown,
    Known(i64),
    /// A dimension of an operand, counted from the end if it is negative.
    Of(usize, i64),
    Attr(String),
}

#[derive(Clone, PartialEq, Debug)]
enum Elem {
    Operand(usize),
    Fixed(Type),
    Attr(String),
}

const ELEMS: &[(&str, Type)] = &[
    ("i1", Type::I1),
    ("i8", Type::I8),
    ("i16", Type::I16),
    ("i32", Type::I32),
    ("i64", Type::I64),
    ("ui8", Type::UI8),
    ("ui16", Type::UI16),
    ("ui32", Type::UI32),
    ("ui64", Type::UI64),
    ("f16", Type::F16),
    ("bf16", Type::BF16),
    ("f32", Type::F32),
    ("f64", Type::F64),
];

impl Form {
    /// Reads a form in the words of a row of `def`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str, def: &OpDef) -> Result<Form, String> {
        let (text, elem) = match text.split_once(" of ") {
            Some((shape, elem)) => (shape.trim(), Some(elem.trim())),
            None => (text.trim(), None),
        };
        let (word, rest) = text.split_once([' ', '[']).unwrap_or((text, ""));
        let operands = || {
            rest.split_whitespace()
                .map(|name| operand(def, name))
                .collect::<Result<Vec<_>, _>>()
        };
        let shape = match word {
            "like" => match operands()?[..] {
                [one] => Shape::Like(one),
                _ => return Err("expected one operand after `like`".to_owned()),
            },
            "broadcast" => Shape::Broadcast(
                Some(operands()?)
                    .filter(|all| !all.is_empty())
                    .ok_or("expected operands after `broadcast`")?,
            ),
            "shape" => {
                let inside = text["shape".len()..]
                    .trim()
                    .strip_prefix('[')
                    .and_then(|list| list.strip_suffix(']'));
                let inside = inside.ok_or("expected a list of dimensions after `shape`: `shape [x.0, 4, $n]`")?;
                let dims = inside.split(',').map(str::trim).filter(|dim| !dim.is_empty());
                Shape::Dims(dims.map(|word| dim(def, word)).collect::<Result<_, _>>()?)
            }
            _ => {
                let near = nearest(word, ["like", "broadcast", "shape"]);
                let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(format!("expected `like`, `broadcast` or `shape`, found `{word}`{near}"));
            }
        };
        let elem = match (elem, &shape) {
            (Some(word), _) => parse_elem(def, word)?,
            (None, Shape::Like(first)) => Elem::Operand(*first),
            (None, Shape::Broadcast(all)) => Elem::Operand(all[0]),
            (None, Shape::Dims(_)) => {
                return Err("expected an element type: `shape [4] of f32`, `shape [4] of x`".to_owned());
            }
        };
        Ok(Form { shape, elem })
    }

    /// The type for these operands and attributes.
    ///
    /// # Errors
    /// When they do not go together.
    pub(super) fn infer(&self, args: &InferArgs<'_>) -> Result<Type, String> {
        let elem = match &self.elem {
            Elem::Operand(at) => args.ctx.elem_type(operand_type(args, *at)?),
            Elem::Fixed(ty) => *ty,
            Elem::Attr(name) => {
                let attr = args.attr(name).and_then(|attr| args.ctx.attr_type(attr));
                attr.ok_or_else(|| format!("the attribute `{name}` must be an element type"))?
            }
        };
        let shape: SmallVec<[i64; 6]> = match &self.shape {
            Shape::Like(at) => {
                let ty = operand_type(args, *at)?;
                match args.ctx.as_tensor(ty) {
                    Some((shape, _)) => shape.into(),
                    // A scalar, or a value of another kind, stays what it is.
                    None if elem == ty => return Ok(ty),
                    None => return Ok(elem),
                }
            }
            Shape::Broadcast(all) => {
                let mut shape: SmallVec<[i64; 6]> = SmallVec::new();
                for &at in all {
                    let ty = operand_type(args, at)?;
                    let own = args.ctx.as_tensor(ty).map_or(&[][..], |(own, _)| own);
                    shape = infer::broadcast(&shape, own)?;
                    let same = matches!(self.elem, Elem::Operand(of) if all.contains(&of));
                    if same && args.ctx.elem_type(ty) != elem {
                        return Err("the operands have different element types".to_owned());
                    }
                }
                shape
            }
            Shape::Dims(dims) => dims.iter().map(|dim| dim.extent(args)).collect::<Result<_, _>>()?,
        };
        Ok(args.ctx.tensor(&shape, elem))
    }
}

impl Dim {
    fn extent(&self, args: &InferArgs<'_>) -> Result<i64, String> {
        match self {
            Dim::Unknown => Ok(DYNAMIC),
            Dim::Known(extent) => Ok(*extent),
            Dim::Of(at, dim) => {
                let ty = operand_type(args, *at)?;
                let shape = args.ctx.as_tensor(ty).map_or(&[][..], |(shape, _)| shape);
                let index = if *dim < 0 { dim + shape.len() as i64 } else { *dim };
                let extent = usize::try_from(index).ok().and_then(|index| shape.get(index));
                extent.copied().ok_or_else(|| {
                    let name = &args.def.operands[*at].name;
                    format!("`{name}` has rank {}, and no dimension {dim}", shape.len())
                })
            }
            Dim::Attr(name) => {
                let value = match args.attr(name) {
                    Some(attr) => args.ctx.attr_int(attr),
                    None => default(args.def, name).and_then(|text| text.parse().ok()),
                };
                let extent = value.filter(|&extent| extent >= 0);
                extent.ok_or_else(|| format!("the attribute `{name}` must be a dimension"))
            }
        }
    }
}

fn default<'d>(def: &'d OpDef, name: &str) -> Option<&'d str> {
    def.attrs.iter().find(|attr| attr.name == name)?.default.as_deref()
}

fn operand_type(args: &InferArgs<'_>, at: usize) -> Result<Type, String> {
    args.operand_type(at).ok_or_else(|| "an operand is missing".to_owned())
}

/// The index of an operand: of one that is always there, and before which all are.
fn operand(def: &OpDef, name: &str) -> Result<usize, String> {
    let names = || def.operands.iter().map(|operand| &*operand.name);
    let Some(at) = names().position(|operand| operand == name) else {
        let near = nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(format!("there is no operand `{name}`{near}"));
    };
    match def.operands[..=at].iter().all(|operand| operand.arity == Arity::One) {
        true => Ok(at),
        false => Err(format!(
            "`{name}`, or an operand before it, must not be a list or optional"
        )),
    }
}

fn attr(def: &OpDef, name: &str) -> Result<String, String> {
    let names = || def.attrs.iter().map(|attr| &*attr.name);
    if names().any(|attr| attr == name) {
        return Ok(name.to_owned());
    }
    let near = nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean `${near}`?"));
    Err(format!("there is no attribute `{name}`{near}"))
}

fn dim(def: &OpDef, word: &str) -> Result<Dim, String> {
    if word == "?" {
        return Ok(Dim::Unknown);
    }
    if let Some(name) = word.strip_prefix('$') {
        return attr(def, name).map(Dim::Attr);
    }
    if let Ok(extent) = word.parse::<i64>() {
        return match extent {
            0.. => Ok(Dim::Known(extent)),
            _ => Err(format!("a dimension cannot be {extent}")),
        };
    }
    match word.split_once('.') {
        Some((name, index)) => match index.parse() {
            Ok(index) => Ok(Dim::Of(operand(def, name)?, index)),
            Err(_) => Err(format!(
                "expected the number of a dimension of `{name}`, found `{index}`"
            )),
        },
        None => Err(format!("expected a dimension (`4`, `?`, `x.0`, `$n`), found `{word}`")),
    }
}

fn parse_elem(def: &OpDef, word: &str) -> Result<Elem, String> {
    if let Some(name) = word.strip_prefix('$') {
        return attr(def, name).map(Elem::Attr);
    }
    match ELEMS.iter().find(|(name, _)| *name == word) {
        Some(&(_, ty)) => Ok(Elem::Fixed(ty)),
        None => operand(def, word)
            .map(Elem::Operand)
            .map_err(|why| format!("expected an element type, an operand or `$attribute`: {why}")),
    }
}
