//! Typed access to the operations of the tables: names, views, and builders on a [`Rewriter`] or on [expressions](Expr).
//!
//! What is here is shared; what is generated from the tables only names it for each operation, so that an operation, an
//! operand or an attribute that is misspelled does not compile:
//!
//! ```
//! # use pir_dialects::pd;
//! # fn example(r: &mut pir_ir::Rewriter<'_>, x: pir_ir::ValueId) -> Result<(), String> {
//! let twice = pd::scale_with(r, x, |o| o.scale(2.0))?;
//! let sum = pd::sum_with(r, twice, |o| o.axis([0]).keepdim(true))?;
//! let op = r.body.defining_op(sum).ok_or("no operation")?;
//! assert_eq!(r.view(op).name(), pd::Sum::NAME);
//! assert!(pd::Sum::view(r.view(op)).keepdim());
//! # Ok(())
//! # }
//! ```

#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use pir_ir::{Attr, Context, OpId, OpView, Rewriter, Type, ValueId};
use smallvec::SmallVec;

use crate::marks::ABSENT_OPERANDS;
use crate::pd::{Expr, ExprScope};

/// An operation of the tables.
pub trait Operation {
    /// `dialect.op`.
    const NAME: &'static str;
    /// Whether its operands are broadcast to each other.
    const BROADCASTS: bool;
}

/// An operation that is differentiable in one operand.
pub trait Unary: Operation {
    /// The operand.
    const ONLY: Operand;
}

/// A declared operand of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// Its index in the declaration.
    pub place: usize,
    /// Whether it replaces an attribute: a number or a list of numbers.
    pub is_number: bool,
}

impl Operand {
    pub(crate) const fn tensor(place: usize) -> Self {
        Operand {
            place,
            is_number: false,
        }
    }

    pub(crate) const fn number(place: usize) -> Self {
        Operand { place, is_number: true }
    }
}

/// A number that is an attribute or an operand.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// An attribute, and its value.
    Attr(Attr, f64),
    /// An operand.
    Value(Given),
    /// Absent, with a default.
    Default(f64),
    /// Absent, without a default.
    Missing,
}

impl Number {
    /// The number, if it is constant.
    pub fn constant(self) -> Option<f64> {
        match self {
            Number::Int(value) => Some(value as f64),
            Number::Float(value) | Number::Attr(_, value) | Number::Default(value) => Some(value),
            Number::Value(_) | Number::Missing => None,
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Number::Float(value)
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Number::Int(value.into())
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number::Int(value)
    }
}

/// A list of integers that is an attribute or an operand.
#[derive(Clone, Debug)]
pub enum Ints {
    /// A constant.
    List(Vec<i64>),
    /// An operand.
    Value(Given),
    /// Absent, with a default.
    Default(Vec<i64>),
    /// Absent, without a default; or an attribute of another kind.
    Missing,
}

impl Ints {
    /// The list, if it is constant.
    pub fn constant(self) -> Option<Vec<i64>> {
        match self {
            Ints::List(list) | Ints::Default(list) => Some(list),
            Ints::Value(_) | Ints::Missing => None,
        }
    }
}

impl From<&[i64]> for Ints {
    fn from(list: &[i64]) -> Self {
        Ints::List(list.to_vec())
    }
}

impl From<&Vec<i64>> for Ints {
    fn from(list: &Vec<i64>) -> Self {
        Ints::List(list.clone())
    }
}

impl From<Vec<i64>> for Ints {
    fn from(list: Vec<i64>) -> Self {
        Ints::List(list)
    }
}

impl<const N: usize> From<[i64; N]> for Ints {
    fn from(list: [i64; N]) -> Self {
        Ints::List(list.to_vec())
    }
}

macro_rules! from_value {
    ($($target:ident $value:ty),*) => { $(
        impl From<$value> for $target {
            fn from(value: $value) -> Self {
                $target::Value(value.into())
            }
        }
    )* };
}

from_value! { Number ValueId, Number Expr<'_>, Number Given, Ints ValueId, Ints Expr<'_>, Ints Given }

/// A value passed as an operand; `None` if its expression failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given(pub Option<ValueId>);

impl From<ValueId> for Given {
    fn from(value: ValueId) -> Self {
        Given(Some(value))
    }
}

impl From<Expr<'_>> for Given {
    fn from(value: Expr<'_>) -> Self {
        Given(value.id())
    }
}

/// The source from which the operands, attributes and results of an operation are read.
pub trait Source {
    /// The representation of operands and results.
    type Value;
    /// The context.
    fn context(&self) -> &Context;
    /// The attribute called `name`.
    fn attribute(&self, name: &str) -> Option<Attr>;
    /// The index of the operand that is declared at `place`.
    fn index_of(&self, place: usize) -> Option<usize>;
    /// The index of the operand that is declared as `name`.
    fn index_called(&self, name: &str) -> Option<usize>;
    /// The number of operands.
    fn count(&self) -> usize;
    /// An operand, to be passed to another operation.
    fn given(&self, index: usize) -> Given;
    /// The operand at `index`.
    fn operand_at(&self, index: usize) -> Self::Value;
    /// The result at `index`.
    fn result_at(&self, index: usize) -> Self::Value;
}

impl Source for OpView<'_> {
    type Value = ValueId;

    fn context(&self) -> &Context {
        self.ctx
    }

    fn attribute(&self, name: &str) -> Option<Attr> {
        self.attr(name)
    }

    fn index_of(&self, place: usize) -> Option<usize> {
        self.operand_declared_at(place)
    }

    fn index_called(&self, name: &str) -> Option<usize> {
        self.operand_called(name)
    }

    fn count(&self) -> usize {
        self.body.num_operands(self.op)
    }

    fn given(&self, index: usize) -> Given {
        Given(self.operand(index))
    }

    fn operand_at(&self, index: usize) -> ValueId {
        self.body.operand(self.op, index)
    }

    fn result_at(&self, index: usize) -> ValueId {
        self.body.result(self.op, index)
    }
}

/// An operation whose operands and attributes are read by name.
pub struct View<S, M> {
    source: S,
    of: PhantomData<M>,
}

impl<S: Copy, M> Copy for View<S, M> {}

impl<S: Clone, M> Clone for View<S, M> {
    fn clone(&self) -> Self {
        View::new(self.source.clone())
    }
}

impl<S, M> std::ops::Deref for View<S, M> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.source
    }
}

impl<S, M> View<S, M> {
    /// A view of an operation, which must be an `M`.
    pub fn new(source: S) -> Self {
        View {
            source,
            of: PhantomData,
        }
    }
}

/// Types of operands and attributes that views read by name or place. It is of the source, not of the view, so that it is compiled once for
/// all operations.
pub(crate) trait Read: Source + Sized {
    fn get_operand(&self, place: usize) -> Self::Value {
        self.operand_at(self.index_of(place).unwrap_or(place))
    }

    fn get_optional(&self, place: usize) -> Option<Self::Value> {
        self.index_of(place).map(|index| self.operand_at(index))
    }

    fn get_variadic(&self, place: usize) -> Vec<Self::Value> {
        let count = self.count();
        let from = self.index_of(place).unwrap_or(count);
        let to = self.index_of(place + 1).unwrap_or(count);
        (from..to).map(|index| self.operand_at(index)).collect()
    }

    fn get_result(&self, index: usize) -> Self::Value {
        self.result_at(index)
    }

    fn get_attr(&self, name: &str) -> Option<Attr> {
        self.attribute(name)
    }

    fn get_attr_as<T>(&self, name: &str, read: fn(&Context, Attr) -> Option<T>) -> Option<T> {
        self.get_attr(name).and_then(|attr| read(self.context(), attr))
    }

    fn get_float(&self, name: &str, default: f64) -> f64 {
        self.get_attr_as(name, Context::attr_f64).unwrap_or(default)
    }

    fn get_int(&self, name: &str, default: i64) -> i64 {
        self.get_attr_as(name, Context::attr_int).unwrap_or(default)
    }

    fn get_flag(&self, name: &str, default: bool) -> bool {
        self.get_attr_as(name, Context::attr_bool).unwrap_or(default)
    }

    fn get_some_text(&self, name: &str) -> Option<String> {
        let attr = self.get_attr(name)?;
        self.context().attr_str(attr).map(str::to_owned)
    }

    fn get_text(&self, name: &str, default: &str) -> String {
        self.get_some_text(name).unwrap_or_else(|| default.to_owned())
    }

    fn get_some_list(&self, name: &str) -> Option<Vec<i64>> {
        let attr = self.get_attr(name)?;
        let ctx = self.context();
        let list = ctx.attr_ints(attr).map(<[i64]>::to_vec);
        list.or_else(|| ctx.attr_int(attr).map(|one| vec![one]))
    }

    fn get_list(&self, name: &str, default: &[i64]) -> Vec<i64> {
        self.get_some_list(name).unwrap_or_else(|| default.to_vec())
    }

    fn get_number(&self, name: &str, place: usize, default: Option<f64>) -> Number {
        if let Some(attr) = self.get_attr(name) {
            let value = self.context().attr_f64(attr);
            return value.map_or(Number::Missing, |value| Number::Attr(attr, value));
        }
        match (self.index_of(place), default) {
            (Some(index), _) => Number::Value(self.given(index)),
            (None, Some(default)) => Number::Default(default),
            (None, None) => Number::Missing,
        }
    }

    fn get_ints(&self, name: &str, place: usize, default: Option<&[i64]>) -> Ints {
        if self.get_attr(name).is_some() {
            return self.get_some_list(name).map_or(Ints::Missing, Ints::List);
        }
        match (self.index_of(place), default) {
            (Some(index), _) => Ints::Value(self.given(index)),
            (None, Some(default)) => Ints::Default(default.to_vec()),
            (None, None) => Ints::Missing,
        }
    }
}

impl<S: Source> Read for S {}

type Values = SmallVec<[ValueId; 4]>;
type Attributes = SmallVec<[(&'static str, Attr); 4]>;

/// The operands and attributes of an operation under construction.
pub struct Options<'c, M> {
    pub(crate) parts: Parts<'c>,
    of: PhantomData<M>,
}

impl<M: Operation> Options<'_, M> {
    /// Copies the attributes and numbers of another operation that this one declares as well and that are not set.
    #[must_use]
    pub fn like<S: Source, O>(mut self, op: View<S, O>) -> Self {
        self.parts.copy_missing(&op.source);
        self
    }
}

/// [`Options`] of any operation. The generated builders use it, so that its functions are compiled once, not for each operation.
pub struct Parts<'c> {
    ctx: &'c Context,
    name: &'static str,
    /// In the order of declaration.
    operands: SmallVec<[(usize, Given); 4]>,
    attrs: Attributes,
}

impl<'c> Parts<'c> {
    pub(crate) fn begin(ctx: &'c Context, name: &'static str) -> Self {
        Parts {
            ctx,
            name,
            operands: SmallVec::new(),
            attrs: SmallVec::new(),
        }
    }

    /// Sets options.
    #[inline]
    pub(crate) fn with<M>(self, options: impl FnOnce(Options<'c, M>) -> Options<'c, M>) -> Self {
        let parts = self;
        options(Options { parts, of: PhantomData }).parts
    }

    fn copy_missing<S: Source>(&mut self, op: &S) {
        let Some(def) = self.ctx.registered_op(self.name).and_then(|name| self.ctx.op_def(name)) else {
            return;
        };
        for spec in &*def.attrs {
            let is_new = self.attrs.iter().all(|&(name, _)| name != spec.name);
            if let (true, Some(attr), Some(name)) = (is_new, op.attribute(&spec.name), static_text(&spec.name)) {
                self.attrs.push((name, attr));
            }
        }
        for (place, spec) in def.operands.iter().enumerate() {
            let is_number = def.attrs.iter().any(|attr| attr.name == spec.name);
            let is_new = self.operands.iter().all(|&(at, _)| at != place);
            if let (true, true, Some(index)) = (is_number, is_new, op.index_called(&spec.name)) {
                self.give_operand(place, op.given(index));
            }
        }
    }

    pub(crate) fn give_operand(&mut self, place: usize, value: Given) {
        let after = self.operands.iter().rposition(|&(at, _)| at <= place);
        self.operands.insert(after.map_or(0, |at| at + 1), (place, value));
    }

    pub(crate) fn give_operands<T: Copy + Into<Given>>(&mut self, place: usize, values: &[T]) {
        values.iter().for_each(|&value| self.give_operand(place, value.into()));
    }

    pub(crate) fn give_attr(&mut self, name: &'static str, attr: Attr) {
        self.attrs.push((name, attr));
    }

    pub(crate) fn give_float(&mut self, name: &'static str, value: f64) {
        self.give_attr(name, self.ctx.float_attr(value));
    }

    pub(crate) fn give_int(&mut self, name: &'static str, value: i64) {
        self.give_attr(name, self.ctx.int_attr(value));
    }

    pub(crate) fn give_flag(&mut self, name: &'static str, value: bool) {
        self.give_attr(name, self.ctx.bool_attr(value));
    }

    pub(crate) fn give_text(&mut self, name: &'static str, value: &str) {
        self.give_attr(name, self.ctx.str_attr(value));
    }

    pub(crate) fn give_type(&mut self, name: &'static str, value: Type) {
        self.give_attr(name, self.ctx.type_attr(value));
    }

    pub(crate) fn give_list(&mut self, name: &'static str, value: &[i64]) {
        self.give_attr(name, self.ctx.ints_attr(value));
    }

    pub(crate) fn give_number(&mut self, name: &'static str, place: usize, value: Number) {
        match value {
            Number::Int(value) => self.give_int(name, value),
            Number::Float(value) => self.give_float(name, value),
            Number::Attr(attr, _) => self.give_attr(name, attr),
            Number::Value(value) => self.give_operand(place, value),
            Number::Default(_) | Number::Missing => {}
        }
    }

    pub(crate) fn give_ints(&mut self, name: &'static str, place: usize, value: Ints) {
        match value {
            Ints::List(list) => self.give_list(name, &list),
            Ints::Value(value) => self.give_operand(place, value),
            Ints::Default(_) | Ints::Missing => {}
        }
    }

    /// The operands in the order of declaration, and a mark for absent ones that precede others.
    fn finish(mut self) -> (Option<Values>, Attributes) {
        let last = self.operands.last().map_or(0, |&(place, _)| place);
        // Mostly there is one at each place, and the definition need not be asked.
        let is_complete = self.operands.chunk_by(|a, b| a.0 == b.0).count() > last;
        let def = || self.ctx.registered_op(self.name).and_then(|name| self.ctx.op_def(name));
        let def = (!is_complete).then(def).flatten();
        let specs = def.map_or(&[][..], |def| &def.operands[..last]);
        let is_given = |place: usize, name: &str| {
            self.operands.iter().any(|&(at, _)| at == place) || self.attrs.iter().any(|&(attr, _)| attr == name)
        };
        let absent = specs
            .iter()
            .enumerate()
            .filter(|&(place, spec)| !is_given(place, &spec.name));
        let absent: Vec<i64> = absent.map(|(place, _)| place as i64).collect();
        if !absent.is_empty()
            && let Some(name) = static_text(&ABSENT_OPERANDS.name)
        {
            self.attrs.push((name, self.ctx.ints_attr(&absent)));
        }
        let values = self.operands.iter().map(|&(_, value)| value.0).collect();
        (values, self.attrs)
    }

    pub(crate) fn build_op(self, r: &mut Rewriter<'_>) -> Result<OpId, String> {
        let name = self.name;
        let (operands, attrs) = self.finish();
        let mut op = r.op(name).operands(operands.ok_or("an operand is missing")?);
        for (name, attr) in attrs {
            op = op.attr(name, attr);
        }
        op.infer()
    }

    pub(crate) fn build_value(self, r: &mut Rewriter<'_>) -> Result<ValueId, String> {
        let op = self.build_op(r)?;
        Ok(r.body.result(op, 0))
    }

    pub(crate) fn build_all<'s>(self, scope: ExprScope<'s>) -> Vec<Expr<'s>> {
        let name = self.name;
        match self.finish() {
            (Some(operands), attrs) => scope.build(name, &operands, &attrs, None),
            (None, _) => Vec::new(),
        }
    }

    pub(crate) fn build_one<'s>(self, scope: ExprScope<'s>) -> Expr<'s> {
        let name = self.name;
        match self.finish() {
            (Some(operands), attrs) => scope.build_first(name, &operands, &attrs),
            (None, _) => scope.nothing(),
        }
    }

    pub(crate) fn build_fixed<'s, const N: usize>(self, scope: ExprScope<'s>) -> [Expr<'s>; N] {
        let all = self.build_all(scope);
        std::array::from_fn(|index| all.get(index).copied().unwrap_or(scope.nothing()))
    }
}

fn static_text(text: &pir_ir::Text) -> Option<&'static str> {
    match text {
        std::borrow::Cow::Borrowed(text) => Some(text),
        std::borrow::Cow::Owned(_) => None,
    }
}

macro_rules! typed {
    ($ty:ident, $name:literal, $broadcasts:literal) => {
        impl Operation for $ty {
            const NAME: &'static str = $name;
            const BROADCASTS: bool = $broadcasts;
        }

        impl $ty {
            /// The name of the operation.
            pub const NAME: &'static str = $name;

            /// A view of such an operation.
            pub fn view<S: Source>(source: S) -> View<S, $ty> {
                View::new(source)
            }
        }
    };
}

macro_rules! control {
    ($($ty:ident $name:literal),*) => { $(
        #[doc = concat!("`", $name, "`")]
        pub enum $ty {}
        typed!($ty, $name, false);
    )* };
}

pub(crate) use {control, typed};
