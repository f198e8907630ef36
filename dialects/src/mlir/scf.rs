//! `scf`: loops and branches with regions.

mod flow;
mod verify;

use pir_ir::{
    Arity, AttrSpec, List, MemoryEffects, OpDef, OpView, Presence, RegionSpec, Speculatability, Traits, Type, ValueSpec,
};
use smallvec::SmallVec;

use crate::declare::value;
use flow::{BranchFlow, ForFlow, WhileFlow};
use verify::{expect_types, expect_yield, report, verify_for, verify_if, verify_while};

/// The name of `scf.condition`.
pub const CONDITION: &str = "scf.condition";
/// The name of `scf.execute_region`.
pub const EXECUTE_REGION: &str = "scf.execute_region";
/// The name of `scf.for`.
pub const FOR: &str = "scf.for";
/// The name of `scf.forall`.
pub const FORALL: &str = "scf.forall";
/// The name of `scf.if`.
pub const IF: &str = "scf.if";
/// The name of `scf.index_switch`.
pub const INDEX_SWITCH: &str = "scf.index_switch";
/// The name of `scf.forall.in_parallel`.
pub const IN_PARALLEL: &str = "scf.forall.in_parallel";
/// The name of `scf.parallel`.
pub const PARALLEL: &str = "scf.parallel";
/// The name of `scf.reduce`.
pub const REDUCE: &str = "scf.reduce";
/// The name of `scf.reduce.return`.
pub const REDUCE_RETURN: &str = "scf.reduce.return";
/// The name of `scf.while`.
pub const WHILE: &str = "scf.while";
/// The name of `scf.yield`.
pub const YIELD: &str = "scf.yield";

fn region(keyword: &'static [&'static str], presence: Presence) -> RegionSpec {
    RegionSpec {
        keywords: keyword,
        presence,
        bare: false,
    }
}

fn attr(name: &'static str, default: Option<&'static str>) -> AttrSpec {
    AttrSpec {
        name: name.into(),
        ty: "attr".into(),
        default: default.map(Into::into),
    }
}

/// Any number of values.
fn many(name: &'static str) -> List<ValueSpec> {
    vec![value(name, "any", Arity::Variadic)].into()
}

pub(super) fn definitions() -> Vec<OpDef> {
    vec![
        for_op(),
        while_op(),
        if_op(),
        execute_region(),
        index_switch(),
        parallel(),
        forall(),
        terminator(
            YIELD,
            "Yields the results of a region, or the values of the next iteration",
        ),
        condition(),
        reduce(),
        terminator(REDUCE_RETURN, "Returns the combination of two partial results"),
        in_parallel(),
    ]
}

/// An operation whose effects are those of its regions.
fn structured(name: &'static str, summary: &'static str) -> OpDef {
    let mut def = OpDef::new(name, summary).with_effects(MemoryEffects::None);
    def.traits = Traits::RECURSIVE_EFFECTS | Traits::OPEN_ATTRS;
    def.results = many("results");
    def
}

fn for_op() -> OpDef {
    let mut def = structured(
        FOR,
        "A counting loop from a lower to an upper signed bound by a step, with loop-carried values",
    );
    def.operands = vec![
        value("lowerBound", "integer", Arity::One),
        value("upperBound", "integer", Arity::One),
        value("step", "integer", Arity::One),
        value("initArgs", "any", Arity::Variadic),
    ]
    .into();
    def.regions = vec![region(&["do"], Presence::Required)];
    def.traits |= Traits::IMPLICIT_TERMINATOR;
    def.implicit_terminator = Some(YIELD);
    def.infer = Some(|args| {
        let operands = args.operands.iter().skip(3);
        Ok(operands.map(|&v| args.body.value_type(v)).collect())
    });
    def.region_args = Some(|args, _| {
        let (counter, carried) = (args.operands.first()?, args.operands.get(3..)?);
        let values = std::iter::once(counter).chain(carried);
        Some(values.map(|&v| args.body.value_type(v)).collect())
    });
    def.verify = Some(verify_for);
    // With another step the counter may wrap around, and the loop never end.
    def.speculatable = |op| match op.operand(2).and_then(|step| op.body.constant_int(op.ctx, step)) {
        Some(1) => Speculatability::Recursive,
        _ => Speculatability::Never,
    };
    def.flow = Some(&ForFlow);
    def
}

fn while_op() -> OpDef {
    let mut def = structured(WHILE, "Runs a region while the condition of another region is true");
    def.operands = many("inits");
    def.regions = vec![
        region(&["before"], Presence::Required),
        region(&["after", "do"], Presence::Required),
    ];
    def.infer = Some(|args| {
        let end = args.regions.first().and_then(|&r| args.body.region_terminator(r));
        let end = end.ok_or("its first region does not end in `scf.condition`")?;
        let forwarded = args.body.operands(end).skip(1);
        Ok(forwarded.map(|v| args.body.value_type(v)).collect())
    });
    def.region_args = Some(|args, index| match index {
        0 => Some(args.operands.iter().map(|&v| args.body.value_type(v)).collect()),
        _ => {
            let end = args.body.region_terminator(*args.regions.first()?)?;
            Some(
                args.body
                    .operands(end)
                    .skip(1)
                    .map(|v| args.body.value_type(v))
                    .collect(),
            )
        }
    });
    def.verify = Some(verify_while);
    // The loop may not terminate.
    def.speculatable = |_| Speculatability::Never;
    def.flow = Some(&WhileFlow);
    def
}

fn if_op() -> OpDef {
    let mut def = structured(IF, "Runs one of two regions, depending on a condition");
    def.operands = vec![value("condition", "i1", Arity::One)].into();
    def.regions = vec![
        region(&["then"], Presence::Required),
        region(&["else"], Presence::MayBeEmpty),
    ];
    def.regions[0].bare = true;
    def.traits |= Traits::IMPLICIT_TERMINATOR;
    def.implicit_terminator = Some(YIELD);
    def.infer = Some(|args| {
        let end = args.regions.first().and_then(|&r| args.body.region_terminator(r));
        let yielded = end.into_iter().flat_map(|end| args.body.operands(end));
        Ok(yielded.map(|v| args.body.value_type(v)).collect())
    });
    def.region_args = Some(|_, _| Some(SmallVec::new()));
    def.verify = Some(verify_if);
    def.speculatable = |_| Speculatability::Recursive;
    def.flow = Some(&BranchFlow);
    def
}

fn execute_region() -> OpDef {
    let mut def = structured(EXECUTE_REGION, "Runs a region once; it may have several blocks");
    def.regions = vec![region(&[], Presence::Required)];
    def.regions[0].bare = true;
    def.region_args = Some(|_, _| Some(SmallVec::new()));
    def.verify = Some(|op, errors| {
        let region = op.body.op_regions(op.op).first();
        for &block in region.map_or(&[][..], |&r| op.body.region_blocks(r)) {
            if let Some(end) = op
                .body
                .last_op(block)
                .filter(|&end| op.body.view(op.ctx, end).name() == YIELD)
            {
                expect_types(
                    op,
                    op.body.operands(end),
                    op.body.results(op.op),
                    "a `scf.yield`",
                    errors,
                );
            }
        }
    });
    def.speculatable = |_| Speculatability::Recursive;
    def
}

fn index_switch() -> OpDef {
    let mut def = structured(
        INDEX_SWITCH,
        "Runs the region of a case value, or the default region, which is the first",
    );
    def.operands = vec![value("arg", "index", Arity::One)].into();
    def.attrs = vec![attr("cases", None)].into();
    def.regions = vec![region(&["region"], Presence::Repeated)];
    def.region_args = Some(|_, _| Some(SmallVec::new()));
    def.verify = Some(|op, errors| {
        let regions = op.body.op_regions(op.op);
        if cases(op).is_none_or(|cases| cases.len() + 1 != regions.len()) {
            report(
                op,
                "it needs a default region, followed by one region for each of its `cases`".to_owned(),
                errors,
            );
            return;
        }
        for &region in regions {
            expect_yield(op, region, errors);
        }
    });
    def.speculatable = |_| Speculatability::Recursive;
    def.flow = Some(&BranchFlow);
    def
}

/// The numbers of an `scf.index_switch`.
pub fn cases(op: OpView<'_>) -> Option<Vec<i64>> {
    super::ints(op.ctx, op.attr("cases")?)
}

/// Loops whose iterations are in no order. How values flow through them is unknown here.
fn parallel() -> OpDef {
    let mut def = structured(PARALLEL, "A loop whose iterations are not ordered");
    def.operands = many("operands");
    def.attrs = vec![attr("operandSegmentSizes", None)].into();
    def.regions = vec![region(&["do"], Presence::Required)];
    def.speculatable = |_| Speculatability::Never;
    def
}

fn forall() -> OpDef {
    let mut def = structured(FORALL, "A loop over tiles whose iterations are not ordered");
    def.operands = many("operands");
    def.attrs = vec![
        attr("operandSegmentSizes", None),
        attr("staticLowerBound", None),
        attr("staticUpperBound", None),
        attr("staticStep", None),
        attr("mapping", Some("none")),
    ]
    .into();
    def.regions = vec![region(&["do"], Presence::Required)];
    def.speculatable = |_| Speculatability::Never;
    def
}

fn in_parallel() -> OpDef {
    let mut def = structured(IN_PARALLEL, "Combines tiles");
    def.results = List::default();
    def.traits |= Traits::TERMINATOR | Traits::NO_TERMINATOR;
    def.regions = vec![region(&[], Presence::Required)];
    def.regions[0].bare = true;
    def.speculatable = |_| Speculatability::Never;
    def
}

fn reduce() -> OpDef {
    let mut def = structured(REDUCE, "Combines partial results");
    def.results = List::default();
    def.operands = many("operands");
    def.traits |= Traits::TERMINATOR;
    def.regions = vec![region(&["do"], Presence::Repeated)];
    def.speculatable = |_| Speculatability::Never;
    def
}

fn terminator(name: &'static str, summary: &'static str) -> OpDef {
    let mut def = OpDef::new(name, summary).with_effects(MemoryEffects::None);
    def.traits = Traits::TERMINATOR | Traits::OPEN_ATTRS;
    def.operands = many("results");
    def
}

fn condition() -> OpDef {
    let mut def = terminator(
        CONDITION,
        "Continues with the second region of a loop if a condition is true, else leaves the loop",
    );
    def.operands = vec![
        value("condition", "i1", Arity::One),
        value("args", "any", Arity::Variadic),
    ]
    .into();
    def.verify = Some(|op, errors| {
        if op.operand_type(0) != Some(Type::I1) {
            report(op, "the condition must be `i1`".to_owned(), errors);
        }
    });
    def
}
