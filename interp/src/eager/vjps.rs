//! The derivatives of operations whose rows name a function for them.

use std::borrow::Cow;

use pir_dialects::pd;
use pir_ir::{
    AttrData, AttrDict, BlockId, Body, Context, Module, OpId, OpName, OpSpec, OpView, Rewriter, Type, ValueId, VjpArgs,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::exec::path_to_top;

/// An operation with the types of its operands and results.
type Key = (OpName, AttrDict, Types, Types);

/// The program with calls instead of the operations that have a derivative of their own and that `keep` rejects.
pub(super) fn with_derivatives<'m>(module: &'m Module, keep: &dyn Fn(OpView<'_>) -> bool) -> Cow<'m, Module> {
    let ctx = module.ctx.clone();
    let has_own = |op: OpView<'_>| {
        let semantics = op.semantics().filter(|semantics| semantics.has_vjp());
        let mut values = op.body.operands(op.op).chain(op.body.results(op.op));
        semantics.is_some() && !keep(op) && values.all(|v| ctx.as_tensor(op.body.value_type(v)).is_some())
    };
    let mut found = false;
    if ctx.has_composites() {
        module.for_each_body(|body| found |= body.walk_all().any(|op| has_own(body.view(&ctx, op))));
    }
    if !found {
        return Cow::Borrowed(module);
    }
    let mut with = module.clone();
    let mut functions = Functions {
        ctx: &ctx,
        names: FxHashMap::default(),
        made: Vec::new(),
    };
    let mut pending = vec![&mut with.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all().collect::<Vec<OpId>>() {
            if has_own(body.view(&ctx, op))
                && let Some(callee) = functions.of(body.view(&ctx, op))
            {
                let callee = ctx.attr(AttrData::Symbol([ctx.sym(&callee)].into()));
                let (operands, types) = (body.operands_vec(op), types_of(body, body.results(op)));
                let span = body.op_span(op);
                let mut r = Rewriter::new(&ctx, body);
                let call = r.before(op).set_span(span).op("func.call").attr("callee", callee);
                let call = call.operands(operands).results(types).build();
                let values: Vec<ValueId> = r.body.results(call).collect();
                r.replace_op(op, &values);
            }
        }
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
    let made = functions.made;
    let path = path_to_top(module);
    let scope = path.iter().try_fold(&mut with.body, |body, &op| body.isolated_mut(op));
    let top = scope.and_then(|scope| Some((scope.single_block(scope.root())?, scope)));
    let Some((top, scope)) = top else {
        return Cow::Borrowed(module);
    };
    for (attrs, body) in made {
        let mut spec = OpSpec::new(ctx.op_name("func.func"));
        spec.attrs = attrs;
        let function = scope.create_op(spec);
        scope.set_isolated(function, body);
        scope.append_op(top, function);
    }
    Cow::Owned(with)
}

type Types = SmallVec<[Type; 4]>;

fn types_of(body: &Body, values: impl Iterator<Item = ValueId>) -> Types {
    values.map(|v| body.value_type(v)).collect()
}

struct Functions<'c> {
    ctx: &'c Context,
    names: FxHashMap<Key, Option<String>>,
    made: Vec<(AttrDict, Body)>,
}

impl Functions<'_> {
    /// The name of the function of an operation; none if its derivative has no meaning for these types.
    fn of(&mut self, op: OpView<'_>) -> Option<String> {
        let operands = types_of(op.body, op.body.operands(op.op));
        let results = types_of(op.body, op.body.results(op.op));
        let key: Key = (op.body.op_name(op.op), op.body.attrs(op.op), operands, results);
        if let Some(known) = self.names.get(&key) {
            return known.clone();
        }
        // No name in a program has a space.
        let name = format!("{} {}", op.name(), self.names.len());
        let made = self.make(&name, &key);
        let name = made.map(|()| name);
        self.names.insert(key, name.clone());
        name
    }

    fn make(&mut self, name: &str, key: &Key) -> Option<()> {
        let ctx = self.ctx;
        let (op, attrs, operands, results) = key;
        let vjp = format!("{name} vjp");
        let (mut body, block, args) = with_args(operands.iter().copied());
        let mut r = Rewriter::new(ctx, &mut body);
        let made = r.at_end(block).op(ctx.op_str(*op)).operands(args).attrs(*attrs);
        let made = made.results(results.iter().copied()).build();
        let values: Vec<ValueId> = r.body.results(made).collect();
        r.at_end(block).op("func.return").operands(values).build();

        let all = operands.iter().chain(results).chain(results).copied();
        let (mut derivative, block, args) = with_args(all);
        let mut r = Rewriter::new(ctx, &mut derivative);
        let (given, rest) = args.split_at(operands.len());
        // The types and attributes are asked of an operation.
        let op = r
            .at_end(block)
            .op(ctx.op_str(*op))
            .operands(given.iter().copied())
            .attrs(*attrs);
        let op = op.results(results.iter().copied()).build();
        let semantics = ctx.op_def(r.body.op_name(op))?.semantics.as_deref()?;
        let (results_in, cotangents) = rest.split_at(results.len());
        let args = VjpArgs {
            operands: given,
            results: results_in,
            cotangents,
        };
        let found = semantics.vjp(&mut r, op, args).ok()?;
        let mut returned = Vec::new();
        for (index, &operand) in given.iter().enumerate().filter(|(at, _)| ctx.is_float(operands[*at])) {
            returned.push(match found.iter().find(|(at, _)| *at == index) {
                Some(&(_, grad)) => grad,
                None => pd::full_like_with(&mut r, operand, |o| o.value(0.0)).ok()?,
            });
        }
        r.at_end(block)
            .op("func.return")
            .operands(returned.iter().copied())
            .build();
        let returned = types_of(r.body, returned.into_iter());
        r.erase_op(op);
        let inputs: Vec<Type> = operands.iter().chain(results).chain(results).copied().collect();
        let custom = ctx.attr(AttrData::Symbol([ctx.sym(&vjp)].into()));
        let attrs = self.attrs(name, operands, results);
        self.made.push((ctx.dict_with(attrs, "custom_vjp", custom), body));
        self.made.push((self.attrs(&vjp, &inputs, &returned), derivative));
        Some(())
    }

    fn attrs(&self, name: &str, inputs: &[Type], results: &[Type]) -> AttrDict {
        let ctx = self.ctx;
        let ty = ctx.type_attr(ctx.function_type(inputs, results));
        ctx.dict(&[
            (ctx.sym("sym_name"), ctx.str_attr(name)),
            (ctx.sym("function_type"), ty),
        ])
    }
}

fn with_args(types: impl Iterator<Item = Type>) -> (Body, BlockId, Vec<ValueId>) {
    let mut body = Body::new();
    let root = body.root();
    let block = body.create_block(root);
    for ty in types {
        body.add_block_arg(block, ty, None);
    }
    let args = body.block_args(block).to_vec();
    (body, block, args)
}
