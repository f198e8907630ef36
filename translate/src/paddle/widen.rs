//! Dimensions that change between iterations.
//!
//! PaddlePaddle builds the body of a loop with the shapes of the first iteration. When a carried value grows, it makes
//! the type of that value dynamic, and some of the types that depend on it: the others keep the shape of the first
//! iteration. Here, result types are inferred: a dimension that is dynamic makes the dependent dimensions dynamic in
//! the body, in the carried values, and after the loop.

use pir_dialects::cf;
use pir_dialects::pd::{is_if, is_while};
use pir_ir::{Body, Context, DYNAMIC, OpId, Type, TypeData, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::stacks::all_recorded;

/// Each round may change carried types, and thereby the next one; bounded, so that every file terminates.
const ROUNDS: usize = 64;

/// Makes dimensions dynamic that hold in the first iteration only.
pub(crate) fn widen(ctx: &Context, body: &mut Body) {
    let ops: Vec<OpId> = body.walk_all().collect();
    let mut widening = Widening {
        ctx,
        body,
        widened: FxHashSet::default(),
        pushed: FxHashMap::default(),
    };
    let loops: Vec<OpId> = ops.iter().copied().filter(|&op| widening.grows(op)).collect();
    if loops.is_empty() {
        return;
    }
    let pairs = all_recorded(ctx, widening.body).into_iter();
    widening.pushed = pairs.map(|(value, result)| (result, value)).collect();
    let mut inside: FxHashSet<OpId> = FxHashSet::default();
    for &op in &ops {
        let parent = widening.body.parent_op(op);
        if parent.is_some_and(|p| loops.contains(&p) || inside.contains(&p)) {
            inside.insert(op);
        }
    }
    for _ in 0..ROUNDS {
        let before = widening.widened.len();
        for &op in &ops {
            widening.op(op, inside.contains(&op));
        }
        if widening.widened.len() == before {
            return;
        }
    }
}

struct Widening<'a> {
    ctx: &'a Context,
    body: &'a mut Body,
    /// The values whose types were changed.
    widened: FxHashSet<ValueId>,
    /// What was pushed, of what is popped.
    pushed: FxHashMap<ValueId, ValueId>,
}

impl Widening<'_> {
    fn name(&self, op: OpId) -> &str {
        self.ctx.op_str(self.body.op_name(op))
    }

    fn is_dynamic(&self, value: ValueId) -> bool {
        let tensor = self.ctx.as_tensor(self.body.value_type(value));
        tensor.is_some_and(|(dims, _)| dims.contains(&DYNAMIC))
    }

    /// Whether a loop carries a value of dynamic shape.
    fn grows(&self, op: OpId) -> bool {
        is_while(self.name(op)) && self.body.results(op).any(|v| self.is_dynamic(v))
    }

    /// Makes the dimensions of a value dynamic that are dynamic in a type.
    fn forget(&mut self, value: ValueId, from: Type) {
        let own = self.body.value_type(value);
        let new = widened(self.ctx, own, from);
        if new != own {
            self.body.set_value_type(value, new);
            self.widened.insert(value);
        }
    }

    fn op(&mut self, op: OpId, inside: bool) {
        let name = self.name(op).to_owned();
        if is_while(&name) {
            return self.carried(op);
        }
        if is_if(&name) {
            let results: Vec<ValueId> = self.body.results(op).collect();
            for given in self.ends(op) {
                self.forget_all(&results, &given);
            }
            return;
        }
        if name == cf::POP_BACK {
            let given = self.body.results(op).next();
            let given = given.and_then(|result| Some((result, *self.pushed.get(&result)?)));
            return given
                .into_iter()
                .for_each(|(result, value)| self.forget(result, self.body.value_type(value)));
        }
        let concerns = |v| self.widened.contains(&v) || inside && self.is_dynamic(v);
        if !self.body.operands(op).any(concerns) {
            return;
        }
        let view = self.body.view(self.ctx, op);
        let inferred = view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
        let Some(Some(Ok(types))) = inferred else { return };
        let results: Vec<ValueId> = self.body.results(op).collect();
        for (value, ty) in results.into_iter().zip(types) {
            self.forget(value, ty);
        }
    }

    /// The operands of the terminators of an operation's regions.
    fn ends(&self, op: OpId) -> Vec<Vec<ValueId>> {
        let blocks = self.body.op_regions(op).iter().map(|&r| self.body.single_block(r));
        let last = blocks.map(|b| b.and_then(|b| self.body.last_op(b)));
        last.map(|l| l.map_or(Vec::new(), |l| self.body.operands(l).collect()))
            .collect()
    }

    fn forget_all(&mut self, values: &[ValueId], from: &[ValueId]) {
        for (&value, &other) in values.iter().zip(from) {
            self.forget(value, self.body.value_type(other));
        }
    }

    /// Propagates carried types from the terminators to the arguments and the results.
    fn carried(&mut self, op: OpId) {
        let regions = self.body.op_regions(op).to_vec();
        let ends = self.ends(op);
        let ([.., cond, body], [.., passed, next]) = (&regions[..], &ends[..]) else {
            return;
        };
        let args = |this: &Self, region| {
            let block = this.body.single_block(region);
            block.map_or(Vec::new(), |b| this.body.block_args(b).to_vec())
        };
        let (first, second) = (args(self, *cond), args(self, *body));
        let results: Vec<ValueId> = self.body.results(op).collect();
        let starts = self.body.operands_vec(op);
        self.forget_all(&first, &starts);
        self.forget_all(&first, next);
        // The condition itself is not forwarded.
        let passed = passed.get(1..).unwrap_or_default().to_vec();
        self.forget_all(&second, &passed);
        self.forget_all(&results, &passed);
    }
}

/// A type with the dimensions dynamic that are dynamic in another, also of tensors in lists.
fn widened(ctx: &Context, own: Type, from: Type) -> Type {
    if let (TypeData::List(own_types), TypeData::List(others)) = (ctx.type_data(own), ctx.type_data(from)) {
        if own_types.len() != others.len() {
            return own;
        }
        let pairs = own_types.iter().zip(others);
        let types: Vec<Type> = pairs.map(|(&own, &other)| widened_tensor(ctx, own, other)).collect();
        return ctx.intern_type(TypeData::List(types.into()));
    }
    widened_tensor(ctx, own, from)
}

fn widened_tensor(ctx: &Context, own: Type, from: Type) -> Type {
    let (Some((dims, elem)), Some((others, _))) = (ctx.as_tensor(own), ctx.as_tensor(from)) else {
        return own;
    };
    if dims.len() != others.len() {
        return own;
    }
    let pairs = dims.iter().zip(others);
    let dims: Vec<i64> = pairs.map(|(&d, &o)| if o == DYNAMIC { DYNAMIC } else { d }).collect();
    ctx.tensor(&dims, elem)
}
