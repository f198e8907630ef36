//! Arrays of tensors.
//!
//! In PaddlePaddle a loop may write results into an array, element by element, and later operations stack the elements.
//! Here an array is one tensor with the elements along its first dimension: writing an element slices and concatenates,
//! which is differentiable.

use pir_dialects::pd;
use rustc_hash::FxHashMap;

use pir_ir::{Attr, Body, Context, DYNAMIC, Diagnostic, OpId, Rewriter, Type, TypeData, ValueId};

use super::carried::common;
use super::stacks::{all_recorded, created, recorded};

/// Operations that create arrays or read them.
const OPS: &[&str] = &[
    "pd.create_array",
    "pd.array_write",
    "pd.array_write_",
    "pd.array_read",
    // An element by a list of one place.
    "pd.slice_array_dense",
    "pd.array_length",
    "pd.array_to_tensor",
    // Of gradients: an array of as many elements, and the elements of what was joined.
    "pd.create_array_like",
    "pd.tensor_to_array",
    SUM,
];

/// Whether an operation works on arrays. No dialect defines such operations: they are translated to others.
pub(super) fn is_on_arrays(name: &str) -> bool {
    OPS.contains(&name)
}

/// Turns arrays into tensors.
pub(super) fn to_tensors(ctx: &Context, body: &mut Body, errors: &mut Vec<Diagnostic>) {
    remove_unused_records(ctx, body);
    let ops: Vec<OpId> = body.walk_all().collect();
    let mut groups = Groups::default();
    for &op in &ops {
        groups.join_all(ctx, body, op);
    }
    if groups.numbers.is_empty() {
        return;
    }
    for (pushed, popped) in all_recorded(ctx, body) {
        groups.join(ctx, body, Some(pushed), Some(popped));
    }
    for &op in &ops {
        let name = ctx.op_str(body.op_name(op));
        let foreign = !is_on_arrays(name) && ctx.registered_op(name).is_none();
        if foreign && body.operands(op).any(|v| groups.numbers.contains_key(&v)) {
            return errors.push(error(body, op, format!("`{name}` of an array of tensors")));
        }
    }
    let elements = match groups.elements(ctx, body, &ops) {
        Ok(elements) => elements,
        Err(error) => return errors.push(error),
    };
    let mut arrays: Vec<ValueId> = groups.numbers.keys().copied().collect();
    arrays.sort_unstable();
    for value in arrays {
        if let Some(&element) = elements.get(&groups.root(value)) {
            let ty = array_type(ctx, element);
            body.set_value_type(value, ty);
        }
    }
    for &op in &ops {
        restate_list(ctx, body, op);
    }
    for op in ops {
        if let Err(message) = translate(ctx, body, op) {
            errors.push(error(body, op, message));
        }
    }
    restate_ranks(ctx, body);
}

const COMBINE: &str = "builtin.combine";
/// The sum of a list of arrays, element by element: cotangents.
const SUM: &str = "pd.add_n_array";

/// A list of arrays is one of tensors.
fn restate_list(ctx: &Context, body: &mut Body, op: OpId) {
    let Some(list) = body
        .results(op)
        .next()
        .filter(|_| ctx.op_str(body.op_name(op)) == COMBINE)
    else {
        return;
    };
    let has_arrays = match ctx.type_data(body.value_type(list)) {
        TypeData::List(items) => items.iter().any(|&item| is_array(ctx, item)),
        _ => false,
    };
    if has_arrays {
        let types: Vec<Type> = body.operands(op).map(|value| body.value_type(value)).collect();
        body.set_value_type(list, ctx.intern_type(TypeData::List(types.into())));
    }
}

/// Removes arrays that PaddlePaddle's gradients record in each iteration of a loop, and do not use.
fn remove_unused_records(ctx: &Context, body: &mut Body) {
    for stack in created(ctx, body) {
        let mut pairs = recorded(ctx, body, stack);
        let all = pairs.len();
        pairs.retain(|&(value, popped)| is_array(ctx, body.value_type(value)) && !body.has_uses(popped));
        // What remains determines whether there are elements.
        if pairs.len() == all {
            continue;
        }
        for (value, popped) in pairs {
            let is_push =
                |op: &OpId| body.get_operand(*op, 0) == Some(stack) && body.get_operand(*op, 1) == Some(value);
            let push = body.uses(value).map(|used| used.op).find(is_push);
            let pop = body.defining_op(popped);
            for op in [push, pop].into_iter().flatten() {
                body.erase_op(op);
            }
        }
    }
}

fn error(body: &Body, op: OpId, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("paddle-array", message)
        .label(body.op_span(op), "here")
        .help(
            "only arrays that `array_write` fills in order, and that `array_read`, `array_length` and \
               `array_to_tensor` read, are supported",
        )
}

/// When the element type is unknown, PaddlePaddle infers that an element read from an array is a vector. Infers the
/// ranks again for the operations that depend on it.
fn restate_ranks(ctx: &Context, body: &mut Body) {
    for op in body.walk_all().collect::<Vec<_>>() {
        let view = body.view(ctx, op);
        let inferred = view.with_infer_args(|args| view.def().and_then(|def| def.infer).map(|infer| infer(args)));
        let Some(Some(Ok(types))) = inferred else { continue };
        let results: Vec<ValueId> = body.results(op).collect();
        for (value, ty) in results.into_iter().zip(types) {
            let shape = |ty| ctx.as_tensor(ty).map(|(shape, _)| shape);
            let (Some([DYNAMIC]), Some(found)) = (shape(body.value_type(value)), shape(ty)) else {
                continue;
            };
            if found.len() != 1 {
                body.set_value_type(value, ty);
            }
        }
    }
}

/// The tensor type whose first dimension counts elements of a type.
fn array_type(ctx: &Context, element: Type) -> Type {
    let (shape, elem) = ctx.as_tensor(element).unwrap_or((&[], element));
    let shape: Vec<i64> = std::iter::once(DYNAMIC).chain(shape.iter().copied()).collect();
    ctx.tensor(&shape, elem)
}

fn is_array(ctx: &Context, ty: Type) -> bool {
    ctx.is_dialect_type::<pd::DenseTensorArray>(ty)
}

/// Union-find over the values that are one array at different times.
#[derive(Default)]
struct Groups {
    numbers: FxHashMap<ValueId, usize>,
    parents: Vec<usize>,
}

impl Groups {
    fn number(&mut self, value: ValueId) -> usize {
        let parents = &mut self.parents;
        *self.numbers.entry(value).or_insert_with(|| {
            parents.push(parents.len());
            parents.len() - 1
        })
    }

    fn find(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn root(&mut self, value: ValueId) -> usize {
        let number = self.number(value);
        self.find(number)
    }

    fn join(&mut self, ctx: &Context, body: &Body, a: Option<ValueId>, b: Option<ValueId>) {
        let (Some(a), Some(b)) = (a, b) else { return };
        if is_array(ctx, body.value_type(a)) && is_array(ctx, body.value_type(b)) {
            let (a, b) = (self.root(a), self.root(b));
            self.parents[a.max(b)] = a.min(b);
        }
    }

    /// Joins the values that an operation forwards. Loops still have one region, with the condition as first value.
    fn join_all(&mut self, ctx: &Context, body: &Body, op: OpId) {
        let results: Vec<ValueId> = body.results(op).collect();
        for &value in &results {
            self.join(ctx, body, Some(value), Some(value));
        }
        match ctx.op_str(body.op_name(op)) {
            "pd.array_write" | "pd.create_array_like" | "pd.tensor_to_array" | pd::Assign::NAME => {
                self.join(ctx, body, body.get_operand(op, 0), results.first().copied());
            }
            COMBINE => {
                for value in body.operands(op) {
                    self.join(ctx, body, body.get_operand(op, 0), Some(value));
                }
            }
            SUM => {
                let first = body.get_operand(op, 0).and_then(|list| body.defining_op(list));
                let first = first.and_then(|list| body.get_operand(list, 0));
                self.join(ctx, body, first, results.first().copied());
            }
            name @ (pd::While::NAME | pd::If::NAME) => {
                let skip = usize::from(name == pd::While::NAME);
                for &region in body.op_regions(op) {
                    let Some(block) = body.entry_block(region) else {
                        continue;
                    };
                    let end = body.last_op(block);
                    for (at, &value) in results.iter().enumerate() {
                        let yielded = end.and_then(|end| body.get_operand(end, at + skip));
                        self.join(ctx, body, yielded, Some(value));
                        if skip == 1 {
                            self.join(ctx, body, body.get_operand(op, at + 1), Some(value));
                            self.join(ctx, body, body.block_args(block).get(at).copied(), Some(value));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The element type of each array, from what is written into it.
    fn elements(&mut self, ctx: &Context, body: &Body, ops: &[OpId]) -> Result<FxHashMap<usize, Type>, Diagnostic> {
        let mut found: FxHashMap<usize, Type> = FxHashMap::default();
        for &op in ops {
            if ctx.op_str(body.op_name(op)) != "pd.array_write" {
                continue;
            }
            let (Some(array), Some(item)) = (body.get_operand(op, 0), body.get_operand(op, 1)) else {
                return Err(error(
                    body,
                    op,
                    "`pd.array_write` needs an array, an element and an index",
                ));
            };
            let root = self.root(array);
            let ty = body.value_type(item);
            let all = match found.get(&root) {
                Some(&known) => common(ctx, known, ty),
                None => ctx.as_tensor(ty).map(|_| ty),
            };
            let all = all.ok_or_else(|| {
                error(
                    body,
                    op,
                    "the elements of the array differ in their number of dimensions",
                )
            })?;
            found.insert(root, all);
        }
        for &op in ops {
            for value in body.results(op).filter(|&v| is_array(ctx, body.value_type(v))) {
                if !found.contains_key(&self.root(value)) {
                    return Err(error(body, op, "the array is never written")
                        .help("arrays become tensors, whose dimensions follow from the written elements"));
                }
            }
        }
        Ok(found)
    }
}

/// Emits operations that infer the types of their results.
struct Emitter<'r, 'a> {
    r: Rewriter<'a>,
    ctx: &'r Context,
}

impl Emitter<'_, '_> {
    fn emit(&mut self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)]) -> Result<ValueId, String> {
        let mut builder = self.r.op(name).operands(operands.iter().copied());
        for &(name, value) in attrs {
            builder = builder.attr(name, value);
        }
        let op = builder.infer()?;
        Ok(self.r.body.result(op, 0))
    }

    fn reshaped(&mut self, x: ValueId, shape: &[i64]) -> Result<ValueId, String> {
        let known = self
            .ctx
            .as_tensor(self.r.body.value_type(x))
            .map(|(have, _)| have == shape);
        if known == Some(true) {
            return Ok(x);
        }
        self.emit(pd::Reshape::NAME, &[x], &[("shape", self.ctx.ints_attr(shape))])
    }

    /// An index as the bounds of a slice.
    fn bounds(&mut self, place: ValueId) -> Result<[ValueId; 2], String> {
        let start = self.reshaped(place, &[1])?;
        let end = self.emit(pd::Scale::NAME, &[start], &[("bias", self.ctx.float_attr(1.0))])?;
        Ok([start, end])
    }

    /// The element between two bounds.
    fn element(&mut self, array: ValueId, [start, end]: [ValueId; 2]) -> Result<ValueId, String> {
        let axis = self.ctx.ints_attr(&[0]);
        self.emit(
            pd::Slice::NAME,
            &[array, start, end],
            &[("axes", axis), ("decrease_axis", axis)],
        )
    }

    /// The array with an element replaced: the slice before it, the element, the slice after it.
    fn written(&mut self, array: ValueId, item: ValueId, place: ValueId, ty: Type) -> Result<ValueId, String> {
        let [start, end] = self.bounds(place)?;
        let [axes, zero, all] = [0, 0, i64::from(i32::MAX)].map(|n| self.ctx.ints_attr(&[n]));
        let array = self.with_extents(array, item)?;
        let head = self.emit(pd::Slice::NAME, &[array, start], &[("axes", axes), ("starts", zero)])?;
        let tail = self.emit(pd::Slice::NAME, &[array, end], &[("axes", axes), ("ends", all)])?;
        let row = self.emit(pd::Unsqueeze::NAME, &[item], &[("axis", self.ctx.ints_attr(&[0]))])?;
        let whole = self.emit(pd::Concat::NAME, &[head, row, tail], &[("axis", self.ctx.int_attr(0))])?;
        self.r.body.set_value_type(whole, ty);
        Ok(whole)
    }

    /// An array without elements does not have their extents yet: it takes those of the first element.
    fn with_extents(&mut self, array: ValueId, item: ValueId) -> Result<ValueId, String> {
        let tensor = |value: ValueId| self.ctx.as_tensor(self.r.body.value_type(value));
        let ((have, _), (want, _)) = tensor(array).zip(tensor(item)).ok_or("it is not a tensor")?;
        if have.get(1..) == Some(want) && !want.contains(&DYNAMIC) {
            return Ok(array);
        }
        let ty = array_type(self.ctx, self.r.body.value_type(item));
        let extents = self.emit(pd::Shape::NAME, &[array], &[])?;
        let (zero, one) = (self.ctx.ints_attr(&[0]), self.ctx.ints_attr(&[1]));
        let count = self.emit(
            pd::Slice::NAME,
            &[extents],
            &[("axes", zero), ("starts", zero), ("ends", one)],
        )?;
        let others = self.emit(pd::Shape::NAME, &[item], &[])?;
        let shape = self.emit(pd::Concat::NAME, &[count, others], &[("axis", self.ctx.int_attr(0))])?;
        let wide = self.r.op(pd::Expand::NAME).operands([array, shape]).result(ty).build();
        Ok(self.r.body.result(wide, 0))
    }

    /// The elements, stacked or concatenated along an axis.
    fn joined(&mut self, array: ValueId, axis: i64, stacked: bool) -> Result<ValueId, String> {
        let rank = self
            .ctx
            .as_tensor(self.r.body.value_type(array))
            .map_or(0, |(s, _)| s.len());
        let axis = joined_axis(rank, axis, stacked)?;
        let mut order: Vec<i64> = (1..rank as i64).collect();
        order.insert(axis, 0);
        let mut whole = array;
        if axis > 0 {
            whole = self.emit(pd::Transpose::NAME, &[array], &[("perm", self.ctx.ints_attr(&order))])?;
        }
        if stacked {
            return Ok(whole);
        }
        let ends = [axis, axis + 1].map(|a| self.ctx.int_attr(a as i64));
        self.emit(
            pd::Flatten::NAME,
            &[whole],
            &[("start_axis", ends[0]), ("stop_axis", ends[1])],
        )
    }

    /// The array of the elements that were stacked or concatenated along an axis.
    fn separated(&mut self, whole: ValueId, axis: i64, stacked: bool, ty: Type) -> Result<ValueId, String> {
        let rank = self.ctx.as_tensor(ty).map_or(0, |(shape, _)| shape.len());
        let axis = joined_axis(rank, axis, stacked)?;
        let mut parts = whole;
        if !stacked {
            let (shape, _) = self.ctx.as_tensor(ty).ok_or("its elements are unknown")?;
            let mut shape = shape[1..].to_vec();
            if shape.contains(&DYNAMIC) {
                return Err("the extents of its elements are unknown".to_owned());
            }
            shape.insert(axis, -1);
            parts = self.reshaped(whole, &shape)?;
        }
        if axis > 0 {
            let mut order: Vec<i64> = (0..rank as i64).collect();
            order.remove(axis);
            order.insert(0, axis as i64);
            parts = self.emit(pd::Transpose::NAME, &[parts], &[("perm", self.ctx.ints_attr(&order))])?;
        }
        Ok(parts)
    }
}

/// The axis along which the elements of an array, a tensor of this rank, are stacked or concatenated; negative ones count from the end.
fn joined_axis(rank: usize, axis: i64, stacked: bool) -> Result<usize, String> {
    let count = (rank as i64 - i64::from(!stacked)).max(1);
    let axis = if axis < 0 { axis + count } else { axis };
    let axis = usize::try_from(axis).ok().filter(|&axis| axis < rank);
    axis.ok_or_else(|| "its axis is out of range".to_owned())
}

/// Replaces an operation on arrays with operations on tensors.
fn translate(ctx: &Context, body: &mut Body, op: OpId) -> Result<(), String> {
    let name = ctx.op_str(body.op_name(op));
    if !is_on_arrays(name) {
        return Ok(());
    }
    let operands = body.operands_vec(op);
    let missing = || format!("an operand of `{name}` is missing");
    let operand = |at: usize| operands.get(at).copied().ok_or_else(missing);
    let result = body.results(op).next().ok_or("it has no result")?;
    let ty = body.value_type(result);
    let span = body.op_span(op);
    let (axis, stacked) = (
        body.view(ctx, op).int("axis").unwrap_or(0),
        body.view(ctx, op).bool("use_stack").unwrap_or(false),
    );
    let fill = body.view(ctx, op).attr("val").unwrap_or(ctx.float_attr(0.0));
    if body.results(op).skip(1).any(|v| body.has_uses(v)) {
        return Err(format!(
            "the second result of `{name}` is used: the extents of the elements"
        ));
    }
    let mut r = Rewriter::new(ctx, body);
    r.before(op).set_span(span);
    let mut e = Emitter { r, ctx };
    let value = match name {
        "pd.create_array" => {
            let (shape, elem) = ctx.as_tensor(ty).ok_or("its contents are unknown")?;
            let extents = shape.iter().skip(1).map(|&d| if d == DYNAMIC { 1 } else { d });
            let shape: Vec<i64> = std::iter::once(0).chain(extents).collect();
            let zero = if ctx.is_float(elem) {
                ctx.float_attr(0.0)
            } else {
                ctx.int_attr(0)
            };
            let zero = if elem == Type::I1 { ctx.bool_attr(false) } else { zero };
            let attrs = [
                ("shape", ctx.ints_attr(&shape)),
                ("value", zero),
                ("dtype", ctx.type_attr(elem)),
            ];
            e.emit(pd::Full::NAME, &[], &attrs)?
        }
        "pd.array_read" | "pd.slice_array_dense" => {
            let bounds = e.bounds(operand(1)?)?;
            e.element(operand(0)?, bounds)?
        }
        "pd.array_length" => {
            let extents = e.emit(pd::Shape::NAME, &[operand(0)?], &[])?;
            let (zero, one) = (ctx.ints_attr(&[0]), ctx.ints_attr(&[1]));
            let count = e.emit(
                pd::Slice::NAME,
                &[extents],
                &[("axes", zero), ("starts", zero), ("ends", one)],
            )?;
            let shape = ctx.as_tensor(ty).map_or(&[1][..], |(shape, _)| shape).to_vec();
            let shape: Vec<i64> = shape.iter().map(|_| 1).collect();
            e.reshaped(count, &shape)?
        }
        "pd.array_to_tensor" => e.joined(operand(0)?, axis, stacked)?,
        "pd.create_array_like" => e.emit(pd::FullLike::NAME, &[operand(0)?], &[("value", fill)])?,
        SUM => {
            let list = e.r.body.defining_op(operand(0)?).ok_or_else(missing)?;
            let arrays = e.r.body.operands_vec(list);
            e.emit(pd::AddN::NAME, &arrays, &[])?
        }
        "pd.tensor_to_array" => e.separated(operand(1)?, axis, stacked, ty)?,
        _ => e.written(operand(0)?, operand(1)?, operand(2)?, ty)?,
    };
    e.r.replace_value(result, value);
    e.r.erase_op(op);
    Ok(())
}
