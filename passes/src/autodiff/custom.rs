//! Functions that name another one as their derivative: `custom_vjp`.
//!
//! Where the derivative passes through a call of `@f {custom_vjp = @f_vjp}`, what `@f_vjp` computes is emitted, of the operands
//! and results of the call and the cotangents of the results. What it does not read of them is not recorded, and
//! a further `backward` differentiates it like any other part of the program. A function that cannot stand in the place of a call,
//! since it has several blocks, no body, a `custom_vjp` of its own or very many operations, is called.

use std::rc::Rc;

use pir_dialects::func;
use pir_ir::{Attr, AttrData, Body, Context, Module, OpId, Restated, Rewriter, Sym, Traits, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::inline::copy_block;

/// A derivative of more operations is called.
const MAX_SIZE: usize = 10_000;

/// A function that is the derivative of others.
pub(crate) struct CustomVjp {
    /// Its name.
    callee: Attr,
    /// What is put in the place of a call.
    body: Option<Body>,
    /// What it returns.
    results: SmallVec<[Type; 4]>,
}

/// The functions that others name as their derivatives.
pub(crate) fn derivatives(module: &Module) -> FxHashSet<Sym> {
    let mut found = FxHashSet::default();
    module.for_each_body(|body| {
        let functions = body.walk_all().filter(|&op| body.isolated(op).is_some());
        found.extend(functions.filter_map(|op| func::custom_vjp(body.view(&module.ctx, op))));
    });
    found
}

/// The functions with a derivative of their own that can be called from the body that `path` leads to.
pub(crate) fn custom_vjps(module: &Module, path: &[OpId]) -> FxHashMap<Sym, Rc<CustomVjp>> {
    let ctx = &*module.ctx;
    let mut custom: FxHashMap<Sym, Rc<CustomVjp>> = FxHashMap::default();
    let mut functions: FxHashMap<Sym, (&Body, OpId)> = FxHashMap::default();
    let mut body = &module.body;
    for step in path.iter().map(Some).chain([None]) {
        let mut own = Vec::new();
        for op in body
            .single_block(body.root())
            .into_iter()
            .flat_map(|block| body.block_ops(block))
        {
            let view = body.view(ctx, op);
            if let (true, Some(name)) = (view.has(Traits::SYMBOL), view.str("sym_name")) {
                functions.insert(ctx.sym(name), (body, op));
                own.push((ctx.sym(name), func::custom_vjp(view)));
            }
        }
        // An inner function hides an outer one of the same name.
        for (name, vjp) in own {
            match vjp.and_then(|vjp| CustomVjp::new(ctx, vjp, *functions.get(&vjp)?)) {
                Some(vjp) => custom.insert(name, Rc::new(vjp)),
                None => custom.remove(&name),
            };
        }
        let Some(inner) = step.and_then(|&op| body.isolated(op)) else {
            break;
        };
        body = inner;
    }
    custom
}

/// The calls of such functions in a body.
pub(crate) fn custom_calls(
    ctx: &Context,
    body: &Body,
    custom: &FxHashMap<Sym, Rc<CustomVjp>>,
) -> FxHashMap<OpId, Rc<CustomVjp>> {
    if custom.is_empty() {
        return FxHashMap::default();
    }
    let vjp_of = |op: OpId| match ctx.attr_data(body.attr(ctx, op, "callee")?) {
        AttrData::Symbol(path) if path.len() == 1 => Some((op, custom.get(&path[0])?.clone())),
        _ => None,
    };
    body.walk_all().filter_map(vjp_of).collect()
}

impl CustomVjp {
    fn new(ctx: &Context, name: Sym, (scope, op): (&Body, OpId)) -> Option<Self> {
        let view = scope.view(ctx, op);
        let pir_ir::TypeData::Function { results, .. } = ctx.type_data(view.ty("function_type")?) else {
            return None;
        };
        let stands_in = |body: &&Body| {
            func::custom_vjp(view).is_none() && body.single_block(body.root()).is_some() && body.num_ops() <= MAX_SIZE
        };
        Some(CustomVjp {
            callee: ctx.attr(AttrData::Symbol([name].into())),
            body: scope.isolated(op).filter(stands_in).cloned(),
            results: results.iter().copied().collect(),
        })
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
