//! `scf`: loops and branches with regions.

use pir_ir::{
    Arity, Attr, AttrSpec, Context, Diagnostic, FlowEdge, FlowPoint, List, MemoryEffects, OpDef, OpView, Presence,
    RegionFlow, RegionSpec, Speculatability, Traits, Type, ValueId, ValueSpec,
};
use smallvec::{SmallVec, smallvec};

use super::types::int_width;
use crate::pd::condition::truth;
use crate::value;

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
    // It may not end.
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
    ints(op.ctx, op.attr("cases")?)
}

/// The numbers of an attribute.
pub(super) fn ints(ctx: &Context, attr: Attr) -> Option<Vec<i64>> {
    if let Some(list) = ctx.attr_ints(attr) {
        return Some(list.to_vec());
    }
    Some(ctx.attr_elements(attr)?.ints()?.collect())
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

// ----- rules -----

fn report(op: OpView<'_>, why: String, errors: &mut Vec<Diagnostic>) {
    let message = format!("`{}`: {why}", op.name());
    errors.push(
        Diagnostic::error("control-flow", message)
            .label(op.body.op_span(op.op), "this operation")
            .help(super::HELP),
    );
}

/// Checks that values are of the types of others.
fn expect_types(
    op: OpView<'_>,
    given: impl Iterator<Item = ValueId>,
    wanted: impl Iterator<Item = ValueId>,
    what: &str,
    errors: &mut Vec<Diagnostic>,
) {
    let types = |values: &mut dyn Iterator<Item = ValueId>| values.map(|v| op.body.value_type(v)).collect::<Vec<_>>();
    let (given, wanted) = (types(&mut { given }), types(&mut { wanted }));
    if given != wanted {
        let spelled = |types: &[Type]| {
            let types: Vec<String> = types.iter().map(|&ty| pir_ir::text::print_type(op.ctx, ty)).collect();
            format!("({})", types.join(", "))
        };
        report(
            op,
            format!("{what} yields {}, expected {}", spelled(&given), spelled(&wanted)),
            errors,
        );
    }
}

/// Checks that a region ends in an `scf.yield` of the results.
fn expect_yield(op: OpView<'_>, region: pir_ir::RegionId, errors: &mut Vec<Diagnostic>) {
    match op.body.region_terminator(region) {
        Some(end) if op.body.view(op.ctx, end).name() == YIELD => {
            expect_types(op, op.body.operands(end), op.body.results(op.op), "a region", errors);
        }
        _ => report(
            op,
            "its regions must have one block, which ends in `scf.yield`".to_owned(),
            errors,
        ),
    }
}

fn args(op: OpView<'_>, region: usize) -> &[ValueId] {
    let entry = op
        .body
        .op_regions(op.op)
        .get(region)
        .and_then(|&r| op.body.entry_block(r));
    entry.map_or(&[], |block| op.body.block_args(block))
}

fn verify_for(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let counter = op.operand_type(0).unwrap_or(Type::NONE);
    if int_width(op.ctx, counter).is_none() || (1..3).any(|at| op.operand_type(at) != Some(counter)) {
        report(
            op,
            "the bounds and the step must have the same type, `index` or an integer type".to_owned(),
            errors,
        );
        return;
    }
    let inits = || op.body.operands(op.op).skip(3);
    let body = args(op, 0);
    if body.first().is_none_or(|&v| op.body.value_type(v) != counter) {
        report(
            op,
            "the first argument of its region must have the type of the bounds".to_owned(),
            errors,
        );
        return;
    }
    expect_types(op, inits(), op.body.results(op.op), "its initial values", errors);
    expect_types(op, inits(), body[1..].iter().copied(), "its initial values", errors);
    if let Some(&region) = op.body.op_regions(op.op).first() {
        expect_yield(op, region, errors);
    }
}

fn verify_while(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    let regions = op.body.op_regions(op.op);
    let end = |at: usize, name: &str| {
        let end = regions.get(at).and_then(|&r| op.body.region_terminator(r));
        end.filter(|&end| op.body.view(op.ctx, end).name() == name)
    };
    let (Some(test), Some(back)) = (end(0, CONDITION), end(1, YIELD)) else {
        let why = "its first region must have one block that ends in `scf.condition`, its second one that ends in `scf.yield`";
        report(op, why.to_owned(), errors);
        return;
    };
    let forwarded = || op.body.operands(test).skip(1);
    expect_types(
        op,
        op.body.operands(op.op),
        args(op, 0).iter().copied(),
        "its initial values",
        errors,
    );
    expect_types(op, forwarded(), op.body.results(op.op), "`scf.condition`", errors);
    expect_types(op, forwarded(), args(op, 1).iter().copied(), "`scf.condition`", errors);
    expect_types(
        op,
        op.body.operands(back),
        args(op, 0).iter().copied(),
        "the second region",
        errors,
    );
}

fn verify_if(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    if op.operand_type(0) != Some(Type::I1) {
        report(op, "the condition must be `i1`".to_owned(), errors);
        return;
    }
    for (at, &region) in op.body.op_regions(op.op).iter().enumerate() {
        if at == 1 && op.body.region_blocks(region).is_empty() {
            if op.body.num_results(op.op) > 0 {
                report(op, "with results it needs an else region".to_owned(), errors);
            }
            continue;
        }
        if !args(op, at).is_empty() {
            report(op, "its regions have no arguments".to_owned(), errors);
        }
        expect_yield(op, region, errors);
    }
}

// ----- control flow -----

/// The number of operands of a region's terminator.
fn ends_with(op: OpView<'_>, region: usize) -> usize {
    let end = op
        .body
        .op_regions(op.op)
        .get(region)
        .and_then(|&r| op.body.region_terminator(r));
    end.map_or(0, |end| op.body.num_operands(end))
}

/// A loop that counts: its region gets the number, and after it the carried values.
struct ForFlow;

impl ForFlow {
    /// The bounds and the step, as far as they are constants.
    fn bounds(op: OpView<'_>, constant: &dyn Fn(ValueId) -> Option<Attr>) -> [Option<i64>; 3] {
        [0, 1, 2].map(|at| {
            let value = op.operand(at)?;
            constant(value).and_then(|attr| op.ctx.attr_int(attr))
        })
    }
}

impl RegionFlow for ForFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let inits = 3..op.body.num_operands(op.op).max(3);
        let yielded = 0..ends_with(op, 0);
        let inside = |from, operands| FlowEdge {
            at: 1,
            ..FlowEdge::new(from, FlowPoint::Region(0), operands)
        };
        smallvec![
            inside(FlowPoint::Parent, inits.clone()),
            FlowEdge::new(FlowPoint::Parent, FlowPoint::Parent, inits),
            inside(FlowPoint::Region(0), yielded.clone()),
            FlowEdge::new(FlowPoint::Region(0), FlowPoint::Parent, yielded),
        ]
    }

    fn runs_at_least_once(&self, op: OpView<'_>, _: usize) -> bool {
        let bound = |at| op.body.constant_int(op.ctx, op.operand(at)?);
        matches!((bound(0), bound(1)), (Some(lower), Some(upper)) if lower < upper)
    }

    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        true
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        let [lower, upper, _] = Self::bounds(op, constant);
        let empty = op.operand(0) == op.operand(1) || lower? >= upper?;
        (from == FlowPoint::Parent && empty).then_some(FlowPoint::Parent)
    }
}

/// A loop with a region that decides and one that is repeated.
struct WhileFlow;

impl WhileFlow {
    fn flag(op: OpView<'_>) -> Option<ValueId> {
        let end = op.body.region_terminator(*op.body.op_regions(op.op).first()?)?;
        op.body.operands(end).next()
    }
}

impl RegionFlow for WhileFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let forwarded = 1..ends_with(op, 0).max(1);
        let (before, after) = (FlowPoint::Region(0), FlowPoint::Region(1));
        smallvec![
            FlowEdge::new(FlowPoint::Parent, before, 0..op.body.num_operands(op.op)),
            FlowEdge::new(before, after, forwarded.clone()),
            FlowEdge::new(before, FlowPoint::Parent, forwarded),
            FlowEdge::new(after, before, 0..ends_with(op, 1)),
        ]
    }

    fn runs_at_least_once(&self, _: OpView<'_>, region: usize) -> bool {
        region == 0
    }

    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        true
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        if from != FlowPoint::Region(0) {
            return None;
        }
        match truth(op.ctx, constant(Self::flag(op)?)?)? {
            true => Some(FlowPoint::Region(1)),
            false => Some(FlowPoint::Parent),
        }
    }

    fn decides(&self, op: OpView<'_>, from: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        let flag = (from == FlowPoint::Region(0)).then(|| Self::flag(op))??;
        Some((flag, to == FlowPoint::Region(1)))
    }
}

/// A choice of one region, by a truth value or by a number.
struct BranchFlow;

impl BranchFlow {
    fn point(op: OpView<'_>, region: usize) -> FlowPoint {
        let blocks = op.body.op_regions(op.op).get(region).map(|&r| op.body.region_blocks(r));
        match blocks.is_none_or(<[_]>::is_empty) {
            true => FlowPoint::Parent,
            false => FlowPoint::Region(region),
        }
    }
}

impl RegionFlow for BranchFlow {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let mut edges = SmallVec::new();
        for region in 0..op.body.op_regions(op.op).len() {
            let to = Self::point(op, region);
            edges.push(FlowEdge::new(FlowPoint::Parent, to, 0..0));
            if to != FlowPoint::Parent {
                edges.push(FlowEdge::new(to, FlowPoint::Parent, 0..ends_with(op, region)));
            }
        }
        edges
    }

    fn edges_from(&self, op: OpView<'_>, from: FlowPoint) -> SmallVec<[FlowEdge; 6]> {
        let mut edges = SmallVec::new();
        match from {
            FlowPoint::Region(region) if Self::point(op, region) == from => {
                edges.push(FlowEdge::new(from, FlowPoint::Parent, 0..ends_with(op, region)));
            }
            FlowPoint::Region(_) => {}
            FlowPoint::Parent => {
                let regions = 0..op.body.op_regions(op.op).len();
                edges.extend(regions.map(|region| FlowEdge::new(from, Self::point(op, region), 0..0)));
            }
        }
        edges
    }

    fn edges_to(&self, op: OpView<'_>, to: FlowPoint) -> SmallVec<[FlowEdge; 6]> {
        match to {
            FlowPoint::Region(region) if Self::point(op, region) == to => {
                SmallVec::from_iter([FlowEdge::new(FlowPoint::Parent, to, 0..0)])
            }
            FlowPoint::Region(_) => SmallVec::new(),
            FlowPoint::Parent => {
                let mut edges = self.edges(op);
                edges.retain(|edge| edge.to == to);
                edges
            }
        }
    }

    fn runs_at_least_once(&self, _: OpView<'_>, _: usize) -> bool {
        false
    }

    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        false
    }

    fn is_fixed(&self, _: OpView<'_>, from: FlowPoint) -> bool {
        from == FlowPoint::Parent
    }

    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        if from != FlowPoint::Parent {
            return None;
        }
        let known = constant(op.operand(0)?)?;
        let region = match cases(op) {
            None => usize::from(!truth(op.ctx, known)?),
            Some(cases) => {
                let number = op.ctx.attr_int(known)?;
                cases.iter().position(|&case| case == number).map_or(0, |at| at + 1)
            }
        };
        Some(Self::point(op, region))
    }

    fn decides(&self, op: OpView<'_>, _: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        match to {
            FlowPoint::Region(branch) if op.name() == IF => Some((op.operand(0)?, branch == 0)),
            _ => None,
        }
    }
}
