//! `df`: control flow as dataflow, in graphs of nodes that are ordered only by edges.
//!
//! The five primitives (switch, merge, enter, exit, next-iteration), messages between devices, and stacks, which are
//! ordered by control edges. A graph is in a `df.graph`; each of its operations is a node. The model is that of Dennis'
//! and Arvind's dataflow machines, as implemented by TensorFlow (Yu et al., "Dynamic Control Flow in Large-Scale
//! Machine Learning", EuroSys 2018).

pub mod cluster;
pub mod graph;
mod verify;

use pir_ir::{
    Arity, AttrSpec, Context, ContextBuilder, DialectDef, DialectType, Effect, EffectKind, EffectTarget, InferArgs,
    List, MemoryEffects, OpDef, Presence, RegionSpec, Speculatability, Traits, Type, TypeDef,
};
use smallvec::{SmallVec, smallvec};

use crate::declare::value;

/// The name of `df.graph`.
pub const GRAPH: &str = "df.graph";
/// The name of `df.switch`.
pub const SWITCH: &str = "df.switch";
/// The name of `df.merge`.
pub const MERGE: &str = "df.merge";
/// The name of `df.enter`.
pub const ENTER: &str = "df.enter";
/// The name of `df.exit`.
pub const EXIT: &str = "df.exit";
/// The name of `df.next_iteration`.
pub const NEXT_ITERATION: &str = "df.next_iteration";
/// The name of `df.loop_cond`.
pub const LOOP_COND: &str = "df.loop_cond";
/// The name of `df.identity`.
pub const IDENTITY: &str = "df.identity";
/// The name of `df.control`.
pub const CONTROL: &str = "df.control";
/// The name of `df.no_op`.
pub const NO_OP: &str = "df.no_op";
/// The name of `df.send`.
pub const SEND: &str = "df.send";
/// The name of `df.recv`.
pub const RECV: &str = "df.recv";
/// The name of `df.stack`.
pub const STACK: &str = "df.stack";
/// The name of `df.stack_push`.
pub const STACK_PUSH: &str = "df.stack_push";
/// The name of `df.stack_pop`.
pub const STACK_POP: &str = "df.stack_pop";
/// The default of `parallel_iterations`: how many iterations of a frame may run concurrently.
pub const PARALLEL_ITERATIONS: i64 = 10;

/// TensorFlow's name of an operation's or graph's device, if its number does not imply it: an attribute in addition to
/// `device`.
pub const DEVICE_NAME: &str = "tf.device";

/// `df.control`, the type of what nodes give that give nothing but the fact that they have run.
pub struct Control;

/// `df.stack`, the type of the stacks of a graph.
pub struct Stack;

impl DialectType for Control {
    const NAME: &'static str = "df.control";
}

impl DialectType for Stack {
    const NAME: &'static str = "df.stack";
}

/// The type of a result that only signals that its node has run.
pub fn control_type(ctx: &Context) -> Type {
    ctx.dialect_type::<Control>()
}

/// The type of stacks in graphs.
pub fn stack_type(ctx: &Context) -> Type {
    ctx.dialect_type::<Stack>()
}

/// Whether a type is the type of stacks in graphs.
pub fn is_stack(ctx: &Context, ty: Type) -> bool {
    ctx.is_dialect_type::<Stack>(ty)
}

/// Registers the dialect.
pub fn register(builder: &mut ContextBuilder) {
    let dialect = DialectDef {
        name: "df".into(),
        summary: "Control flow as dataflow: five primitives, messages and stacks".into(),
        types: vec![
            TypeDef::of::<Control>("The fact that a node has run"),
            TypeDef::of::<Stack>("A stack of a graph"),
        ],
        other_types: false,
    };
    builder.register(
        dialect,
        vec![
            graph(),
            switch(),
            merge(),
            enter(),
            exit(),
            next_iteration(),
            loop_cond(),
            identity(),
            control(),
            no_op(),
            send(),
            recv(),
            stack(),
            stack_push(),
            stack_pop(),
        ],
    );
}

fn attr(name: &'static str, ty: &'static str, default: Option<&'static str>) -> AttrSpec {
    AttrSpec {
        name: name.into(),
        ty: ty.into(),
        default: default.map(Into::into),
    }
}

/// A node that is neither moved, nor merged with equal nodes, nor speculated.
fn node(name: &'static str, summary: &'static str) -> OpDef {
    let mut def = OpDef::new(name, summary);
    def.speculatable = |_| Speculatability::Never;
    def.with_effects(MemoryEffects::None)
}

fn one(kind: EffectKind, target: EffectTarget) -> SmallVec<[Effect; 2]> {
    smallvec![Effect { kind, target }]
}

fn world() -> SmallVec<[Effect; 2]> {
    [EffectKind::Read, EffectKind::Write]
        .map(|kind| Effect {
            kind,
            target: EffectTarget::World,
        })
        .into_iter()
        .collect()
}

/// The result has the type of the first operand.
fn like_first(args: &InferArgs<'_>) -> Result<Type, String> {
    args.operand_type(0).ok_or_else(|| "it needs an operand".to_owned())
}

/// A node that forwards its operand.
fn passes_on(name: &'static str, summary: &'static str) -> OpDef {
    let mut def = node(name, summary);
    def.operands = vec![value("x", "any", Arity::One)].into();
    def.results = vec![value("out", "any", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| Ok(smallvec![like_first(&args)?]));
    def
}

fn graph() -> OpDef {
    let mut def = OpDef::new(GRAPH, "A graph of nodes, run by a device");
    def.description = "The order of the operations has no meaning; values may be used before their definitions. \
                       `device` is the device that runs the graph; without it, the program has only one graph. Only \
                       passes on graphs look inside."
        .into();
    def.traits = Traits::ISOLATED | Traits::GRAPH_REGION | Traits::NO_TERMINATOR;
    def.regions = vec![RegionSpec {
        keywords: &[],
        presence: Presence::Required,
        bare: true,
    }];
    def.effects = MemoryEffects::Declared(|_| world());
    def.speculatable = |_| Speculatability::Never;
    def.verify = Some(verify::graph);
    def
}

fn switch() -> OpDef {
    let mut def = node(SWITCH, "Forwards a value to one of two outputs");
    def.description =
        "The first result is live if the predicate is false, the second if it is true; the other result is dead."
            .into();
    def.operands = vec![value("data", "any", Arity::One), value("pred", "i1", Arity::One)].into();
    def.results = vec![
        value("if_false", "any", Arity::One),
        value("if_true", "any", Arity::One),
    ]
    .into();
    def.infer = Some(|args: InferArgs<'_>| {
        let ty = like_first(&args)?;
        Ok(smallvec![ty, ty])
    });
    def
}

fn merge() -> OpDef {
    let mut def = node(MERGE, "Forwards the first live operand");
    def.description =
        "The second result is the index of that operand. The results are dead if all operands are.".into();
    def.operands = vec![value("inputs", "any", Arity::Variadic)].into();
    def.results = vec![
        value("out", "any", Arity::One),
        value("value_index", "Tensor", Arity::One),
    ]
    .into();
    def.infer = Some(|args: InferArgs<'_>| {
        let ty = like_first(&args)?;
        Ok(smallvec![ty, args.ctx.tensor(&[], Type::I32)])
    });
    def
}

fn enter() -> OpDef {
    let mut def = passes_on(ENTER, "Forwards a value to the first iteration of a frame");
    def.description =
        "With `constant`, forwards it to all iterations. At most `parallel_iterations` iterations run concurrently."
            .into();
    def.attrs = vec![
        attr("frame", "str", None),
        attr("constant", "bool", Some("false")),
        attr("parallel_iterations", "int", Some("10")),
    ]
    .into();
    def
}

fn exit() -> OpDef {
    passes_on(EXIT, "Forwards a value from a frame to the enclosing one")
}

fn next_iteration() -> OpDef {
    passes_on(NEXT_ITERATION, "Forwards a value to the next iteration of its frame")
}

fn loop_cond() -> OpDef {
    let mut def = passes_on(LOOP_COND, "Determines whether the frame has another iteration");
    def.operands = vec![value("pred", "i1", Arity::One)].into();
    def
}

fn identity() -> OpDef {
    passes_on(IDENTITY, "Forwards a value")
}

fn control() -> OpDef {
    let mut def = node(
        CONTROL,
        "Runs the node of the first value after the nodes of the other values",
    );
    def.description = "Declares control edges, which forward whether a node was dead; those of a `df.switch` are \
                       always live. The operation is not a node itself."
        .into();
    def.operands = vec![value("to", "any", Arity::One), value("from", "any", Arity::Variadic)].into();
    def.effects = MemoryEffects::Declared(|_| world());
    def
}

fn no_op() -> OpDef {
    let mut def = node(NO_OP, "Does nothing, after the nodes of its control edges");
    def.results = vec![value("done", "any", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| Ok(smallvec![control_type(args.ctx)]));
    def
}

/// The attributes of both ends of a message.
fn ends() -> List<AttrSpec> {
    vec![
        attr("key", "str", None),
        attr("from", "int", None),
        attr("to", "int", None),
    ]
    .into()
}

fn send() -> OpDef {
    let mut def = node(SEND, "Sends a value, or that it is dead, to another device");
    def.operands = vec![value("x", "any", Arity::One)].into();
    def.attrs = ends();
    def.results = vec![value("sent", "any", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| Ok(smallvec![control_type(args.ctx)]));
    def.effects = MemoryEffects::Declared(|_| world());
    def
}

fn recv() -> OpDef {
    let mut def = node(RECV, "Receives a value from another device");
    def.description = "Runs immediately if it has no control edges; its result is dead if the sent value is.".into();
    def.attrs = ends();
    def.results = vec![value("out", "any", Arity::One)].into();
    def.effects = MemoryEffects::Declared(|_| world());
    def
}

fn stack() -> OpDef {
    let mut def = node(STACK, "An empty stack");
    def.results = vec![value("stack", "any", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| Ok(smallvec![stack_type(args.ctx)]));
    def.effects = MemoryEffects::Declared(|_| one(EffectKind::Alloc, EffectTarget::Result(0)));
    def
}

fn stack_push() -> OpDef {
    let mut def = node(STACK_PUSH, "Pushes a value on a stack and forwards it");
    def.description = "With `swap`, the stack keeps the value in host memory.".into();
    def.operands = vec![value("stack", "any", Arity::One), value("x", "any", Arity::One)].into();
    def.attrs = vec![attr("swap", "bool", Some("false"))].into();
    def.results = vec![value("out", "any", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| {
        Ok(smallvec![
            args.operand_type(1).ok_or_else(|| "it needs two operands".to_owned())?
        ])
    });
    def.effects = MemoryEffects::Declared(|_| one(EffectKind::Write, EffectTarget::Operand(0)));
    def
}

fn stack_pop() -> OpDef {
    let mut def = node(STACK_POP, "Removes the last value of a stack and returns it");
    def.operands = vec![value("stack", "any", Arity::One)].into();
    def.results = vec![value("out", "any", Arity::One)].into();
    def.effects = MemoryEffects::Declared(|_| {
        [EffectKind::Read, EffectKind::Write]
            .map(|kind| Effect {
                kind,
                target: EffectTarget::Operand(0),
            })
            .into_iter()
            .collect()
    });
    def
}
