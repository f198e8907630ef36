//! Operations that are expanded when the shapes of their operands are known.
//!
//! What some operations compute depends on shapes that a program leaves open. They are expanded when they are executed, for the
//! shapes that they get.

use std::sync::{Arc, Mutex};

use pir_dialects::pd;
use pir_ir::{
    AttrDict, Body, Context, DYNAMIC, Diagnostic, Module, OpName, OpView, Rewriter, Type, TypeData, ValueId,
    expand_composites,
};
use smallvec::SmallVec;

use super::{Options, is_executed, run};
use crate::eager::type_of;
use crate::kernels::{Inputs, Kernel, Kernels, Outputs};

/// How operations that are no compositions are expressed by others, given by a tool: gradient operations. It leaves those that it cannot
/// express, or reports them.
#[derive(Default)]
pub struct Lowering(pub Option<Lower>);

/// Expresses operations of a module by others.
pub type Lower = fn(&mut Module) -> Result<(), Vec<Diagnostic>>;

/// The types of the tensors of a list.
fn items(ctx: &Context, ty: Type) -> Option<&[Type]> {
    match ctx.type_data(ty) {
        TypeData::List(items) => Some(items),
        _ => None,
    }
}

/// The types of the tensors that values are or consist of.
fn tensors(op: OpView<'_>, values: impl Iterator<Item = ValueId>) -> impl Iterator<Item = Type> {
    let types = values.map(move |value| op.body.value_type(value));
    types.flat_map(move |ty| SmallVec::<[Type; 4]>::from_slice(items(op.ctx, ty).unwrap_or(&[ty])))
}

/// Whether the shape of an operand or of a result is known only in the run.
pub fn is_late(op: OpView<'_>) -> bool {
    let values = op.body.operands(op.op).chain(op.body.results(op.op));
    op.body.op_regions(op.op).is_empty() && tensors(op, values).any(|ty| !op.ctx.is_static(ty))
}

/// The kernel of an operation that has none, but an expansion for shapes that are known in the run.
pub(super) fn kernel(ctx: &Arc<Context>, op: OpView<'_>, [flush, precise]: [bool; 2]) -> Option<Kernel> {
    let lowering = ctx.extension::<Lowering>().is_some_and(|lowering| lowering.0.is_some());
    if !is_late(op) || !(op.is_composite() || lowering && op.name().ends_with("_grad")) {
        return None;
    }
    let length = |value: ValueId| Some(items(ctx, op.body.value_type(value))?.len());
    let late = Late {
        ctx: ctx.clone(),
        name: op.body.op_name(op.op),
        attrs: op.body.attrs(op.op),
        operands: op.body.operands(op.op).map(length).collect(),
        written: tensors(op, op.body.operands(op.op)).collect(),
        results: op.body.results(op.op).map(|value| op.body.value_type(value)).collect(),
        flush,
        precise,
        last: Mutex::default(),
    };
    Some(Box::new(move |inputs| late.run(inputs)))
}

/// An operation without the values that it is applied to.
struct Late {
    ctx: Arc<Context>,
    name: OpName,
    attrs: AttrDict,
    /// For each operand that is a list, the number of its tensors.
    operands: Vec<Option<usize>>,
    /// The types of the operands, and of the tensors in lists, as written.
    written: Vec<Type>,
    results: Vec<Type>,
    flush: bool,
    precise: bool,
    /// The program for the tensors that it was applied to last: most often, the next ones are of the same types.
    last: Mutex<Option<(Vec<Type>, Arc<Module>)>>,
}

impl Late {
    fn run(&self, inputs: Inputs) -> Result<Outputs, String> {
        let types: Vec<Type> = inputs
            .iter()
            .map(|x| type_of(&self.ctx, x.shape(), x.dtype()))
            .collect();
        let kept = self.last.lock().ok().and_then(|last| last.clone());
        let module = match kept.filter(|(given, _)| *given == types) {
            Some((_, module)) => module,
            None => {
                let module = Arc::new(self.program(&types)?);
                if let Ok(mut last) = self.last.lock() {
                    *last = Some((types, module.clone()));
                }
                module
            }
        };
        let options = Options {
            inputs: inputs
                .into_iter()
                .enumerate()
                .map(|(at, x)| (at.to_string(), x))
                .collect(),
            flush_subnormals: self.flush,
            precise: self.precise,
            ..Options::default()
        };
        let outcome = run(&module, &options, &mut std::io::sink()).map_err(|error| error.message)?;
        Ok(outcome.fetched.into_iter().map(|(_, x)| x).collect())
    }

    /// The result type for inputs of these types: the shape is that of the last input for which the program declares
    /// the same, which is a cotangent. If only its first extent is open, and all inputs have the same, that is it.
    fn closed(&self, ty: Type, inputs: &[Type]) -> Type {
        let ctx = &*self.ctx;
        let dims = |ty| ctx.as_tensor(ty).map(|(dims, _)| dims);
        let mut pairs = self.written.iter().zip(inputs).rev();
        let same = pairs.find(|(written, _)| dims(**written) == dims(ty));
        if let (Some((_, &input)), false) = (same, ctx.is_static(ty)) {
            return ctx.tensor(dims(input).unwrap_or_default(), ctx.elem_type(ty));
        }
        let mut firsts = inputs.iter().filter_map(|&ty| ctx.as_tensor(ty)?.0.first().copied());
        match (ctx.as_tensor(ty), firsts.next()) {
            (Some((&[DYNAMIC, ref rest @ ..], elem)), Some(first)) if firsts.all(|other| other == first) => {
                ctx.tensor(&[&[first], rest].concat(), elem)
            }
            _ => ty,
        }
    }

    /// A program that computes the operation of inputs of these types.
    fn program(&self, types: &[Type]) -> Result<Module, String> {
        let ctx = &*self.ctx;
        let mut body = Body::new();
        let root = body.root();
        let block = body.create_block(root);
        let mut r = Rewriter::new(ctx, &mut body);
        r.at_end(block);
        let mut inputs = Vec::new();
        for (at, &ty) in types.iter().enumerate() {
            let name = ctx.str_attr(&at.to_string());
            inputs.push(r.op(pd::Data::NAME).attr("name", name).result(ty).value());
        }
        let mut rest = inputs.into_iter();
        let mut operands = Vec::new();
        for list in &self.operands {
            let own: Vec<ValueId> = rest.by_ref().take(list.unwrap_or(1)).collect();
            if list.is_none() {
                operands.extend(own);
                continue;
            }
            let types: Vec<Type> = own.iter().map(|&value| r.body.value_type(value)).collect();
            let ty = ctx.intern_type(TypeData::List(types.into()));
            operands.push(r.op("builtin.combine").operands(own).result(ty).value());
        }
        // The declared types of the results may be less specific than what follows from the operands.
        let inferred = r
            .op(ctx.op_str(self.name))
            .operands(operands.iter().copied())
            .attrs(self.attrs)
            .infer();
        let op = inferred.unwrap_or_else(|_| {
            let op = r.op(ctx.op_str(self.name)).operands(operands).attrs(self.attrs);
            op.results(self.results.iter().map(|&ty| self.closed(ty, types)))
                .build()
        });
        for (at, value) in r.body.results(op).collect::<Vec<_>>().into_iter().enumerate() {
            let parts = match items(ctx, r.body.value_type(value)) {
                Some(types) => {
                    let split = r
                        .op("builtin.split")
                        .operand(value)
                        .results(types.iter().copied())
                        .build();
                    r.body.results(split).collect()
                }
                None => vec![value],
            };
            for part in parts {
                r.op(pd::Fetch::NAME)
                    .operand(part)
                    .attr("name", ctx.str_attr(&at.to_string()))
                    .build();
            }
        }
        let mut module = Module {
            ctx: self.ctx.clone(),
            body,
        };
        let first = |errors: Vec<Diagnostic>| {
            errors
                .into_iter()
                .next()
                .map_or_else(String::new, |error| error.message)
        };
        if let Some(lower) = ctx.extension::<Lowering>().and_then(|lowering| lowering.0) {
            lower(&mut module).map_err(first)?;
        }
        let keep = |op: OpView<'_>| is_executed(Kernels::of(ctx), op);
        expand_composites(&mut module, &keep).map_err(first)?;
        let is_left = |op| module.body.op_name(op) == self.name;
        match module.body.walk_all().any(is_left) {
            true => Err("it has no expansion, or one that needs shapes which remain unknown".to_owned()),
            false => Ok(module),
        }
    }
}
