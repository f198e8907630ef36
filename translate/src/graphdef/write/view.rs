//! An operation during writing. An attribute or operand that its writer has not used is an error.

use std::cell::RefCell;
use std::ops::Deref;

use pir_ir::{Attr, AttrData, Context, OpView, Type};
use rustc_hash::FxHashSet;

/// Attributes that only the tools or PaddlePaddle read, and those that the types of the results imply.
const SAID_ELSEWHERE: &[&str] = &[
    "absent_operands",
    "absent_results",
    "backward",
    "col",
    "device",
    "dtype",
    "is_distributed",
    "is_parameter",
    "need_clip",
    "out_dtype",
    "persistable",
    "place",
    "recorded",
    "shape",
    "stop_gradient",
    "trainable",
    "x_shape",
];

/// An operation, with a record of the attributes and operands that were used.
pub(super) struct View<'a> {
    view: OpView<'a>,
    attrs: RefCell<FxHashSet<String>>,
    operands: RefCell<FxHashSet<usize>>,
}

impl<'a> Deref for View<'a> {
    type Target = OpView<'a>;

    fn deref(&self) -> &OpView<'a> {
        &self.view
    }
}

impl<'a> View<'a> {
    pub(super) fn new(view: OpView<'a>) -> Self {
        View {
            view,
            attrs: RefCell::default(),
            operands: RefCell::default(),
        }
    }

    /// Marks an attribute as used, or as irrelevant to the result.
    pub(super) fn sees(&self, name: &str) {
        self.attrs.borrow_mut().insert(name.to_owned());
    }

    /// Marks an operand as used, or as relevant by its type only.
    pub(super) fn sees_operand(&self, index: usize) {
        self.operands.borrow_mut().insert(index);
    }

    pub(super) fn attr(&self, name: &str) -> Option<Attr> {
        self.sees(name);
        self.view.attr(name)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.sees(name);
        self.view.int(name)
    }

    pub(super) fn f64(&self, name: &str) -> Option<f64> {
        self.sees(name);
        self.view.f64(name)
    }

    pub(super) fn bool(&self, name: &str) -> Option<bool> {
        self.sees(name);
        self.view.bool(name)
    }

    pub(super) fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.sees(name);
        self.view.ints(name)
    }

    pub(super) fn str(&self, name: &str) -> Option<&'a str> {
        self.sees(name);
        self.view.str(name)
    }

    /// Reports the attributes and operands that were not used.
    pub(super) fn rest(&self) -> Result<(), String> {
        let (ctx, body, op) = (self.view.ctx, self.view.body, self.view.op);
        let seen = self.operands.borrow();
        if let Some(index) = (0..body.num_operands(op)).find(|index| !seen.contains(index)) {
            return Err(format!("its operand {index} has no equivalent in TensorFlow"));
        }
        let seen = self.attrs.borrow();
        for &(key, value) in ctx.dict_entries(body.attrs(op)) {
            let key = ctx.str(key);
            if seen.contains(key) || SAID_ELSEWHERE.contains(&key) || key.contains('.') {
                continue;
            }
            let spec = self.view.def().and_then(|def| def.attrs.iter().find(|s| s.name == key));
            let usual = spec
                .and_then(|s| s.default.as_deref())
                .is_some_and(|d| says(ctx, value, d));
            if !usual {
                return Err(format!("its attribute `{key}` has no equivalent in TensorFlow"));
            }
        }
        Ok(())
    }
}

/// Whether an attribute equals the default in the op table.
fn says(ctx: &Context, attr: Attr, default: &str) -> bool {
    match ctx.attr_data(attr) {
        AttrData::Bool(value) => default == if *value { "true" } else { "false" },
        AttrData::Int { value, .. } => default.parse() == Ok(*value) || default.parse() == Ok(*value as f64),
        AttrData::Float { bits, .. } => default.parse() == Ok(f64::from_bits(*bits)),
        AttrData::Str(text) => default.trim_matches('"') == &**text,
        AttrData::Ints(values) => {
            let inside = default.strip_prefix('{').and_then(|d| d.strip_suffix('}'));
            let numbers = inside.map(|i| i.split(',').filter_map(|n| n.trim().parse().ok()).collect::<Vec<i64>>());
            numbers.is_some_and(|numbers| numbers == **values)
        }
        AttrData::Array(items) => items.is_empty() && default == "{}",
        AttrData::Type(ty) => *ty != Type::NONE && default == pir_ir::text::print_type(ctx, *ty),
        _ => false,
    }
}
