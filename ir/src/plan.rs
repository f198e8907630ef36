//! The declarations of an operation's definition, in a form that verifies most operations quickly.

use std::ops::RangeInclusive;

use crate::entity::Sym;

#[derive(Debug)]
pub(crate) struct AttrPlan {
    pub(crate) name: Sym,
    pub(crate) required: bool,
    /// Whether an operand may be in its place.
    pub(crate) or_operand: bool,
    pub(crate) kind: AttrKind,
}

/// The compiled declarations of a definition.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) operands: RangeInclusive<usize>,
    pub(crate) results: RangeInclusive<usize>,
    /// The declared attributes, and after them the marks that operations of this kind may have.
    pub(crate) attrs: Box<[AttrPlan]>,
    /// How many of them are required, and of how many more they or an operand.
    pub(crate) required: usize,
    pub(crate) or_operands: usize,
    /// Whether other attributes are kept where operations of unknown dialects are.
    pub(crate) is_open: bool,
    pub(crate) is_function: bool,
    pub(crate) is_terminator: bool,
    /// Whether there are operations of this kind without regions, successors and a body.
    pub(crate) may_be_plain: bool,
}

/// The kinds of attributes that a definition can ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttrKind {
    Int,
    Float,
    Bool,
    False,
    Str,
    Ints,
    Floats,
    /// A list of numbers, which may be elements of a tensor.
    Numbers,
    ElementType,
    /// An integer or a list of them.
    IntArray,
    /// A number or a truth value.
    Scalar,
    Symbol,
    Type,
    Dicts,
    Unit,
    /// The dialect's own hook sees to it.
    Any,
}

impl AttrKind {
    /// The kind that words of the op table denote.
    pub(crate) fn of(ty: &str) -> Self {
        match ty {
            "int" | "int32_t" | "int64_t" | "size_t" | "Scalar(int)" | "Scalar(int64_t)" => AttrKind::Int,
            "float" | "double" | "Scalar(float)" | "Scalar(double)" => AttrKind::Float,
            "bool" => AttrKind::Bool,
            "false" => AttrKind::False,
            "str" | "std::string" => AttrKind::Str,
            "int[]" | "int64_t[]" => AttrKind::Ints,
            "float[]" => AttrKind::Floats,
            "double[]" => AttrKind::Numbers,
            "DataType" => AttrKind::ElementType,
            "IntArray" => AttrKind::IntArray,
            "Scalar" => AttrKind::Scalar,
            "symbol" => AttrKind::Symbol,
            "type" => AttrKind::Type,
            "dict[]" => AttrKind::Dicts,
            "unit" => AttrKind::Unit,
            _ => AttrKind::Any,
        }
    }
}
