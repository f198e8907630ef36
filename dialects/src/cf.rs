//! `cf`: stacks, and the terminators of structured control flow.
//!
//! A stack is a handle to a mutable last-in first-out list. A stack may hold values of any types, including other
//! stacks.

use crate::pd;
use pir_ir::{
    Arity, AttrSpec, Context, ContextBuilder, Derivative, Diagnostic, DialectDef, DialectType, Effect, EffectKind,
    EffectTarget, InferArgs, MemoryEffects, OpDef, OpView, Speculatability, Traits, Type, TypeDef,
};
use smallvec::{SmallVec, smallvec};

use crate::declare::value;

/// The name of `cf.commit`.
pub const COMMIT: &str = "cf.commit";
/// The name of `cf.cond_yield`.
pub const COND_YIELD: &str = "cf.cond_yield";
/// The name of `cf.copy_stack`.
pub const COPY_STACK: &str = "cf.copy_stack";
/// The name of `cf.create_stack`.
pub const CREATE_STACK: &str = "cf.create_stack";
/// The name of `cf.is_empty`.
pub const IS_EMPTY: &str = "cf.is_empty";
/// The name of `cf.join_stack`.
pub const JOIN_STACK: &str = "cf.join_stack";
/// The name of `cf.pop_back`.
pub const POP_BACK: &str = "cf.pop_back";
/// The name of `cf.push_back`.
pub const PUSH_BACK: &str = "cf.push_back";
/// The name of `cf.yield`.
pub const YIELD: &str = "cf.yield";

/// `cf.stack`, the type of stacks.
pub struct Stack;

/// `cf.inlet`, the end of a stack of PaddlePaddle's that is pushed to.
pub struct Inlet;

/// `cf.outlet`, the end of a stack of PaddlePaddle's that is popped from.
pub struct Outlet;

impl DialectType for Stack {
    const NAME: &'static str = "cf.stack";
}

impl DialectType for Inlet {
    const NAME: &'static str = "cf.inlet";
}

impl DialectType for Outlet {
    const NAME: &'static str = "cf.outlet";
}

/// The type of stacks.
pub fn stack_type(ctx: &Context) -> Type {
    ctx.dialect_type::<Stack>()
}

/// Whether a type is the type of stacks.
pub fn is_stack(ctx: &Context, ty: Type) -> bool {
    ctx.is_dialect_type::<Stack>(ty)
}

/// Registers the dialect.
pub fn register(builder: &mut ContextBuilder) {
    let dialect = DialectDef {
        name: "cf".into(),
        summary: "Stacks, and the terminators of structured control flow".into(),
        types: vec![
            TypeDef::of::<Stack>("A stack of values of any types"),
            TypeDef::of::<Inlet>("The push end of a PaddlePaddle stack"),
            TypeDef::of::<Outlet>("The pop end of a PaddlePaddle stack"),
        ],
        other_types: false,
    };
    builder.register(
        dialect,
        vec![
            create(),
            push(),
            pop(),
            is_empty(),
            commit(),
            copy(),
            join(),
            yields(),
            cond_yield(),
        ]
        .into_iter()
        .chain(crate::mlir::branches()),
    );
}

fn effects(list: &[(EffectKind, EffectTarget)]) -> SmallVec<[Effect; 2]> {
    list.iter().map(|&(kind, target)| Effect { kind, target }).collect()
}

/// The effects of what takes values off its first operand.
fn takes_off() -> SmallVec<[Effect; 2]> {
    effects(&[
        (EffectKind::Read, EffectTarget::Operand(0)),
        (EffectKind::Write, EffectTarget::Operand(0)),
    ])
}

fn create() -> OpDef {
    let mut def = OpDef::new(CREATE_STACK, "An empty stack");
    def.results = vec![value("stack", "stack", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| Ok(smallvec![stack_type(args.ctx)]));
    def.effects = MemoryEffects::Declared(|_| effects(&[(EffectKind::Alloc, EffectTarget::Result(0))]));
    def.speculatable = |_| Speculatability::Never;
    def
}

fn push() -> OpDef {
    let mut def = OpDef::new(PUSH_BACK, "Pushes a value on a stack");
    def.operands = vec![value("stack", "stack", Arity::One), value("value", "any", Arity::One)].into();
    def.verify = Some(stack_operand);
    def.verifies_types = true;
    def.effects = MemoryEffects::Declared(|_| effects(&[(EffectKind::Write, EffectTarget::Operand(0))]));
    def.speculatable = |_| Speculatability::Never;
    def
}

fn pop() -> OpDef {
    let mut def = OpDef::new(POP_BACK, "Removes the last value of a stack and returns it");
    def.description = "The type of the result must be written: it is that of the pushed value.".into();
    def.operands = vec![value("stack", "stack", Arity::One)].into();
    def.results = vec![value("value", "any", Arity::One)].into();
    def.verify = Some(stack_operand);
    def.verifies_types = true;
    def.effects = MemoryEffects::Declared(|_| takes_off());
    def.speculatable = |_| Speculatability::Never;
    def
}

fn is_empty() -> OpDef {
    let mut def = OpDef::new(IS_EMPTY, "Whether a stack is empty");
    def.operands = vec![value("stack", "stack", Arity::One)].into();
    def.results = vec![value("out", "i1", Arity::One)].into();
    def.infer = Some(|_| Ok(smallvec![Type::I1]));
    def.derivative = Derivative::None;
    def.verify = Some(stack_operand);
    def.verifies_types = true;
    def.effects = MemoryEffects::Declared(|_| effects(&[(EffectKind::Read, EffectTarget::Operand(0))]));
    def
}

fn commit() -> OpDef {
    let mut def = OpDef::new(COMMIT, "Counts an iteration whose values a stack holds");
    def.description = "Used at the end of the body of a loop that pushes on the stack. The result is `kept` plus one if `kept` equals \
                       `trip` and the stack has room for all values pushed since the last commit. Otherwise, the result is `kept`, and \
                       those values are dropped. A stack has unlimited room until `lower-stacks` converts it to a tensor."
        .into();
    def.operands = vec![
        value("stack", "stack", Arity::One),
        value("kept", "Tensor", Arity::One),
        value("trip", "Tensor", Arity::One),
    ]
    .into();
    def.results = vec![value("next", "Tensor", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| Ok(args.operand_type(1).into_iter().collect()));
    def.derivative = Derivative::None;
    def.verify = Some(stack_operand);
    def.verifies_types = true;
    def.effects = MemoryEffects::Declared(|_| takes_off());
    def.speculatable = |_| Speculatability::Never;
    def
}

fn copy() -> OpDef {
    let mut def = OpDef::new(COPY_STACK, "A new stack with the same values");
    def.operands = vec![value("stack", "stack", Arity::One)].into();
    def.results = vec![value("copy", "stack", Arity::One)].into();
    def.infer = Some(|args: InferArgs<'_>| Ok(smallvec![stack_type(args.ctx)]));
    def.verify = Some(stack_operand);
    def.verifies_types = true;
    def.effects = MemoryEffects::Declared(|_| {
        effects(&[
            (EffectKind::Read, EffectTarget::Operand(0)),
            (EffectKind::Alloc, EffectTarget::Result(0)),
        ])
    });
    def.speculatable = |_| Speculatability::Never;
    def
}

fn join() -> OpDef {
    let mut def = OpDef::new(
        JOIN_STACK,
        "Removes all tensors from a stack and concatenates them along an axis, in the order of the pushes",
    );
    def.description =
        "The type of the result must be written. The dimension of the axis is dynamic; the others are those of the \
         tensors, and must be static, since the stack may be empty."
            .into();
    def.operands = vec![value("stack", "stack", Arity::One)].into();
    def.attrs = vec![AttrSpec {
        name: "axis".into(),
        ty: "int".into(),
        default: Some("0".into()),
    }]
    .into();
    def.results = vec![value("out", "Tensor", Arity::One)].into();
    def.verify = Some(|op, errors| {
        stack_operand(op, errors);
        let axis = op.int("axis").unwrap_or(0);
        let shape = op
            .result_type(0)
            .and_then(|ty| op.ctx.as_tensor(ty))
            .map(|(shape, _)| shape);
        let fits = shape.is_some_and(|shape| {
            let at = usize::try_from(axis).ok();
            let others = shape.iter().enumerate().filter(|&(i, _)| Some(i) != at);
            at.is_some_and(|at| at < shape.len()) && others.into_iter().all(|(_, &dim)| dim >= 0)
        });
        if !fits {
            errors.push(
                Diagnostic::error(
                    "joined-type",
                    "the result of `cf.join_stack` must be a tensor with this axis and static other dimensions",
                )
                .label(op.body.op_span(op.op), "joined here")
                .help("write the type of the elements, with `?` for the dimension `axis`: `tensor<?x4xf32>`"),
            );
        }
    });
    def.effects = MemoryEffects::Declared(|_| takes_off());
    def.speculatable = |_| Speculatability::Never;
    def
}

fn yields() -> OpDef {
    let mut def = OpDef::new(YIELD, "Ends a region and forwards values along control flow");
    def.traits = Traits::TERMINATOR;
    def.operands = vec![value("values", "any", Arity::Variadic)].into();
    def.with_effects(MemoryEffects::None)
}

fn cond_yield() -> OpDef {
    let mut def = OpDef::new(
        COND_YIELD,
        "Ends the cond region of a loop: continues with the body if the condition is true",
    );
    def.traits = Traits::TERMINATOR;
    def.operands = vec![
        value("condition", "i1", Arity::One),
        value("values", "any", Arity::Variadic),
    ]
    .into();
    def.verify = Some(|op, errors| {
        let parent = op.body.parent_op(op.op).map(|p| op.body.view(op.ctx, p).name());
        if !parent.is_some_and(|p| p.starts_with(pd::While::NAME)) {
            errors.push(
                Diagnostic::error(
                    "cond-yield-parent",
                    "`cf.cond_yield` can only end the cond region of a `pd.while`",
                )
                .label(op.body.op_span(op.op), "not in a cond region")
                .help("other regions end in `cf.yield`"),
            );
        }
    });
    def.with_effects(MemoryEffects::None)
}

fn stack_operand(op: OpView<'_>, errors: &mut Vec<Diagnostic>) {
    if let Some(ty) = op.operand_type(0).filter(|&t| !is_stack(op.ctx, t)) {
        errors.push(
            Diagnostic::error(
                "stack-operand",
                format!(
                    "the first operand of `{}` must be a stack, not `{}`",
                    op.name(),
                    pir_ir::text::print_type(op.ctx, ty)
                ),
            )
            .label(op.body.op_span(op.op), "expects a `cf.stack`")
            .help("`cf.create_stack` creates stacks"),
        );
    }
}
