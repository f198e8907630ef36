//! Functions of MLIR's dialects: they are differentiated as functions of `pd` loops and branches, and converted back in
//! the end.
//!
//! The function itself is kept; its copy `@f_grad` is differentiated. Marks distinguish the two from the first step to
//! the last.

use pir_dialects::func;
use pir_dialects::marks::{ADJOINT_OF, PRIMAL};
use pir_dialects::mlir::{from_pd, inline_single_trips, is_lowered, tensor, vectors_to_tensors_in};
use pir_ir::{
    Body, Context, Diagnostic, Module, OpId, OpView, Rewriter, Severity, Traits, Type, TypeData, ValueId, ValueMap,
    expand_composites_in,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::choices;
use super::elements::fold_elements;
use super::functions::{functions, is_kept, is_mlir, plain_calls};
use super::memory::is_buffer;
use super::naming::free_name;
use super::views;
use crate::bodies::atomically;
use crate::cfg::lift_copy;

/// The functions of a symbol table that have operations of MLIR's dialects, or do nothing but call functions that have.
pub(super) fn mlir_functions(ctx: &Context, scope: &Body) -> FxHashSet<OpId> {
    let functions = functions(ctx, scope);
    let only_calls = |inner: &Body| {
        let mut names = inner.walk_all().map(|op| ctx.op_str(inner.op_name(op)));
        names.all(|name| name.starts_with("func."))
    };
    let mut found = FxHashSet::default();
    let mut callers: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
    for &function in functions.values() {
        let Some(inner) = scope.isolated(function) else {
            continue;
        };
        if is_mlir(ctx, inner) {
            found.insert(function);
        } else if only_calls(inner) {
            for (_, name) in plain_calls(ctx, inner) {
                if let Some(&callee) = functions.get(&name) {
                    callers.entry(callee).or_default().push(function);
                }
            }
        }
    }
    let mut pending: Vec<OpId> = found.iter().copied().collect();
    while let Some(function) = pending.pop() {
        let around = callers.remove(&function).into_iter().flatten();
        pending.extend(around.filter(|&caller| found.insert(caller)));
    }
    found
}

/// Whether a function takes and returns floating-point numbers, or has a buffer of such.
pub(super) fn has_derivative(function: OpView<'_>) -> bool {
    let ctx = function.ctx;
    let any = |types: &[Type]| types.iter().any(|&ty| ctx.is_float(ty));
    match function.ty("function_type").map(|ty| ctx.type_data(ty)) {
        // The elements of a buffer are inputs and outputs.
        Some(TypeData::Function { inputs, results }) => {
            any(inputs) && any(results) || inputs.iter().any(|&ty| is_buffer(ctx, ty))
        }
        _ => false,
    }
}

/// Puts a copy beside each function of MLIR's dialects that is to be differentiated.
pub(super) fn copy_functions(module: &mut Module) {
    let ctx = module.ctx.clone();
    let functions: Vec<Vec<OpId>> = super::targets::units(module)
        .into_iter()
        .map(|unit| unit.path)
        .collect();
    let mut taken: FxHashMap<Vec<OpId>, FxHashSet<String>> = FxHashMap::default();
    let mut of_mlir: FxHashMap<Vec<OpId>, FxHashSet<OpId>> = FxHashMap::default();
    for path in functions {
        let Some((&function, parents)) = path.split_last() else {
            continue;
        };
        let Some(outer) = super::targets::body_at(module, parents) else {
            continue;
        };
        let view = outer.view(&ctx, function);
        let of_mlir = of_mlir
            .entry(parents.to_vec())
            .or_insert_with(|| mlir_functions(&ctx, outer));
        if !of_mlir.contains(&function)
            || !view.has(Traits::FUNCTION)
            || ADJOINT_OF.get(&ctx, outer.attrs(function)).is_some()
        {
            continue;
        }
        if !has_derivative(view) {
            continue;
        }
        let Some(name) = view.str("sym_name").map(str::to_owned) else {
            continue;
        };
        let symbols = || outer.walk_all().filter_map(|op| outer.view(&ctx, op).str("sym_name"));
        let taken = taken.entry(parents.to_vec());
        let taken = taken.or_insert_with(|| symbols().map(str::to_owned).collect());
        let grad = free_name(&format!("{name}_grad"), taken);
        let mut r = Rewriter::new(&ctx, outer);
        r.after(function);
        let copy = r.clone_op(function, &mut ValueMap::new());
        let attrs = ctx.dict_with(r.body.attrs(copy), "sym_name", ctx.str_attr(&grad));
        let attrs = ADJOINT_OF.set(&ctx, attrs, ctx.str_attr(&name));
        r.body.set_attrs(copy, attrs);
        let attrs = PRIMAL.set(&ctx, r.body.attrs(function), ctx.attr(pir_ir::AttrData::Unit));
        r.body.set_attrs(function, attrs);
    }
}

/// Makes loops of what makes tensors element by element, in the copies: loops have derivatives.
pub(super) fn expand_generated(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        if !body.has_isolated() {
            continue;
        }
        let copies = body
            .walk_all()
            .filter(|&op| ADJOINT_OF.get(&ctx, body.attrs(op)).is_some());
        for copy in copies.collect::<Vec<_>>() {
            let Some(inner) = body.isolated_mut(copy) else { continue };
            let vectors = !shows_vectors(&ctx, inner);
            if vectors {
                vectors_to_tensors_in(&ctx, inner);
            }
            lift_copy(&ctx, inner)?;
            choices::number(&ctx, inner);
            // Loops over elements of views are loops over those of what they show.
            let is_expanded = |name: &str| is_lowered(name) || vectors && name.starts_with("vector.");
            expand_composites_in(&ctx, inner, &|op| !is_expanded(op.name()))?;
            views::fold(&ctx, inner);
            // Inner operations come first.
            let generated = |&op: &OpId| ctx.op_str(inner.op_name(op)) == tensor::Generate::NAME;
            let ops: Vec<OpId> = inner.post_order().into_iter().filter(generated).collect();
            for op in ops {
                let span = inner.op_span(op);
                expand_one(&mut Rewriter::new(&ctx, inner), op).map_err(|why| {
                    let message = format!("`{}` cannot become a loop: {why}", tensor::Generate::NAME);
                    vec![Diagnostic::error("no-derivative", message).label(span, "differentiated here")]
                })?;
            }
            inline_single_trips(&ctx, inner);
        }
        pending.extend(crate::bodies::inner_bodies_mut(&ctx, body));
    }
    Ok(())
}

/// Whether arguments, results or calls have vectors: their types are those of others too.
fn shows_vectors(ctx: &Context, body: &Body) -> bool {
    let is_vector = |value: ValueId| matches!(ctx.type_data(body.value_type(value)), TypeData::Vector { .. });
    let arguments = body.region_blocks(body.root()).iter().take(1);
    let calls = body
        .walk_all()
        .filter(|&op| func::callee(ctx, body, op).is_some() || body.view(ctx, op).has(Traits::RETURN_LIKE));
    let given = calls.flat_map(|op| body.operands(op).chain(body.results(op)));
    arguments
        .flat_map(|&block| body.block_args(block).iter().copied())
        .chain(given)
        .any(is_vector)
}

fn expand_one(r: &mut Rewriter<'_>, op: OpId) -> Result<(), String> {
    let ty = r.body.value_type(r.body.result(op, 0));
    let shape = r.ctx.as_tensor(ty).map(|(shape, _)| shape.to_vec());
    let shape = shape.ok_or("its rank is unknown")?;
    let region = r.body.op_regions(op).first().copied();
    let block = region
        .and_then(|region| r.body.single_block(region))
        .ok_or("it has no single block")?;
    let end = r.body.last_op(block).ok_or("its block is empty")?;
    let element = r.body.get_operand(end, 0).ok_or("it yields no element")?;
    let sizes: Vec<ValueId> = r.body.operands(op).collect();
    let span = r.body.op_span(op);
    r.before(op).set_span(span);
    let empty = r
        .op(tensor::Empty::NAME)
        .operands(sizes.iter().copied())
        .result(ty)
        .value();
    let filled = fold_elements(r, &shape, &sizes, empty, |r, place, made| {
        let args = r.body.block_args(block).to_vec();
        for (&arg, &at) in args.iter().zip(place) {
            r.replace_and_rename(arg, at);
        }
        let here = r.point();
        for op in r.body.block_ops_vec(block) {
            if op != end {
                r.set_point(here);
                r.move_here(op);
            }
        }
        r.set_point(here);
        let insert = r.op(tensor::Insert::NAME).operands([element, made]);
        Ok(insert.operands(place.iter().copied()).result(ty).value())
    })?;
    let old = r.body.result(op, 0);
    r.replace_and_rename(old, filled);
    r.erase_op(op);
    Ok(())
}

/// Whether there are functions and copies of them anywhere in a module.
fn are_marked(module: &Module) -> bool {
    let ctx = &module.ctx;
    let mut pending = vec![&module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all() {
            let Some(inner) = body.isolated(op) else { continue };
            if is_kept(ctx, body, op) || ADJOINT_OF.get(ctx, body.attrs(op)).is_some() {
                return true;
            }
            pending.push(inner);
        }
    }
    false
}

/// A copy that is not differentiated, and why.
pub(super) type Skipped = (Vec<OpId>, Vec<Diagnostic>);

/// Whether a path leads to a copy of a function.
pub(super) fn is_copy(module: &Module, path: &[OpId]) -> bool {
    let Some((&function, parents)) = path.split_last() else {
        return false;
    };
    let outer = parents.iter().try_fold(&module.body, |body, &op| body.isolated(op));
    outer.is_some_and(|outer| ADJOINT_OF.get(&module.ctx, outer.attrs(function)).is_some())
}

/// Erases copies that are not differentiated; gives notes with the names of the functions, and why.
pub(super) fn erase_copies(module: &mut Module, skipped: Vec<Skipped>) -> Vec<Diagnostic> {
    let ctx = module.ctx.clone();
    let mut notes = Vec::new();
    for (path, errors) in skipped {
        let Some((&function, parents)) = path.split_last() else {
            continue;
        };
        let Some(outer) = super::targets::body_at(module, parents) else {
            continue;
        };
        let name = ADJOINT_OF
            .get(&ctx, outer.attrs(function))
            .and_then(|name| ctx.attr_str(name));
        let message = format!("`@{}` is not differentiated", name.unwrap_or_default());
        let mut note = Diagnostic::warning("no-derivative", message).label(outer.op_span(function), "this function");
        note.severity = Severity::Note;
        let why = errors.into_iter().map(|error| error.message);
        notes.push(why.fold(note, Diagnostic::note));
        Rewriter::new(&ctx, outer).erase_op(function);
    }
    notes
}

/// Converts the copies back, and takes the marks away. After an error the module is as it was.
///
/// # Errors
/// Operations that have no counterpart.
pub(super) fn convert_back(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    match are_marked(module) {
        true => atomically(module, convert_marked),
        false => Ok(()),
    }
}

fn convert_marked(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut errors = Vec::new();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all().collect::<Vec<_>>() {
            let attrs = body.attrs(op);
            if ADJOINT_OF.get(&ctx, attrs).is_some()
                && let Some(inner) = body.isolated_mut(op)
            {
                errors.extend(from_pd::convert(&ctx, inner).err().into_iter().flatten());
            }
            if ADJOINT_OF.get(&ctx, attrs).is_some() || PRIMAL.get(&ctx, attrs).is_some() {
                let attrs = PRIMAL.remove(&ctx, ADJOINT_OF.remove(&ctx, attrs));
                body.set_attrs(op, attrs);
            }
        }
        pending.extend(crate::bodies::inner_bodies_mut(&ctx, body));
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}
