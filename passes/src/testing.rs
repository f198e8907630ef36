//! A small dialect for the tests of passes, which shows that they know no dialect by name.

use std::sync::Arc;

use pir_ir::text::{ParseOptions, PrintOptions, parse, print};
use pir_ir::verify::verify;
use pir_ir::{
    Arity, Attr, Context, ContextBuilder, DialectDef, DialectType, Effect, EffectKind, EffectTarget, FlowEdge,
    FlowPoint, FoldResult, InferArgs, List, Mark, MemoryEffects, Module, OpDef, OpId, OpView, Presence, RegionFlow,
    RegionSpec, Rewriter, Speculatability, Structured, Traits, Type, TypeDef, ValueId, ValueSpec,
};
use smallvec::{SmallVec, smallvec};

use crate::{PassManager, Pipeline};

struct Stack;

impl DialectType for Stack {
    const NAME: &'static str = "t.stack";
}

fn values(specs: &[(&'static str, Arity)]) -> List<ValueSpec> {
    let spec = |&(name, arity): &(&'static str, Arity)| ValueSpec {
        name: name.into(),
        arity,
        ty: "any".into(),
    };
    specs.iter().map(spec).collect()
}

fn region(keywords: &'static [&'static str], presence: Presence) -> RegionSpec {
    RegionSpec {
        keywords,
        presence,
        bare: false,
    }
}

fn edge(from: FlowPoint, to: FlowPoint, operands: std::ops::Range<usize>) -> FlowEdge {
    FlowEdge::new(from, to, operands)
}

/// The operands of the terminator of a region from the index `skip` on.
fn end_operands(op: OpView<'_>, region: usize, skip: usize) -> std::ops::Range<usize> {
    let region = op.body.op_regions(op.op).get(region);
    let end = region.and_then(|&r| op.body.region_terminator(r));
    skip..end.map_or(skip, |e| op.body.num_operands(e))
}

/// The types of the operands of the terminator of the first region from the index `skip` on.
fn end_types(args: InferArgs<'_>, skip: usize) -> SmallVec<[Type; 2]> {
    let end = args.regions.first().and_then(|&r| args.body.region_terminator(r));
    let operands = end.into_iter().flat_map(|e| args.body.operands(e).skip(skip));
    operands.map(|v| args.body.value_type(v)).collect()
}

struct If;
impl RegionFlow for If {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let mut edges = SmallVec::new();
        for index in 0..2 {
            edges.push(edge(FlowPoint::Parent, FlowPoint::Region(index), 1..1));
            edges.push(edge(
                FlowPoint::Region(index),
                FlowPoint::Parent,
                end_operands(op, index, 0),
            ));
        }
        edges
    }
    fn runs_at_least_once(&self, _: OpView<'_>, _: usize) -> bool {
        false
    }
    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        false
    }
    fn next(&self, op: OpView<'_>, from: FlowPoint, constant: &dyn Fn(ValueId) -> Option<Attr>) -> Option<FlowPoint> {
        if from != FlowPoint::Parent {
            return None;
        }
        let cond = op.ctx.attr_bool(constant(op.operand(0)?)?)?;
        Some(FlowPoint::Region(usize::from(!cond)))
    }
}

struct While;
impl RegionFlow for While {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let end = end_operands(op, 0, 1);
        smallvec![
            edge(FlowPoint::Parent, FlowPoint::Region(0), 0..op.body.num_operands(op.op)),
            edge(FlowPoint::Region(0), FlowPoint::Region(1), end.clone()),
            edge(FlowPoint::Region(0), FlowPoint::Parent, end),
            edge(FlowPoint::Region(1), FlowPoint::Region(0), end_operands(op, 1, 0)),
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
        let end = op
            .body
            .op_regions(op.op)
            .first()
            .and_then(|&r| op.body.region_terminator(r))?;
        let cond = op.ctx.attr_bool(constant(op.body.operands(end).next()?)?)?;
        Some(if cond { FlowPoint::Region(1) } else { FlowPoint::Parent })
    }
    fn branch_condition(&self, op: OpView<'_>, from: FlowPoint, to: FlowPoint) -> Option<(ValueId, bool)> {
        let end = op.body.flow_source_op(op.op, from)?;
        let flag = op.body.operands(end).next()?;
        (from == FlowPoint::Region(0)).then_some((flag, to == FlowPoint::Region(1)))
    }
}

/// A loop from a number to another by a third, which are its first operands. Its region gets the number of the iteration,
/// which is not carried, and after it what is.
struct For;
impl RegionFlow for For {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let (inits, end) = (3..op.body.num_operands(op.op), end_operands(op, 0, 0));
        let inside = |from, operands| FlowEdge {
            at: 1,
            ..edge(from, FlowPoint::Region(0), operands)
        };
        smallvec![
            inside(FlowPoint::Parent, inits.clone()),
            edge(FlowPoint::Parent, FlowPoint::Parent, inits),
            inside(FlowPoint::Region(0), end.clone()),
            edge(FlowPoint::Region(0), FlowPoint::Parent, end),
        ]
    }
    fn runs_at_least_once(&self, _: OpView<'_>, _: usize) -> bool {
        false
    }
    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        true
    }
}

/// A loop whose first region gets what is carried and only indicates whether to go on; the second gets the same.
struct Tested;
impl RegionFlow for Tested {
    fn edges(&self, op: OpView<'_>) -> SmallVec<[FlowEdge; 6]> {
        let start = (FlowPoint::Parent, 0..op.body.num_operands(op.op));
        let next = (FlowPoint::Region(1), end_operands(op, 1, 0));
        let to = [FlowPoint::Region(0), FlowPoint::Region(1), FlowPoint::Parent];
        let ways = [start, next].into_iter();
        ways.flat_map(|(from, operands)| to.map(|to| edge(from, to, operands.clone())))
            .collect()
    }
    fn runs_at_least_once(&self, _: OpView<'_>, region: usize) -> bool {
        region == 0
    }
    fn is_repeated(&self, _: OpView<'_>, _: usize) -> bool {
        true
    }
}

fn fold_add(view: OpView<'_>, constants: &[Option<Attr>]) -> Option<SmallVec<[FoldResult; 2]>> {
    let int = |at: usize| constants.get(at).copied().flatten().and_then(|a| view.ctx.attr_int(a));
    let folded = match (int(0), int(1)) {
        (Some(a), Some(b)) => FoldResult::Constant(view.ctx.int_attr(a.wrapping_add(b))),
        (_, Some(0)) => FoldResult::Value(view.operand(0)?),
        (Some(0), _) => FoldResult::Value(view.operand(1)?),
        _ => return None,
    };
    Some(smallvec![folded])
}

fn fold_less(view: OpView<'_>, constants: &[Option<Attr>]) -> Option<SmallVec<[FoldResult; 2]>> {
    let int = |at: usize| constants.get(at).copied().flatten().and_then(|a| view.ctx.attr_int(a));
    let less = int(0)? < int(1)?;
    Some(smallvec![FoldResult::Constant(view.ctx.bool_attr(less))])
}

fn world(kind: EffectKind) -> Effect {
    Effect {
        kind,
        target: EffectTarget::World,
    }
}

pub(crate) fn context() -> Arc<Context> {
    use Arity::{One, Variadic};
    let op = |name: &'static str, operands: &[(&'static str, Arity)], results: &[(&'static str, Arity)]| {
        let mut def = OpDef::new(name, "a test").with_effects(MemoryEffects::None);
        def.operands = values(operands);
        def.results = values(results);
        def
    };
    let same: pir_ir::InferFn = |args| Ok(args.operand_type(0).into_iter().collect());
    let out = [("out", One)];
    let mut input = op("t.in", &[], &out);
    input.effects = MemoryEffects::Declared(|_| smallvec![world(EffectKind::Read)]);
    input.speculatable = |_| Speculatability::Never;
    let mut konst = op("t.const", &[], &out);
    konst.traits = Traits::CONSTANT;
    konst.fold = Some(|view, _| Some(smallvec![FoldResult::Constant(view.attr("value")?)]));
    let mut add = op("t.add", &[("x", One), ("y", One)], &out);
    add.traits = Traits::COMMUTATIVE | Traits::ELEMENTWISE;
    add.infer = Some(same);
    add.fold = Some(fold_add);
    let mut sub = op("t.sub", &[("x", One), ("y", One)], &out);
    sub.infer = Some(same);
    // x - x + y is not a simplification that folding can express: it makes an operation.
    let subtract = |rewriter: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]| {
        let Some(Some(value)) = constants.get(1).copied() else {
            return false;
        };
        let Some(value) = rewriter.ctx.attr_int(value) else {
            return false;
        };
        let (x, ty) = (
            rewriter.body.operand(op, 0),
            rewriter.body.value_type(rewriter.body.operand(op, 0)),
        );
        let negative = rewriter.ctx.int_attr(-value);
        let constant = rewriter.op("t.const").attr("value", negative).result(ty).value();
        let sum = rewriter.op("t.add").operands([x, constant]).result(ty).value();
        rewriter.replace_op(op, &[sum]);
        true
    };
    let mut less = op("t.less", &[("x", One), ("y", One)], &out);
    less.infer = Some(|_| Ok(smallvec![Type::I1]));
    less.fold = Some(fold_less);
    let mut div = op("t.div", &[("x", One), ("y", One)], &out);
    div.infer = Some(same);
    div.speculatable = |_| Speculatability::Never;
    let mut show = op("t.print", &[("x", One)], &[]);
    show.effects = MemoryEffects::Declared(|_| smallvec![world(EffectKind::Write)]);
    show.speculatable = |_| Speculatability::Never;
    let mut stack = op("t.new", &[], &out);
    stack.infer = Some(|args| Ok(smallvec![args.ctx.dialect_type::<Stack>()]));
    stack.effects = MemoryEffects::Declared(|_| {
        smallvec![Effect {
            kind: EffectKind::Alloc,
            target: EffectTarget::Result(0),
        }]
    });
    let mut push = op("t.push", &[("s", One), ("x", One)], &[]);
    push.effects = MemoryEffects::Declared(|_| {
        smallvec![Effect {
            kind: EffectKind::Write,
            target: EffectTarget::Operand(0),
        }]
    });
    let mut empty = op("t.empty", &[("s", One)], &out);
    empty.infer = Some(|_| Ok(smallvec![Type::I1]));
    empty.speculatable = |_| Speculatability::Never;
    empty.effects = MemoryEffects::Declared(|_| {
        smallvec![Effect {
            kind: EffectKind::Read,
            target: EffectTarget::Operand(0),
        }]
    });
    let many = [("xs", Variadic)];
    let mut branch = op("t.if", &[("cond", One)], &many);
    branch.regions = vec![
        region(&["then"], Presence::Required),
        region(&["else"], Presence::MayBeEmpty),
    ];
    branch.flow = Some(&If);
    branch.infer = Some(|args| Ok(end_types(args, 0)));
    branch.traits = Traits::RECURSIVE_EFFECTS;
    branch.speculatable = |_| Speculatability::Recursive;
    let mut repeat = op("t.while", &many, &many);
    repeat.regions = vec![
        region(&["cond"], Presence::Required),
        region(&["body"], Presence::Required),
    ];
    repeat.flow = Some(&While);
    repeat.infer = Some(|args| Ok(end_types(args, 1)));
    repeat.traits = Traits::RECURSIVE_EFFECTS;
    repeat.speculatable = |_| Speculatability::Never;
    let mut count = op(
        "t.for",
        &[("from", One), ("to", One), ("step", One), ("inits", Variadic)],
        &many,
    );
    count.regions = vec![region(&["do"], Presence::Required)];
    count.flow = Some(&For);
    count.infer = Some(|args| Ok(end_types(args, 0)));
    count.traits = Traits::RECURSIVE_EFFECTS;
    count.speculatable = |_| Speculatability::Recursive;
    let mut tested = op("t.loop", &many, &many);
    tested.regions = repeat.regions.clone();
    tested.flow = Some(&Tested);
    tested.infer = Some(|args| Ok(args.operands.iter().map(|&v| args.body.value_type(v)).collect()));
    tested.traits = Traits::RECURSIVE_EFFECTS;
    tested.speculatable = |_| Speculatability::Never;
    let end = |name: &'static str| {
        let mut def = op(name, &many, &[]);
        def.traits = Traits::TERMINATOR;
        def
    };
    let mut jump = end("t.br");
    jump.operands = List::default();
    jump.successors = 1;
    let mut fork = end("t.fork");
    fork.operands = values(&[("cond", One)]);
    fork.successors = 2;
    fork.choose = Some(|op, constant| Some(usize::from(!op.ctx.attr_bool(constant(op.operand(0)?)?)?)));
    let mut func = op("t.func", &[], &[]);
    func.traits = Traits::FUNCTION | Traits::ISOLATED | Traits::SYMBOL;
    func.regions = vec![region(&[], Presence::Required)];
    func.regions[0].bare = true;
    let mut builder = ContextBuilder::new();
    // The attributes of these operations are not under test.
    let some = |name: &'static str| Mark::anywhere(name, "any", "");
    builder.register_marks(
        [
            "value",
            "sym_name",
            "function_type",
            "sym_visibility",
            "name",
            "callee",
            "a",
        ]
        .map(some),
    );
    builder.register_pattern("t.sub", 1, Arc::new(subtract));
    builder.register_constants("t", |rewriter, value, ty| {
        let constant = rewriter.op("t.const").attr("value", value).result(ty).build();
        Some(constant)
    });
    builder.register(
        DialectDef {
            name: "t".into(),
            summary: "tests".into(),
            types: vec![TypeDef::of::<Stack>("a stack")],
            other_types: false,
        },
        vec![
            input,
            konst,
            add,
            sub,
            less,
            div,
            show,
            stack,
            push,
            empty,
            branch,
            repeat,
            count,
            tested,
            end("t.yield"),
            end("t.test"),
            end("t.return"),
            jump,
            fork,
            func,
        ],
    );
    builder.register_structured(Structured {
        branch: "t.if",
        repeat: "t.while",
        yields: "t.yield",
        tests: "t.test",
    });
    builder.build()
}

pub(crate) fn read(source: &str) -> Module {
    let parsed = parse(&context(), source.as_bytes(), &ParseOptions::default());
    let errors = &parsed.diagnostics[..parsed.diagnostics.len().min(3)];
    assert!(errors.is_empty(), "{source:.2000}\n{errors:#?}");
    let errors = verify(&parsed.module);
    assert!(errors.is_empty(), "{source}\n{errors:#?}");
    parsed.module
}

/// Runs a pipeline on a program, verifies the result, and prints it.
pub(crate) fn run(pipeline: &str, source: &str) -> String {
    let mut module = read(source);
    let before = print(&module, &PrintOptions::default());
    let changed = PassManager::new()
        .run(&mut module, &Pipeline::parse(pipeline).unwrap())
        .unwrap_or_else(|errors| panic!("{}\n{errors:#?}", print(&module, &PrintOptions::default())));
    let after = print(&module, &PrintOptions::default());
    assert_eq!(
        changed == crate::Changed::Yes,
        before != after,
        "wrong report of a change:\n{after}"
    );
    after
}

pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty()).collect()
}

/// Checks the output of a pipeline, up to white space.
#[track_caller]
pub(crate) fn expect(pipeline: &str, source: &str, expected: &str) {
    let actual = run(pipeline, source);
    assert!(
        lines(&actual) == lines(expected),
        "after {pipeline}:\n{actual}\nexpected:\n{expected}"
    );
}

/// Checks that a pipeline leaves a program as it is.
#[track_caller]
pub(crate) fn expect_same(pipeline: &str, source: &str) {
    expect(pipeline, source, &print(&read(source), &PrintOptions::default()));
}

/// Wraps a nest of `depth` loops with one value carried around an innermost text.
pub(crate) fn nest(depth: usize, innermost: &str) -> String {
    use std::fmt::Write;
    let mut text = String::from("%c = t.in {name = \"c\"} : i1\n%x = t.in {name = \"x\"} : f32\n");
    for _ in 0..depth {
        let _ = writeln!(text, "t.while cond {{\nt.test (%c)\n}} body {{");
    }
    text.push_str(innermost);
    for _ in 0..depth {
        text.push_str("t.yield\n}\n");
    }
    text
}
