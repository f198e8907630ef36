//! What the definition of an operation declares, in a form in which most operations are quickly found to be as declared.

use std::ops::RangeInclusive;

use super::declared::bounds;
use crate::context::{Context, Sym};
use crate::registry::{OpDef, Presence, Traits};

/// The kinds of attributes that a definition can ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttrKind {
    Int,
    Float,
    Bool,
    Str,
    Ints,
    Floats,
    Type,
    /// The dialect's own hook sees to it.
    Any,
}

impl AttrKind {
    /// The kind that words of the op table stand for.
    pub(super) fn of(ty: &str) -> Self {
        match ty {
            "int" | "int32_t" | "int64_t" | "size_t" => AttrKind::Int,
            "float" | "double" => AttrKind::Float,
            "bool" => AttrKind::Bool,
            "str" | "std::string" => AttrKind::Str,
            "int[]" | "int64_t[]" => AttrKind::Ints,
            "float[]" | "double[]" => AttrKind::Floats,
            "DataType" => AttrKind::Type,
            _ => AttrKind::Any,
        }
    }
}

#[derive(Debug)]
pub(super) struct AttrPlan {
    pub(super) name: Sym,
    pub(super) required: bool,
    pub(super) kind: AttrKind,
}

/// What a definition declares.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) operands: RangeInclusive<usize>,
    pub(super) results: RangeInclusive<usize>,
    pub(super) attrs: Box<[AttrPlan]>,
    pub(super) is_terminator: bool,
    /// Whether there are operations of this kind without regions, successors and a body.
    pub(super) may_be_plain: bool,
}

impl Plan {
    pub(crate) fn new(ctx: &Context, def: &OpDef) -> Self {
        let range = |specs| {
            let (min, max) = bounds(specs);
            min..=max.unwrap_or(usize::MAX)
        };
        let attrs = def.attrs.iter().map(|spec| AttrPlan {
            name: ctx.sym(&spec.name),
            required: spec.default.is_none(),
            kind: AttrKind::of(&spec.ty),
        });
        let regionless = def.regions.iter().all(|r| r.presence == Presence::MayBeAbsent);
        Plan {
            operands: range(&def.operands),
            results: range(&def.results),
            attrs: attrs.collect(),
            is_terminator: def.has(Traits::TERMINATOR),
            may_be_plain: regionless && def.successors == 0 && !def.has(Traits::ISOLATED),
        }
    }
}
