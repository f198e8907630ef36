//! Activity: which values a derivative passes through.
//!
//! A value is *varied* if it depends on an input that is differentiated with respect to, and *useful* if an output
//! that is differentiated depends on it; it is *active* if it is both and has a type with a derivative. Through loops
//! both are fixpoints, which here are plain reachability: the edges are the uses of ordinary operations and the
//! bindings of the region-flow interface, and each is followed once. (Hascoët and Pascual, "The Tapenade automatic
//! differentiation tool", 2013, section 5.)

use pir_ir::{Body, Context, OpId, Type, TypeData, Use, ValueDef, ValueId};
use rustc_hash::FxHashMap;

use super::rules::Rules;
use super::stacks::Stacks;
use super::structure::Names;

/// The varied and the useful values of a body.
pub(crate) struct Activity {
    varied: Vec<bool>,
    useful: Vec<bool>,
    /// How a value became varied: the value before it on a path from an input.
    origin: FxHashMap<ValueId, ValueId>,
    /// The pushes and pops that a derivative passes through.
    pub(crate) stacks: Stacks,
}

/// Whether values of the type can have a cotangent: floats, tensors of floats, and lists with such elements.
pub(crate) fn is_differentiable(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::List(items) => stacker::maybe_grow(32 * 1024, 256 * 1024, || {
            items.iter().any(|&t| is_differentiable(ctx, t))
        }),
        _ => ctx.is_float(ty),
    }
}

impl Activity {
    /// Follows the dependences from `inputs` forwards and from `outputs` backwards.
    pub(crate) fn new(ctx: &Context, body: &Body, rules: &Rules, inputs: &[ValueId], outputs: &[ValueId]) -> Self {
        let names = Names::new(ctx);
        let stacks = Stacks::new(ctx, &names, body);
        let mut this = Activity {
            varied: vec![false; body.num_value_slots()],
            useful: vec![false; body.num_value_slots()],
            origin: FxHashMap::default(),
            stacks: Stacks::default(),
        };
        let mut pending: Vec<ValueId> = Vec::new();
        for &v in inputs {
            this.varied[v.index()] = true;
            pending.push(v);
        }
        while let Some(value) = pending.pop() {
            for at in body.uses(value) {
                let mut reach = |target: ValueId| {
                    if !this.varied[target.index()] && is_differentiable(ctx, body.value_type(target)) {
                        this.varied[target.index()] = true;
                        this.origin.insert(target, value);
                        pending.push(target);
                    }
                };
                for &pop in stacks.pops_behind(at.op) {
                    reach(body.result(pop, 0));
                }
                match body.flow_targets(ctx, at) {
                    _ if at.index == 1 && stacks.lane(at.op).is_some() => {
                        let pops = stacks.lane(at.op).map_or(&[][..], |lane| &lane.pops);
                        pops.iter().for_each(|&pop| reach(body.result(pop, 0)));
                    }
                    Some(targets) => targets.into_iter().for_each(&mut reach),
                    None if rules.depends_on(body, at) => body.results(at.op).for_each(&mut reach),
                    None => {}
                }
            }
        }
        for &v in outputs {
            if is_differentiable(ctx, body.value_type(v)) {
                this.useful[v.index()] = true;
                pending.push(v);
            }
        }
        while let Some(value) = pending.pop() {
            let mut reach = |at: Use| {
                let source = body.operand(at.op, at.index);
                if !this.useful[source.index()] && is_differentiable(ctx, body.value_type(source)) {
                    this.useful[source.index()] = true;
                    pending.push(source);
                }
            };
            if let Some(sources) = body.flow_sources(ctx, value) {
                sources.into_iter().for_each(&mut reach);
            } else if let ValueDef::Result(op, _) = body.value_def(value) {
                if let Some(lane) = stacks.lane(op) {
                    for stranger in stacks.strangers_before(op) {
                        let operands = 0..body.num_operands(stranger);
                        operands.for_each(|index| reach(Use { op: stranger, index }));
                    }
                    lane.pushes.iter().for_each(|&op| reach(Use { op, index: 1 }));
                    continue;
                }
                (0..body.num_operands(op))
                    .map(|index| Use { op, index })
                    .filter(|&at| rules.depends_on(body, at))
                    .for_each(&mut reach);
            }
        }
        let mut stacks = stacks;
        stacks.activate(&names, body, |v| this.is_active(v));
        this.stacks = stacks;
        this
    }

    pub(crate) fn is_varied(&self, value: ValueId) -> bool {
        self.varied.get(value.index()).copied().unwrap_or(false)
    }

    pub(crate) fn is_useful(&self, value: ValueId) -> bool {
        self.useful.get(value.index()).copied().unwrap_or(false)
    }

    pub(crate) fn is_active(&self, value: ValueId) -> bool {
        self.is_varied(value) && self.is_useful(value)
    }

    /// Whether the derivative passes through the operation: some result, or region argument, is active, or what is
    /// pushed or popped inside.
    pub(crate) fn passes_through(&self, body: &Body, op: OpId) -> bool {
        self.stacks.pass_through(op)
            || body.results(op).any(|r| self.is_active(r))
            || body
                .op_regions(op)
                .iter()
                .filter_map(|&r| body.entry_block(r))
                .any(|b| body.block_args(b).iter().any(|&a| self.is_active(a)))
    }

    /// The path on which `value` depends on an input, from the input to the value.
    pub(crate) fn path_to(&self, value: ValueId) -> Vec<ValueId> {
        let mut path = vec![value];
        let mut at = value;
        while let Some(&before) = self.origin.get(&at) {
            path.push(before);
            at = before;
        }
        path.reverse();
        path
    }
}
