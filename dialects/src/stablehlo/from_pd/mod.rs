//! Operations of `pd` as operations of StableHLO, for programs that XLA runs.
//!
//! A row of the tables states what replaces an operation. It emits StableHLO (`hlo.rs`), or simpler operations of `pd`, which are
//! converted in turn; none emits the operation that it is for. The meaning is that of the kernels, also where StableHLO's twin has another.

mod activation;
mod contract;
mod control;
mod elementwise;
mod hlo;
mod index;
mod optimizer;
mod program;
mod reduce;
mod shape;
mod sort;
mod window;

use pir_ir::text::print_type;
use pir_ir::{
    Attr, AttrData, AttrDict, Body, Context, Diagnostic, OpDef, OpId, Rewriter, Span, Type, TypeData, ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::OnceLock;

use super::attrs::integers;
use super::ops;
use crate::pd::{Building, Expr, ExprScope, Given, Ints, Number, Source};
use hlo::Build;

pub(super) use hlo::{Num, dense, width};
pub use hlo::{array, dialect, layouts};
pub use program::{set_signatures, wrap};

/// An operation that is converted.
pub(super) struct Cx<'c> {
    scope: ExprScope<'c>,
    build: &'c dyn Build,
    name: &'c str,
    dict: AttrDict,
    operands: Vec<Expr<'c>>,
    def: Option<&'c OpDef>,
    /// For each operand which of the declared ones it is.
    declared: Vec<Option<usize>>,
    /// The types of the results.
    types: SmallVec<[Type; 2]>,
}

/// The results of an operation.
type Results<'c> = Result<Vec<Expr<'c>>, String>;
type Row = for<'c> fn(&Cx<'c>) -> Results<'c>;
type Rows = &'static [(&'static str, Row)];

/// Types that a row may return for the results.
trait IntoResults<'c> {
    fn list(self) -> Results<'c>;
}

impl<'c> IntoResults<'c> for Expr<'c> {
    fn list(self) -> Results<'c> {
        Ok(vec![self])
    }
}

impl<'c> IntoResults<'c> for Vec<Expr<'c>> {
    fn list(self) -> Results<'c> {
        Ok(self)
    }
}

impl<'c, T: IntoResults<'c>> IntoResults<'c> for Result<T, String> {
    fn list(self) -> Results<'c> {
        self?.list()
    }
}

/// The rows of a table: `Name |c, op| results`, with the typed view of the operation.
macro_rules! rows {
    ($($op:ident |$c:pat_param, $view:pat_param| $results:expr;)*) => {
        &[$((crate::pd::$op::NAME, |c| {
            let ($c, $view) = (c, crate::pd::$op::view(c));
            super::IntoResults::list($results)
        }),)*]
    };
}
use rows;

const TABLES: &[Rows] = &[
    elementwise::ROWS,
    shape::ROWS,
    reduce::ROWS,
    contract::ROWS,
    index::ROWS,
    activation::ROWS,
    sort::ROWS,
    optimizer::ROWS,
    window::ROWS,
];

/// The row of an operation; of several, the first.
fn row(name: &str) -> Option<Row> {
    static BY_NAME: OnceLock<FxHashMap<&str, Row>> = OnceLock::new();
    let rows = BY_NAME.get_or_init(|| {
        let mut rows = FxHashMap::default();
        let twins = elementwise::twins().map(|name| (name, elementwise::convert_twin as Row));
        for (name, row) in TABLES.iter().copied().flatten().copied().chain(twins) {
            rows.entry(name).or_insert(row);
        }
        rows
    });
    rows.get(name).copied()
}

impl<'c> Cx<'c> {
    fn x(&self, index: usize) -> Expr<'c> {
        self.operands.get(index).copied().unwrap_or(self.scope.nothing())
    }

    fn ctx(&self) -> &'c Context {
        self.scope.context()
    }

    fn tensor(&self, index: usize) -> (&'c [i64], Type) {
        let ty = self.types.get(index).copied().unwrap_or(Type::NONE);
        self.ctx().as_tensor(ty).unwrap_or((&[], ty))
    }

    /// The dimensions of the result.
    fn dims(&self) -> &'c [i64] {
        self.tensor(0).0
    }

    /// The element type of the result.
    fn elem(&self) -> Type {
        self.tensor(0).1
    }

    fn is_float(&self) -> bool {
        is_float(self.x(0))
    }

    fn is_complex(&self) -> bool {
        self.x(0).is_complex()
    }

    /// A truth value that is an attribute.
    fn flag(&self, name: &str) -> Option<bool> {
        self.ctx().attr_bool(self.attribute(name)?)
    }

    /// The integers of an operand that is a constant.
    fn constant_of(&self, given: Given) -> Option<Vec<i64>> {
        let (value, mut found) = (given.0?, None);
        self.build.with(&mut |r| found = constant(r, value));
        found
    }

    /// A list of integers, which must be known.
    fn ints(&self, list: Ints, what: &str) -> Result<Vec<i64>, String> {
        match list {
            Ints::List(list) | Ints::Default(list) => Some(list),
            Ints::Value(given) => self.constant_of(given),
            Ints::Missing => None,
        }
        .ok_or_else(|| format!("`{what}` must be constant"))
    }

    /// An integer, which must be known.
    fn int(&self, number: Number, what: &str) -> Result<i64, String> {
        let known = match number {
            Number::Value(given) => self.constant_of(given).and_then(|list| list.first().copied()),
            Number::Int(n) => Some(n),
            number => number.constant().map(|n| n as i64),
        };
        known.ok_or_else(|| format!("`{what}` must be constant"))
    }

    /// The axes of a reduction in order; none are all.
    fn axes(&self, list: Ints, rank: usize) -> Result<Vec<i64>, String> {
        let list = self.ints(list, "axis")?;
        if list.is_empty() {
            return Ok((0..rank as i64).collect());
        }
        let mut axes = all_axes(&list, rank)?;
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }
}

/// An axis; a negative one counts from after.
fn axis(at: i64, rank: usize) -> Result<usize, String> {
    let place = if at < 0 { at + rank as i64 } else { at };
    let known = usize::try_from(place).ok().filter(|&at| at < rank.max(1));
    known.ok_or_else(|| format!("axis {at} is out of range for {rank} dimensions"))
}

/// Axes from the front.
fn all_axes(list: &[i64], rank: usize) -> Result<Vec<i64>, String> {
    list.iter().map(|&at| axis(at, rank).map(|at| at as i64)).collect()
}

/// Fails unless there is a number for each axis in all lists: those that are operands, inference does not know.
fn one_each(axes: &[i64], lists: &[&[i64]]) -> Result<(), String> {
    match lists.iter().all(|list| list.len() == axes.len()) {
        true => Ok(()),
        false => Err("the lists of axes and of their bounds differ in length".to_owned()),
    }
}

fn is_float(x: Expr<'_>) -> bool {
    x.elem().is_some_and(|elem| x.scope().context().is_float(elem))
}

fn is_bool(x: Expr<'_>) -> bool {
    x.elem() == Some(Type::I1)
}

impl<'c> Source for &Cx<'c> {
    type Value = Expr<'c>;

    fn context(&self) -> &Context {
        self.ctx()
    }

    fn attribute(&self, name: &str) -> Option<Attr> {
        self.ctx().dict_get(self.dict, name)
    }

    fn index_of(&self, place: usize) -> Option<usize> {
        self.declared.iter().position(|declared| *declared == Some(place))
    }

    fn index_called(&self, name: &str) -> Option<usize> {
        let place = self.def?.operands.iter().position(|spec| spec.name == name)?;
        self.index_of(place)
    }

    fn count(&self) -> usize {
        self.operands.len()
    }

    fn given(&self, index: usize) -> Given {
        Given(self.x(index).id())
    }

    fn operand_at(&self, index: usize) -> Expr<'c> {
        self.x(index)
    }

    fn result_at(&self, _: usize) -> Expr<'c> {
        self.scope.nothing()
    }
}

/// The integers of a constant.
fn constant(r: &Rewriter<'_>, value: ValueId) -> Option<Vec<i64>> {
    let attr = match r.view(r.body.defining_op(value)?) {
        op if op.name() == ops::Constant::NAME => op.attr("value")?,
        _ => r.body.constant(r.ctx, value)?,
    };
    let count = r
        .ctx
        .as_tensor(r.body.value_type(value))
        .map(|(dims, _)| dims.iter().product::<i64>());
    match r.ctx.attr_data(attr) {
        AttrData::Int { value, .. } => Some(vec![i64::try_from(*value).ok()?]),
        _ => integers(r.ctx, attr).map(|list| match (list.len(), count) {
            (1, Some(count @ 2..=64)) => vec![list[0]; count as usize],
            _ => list.to_vec(),
        }),
    }
}

type Values = SmallVec<[ValueId; 2]>;

/// Emits what replaces the results of an operation; `None` if there is no row for it.
fn lower(r: &mut Rewriter<'_>, op: OpId) -> Option<Result<Values, String>> {
    let view = r.view(op);
    let row = row(view.name())?;
    let (name, dict) = (r.ctx.op_str(r.body.op_name(op)), r.body.attrs(op));
    let operands = r.body.operands_vec(op);
    let declared = (0..operands.len()).map(|index| view.declared_operand(index)).collect();
    let def = r.ctx.op_def(r.body.op_name(op));
    let types: SmallVec<[Type; 2]> = r.body.results(op).map(|value| r.body.value_type(value)).collect();
    let building = Building::new(r);
    let cx = Cx {
        scope: building.scope(),
        build: &building,
        name,
        dict,
        operands: operands.iter().map(|&value| building.scope().expr(value)).collect(),
        def,
        declared,
        types,
    };
    let results = row(&cx);
    Some(building.finish().and(results).and_then(|results| {
        // An unsupported case must not be accepted as something else.
        let fits = results.len() == cx.types.len() && results.iter().zip(&cx.types).all(|(x, &ty)| x.ty() == Some(ty));
        let values: Option<Values> = results.iter().map(|result| result.id()).collect();
        let unsupported = || "operands of these types are not supported".to_owned();
        values.filter(|_| fits).ok_or_else(unsupported)
    }))
}

/// How many operations of conditions may be copied in a body, beyond a number for each that there is.
const MAX_COPIED: usize = 100_000;

/// The operation that makes a list of tensors.
const LIST: &str = "builtin.combine";

/// Emits the operations that replace one without a row, at the insertion point.
pub type Expand<'e> = &'e dyn Fn(&mut Rewriter<'_>, OpId) -> Option<Result<Values, String>>;

/// Replaces all other operations of a body with operations of StableHLO; its numbers become tensors.
///
/// # Errors
/// The operations that have no counterpart.
pub fn convert(ctx: &Context, body: &mut Body, expand: Expand<'_>) -> Result<(), Vec<Diagnostic>> {
    make_tensors(ctx, body);
    let mut errors = dynamic(ctx, body);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut made = Vec::new();
    body.reserve_ops(body.num_ops());
    let mut budget = MAX_COPIED.saturating_add(body.num_ops().saturating_mul(8));
    let mut r = Rewriter::new(ctx, body);
    let mut pending: Vec<OpId> = r.body.walk_all().collect();
    pending.reverse();
    while let Some(op) = pending.pop() {
        if !r.body.is_alive(op) || stays(&r, op) {
            continue;
        }
        let span = r.body.op_span(op);
        r.before(op).set_span(span);
        let mark = r.created_mark();
        match control::convert(&mut r, op, &mut budget).or_else(|| replace(&mut r, op, expand)) {
            Some(Ok(())) => {
                let created = r.created_since(mark).to_vec();
                made.extend(&created);
                pending.extend(created.into_iter().rev());
            }
            // Errors about operations on a stack are reported at the loop that records.
            _ if r.ctx.op_str(r.body.op_name(op)).starts_with("cf.") && !errors.is_empty() => {}
            Some(Err(why)) => errors.push(refused(&r, op, Some(why))),
            None => errors.push(refused(&r, op, None)),
        }
    }
    let list = ctx.op_name(LIST);
    let lists: Vec<OpId> = r.body.walk_all().filter(|&op| r.body.op_name(op) == list).collect();
    for op in lists {
        match r.body.op_has_uses(op) {
            true => errors.push(refused(&r, op, None)),
            false => r.erase_op(op),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    // What only the shape of another was computed from.
    for op in made.into_iter().rev() {
        if r.body.is_alive(op) && !r.body.op_has_uses(op) && r.body.num_results(op) > 0 && is_pure(&r, op) {
            r.erase_op(op);
        }
    }
    Ok(())
}

fn is_pure(r: &Rewriter<'_>, op: OpId) -> bool {
    let view = r.view(op);
    let regions = r.body.op_regions(op);
    !view.has_unknown_effects()
        && view.own_effects().is_empty()
        && (regions.is_empty() || view.name() == ops::Reduce::NAME)
}

/// Operations of StableHLO stay, and so does what nothing is known of: the reader of the output may know it.
fn stays(r: &Rewriter<'_>, op: OpId) -> bool {
    let view = r.view(op);
    let name = view.name();
    match name.starts_with("builtin.") {
        // Operations that take a list take its tensors.
        true => matches!(name, "builtin.module" | LIST),
        false => super::has_name(name) || name.starts_with("func.") || view.def().is_none(),
    }
}

fn replace(r: &mut Rewriter<'_>, op: OpId, expand: Expand<'_>) -> Option<Result<(), String>> {
    take_lists_apart(r, op);
    if r.view(op).name() == "builtin.split" && r.body.num_operands(op) == r.body.num_results(op) {
        let tensors = r.body.operands_vec(op);
        r.replace_op(op, &tensors);
        return Some(Ok(()));
    }
    // A value that nothing reads need not be computed.
    if r.body.num_results(op) > 0 && !r.body.op_has_uses(op) && r.view(op).own_effects().is_empty() {
        r.erase_op(op);
        return Some(Ok(()));
    }
    let mark = r.created_mark();
    let done = lower(r, op).or_else(|| expand(r, op))?;
    Some(done.map(|values| {
        let made = r.created_since(mark).to_vec();
        for (old, new) in r.body.results(op).zip(values) {
            if r.body.defining_op(new).is_some_and(|op| made.contains(&op)) {
                r.take_name(old, new);
            }
            r.replace_value(old, new);
        }
        r.erase_op(op);
    }))
}

/// Gives an operation the tensors in place of lists of them.
fn take_lists_apart(r: &mut Rewriter<'_>, op: OpId) {
    let of = |r: &Rewriter<'_>, value: ValueId| -> Option<Vec<ValueId>> {
        let list = r.view(r.body.defining_op(value)?);
        (list.name() == LIST).then(|| r.body.operands(list.op).collect())
    };
    let name = r.view(op).name();
    let operands = r.body.operands_vec(op);
    // The replacement of an operation without a row takes a list.
    if operands.iter().any(|&value| of(r, value).is_some()) && (row(name).is_some() || name == "builtin.split") {
        let flat = operands
            .iter()
            .flat_map(|&value| of(r, value).unwrap_or_else(|| vec![value]));
        let flat: Vec<ValueId> = flat.collect();
        r.body.set_operands(op, &flat);
    }
}

/// The values whose shapes are not known: XLA translates none.
fn dynamic(ctx: &Context, body: &Body) -> Vec<Diagnostic> {
    let is_open = |value: &ValueId| {
        let ty = body.value_type(*value);
        ctx.as_tensor(ty).is_some() && !ctx.is_static(ty)
    };
    let mut errors = Vec::new();
    let mut report = |value: ValueId, span: Span, what: &str| {
        let ty = print_type(ctx, body.value_type(value));
        let message = format!("{what} has type `{ty}`, but XLA needs static shapes");
        let error = Diagnostic::error("no-stablehlo", message).label(span, "");
        errors.push(error.help("give the inputs constant dimensions"));
    };
    let args = |region| {
        body.entry_block(region)
            .into_iter()
            .flat_map(|block| body.block_args(block).iter().copied())
    };
    let first = body.entry_block(body.root()).and_then(|block| body.first_op(block));
    if let (Some(arg), Some(op)) = (args(body.root()).find(is_open), first) {
        report(arg, body.op_span(op), "an argument of this function");
    }
    for op in body.walk_all() {
        let name = ctx.op_str(body.op_name(op));
        let inside = body.op_regions(op).iter().flat_map(|&region| args(region));
        if let Some(value) = body.results(op).chain(inside).find(is_open) {
            report(value, body.op_span(op), &format!("a value of `{name}`"));
        }
    }
    errors.truncate(1);
    errors
}

/// Numbers become tensors without dimensions: StableHLO has no others.
fn make_tensors(ctx: &Context, body: &mut Body) {
    let mut values: Vec<ValueId> = Vec::new();
    let mut blocks = body.region_blocks(body.root()).to_vec();
    for op in body.walk_all() {
        values.extend(body.results(op));
        blocks.extend(
            body.op_regions(op)
                .iter()
                .flat_map(|&region| body.region_blocks(region)),
        );
    }
    values.extend(blocks.iter().flat_map(|&block| body.block_args(block)));
    for value in values {
        let ty = body.value_type(value);
        let tensor = as_tensor(ctx, ty);
        if tensor != ty {
            body.set_value_type(value, tensor);
        }
    }
}

/// The type of a tensor without dimensions in place of that of a number.
fn as_tensor(ctx: &Context, ty: Type) -> Type {
    match ctx.type_data(ty) {
        TypeData::Integer { .. } | TypeData::Float(_) => ctx.tensor(&[], ty),
        _ => ty,
    }
}

/// The error for an operation without a counterpart.
fn refused(r: &Rewriter<'_>, op: OpId, why: Option<String>) -> Diagnostic {
    let view = r.view(op);
    let name = view.name();
    let message = match why {
        Some(why) => format!("`{name}` cannot be written in StableHLO: {why}"),
        None => format!("`{name}` has no counterpart in StableHLO"),
    };
    let is_stack = name.contains("stack") || name.starts_with("cf.") || r.body.op_regions(op).len() == 3;
    let error = Diagnostic::error("no-stablehlo", message).label(r.body.op_span(op), "");
    match is_stack {
        true => error.help("run `--pass=lower-stacks` first, which converts stacks to tensors of static shape"),
        false => error.help("compute the value with other operations"),
    }
}
