//! The declarations of a row: operands, attributes, results, and the elements of its format.

use std::sync::OnceLock;

use crate::context::Context;
use crate::entity::Sym;
use crate::registry::MemoryEffects;
use crate::types::{Attr, AttrDict, Type};

/// The number of values of an operand or a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arity {
    One,
    Optional,
    Variadic,
}

/// How a type that is not written follows from others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TypeRule {
    /// The type is written.
    Written,
    /// All values with this letter have this type.
    Same(u8),
    /// The type is fixed.
    Fixed(Type),
    /// The type is a function of another value's type.
    From(TypeFn, Slot),
    /// A truth value for each value of another one.
    Each(Slot),
    /// The type of an attribute.
    OfAttr(usize),
}

/// A function from types to types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypeFn {
    /// The type of the elements.
    Elem,
    /// The same shape, with truth values.
    I1,
    /// The tensor that a memref holds.
    Tensor,
    /// The arguments, and the results, of a function.
    Inputs,
    Results,
    /// The vector with half as many, and with twice as many, elements in its last dimension.
    Half,
    Double,
}

/// An operand, or after all operands a result, by its number in the row.
pub(crate) type Slot = usize;

/// An operand or a result.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) name: Box<str>,
    pub(crate) arity: Arity,
    pub(crate) rule: TypeRule,
}

/// How the value of an attribute is written in a format.
#[derive(Clone, Debug)]
pub(crate) enum AttrKind {
    /// As any attribute is.
    Any,
    /// A unit attribute.
    Unit,
    Bool,
    Str,
    /// `@name`, kept as a string.
    SymName,
    SymRef,
    Type,
    /// A number without its type.
    Int(Type),
    /// `[1, 2]`, of an array of this type.
    Ints(Box<str>),
    /// A word that represents a number.
    Enum {
        ty: Type,
        words: Vec<(Box<str>, i64)>,
    },
    /// Words in the brackets of an attribute with this name, or in place of it.
    Words {
        prefix: Box<str>,
        words: Vec<Box<str>>,
        angle: bool,
        /// The separator between two words in brackets.
        separator: &'static str,
    },
}

/// Whether an attribute is always there.
#[derive(Clone, Debug)]
pub(crate) enum AttrPresence {
    Required,
    Optional,
    /// The default value, which is omitted.
    Default(Box<str>),
    /// The value of an absent attribute.
    Implied(Box<str>),
}

#[derive(Clone, Debug)]
pub(crate) struct AttrRow {
    pub(crate) name: Box<str>,
    pub(crate) kind: AttrKind,
    pub(crate) presence: AttrPresence,
    /// Whether MLIR keeps it among the attributes that are none of the operation's own.
    pub(crate) loose: bool,
    pub(crate) known: AttrKnown,
}

/// Properties of an attribute in the context of its row.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttrKnown {
    name: OnceLock<Sym>,
    /// The value of the default's text, if it is printed as that text.
    pub(crate) default: OnceLock<Attr>,
}

impl AttrRow {
    /// The name, in the context of the row.
    #[inline]
    pub(crate) fn sym(&self, ctx: &Context) -> Sym {
        *self.known.name.get_or_init(|| ctx.sym(&self.name))
    }

    /// The default value, if it may be omitted.
    pub(crate) fn default(&self) -> Option<&str> {
        match &self.presence {
            AttrPresence::Default(text) | AttrPresence::Implied(text) => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RegionRow {
    pub(crate) name: Box<str>,
    pub(crate) variadic: bool,
    /// The implicit terminator.
    pub(crate) terminator: Option<Box<str>>,
    /// Whether it forwards the results of the preceding operation.
    pub(crate) forwards: bool,
    /// Whether that is printed all the same, and whether if the operation has results.
    pub(crate) keep: bool,
    pub(crate) keep_with_results: bool,
}

/// A row that has been read.
#[derive(Clone, Debug, Default)]
pub(crate) struct OdsRow {
    pub(crate) operands: Vec<Value>,
    pub(crate) results: Vec<Value>,
    pub(crate) attrs: Vec<AttrRow>,
    pub(crate) regions: Vec<RegionRow>,
    /// The names of the successors, and whether there may be any number.
    pub(crate) successors: Vec<(Box<str>, bool)>,
    /// Whether an attribute holds the number of values of each operand and each result.
    pub(crate) segments: bool,
    pub(crate) result_segments: bool,
    pub(crate) is_terminator: bool,
    /// The effects of an operation that has no definition.
    pub(crate) effects: MemoryEffects,
    /// Whether the reader of functions reads it.
    pub(crate) own: bool,
    pub(crate) items: Vec<Item>,
    /// Attributes that the format has elsewhere than among the attributes in braces.
    pub(crate) shown: Vec<Box<str>>,
    /// What follows from the rest.
    pub(crate) derived: Derived,
}

/// Properties of a row that each operation needs, computed once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived {
    pub(crate) operands: Layout,
    pub(crate) results: Layout,
    /// The letters of the types that operands and results share, one bit each.
    pub(crate) letters: u8,
    /// Whether an attribute has to be there.
    pub(crate) requires: bool,
    /// The attributes of an operation that has only those with a default value, once an operation was read that has them.
    pub(crate) defaults: OnceLock<AttrDict>,
    /// Whether operations without attributes can be read at once.
    pub(crate) is_quick: bool,
    operand_segments: OnceLock<Sym>,
    result_segments: OnceLock<Sym>,
}

/// The groups in a list of operands or of results.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    /// How many groups in front of the first optional or variadic one are one value.
    pub(crate) leading: usize,
    /// How many of all groups are one value.
    pub(crate) ones: usize,
    /// How many groups there are.
    pub(crate) groups: usize,
}

impl Layout {
    fn of(values: &[Value]) -> Self {
        let is_one = |value: &&Value| value.arity == Arity::One;
        Layout {
            leading: values.iter().take_while(is_one).count(),
            ones: values.iter().filter(is_one).count(),
            groups: values.len(),
        }
    }

    /// Whether the groups can have this number of values.
    #[inline]
    pub(crate) fn fits(self, count: usize) -> bool {
        count == self.ones || count > self.ones && self.ones < self.groups
    }
}

/// How many groups of operands an operation has at most that is read at once.
pub(crate) const MAX_QUICK: usize = 6;

pub(crate) const OPERAND_SEGMENTS: &str = "operandSegmentSizes";
pub(crate) const RESULT_SEGMENTS: &str = "resultSegmentSizes";

impl OdsRow {
    /// Computes what follows from the declarations.
    pub(super) fn derive(&mut self) {
        let letters = self.operands.iter().chain(&self.results).map(|value| match value.rule {
            TypeRule::Same(letter) => 1 << letter,
            _ => 0,
        });
        self.derived = Derived {
            operands: Layout::of(&self.operands),
            results: Layout::of(&self.results),
            letters: letters.fold(0, |all, letter: u8| all | letter),
            requires: self
                .attrs
                .iter()
                .any(|attr| matches!(attr.presence, AttrPresence::Required)),
            ..Derived::default()
        };
        self.derived.is_quick = self.is_quick();
    }

    fn is_quick(&self) -> bool {
        let has_rule = |value: &Value| !matches!(value.rule, TypeRule::Each(_) | TypeRule::OfAttr(_));
        let is_plain = |item: &Item| {
            !matches!(
                item.element,
                Element::Custom(..)
                    | Element::Arrow { .. }
                    | Element::Functional(..)
                    | Element::Operands
                    | Element::Types(Of::Operands | Of::Results)
                    | Element::Dict { keyword: true }
            )
        };
        let has_parts =
            !self.regions.is_empty() || !self.successors.is_empty() || self.segments || self.result_segments;
        !has_parts
            && !self.own
            && !self.derived.requires
            && !self.items.is_empty()
            && self.operands.len() <= MAX_QUICK
            && self.operands.iter().chain(&self.results).all(has_rule)
            && self.results.iter().all(|value| value.arity == Arity::One)
            && self.items.iter().all(is_plain)
    }

    /// The name of the attribute with the numbers of values of each operand.
    #[inline]
    pub(crate) fn operand_segments(&self, ctx: &Context) -> Sym {
        *self.derived.operand_segments.get_or_init(|| ctx.sym(OPERAND_SEGMENTS))
    }

    /// The name of the attribute with the numbers of values of each result.
    #[inline]
    pub(crate) fn result_segments(&self, ctx: &Context) -> Sym {
        *self.derived.result_segments.get_or_init(|| ctx.sym(RESULT_SEGMENTS))
    }

    pub(crate) fn attr(&self, name: &str) -> Option<usize> {
        self.attrs.iter().position(|attr| *attr.name == *name)
    }

    /// Whether an attribute belongs to the operation, and is not a note of somebody else.
    pub(crate) fn is_inherent(&self, name: &str) -> bool {
        self.attr(name).is_some_and(|at| !self.attrs[at].loose)
            || self.segments && name == OPERAND_SEGMENTS
            || self.result_segments && name == RESULT_SEGMENTS
    }

    pub(crate) fn slot(&self, name: &str) -> Option<Slot> {
        let find = |values: &[Value]| values.iter().position(|value| *value.name == *name);
        find(&self.operands).or_else(|| Some(self.operands.len() + find(&self.results)?))
    }

    pub(crate) fn value(&self, slot: Slot) -> Option<&Value> {
        let results = slot.checked_sub(self.operands.len());
        match results {
            Some(at) => self.results.get(at),
            None => self.operands.get(slot),
        }
    }
}

/// The values that a list of types belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    /// One operand or result.
    Slot(Slot),
    /// All operands.
    Operands,
    /// All results.
    Results,
}

/// The condition for printing a group.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Slot(Slot),
    Attr(usize),
    Region(usize),
    None,
}

/// A part of a format.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    Literal(Box<str>),
    /// Printed only.
    Blank,
    NewLine,
    Operand(Slot),
    Operands,
    Attr(usize),
    Region(usize),
    Successor(usize),
    Dict {
        keyword: bool,
    },
    Types(Of),
    /// `-> T`, `-> (T, U)`, or nothing for none; in parentheses always if that is how it is printed.
    Arrow {
        of: Of,
        parens: bool,
    },
    Functional(Of, Of),
    Custom(usize, Box<[Box<str>]>),
    /// Goes on here if the text goes on like what is next, and when printing if the anchor is there; else elsewhere.
    Choice {
        anchor: Anchor,
        otherwise: usize,
    },
    Jump(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) element: Element,
    /// Whether a blank is printed in front.
    pub(crate) space: bool,
}
