//! User-defined derivatives: functions that name another function as their derivative, `custom_vjp`, and calls that do,
//! `pir.vjp`.
//!
//! Where the derivative passes through a call of `@f {custom_vjp = @f_vjp}`, the body of `@f_vjp` is emitted, applied
//! to the operands and results of the call and the cotangents of the results. Values that it does not read are not
//! recorded, and a further `backward` differentiates it like any other part of the program. A function that cannot be
//! inlined, because it has several blocks, no body, a `custom_vjp` or very many operations, is called.
//!
//! A call with the mark `pir.vjp` is treated alike; JAX's rules use it: the function takes the operands and the
//! cotangents of all results, and returns those of all operands. No derivative passes through a call with the mark
//! `pir.stop_gradient`.

use std::rc::Rc;

use pir_dialects::marks::{STOPPED, VJP};
use pir_dialects::{cf, func};
use pir_ir::{Attr, AttrData, Body, Context, Module, OpId, Restated, Rewriter, Sym, Traits, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::functions::adjoint_of_call;
use super::memory::is_buffer;
use crate::inline::copy_block;

/// A derivative of more operations is called.
const MAX_SIZE: usize = 10_000;

/// A function that is the derivative of others, or of calls.
pub(crate) struct CustomVjp {
    /// Its name.
    callee: Attr,
    /// The replacement of a call.
    body: Option<Body>,
    /// The operand types.
    inputs: SmallVec<[Type; 4]>,
    /// The result types.
    results: SmallVec<[Type; 4]>,
    /// A call names it, not a function.
    pub(crate) marked: bool,
    /// It is derived from the callee, and takes its tape.
    pub(crate) adjoint: bool,
}

/// How a call is differentiated.
#[derive(Clone)]
pub(crate) enum CallRule {
    /// By a function.
    Vjp(Rc<CustomVjp>),
    /// Not at all.
    Stopped,
}

/// The function that a call names as its derivative.
pub(crate) fn marked_vjp(ctx: &Context, body: &Body, call: OpId) -> Option<Sym> {
    VJP.symbol(ctx, body.attrs(call))
}

fn is_stopped(ctx: &Context, body: &Body, call: OpId) -> bool {
    STOPPED.get(ctx, body.attrs(call)).is_some()
}

/// The functions that others, or calls, name as their derivatives; nothing if there are none, no stopped calls, and
/// none with adjoints, either.
pub(crate) fn derivatives(module: &Module) -> Option<FxHashSet<Sym>> {
    let ctx = &*module.ctx;
    let (mut found, mut any_stopped) = (FxHashSet::default(), false);
    module.for_each_body(|body| {
        for op in body.walk_all() {
            if body.isolated(op).is_some() {
                found.extend(func::custom_vjp(body.view(ctx, op)));
            } else {
                found.extend(marked_vjp(ctx, body, op));
                any_stopped |= is_stopped(ctx, body, op) || adjoint_of_call(ctx, body, op).is_some();
            }
        }
    });
    (any_stopped || !found.is_empty()).then_some(found)
}

/// The functions that calls in a body may name, with their derivatives.
#[derive(Clone, Default)]
struct Callables<'m> {
    functions: FxHashMap<Sym, (&'m Body, OpId)>,
    /// The derivatives of functions that name one.
    custom: FxHashMap<Sym, Rc<CustomVjp>>,
}

impl<'m> Callables<'m> {
    /// Adds the functions of a body, which hide outer ones of the same names.
    fn enter(&mut self, ctx: &Context, body: &'m Body) {
        let mut own = Vec::new();
        for op in body
            .single_block(body.root())
            .into_iter()
            .flat_map(|block| body.block_ops(block))
        {
            let view = body.view(ctx, op);
            if let (true, Some(name)) = (view.has(Traits::SYMBOL), view.str("sym_name")) {
                self.functions.insert(ctx.sym(name), (body, op));
                own.push((ctx.sym(name), func::custom_vjp(view)));
            }
        }
        for (name, vjp) in own {
            match vjp.and_then(|vjp| CustomVjp::new(ctx, vjp, *self.functions.get(&vjp)?, false)) {
                Some(vjp) => self.custom.insert(name, Rc::new(vjp)),
                None => self.custom.remove(&name),
            };
        }
    }
}

/// The derivatives of the calls of a module. The tables of each symbol table are made once, whatever the number of functions in it.
pub(crate) struct CustomCalls<'m> {
    module: &'m Module,
    /// By the operations around a function.
    tables: FxHashMap<&'m [OpId], Callables<'m>>,
}

impl<'m> CustomCalls<'m> {
    pub(crate) fn new(module: &'m Module) -> Self {
        Self {
            module,
            tables: FxHashMap::default(),
        }
    }

    /// The calls with a derivative of their own in a body, to which `path` leads.
    pub(crate) fn of(&mut self, path: &'m [OpId], body: &'m Body) -> FxHashMap<OpId, CallRule> {
        let ctx = &*self.module.ctx;
        let around = path.split_last().map_or(path, |(_, around)| around);
        let table = self.tables.entry(around).or_insert_with(|| {
            let mut table = Callables::default();
            let mut body = Some(&self.module.body);
            for step in around.iter().map(Some).chain([None]) {
                let Some(outer) = body else { break };
                table.enter(ctx, outer);
                body = step.and_then(|&op| outer.isolated(op));
            }
            table
        });
        let is_symbol = |op: OpId| body.view(ctx, op).has(Traits::SYMBOL);
        let entry = body.single_block(body.root()).filter(|_| !path.is_empty());
        if entry.is_some_and(|block| body.block_ops(block).any(is_symbol)) {
            let mut inner = table.clone();
            inner.enter(ctx, body);
            return rules_of(ctx, body, &inner);
        }
        rules_of(ctx, body, table)
    }
}

/// The differentiation of the calls of a body with rules of their own.
fn rules_of(ctx: &Context, body: &Body, callables: &Callables<'_>) -> FxHashMap<OpId, CallRule> {
    let Callables { functions, custom } = callables;
    let mut marked: FxHashMap<Sym, Option<Rc<CustomVjp>>> = FxHashMap::default();
    let mut adjoints: FxHashMap<Sym, Option<Rc<CustomVjp>>> = FxHashMap::default();
    let mut rule_of = |op: OpId| {
        let callee = func::callee(ctx, body, op)?;
        // A mark on the call has precedence over one on the function.
        if is_stopped(ctx, body, op) {
            return Some((op, CallRule::Stopped));
        }
        if let Some(name) = adjoint_of_call(ctx, body, op) {
            // It does not exist yet; the callee has the types.
            let augmented = *callee.first()?;
            let function = || Some(Rc::new(CustomVjp::adjoint(ctx, name, *functions.get(&augmented)?)?));
            let vjp = adjoints.entry(name).or_insert_with(function).clone()?;
            return Some((op, CallRule::Vjp(vjp)));
        }
        let vjp = match marked_vjp(ctx, body, op) {
            Some(name) => marked
                .entry(name)
                .or_insert_with(|| Some(Rc::new(CustomVjp::new(ctx, name, *functions.get(&name)?, true)?)))
                .clone()?,
            None if callee.len() == 1 => custom.get(&callee[0])?.clone(),
            None => return None,
        };
        Some((op, CallRule::Vjp(vjp)))
    };
    body.walk_all().filter_map(&mut rule_of).collect()
}

impl CustomVjp {
    fn new(ctx: &Context, name: Sym, (scope, op): (&Body, OpId), marked: bool) -> Option<Self> {
        let view = scope.view(ctx, op);
        let pir_ir::TypeData::Function { inputs, results } = ctx.type_data(view.ty("function_type")?) else {
            return None;
        };
        let stands_in = |body: &&Body| {
            func::custom_vjp(view).is_none() && body.single_block(body.root()).is_some() && body.num_ops() <= MAX_SIZE
        };
        Some(CustomVjp {
            callee: ctx.attr(AttrData::Symbol([name].into())),
            body: scope.isolated(op).filter(stands_in).cloned(),
            inputs: inputs.iter().copied().collect(),
            results: results.iter().copied().collect(),
            marked,
            adjoint: false,
        })
    }

    /// The adjoint that is made from a function that returns a tape.
    fn adjoint(ctx: &Context, name: Sym, (scope, op): (&Body, OpId)) -> Option<Self> {
        let ty = scope.view(ctx, op).ty("function_type")?;
        let pir_ir::TypeData::Function { inputs, results } = ctx.type_data(ty) else {
            return None;
        };
        let floats = |types: &[Type]| -> SmallVec<[Type; 4]> {
            types.iter().copied().filter(|&ty| ctx.is_continuous(ty)).collect()
        };
        let shadows = inputs.iter().copied().filter(|&ty| is_buffer(ctx, ty));
        Some(CustomVjp {
            callee: ctx.attr(AttrData::Symbol([name].into())),
            body: None,
            inputs: std::iter::once(cf::stack_type(ctx))
                .chain(floats(results))
                .chain(shadows)
                .collect(),
            results: floats(inputs),
            marked: false,
            adjoint: true,
        })
    }

    /// The expected type of the cotangent of a result.
    pub(crate) fn cotangent_type(&self, operands: usize, index: usize) -> Option<Type> {
        self.inputs.get(operands + index).copied()
    }

    /// Emits the derivative at the insertion point. Gives the cotangents of the operands that have one.
    pub(crate) fn emit(&self, r: &mut Rewriter<'_>, args: &[ValueId]) -> SmallVec<[ValueId; 6]> {
        if let Some(body) = &self.body {
            let mut restated = Restated::default();
            if let Some((values, _)) = copy_block(r, &mut restated, args, body) {
                restated.finish(r);
                return values;
            }
        }
        let call = r
            .op("func.call")
            .attr("callee", self.callee)
            .operands(args.iter().copied());
        let call = call.results(self.results.iter().copied()).build();
        r.body.results(call).collect()
    }
}
