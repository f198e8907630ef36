//! The buffers of a run (`memref`).
//!
//! A buffer is a row of elements that the machine owns. A value is a view of one: an offset, and for each dimension an extent and a
//! stride. Views of one buffer share its elements. Every access is checked: against the extents of the view, and whether the buffer
//! was given back.

use std::sync::Arc;

use pir_dialects::mlir::{arith, memref};
use pir_ir::budget::Reservation;
use pir_ir::{AttrData, Context, OpView, Type, TypeData};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::ExecError;
use super::slots::Src;
use super::value::{Extents, Value, View, integer, not_a_tensor};
use crate::kernels::{constant_tensor, dtype_of, groups, slices};
use crate::tensor::{DType, Data, Element, Tensor, buffer};

/// The kind of an operation of `memref`.
pub(crate) enum MemoryOp {
    Alloc {
        dtype: DType,
        extents: Vec<Option<usize>>,
        /// Whether it is given back when the function returns.
        on_stack: bool,
    },
    Cast(Vec<Option<usize>>),
    /// The dimensions that become one.
    Collapse(Vec<Vec<usize>>),
    Copy,
    Dealloc,
    Dim,
    /// The dimensions that one becomes, and their extents.
    Expand(Vec<Vec<usize>>, Vec<Option<usize>>),
    Global(String),
    Load,
    Rank,
    Reinterpret(slices::Slice),
    /// One of two buffers.
    Select,
    Store,
    Subview(slices::Slice),
}

/// The operation, if it is one of buffers.
pub(super) fn memory_op(view: OpView<'_>) -> Option<Result<MemoryOp, String>> {
    let found = match view.name() {
        memref::Alloc::NAME => allocation(view, false),
        memref::Alloca::NAME => allocation(view, true),
        memref::Cast::NAME => slices::extents(view).map(MemoryOp::Cast),
        memref::CollapseShape::NAME => groups(view).map(MemoryOp::Collapse),
        memref::Copy::NAME => Ok(MemoryOp::Copy),
        memref::Dealloc::NAME => Ok(MemoryOp::Dealloc),
        memref::Dim::NAME => Ok(MemoryOp::Dim),
        memref::ExpandShape::NAME => {
            groups(view).and_then(|groups| Ok(MemoryOp::Expand(groups, slices::extents(view)?)))
        }
        memref::GetGlobal::NAME => match view.attr("name").map(|name| view.ctx.attr_data(name)) {
            Some(AttrData::Symbol(path)) => {
                let name = path.last().map(|&name| view.ctx.str(name).to_owned());
                Ok(MemoryOp::Global(name.unwrap_or_default()))
            }
            _ => Err("its name is not a symbol".to_owned()),
        },
        memref::Load::NAME => Ok(MemoryOp::Load),
        memref::Rank::NAME => Ok(MemoryOp::Rank),
        memref::ReinterpretCast::NAME => slices::Slice::new(view, view.result_type(0)).map(MemoryOp::Reinterpret),
        arith::Select::NAME if view.result_type(0).is_some_and(|ty| is_buffer(view.ctx, ty)) => Ok(MemoryOp::Select),
        memref::Store::NAME => Ok(MemoryOp::Store),
        memref::Subview::NAME => slices::Slice::new(view, view.result_type(0)).map(MemoryOp::Subview),
        _ => return None,
    };
    Some(found)
}

fn is_buffer(ctx: &Context, ty: Type) -> bool {
    matches!(ctx.type_data(ty), TypeData::MemRef { .. })
}

fn allocation(view: OpView<'_>, on_stack: bool) -> Result<MemoryOp, String> {
    let ty = view.result_type(0).ok_or("the operation has no result")?;
    if matches!(view.ctx.type_data(ty), TypeData::MemRef { layout: Some(_), .. }) {
        return Err("buffers with a layout are not supported".to_owned());
    }
    let dtype = dtype_of(view.ctx, ty).ok_or("buffers of this element type are not supported")?;
    let extents = slices::extents(view)?;
    let missing = extents.iter().filter(|extent| extent.is_none()).count();
    if missing != view.body.num_operands(view.op) {
        return Err("it needs an extent for each `?` of its type, and nothing else".to_owned());
    }
    Ok(MemoryOp::Alloc {
        dtype,
        extents,
        on_stack,
    })
}

/// The value of a `memref.global`, whose elements are zero by default.
pub(super) fn global(ctx: &Context, view: OpView<'_>) -> Option<Result<Tensor, String>> {
    if view.name() != memref::Global::NAME {
        return None;
    }
    let ty = view.ty("type")?;
    Some(initial(ctx, view, ty))
}

fn initial(ctx: &Context, view: OpView<'_>, ty: Type) -> Result<Tensor, String> {
    let (shape, _) = ctx.as_shaped(ty).ok_or("a global buffer must have a known rank")?;
    let shape: Result<Vec<usize>, _> = shape.iter().map(|&extent| usize::try_from(extent)).collect();
    let shape = shape.map_err(|_| "a global buffer must have a static shape")?;
    let dtype = dtype_of(ctx, ty).ok_or("buffers of this element type are not supported")?;
    match view.attr("initial_value").map(|value| ctx.attr_data(value)) {
        Some(AttrData::Elements(elements)) => constant_tensor(elements, &shape, dtype),
        _ => Tensor::full(&shape, dtype, 0.0),
    }
}

/// The buffers of a run.
#[derive(Default)]
pub(super) struct Buffers {
    /// The elements of each; nothing when it was given back.
    all: Vec<Option<Tensor>>,
    /// The memory of the list.
    held: Reservation,
    /// The values of the globals of the module.
    initial: FxHashMap<String, Result<Tensor, String>>,
    /// The globals that were asked for.
    globals: FxHashMap<String, Arc<View>>,
}

impl Buffers {
    pub(super) fn new(initial: FxHashMap<String, Result<Tensor, String>>) -> Self {
        Buffers {
            initial,
            ..Buffers::default()
        }
    }

    /// A new buffer with the elements of a tensor.
    pub(super) fn create(&mut self, tensor: &Tensor) -> Result<Value, ExecError> {
        let own = crate::each_type!(tensor.data(), v => unshared(v)).map_err(ExecError::new)?;
        self.add(Tensor::from_parts(tensor.shape().into(), own))
    }

    fn add(&mut self, tensor: Tensor) -> Result<Value, ExecError> {
        let handle = u32::try_from(self.all.len()).map_err(|_| ExecError::new("there are too many buffers"))?;
        self.held.room_for_one(&mut self.all).map_err(ExecError::new)?;
        let sizes: Extents = tensor.shape().iter().map(|&extent| extent as i64).collect();
        let mut strides: Extents = SmallVec::from_elem(1, sizes.len());
        for at in (1..sizes.len()).rev() {
            strides[at - 1] = strides[at].saturating_mul(sizes[at].max(1));
        }
        self.all.push(Some(tensor));
        Ok(Value::Buffer(Arc::new(View {
            handle,
            offset: 0,
            sizes,
            strides,
        })))
    }

    fn elements(&self, view: &View) -> Result<&Tensor, ExecError> {
        let tensor = self.all.get(view.handle as usize).and_then(Option::as_ref);
        tensor.ok_or_else(|| ExecError::new("the buffer was deallocated"))
    }

    /// Gives buffers back that a function has on its stack.
    pub(super) fn leave(&mut self, handles: &mut Vec<u32>) {
        for handle in handles.drain(..) {
            self.all[handle as usize] = None;
        }
    }

    /// The elements of a view.
    pub(super) fn contents(&self, view: &View) -> Result<Tensor, ExecError> {
        let tensor = self.elements(view)?;
        let shape: SmallVec<[usize; 4]> = view.sizes.iter().map(|&extent| extent as usize).collect();
        let count = crate::tensor::checked_count(&shape, tensor.dtype().size()).map_err(ExecError::new)?;
        let data = crate::each_type!(tensor.data(), v => gathered(v, view, count))?;
        Ok(Tensor::from_parts(shape, data))
    }

    /// Runs an operation. Gives its result, if it has one, and notes in `stack` what is given back with the function.
    pub(super) fn run(
        &mut self,
        op: &MemoryOp,
        operands: &[Src],
        env: &[Value],
        stack: &mut Vec<u32>,
    ) -> Result<Option<Value>, ExecError> {
        Ok(match op {
            MemoryOp::Load => {
                let view = view_of(env, operands, 0)?;
                let at = place(view, env, &operands[1..])?;
                let elements = self.elements(view)?;
                let value = crate::each_type!(elements.data(), v => v.get(at).map(|&x| Tensor::scalar(x)));
                Some(Value::Tensor(value.ok_or_else(outside)?))
            }
            MemoryOp::Store => {
                let view = view_of(env, operands, 1)?;
                let at = place(view, env, &operands[2..])?;
                let value = tensor_of(env, operands, 0)?;
                self.elements(view)?;
                if let Some(Some(target)) = self.all.get_mut(view.handle as usize) {
                    crate::each_type!(value.data(), v => put(v, target, at))?;
                }
                None
            }
            MemoryOp::Alloc {
                dtype,
                extents,
                on_stack,
            } => {
                let shape = slices::filled_in(extents, &mut integers(env, operands)?.into_iter());
                let shape = shape.map_err(ExecError::new)?;
                let value = self.add(Tensor::full(&shape, *dtype, 0.0).map_err(ExecError::new)?)?;
                if let (Value::Buffer(view), true) = (&value, on_stack) {
                    stack.push(view.handle);
                }
                Some(value)
            }
            MemoryOp::Dealloc => {
                let view = view_of(env, operands, 0)?;
                self.elements(view)?;
                self.all[view.handle as usize] = None;
                None
            }
            MemoryOp::Dim => {
                let (view, number) = (view_of(env, operands, 0)?, integer(env, operand(operands, 1)?)?);
                let extent = usize::try_from(number).ok().and_then(|at| view.sizes.get(at));
                let extent = extent.ok_or_else(|| {
                    let rank = view.sizes.len();
                    ExecError::new(format!("there is no dimension {number} of {rank}"))
                })?;
                Some(Value::Tensor(Tensor::scalar(*extent)))
            }
            MemoryOp::Rank => {
                let rank = view_of(env, operands, 0)?.sizes.len();
                Some(Value::Tensor(Tensor::scalar(rank as i64)))
            }
            MemoryOp::Copy => {
                let contents = self.contents(view_of(env, operands, 0)?)?;
                self.overwrite(view_of(env, operands, 1)?, &contents)?;
                None
            }
            MemoryOp::Cast(extents) => {
                let view = view_of(env, operands, 0)?;
                let shape: Vec<usize> = view.sizes.iter().map(|&extent| extent as usize).collect();
                slices::fits(extents, &shape).map_err(ExecError::new)?;
                Some(Value::Buffer(shared(env, operands, 0)?))
            }
            MemoryOp::Subview(slice) => {
                let view = view_of(env, operands, 0)?;
                let given = integers(env, operands.get(1..).unwrap_or_default())?;
                Some(Value::Buffer(Arc::new(subview(view, slice, given)?)))
            }
            MemoryOp::Reinterpret(slice) => {
                let view = view_of(env, operands, 0)?;
                let given = integers(env, operands.get(1..).unwrap_or_default())?;
                Some(Value::Buffer(Arc::new(self.reinterpret(view, slice, given)?)))
            }
            MemoryOp::Collapse(groups) => {
                let view = view_of(env, operands, 0)?;
                Some(Value::Buffer(Arc::new(collapsed(view, groups)?)))
            }
            MemoryOp::Expand(groups, extents) => {
                let view = view_of(env, operands, 0)?;
                let given = integers(env, operands.get(1..).unwrap_or_default())?;
                let sizes = slices::filled_in(extents, &mut given.into_iter()).map_err(ExecError::new)?;
                Some(Value::Buffer(Arc::new(expanded(view, groups, &sizes)?)))
            }
            MemoryOp::Select => {
                let holds = tensor_of(env, operands, 0)?.truth();
                let holds = holds.ok_or_else(|| ExecError::new("the condition must be one value of type `i1`"))?;
                Some(Value::Buffer(shared(env, operands, if holds { 1 } else { 2 })?))
            }
            MemoryOp::Global(name) => Some(Value::Buffer(self.global(name)?)),
        })
    }

    fn global(&mut self, name: &str) -> Result<Arc<View>, ExecError> {
        if let Some(view) = self.globals.get(name) {
            return Ok(view.clone());
        }
        let missing = || ExecError::new(format!("there is no global buffer @{name}"));
        let tensor = self.initial.get(name).cloned().ok_or_else(missing)?;
        match self.create(&tensor.map_err(ExecError::new)?)? {
            Value::Buffer(view) => {
                self.globals.insert(name.to_owned(), view.clone());
                Ok(view)
            }
            other => Err(not_a_tensor(&other)),
        }
    }

    fn overwrite(&mut self, view: &View, from: &Tensor) -> Result<(), ExecError> {
        let same = from
            .shape()
            .iter()
            .map(|&extent| extent as i64)
            .eq(view.sizes.iter().copied());
        if !same || self.elements(view)?.dtype() != from.dtype() {
            return Err(ExecError::new(
                "the two buffers must have the same shape and element type",
            ));
        }
        if let Some(Some(target)) = self.all.get_mut(view.handle as usize) {
            crate::each_type!(from.data(), v => scatter(v, target, view))?;
        }
        Ok(())
    }

    fn reinterpret(&self, view: &View, slice: &slices::Slice, given: Vec<i64>) -> Result<View, ExecError> {
        let [offsets, sizes, strides] = slice.lists(&given).map_err(ExecError::new)?;
        let length = self.elements(view)?.len() as i64;
        let &[offset] = offsets.as_slice() else {
            return Err(ExecError::new("it needs one offset"));
        };
        let mut last = Some(offset);
        for (&size, &stride) in sizes.iter().zip(&strides) {
            last = last.and_then(|last| last.checked_add((size - 1).max(0).checked_mul(stride)?));
        }
        let is_empty = sizes.contains(&0);
        let inside = offset >= 0 && last.is_some_and(|last| is_empty || (0..length).contains(&last));
        if !inside || sizes.iter().any(|&size| size < 0) || strides.iter().any(|&stride| stride < 0) {
            return Err(ExecError::new("the view is not within the buffer"));
        }
        Ok(View {
            handle: view.handle,
            offset,
            sizes: sizes.into(),
            strides: strides.into(),
        })
    }
}

fn outside() -> ExecError {
    ExecError::new("the element is not within the buffer")
}

fn operand(operands: &[Src], at: usize) -> Result<Src, ExecError> {
    operands
        .get(at)
        .copied()
        .ok_or_else(|| ExecError::new("an operand is missing"))
}

fn view_of<'e>(env: &'e [Value], operands: &[Src], at: usize) -> Result<&'e View, ExecError> {
    match &env[operand(operands, at)?.slot as usize] {
        Value::Buffer(view) => Ok(view),
        _ => Err(ExecError::new("a buffer was expected")),
    }
}

fn shared(env: &[Value], operands: &[Src], at: usize) -> Result<Arc<View>, ExecError> {
    match &env[operand(operands, at)?.slot as usize] {
        Value::Buffer(view) => Ok(view.clone()),
        _ => Err(ExecError::new("a buffer was expected")),
    }
}

fn tensor_of<'e>(env: &'e [Value], operands: &[Src], at: usize) -> Result<&'e Tensor, ExecError> {
    match &env[operand(operands, at)?.slot as usize] {
        Value::Tensor(tensor) => Ok(tensor),
        other => Err(not_a_tensor(other)),
    }
}

fn integers(env: &[Value], operands: &[Src]) -> Result<Vec<i64>, ExecError> {
    operands.iter().map(|&src| integer(env, src)).collect()
}

/// The place of an element in the buffer.
fn place(view: &View, env: &[Value], indices: &[Src]) -> Result<usize, ExecError> {
    if indices.len() != view.sizes.len() {
        return Err(ExecError::new("it needs an index for each dimension"));
    }
    let mut place = view.offset;
    for (dimension, &src) in indices.iter().enumerate() {
        let (index, extent) = (integer(env, src)?, view.sizes[dimension]);
        if !(0..extent).contains(&index) {
            return Err(ExecError::new(slices::out_of_range(index, dimension, extent)));
        }
        // Views are made within their buffers, so neither overflows.
        place += index * view.strides[dimension];
    }
    usize::try_from(place).map_err(|_| outside())
}

/// Calls `f` with the place of each element of a view, in row-major order.
fn each_place(view: &View, mut f: impl FnMut(usize) -> Result<(), ExecError>) -> Result<(), ExecError> {
    slices::each_place(view.offset, &view.sizes, &view.strides, |place| {
        f(usize::try_from(place).map_err(|_| outside())?)
    })
}

fn unshared<T: Element>(values: &[T]) -> Result<Data, String> {
    Ok(T::wrap(buffer::gathered(values.iter().copied())?))
}

fn gathered<T: Element>(values: &[T], view: &View, count: usize) -> Result<Data, ExecError> {
    let mut places = Vec::with_capacity(count);
    each_place(view, |place| {
        places.push(*values.get(place).ok_or_else(outside)?);
        Ok(())
    })?;
    let values = buffer::gathered(places.into_iter()).map_err(ExecError::new)?;
    Ok(T::wrap(values))
}

fn put<T: Element>(value: &[T], target: &mut Tensor, at: usize) -> Result<(), ExecError> {
    let elements = target
        .unique::<T>()
        .ok_or_else(|| ExecError::new("the value has another type"))?;
    let (element, value) = (elements.get_mut(at).ok_or_else(outside)?, value.first());
    *element = *value.ok_or_else(|| ExecError::new("a number was expected"))?;
    Ok(())
}

fn scatter<T: Element>(values: &[T], target: &mut Tensor, view: &View) -> Result<(), ExecError> {
    let elements = target
        .unique::<T>()
        .ok_or_else(|| ExecError::new("the value has another type"))?;
    let mut values = values.iter();
    each_place(view, |place| {
        if let Some(&value) = values.next() {
            *elements.get_mut(place).ok_or_else(outside)? = value;
        }
        Ok(())
    })
}

/// A part of a view, which must be within it.
fn subview(view: &View, slice: &slices::Slice, given: Vec<i64>) -> Result<View, ExecError> {
    let lists = slice.lists(&given).map_err(ExecError::new)?;
    slices::within(&lists, &view.sizes).map_err(ExecError::new)?;
    let [offsets, sizes, steps] = lists;
    let mut part = View {
        handle: view.handle,
        offset: view.offset,
        sizes: Extents::new(),
        strides: Extents::new(),
    };
    let is_kept = slice.kept().map_err(ExecError::new)?;
    for (at, is_kept) in is_kept.into_iter().enumerate() {
        part.offset += offsets[at] * view.strides[at];
        if is_kept {
            part.sizes.push(sizes[at]);
            part.strides.push(steps[at].saturating_mul(view.strides[at]));
        }
    }
    Ok(part)
}

/// A view with fewer dimensions: those of a group lie in the buffer as one.
fn collapsed(view: &View, groups: &[Vec<usize>]) -> Result<View, ExecError> {
    let mut result = View {
        handle: view.handle,
        offset: view.offset,
        sizes: Extents::new(),
        strides: Extents::new(),
    };
    for group in groups {
        let (mut size, mut stride) = (1_i64, 1_i64);
        for &at in group.iter().rev() {
            let (&extent, &step) = view.sizes.get(at).zip(view.strides.get(at)).ok_or_else(no_dimension)?;
            // Where there is one element, its stride does not matter.
            if extent != 1 {
                match size {
                    1 => stride = step,
                    _ if step == stride.saturating_mul(size) => {}
                    _ => return Err(ExecError::new("the dimensions that are merged are not contiguous")),
                }
                size = size.saturating_mul(extent);
            }
        }
        result.sizes.push(size);
        result.strides.push(stride);
    }
    Ok(result)
}

/// A view with more dimensions.
fn expanded(view: &View, groups: &[Vec<usize>], sizes: &[usize]) -> Result<View, ExecError> {
    let mut strides: Extents = SmallVec::from_elem(1, sizes.len());
    for (at, group) in groups.iter().enumerate() {
        let (&extent, &step) = view.sizes.get(at).zip(view.strides.get(at)).ok_or_else(no_dimension)?;
        let (mut count, mut stride) = (1_i64, step);
        for &at in group.iter().rev() {
            let &size = sizes.get(at).ok_or_else(no_dimension)?;
            strides[at] = stride;
            count = count.saturating_mul(size as i64);
            stride = stride.saturating_mul(size as i64);
        }
        if count != extent {
            return Err(ExecError::new(format!("{extent} elements cannot be {count} elements")));
        }
    }
    Ok(View {
        handle: view.handle,
        offset: view.offset,
        sizes: sizes.iter().map(|&size| size as i64).collect(),
        strides,
    })
}

fn no_dimension() -> ExecError {
    ExecError::new("`reassociation` names a dimension that does not exist")
}
