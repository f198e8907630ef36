//! Control flow: `pd.if`, `pd.while`, their duals `pd.if_grad` and `pd.while_grad`, and branches between blocks.

use crate::{cf, pd};
use pir_ir::{
    Arity, Attr, BlockId, Body, Context, FlowEdge, FlowPoint, InferArgs, MemoryEffects, OpDef, OpId, OpView, Presence,
    RegionFlow, RegionId, RegionSpec, Speculatability, Traits, Type, ValueId,
};
use smallvec::SmallVec;

use super::condition::truth;
use super::verify;
use crate::declare::value;

/// Whether an operation of this name is a loop with regions `cond` and `body`.
pub fn is_while(name: &str) -> bool {
    matches!(name, pd::While::NAME | pd::WhileGrad::NAME)
}

/// Whether an operation of this name has the regions `then` and `else`.
pub fn is_if(name: &str) -> bool {
    matches!(name, pd::If::NAME | pd::IfGrad::NAME)
}

/// The index of a block's region, not counting an `init` region: 0 for `cond` and `then`.
pub fn role(body: &Body, op: OpId, block: BlockId) -> Option<usize> {
    let regions = body.op_regions(op);
    let at = regions.iter().position(|&r| body.block_region(block) == Some(r))?;
    at.checked_sub(regions.len().saturating_sub(2))
}

pub(super) fn definitions() -> Vec<OpDef> {
    let if_doc = "Runs the region `then` if the condition holds, else `else`, and gives what it yields. Regions see the \
                  values around them and have no arguments. With a third region, `init`, which comes first and makes a \
                  stack, the stack is the only argument of both branches and the last result.";
    let while_doc = "Runs `cond` on the operands; when the condition that it ends with holds, `body` gets the other \
                     values that it forwards and yields the next arguments of `cond`, else those values are the results. \
                     With a third region, `init`, that comes first: it makes a stack and hands it on behind its arguments.";
    vec![
        if_like(
            pd::If::NAME,
            "Runs one of two regions, depending on a condition",
            if_doc,
        ),
        while_like(pd::While::NAME, "Runs a region while a condition is true", while_doc),
        if_like(
            pd::IfGrad::NAME,
            "The dual of a `pd.if`",
            "Has the form of `pd.if`; yields the cotangents of the values that the branches capture.",
        ),
        while_like(
            pd::WhileGrad::NAME,
            "The dual of a `pd.while`",
            "Has the form of `pd.while`; carries cotangents and accumulators.",
        ),
        condition_branch(),
        branch(),
        pd_return(),
    ]
}

fn if_like(name: &'static str, summary: &'static str, doc: &'static str) -> OpDef {
    let mut def = OpDef::new(name, summary);
    def.description = doc.into();
    def.traits = Traits::RECURSIVE_EFFECTS | Traits::IMPLICIT_TERMINATOR;
    def.operands = vec![value("condition", "i1", Arity::One)].into();
    def.results = vec![value("results", "any", Arity::Variadic)].into();
    def.regions = vec![
        RegionSpec {
            keywords: &["init"],
            presence: Presence::MayBeAbsent,
            bare: false,
        },
        RegionSpec {
            keywords: &["then"],
            presence: Presence::Required,
            bare: true,
        },
        RegionSpec {
            keywords: &["else"],
            presence: Presence::MayBeEmpty,
            bare: false,
        },
    ];
    def.implicit_terminator = Some(cf::YIELD);
    def.infer = Some(|args| {
        let [.., then, _] = args.regions else {
            return Err("it needs its regions".to_owned());
        };
        Ok(yielded(&args, *then, 0).unwrap_or_default())
    });
    def.region_args = Some(|args, index| match (index, args.regions) {
        // `init` has no arguments; after it, a branch gets the stack.
        (1 | 2, [init, ..]) if starts_with_stack(&args, *init) => yielded(&args, *init, 0),
        _ => Some(SmallVec::new()),
    });
    def.verify = Some(verify::if_op);
    def.speculatable = |_| Speculatability::Recursive;
    def.flow = Some(&IfFlow);
    def.with_effects(MemoryEffects::None)
}

fn while_like(name: &'static str, summary: &'static str, doc: &'static str) -> OpDef {
    let mut def = OpDef::new(name, summary);
    def.description = doc.into();
    def.traits = Traits::RECURSIVE_EFFECTS;
    def.operands = vec![value("inputs", "any", Arity::Variadic)].into();
    def.results = vec![value("results", "any", Arity::Variadic)].into();
    def.regions = vec![
        RegionSpec {
            keywords: &["init"],
            presence: Presence::MayBeAbsent,
            bare: false,
        },
        RegionSpec {
            keywords: &["cond"],
            presence: Presence::Required,
            bare: true,
        },
        RegionSpec {
            keywords: &["body", "do"],
            presence: Presence::Required,
            bare: false,
        },
    ];
    def.infer = Some(|args| {
        let [.., cond, _] = args.regions else {
            return Err("it needs its regions".to_owned());
        };
        yielded(&args, *cond, 1).ok_or_else(|| "the cond region does not end in `cf.cond_yield`".to_owned())
    });
    def.region_args = Some(|args, index| {
        let operands = || args.operands.iter().map(|&v| args.body.value_type(v)).collect();
        match args.regions.get(index.wrapping_sub(1)) {
            None => Some(operands()),
            // The body gets the values forwarded by `cond`, other regions those yielded by `init`.
            Some(&before) => {
                let cond = args
                    .body
                    .region_terminator(before)
                    .is_some_and(|t| is_cond_yield(args.ctx, &args, t));
                yielded(&args, before, usize::from(cond))
            }
        }
    });
    def.verify = Some(verify::while_op);
    // A loop may not terminate.
    def.speculatable = |_| Speculatability::Never;
    def.flow = Some(&WhileFlow);
    def.with_effects(MemoryEffects::None)
}

fn is_cond_yield(ctx: &Context, args: &InferArgs<'_>, op: OpId) -> bool {
    ctx.op_str(args.body.op_name(op)) == cf::COND_YIELD
}

/// The operand types of a region's terminator, without the first `skip`.
fn yielded<const N: usize>(args: &InferArgs<'_>, region: RegionId, skip: usize) -> Option<SmallVec<[Type; N]>>
where
    [Type; N]: smallvec::Array<Item = Type>,
{
    let end = args.body.region_terminator(region)?;
    Some(
        args.body
            .operands(end)
            .skip(skip)
            .map(|v| args.body.value_type(v))
            .collect(),
    )
}

fn starts_with_stack(args: &InferArgs<'_>, region: RegionId) -> bool {
    let end = args.body.region_terminator(region);
    end.is_some_and(|end| {
        args.body.num_operands(end) == 1
            && cf::is_stack(args.ctx, args.body.value_type(args.body.operand(end, 0)))
            && args
                .body
                .single_block(region)
                .is_some_and(|b| args.body.block_ops(b).count() == 2)
    })
}

/// The number of operands of a region's terminator.
fn terminator_operands(op: OpView<'_>, region: usize) -> usize {
    let regions = op.body.op_regions(op.op);
    regions
        .get(region)
        .and_then(|&r| op.body.region_terminator(r))
        .map_or(0, |t| op.body.num_operands(t))
}

struct IfFlow;

impl IfFlow {
    fn first_branch(op: OpView<'_>) -> usize {
        op.body.op_regions(op.op).len().saturating_sub(2)
    }
}

impl RegionFlow for IfFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let first = Self::first_branch(op);
        let mut edges = SmallVec::new();
        // Control enters `init`, which forwards its stack, or the branches, without values.
        let (from, operands) = if first == 1 {
            edges.push(FlowEdge::new(FlowPoint::Parent, FlowPoint::Region(0), 0..0));
            (FlowPoint::Region(0), 0..terminator_operands(op, 0))
        } else {
            (FlowPoint::Parent, 0..0)
        };
        for branch in [first, first + 1] {
            let empty = op
                .body
                .op_regions(op.op)
                .get(branch)
                .is_none_or(|&r| op.body.region_blocks(r).is_empty());
            if empty {
                edges.push(FlowEdge::new(from, FlowPoint::Parent, 0..0));
                continue;
            }
            edges.push(FlowEdge::new(from, FlowPoint::Region(branch), operands.clone()));
            let yielded = 0..terminator_operands(op, branch);
            edges.push(FlowEdge::new(FlowPoint::Region(branch), FlowPoint::Parent, yielded));
        }
        edges
    }

    fn runs_at_least_once(&self, op: OpView<'_>, region: usize) -> bool {
        region < Self::first_branch(op)
    }

    fn is_repeated(&self, _op: OpView<'_>, _region: usize) -> bool {
        false
    }

    fn own_inputs(&self, op: OpView<'_>, to: FlowPoint) -> usize {
        let first = Self::first_branch(op);
        usize::from(first == 1 && to != FlowPoint::Region(0))
    }

    fn is_fixed(&self, op: OpView<'_>, from: FlowPoint) -> bool {
        match from {
            FlowPoint::Parent => true,
            FlowPoint::Region(region) => region < Self::first_branch(op),
        }
    }

    fn entry_end(&self) -> Option<&'static str> {
        Some(cf::YIELD)
    }

    fn dual(&self) -> Option<&'static str> {
        Some(pd::IfGrad::NAME)
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        let first = Self::first_branch(op);
        let at_branching = if first == 1 {
            from == FlowPoint::Region(0)
        } else {
            from == FlowPoint::Parent
        };
        if !at_branching {
            return None;
        }
        let holds = truth(op.ctx, constant(op.operand(0)?)?)?;
        let branch = if holds { first } else { first + 1 };
        let empty = op
            .body
            .op_regions(op.op)
            .get(branch)
            .is_none_or(|&r| op.body.region_blocks(r).is_empty());
        Some(if empty {
            FlowPoint::Parent
        } else {
            FlowPoint::Region(branch)
        })
    }

    fn branch_condition(&self, op: OpView<'_>, _: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        let first = Self::first_branch(op);
        match to {
            FlowPoint::Region(branch) if branch >= first => Some((op.operand(0)?, branch == first)),
            _ => None,
        }
    }
}

struct WhileFlow;

impl WhileFlow {
    fn cond(op: OpView<'_>) -> usize {
        op.body.op_regions(op.op).len().saturating_sub(2)
    }
}

impl RegionFlow for WhileFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let cond = Self::cond(op);
        let mut edges = SmallVec::new();
        let operands = 0..op.body.num_operands(op.op);
        if cond == 1 {
            edges.push(FlowEdge::new(FlowPoint::Parent, FlowPoint::Region(0), operands));
            let yielded = 0..terminator_operands(op, 0);
            edges.push(FlowEdge::new(FlowPoint::Region(0), FlowPoint::Region(1), yielded));
        } else {
            edges.push(FlowEdge::new(FlowPoint::Parent, FlowPoint::Region(0), operands));
        }
        let forwarded = 1..terminator_operands(op, cond).max(1);
        for to in [FlowPoint::Region(cond + 1), FlowPoint::Parent] {
            edges.push(FlowEdge::new(FlowPoint::Region(cond), to, forwarded.clone()));
        }
        let yielded = 0..terminator_operands(op, cond + 1);
        edges.push(FlowEdge::new(
            FlowPoint::Region(cond + 1),
            FlowPoint::Region(cond),
            yielded,
        ));
        edges
    }

    fn runs_at_least_once(&self, op: OpView<'_>, region: usize) -> bool {
        region <= Self::cond(op)
    }

    fn is_repeated(&self, op: OpView<'_>, region: usize) -> bool {
        region >= Self::cond(op)
    }

    fn own_inputs(&self, op: OpView<'_>, to: FlowPoint) -> usize {
        usize::from(Self::cond(op) == 1 && to != FlowPoint::Region(0))
    }

    fn entry_end(&self) -> Option<&'static str> {
        Some(cf::YIELD)
    }

    fn dual(&self) -> Option<&'static str> {
        Some(pd::WhileGrad::NAME)
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        let cond = Self::cond(op);
        if from != FlowPoint::Region(cond) {
            return None;
        }
        let end = op
            .body
            .op_regions(op.op)
            .get(cond)
            .and_then(|&r| op.body.region_terminator(r))?;
        let flag = op.body.operands(end).next()?;
        Some(if truth(op.ctx, constant(flag)?)? {
            FlowPoint::Region(cond + 1)
        } else {
            FlowPoint::Parent
        })
    }

    fn branch_condition(&self, op: OpView<'_>, from: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        let cond = Self::cond(op);
        if from != FlowPoint::Region(cond) {
            return None;
        }
        let end = op
            .body
            .op_regions(op.op)
            .get(cond)
            .and_then(|&r| op.body.region_terminator(r))?;
        Some((op.body.operands(end).next()?, to == FlowPoint::Region(cond + 1)))
    }
}

fn condition_branch() -> OpDef {
    let mut def = OpDef::new(pd::ConditionBranch::NAME, "Branches to one of two blocks");
    def.traits = Traits::TERMINATOR;
    def.operands = vec![value("condition", "i1", Arity::One)].into();
    def.successors = 2;
    def.choose = Some(|op, constant| Some(usize::from(!truth(op.ctx, constant(op.operand(0)?)?)?)));
    def.verify = Some(|op, errors| verify::condition(op, 0, errors));
    def.with_effects(MemoryEffects::None)
}

fn branch() -> OpDef {
    let mut def = OpDef::new(pd::Branch::NAME, "Branches to a block");
    def.traits = Traits::TERMINATOR;
    def.successors = 1;
    def.with_effects(MemoryEffects::None)
}

fn pd_return() -> OpDef {
    let mut def = OpDef::new(
        "pd.return",
        "Returns from a function, or leaves a region of several blocks",
    );
    def.traits = Traits::TERMINATOR | Traits::RETURN_LIKE;
    def.operands = vec![value("operands", "any", Arity::Variadic)].into();
    def.with_effects(MemoryEffects::None)
}
