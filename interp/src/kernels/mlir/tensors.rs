//! Kernels of `tensor`. A place outside of a tensor is an error.

use pir_dialects::mlir::tensor;
use pir_ir::{AttrData, OpView};

use super::super::slices::{Slice, each_place, extents, filled_in, fits, out_of_range, within};
use crate::kernels::{Kernel, Outputs, Prepare, Spec, one, take};
use crate::tensor::buffer::gathered;
use crate::tensor::{Data, Element, Shape, Tensor};

pub(in crate::kernels) const KERNELS: &[(&str, Prepare)] = &[
    (tensor::Cast::NAME, cast),
    (tensor::CollapseShape::NAME, collapse),
    (tensor::Dim::NAME, |_| Ok(Box::new(|inputs| dim(take(inputs)?)))),
    (tensor::Empty::NAME, empty),
    (tensor::ExpandShape::NAME, expand),
    (tensor::Extract::NAME, |_| {
        Ok(Box::new(|inputs| {
            let (tensor, indices) = inputs.split_first().ok_or("an operand is missing")?;
            let at = place(tensor, indices)?;
            one(crate::each_type!(tensor.data(), v => Tensor::scalar(v[at])))
        }))
    }),
    (tensor::ExtractSlice::NAME, extract_slice),
    (tensor::FromElements::NAME, from_elements),
    (tensor::Insert::NAME, |_| {
        Ok(Box::new(|inputs| insert(inputs.into_iter().collect())))
    }),
    (tensor::InsertSlice::NAME, insert_slice),
    (tensor::Rank::NAME, |_| {
        Ok(Box::new(|inputs| {
            let [x] = take(inputs)?;
            one(Tensor::scalar(x.rank() as i64))
        }))
    }),
    (tensor::Reshape::NAME, reshape),
    (tensor::Splat::NAME, splat),
];

fn number(tensor: &Tensor) -> Result<i64, String> {
    match tensor.len() {
        1 => Ok(crate::each_type!(tensor.data(), v => v[0].to_i64())),
        _ => Err("a single integer was expected".to_owned()),
    }
}

fn integers(tensors: &[Tensor]) -> Result<Vec<i64>, String> {
    tensors.iter().map(number).collect()
}

/// The place of an element.
fn place(tensor: &Tensor, indices: &[Tensor]) -> Result<usize, String> {
    if indices.len() != tensor.rank() {
        return Err("it needs an index for each dimension".to_owned());
    }
    let mut place = 0;
    for (dimension, (index, &extent)) in indices.iter().zip(tensor.shape()).enumerate() {
        let index = number(index)?;
        let at = usize::try_from(index).ok().filter(|&at| at < extent);
        place = place * extent + at.ok_or_else(|| out_of_range(index, dimension, extent as i64))?;
    }
    Ok(place)
}

fn cast(s: &Spec<'_>) -> Result<Kernel, String> {
    let extents = extents(s.view)?;
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        fits(&extents, x.shape())?;
        one(x)
    }))
}

fn dim([tensor, index]: [Tensor; 2]) -> Result<Outputs, String> {
    let index = number(&index)?;
    let extent = usize::try_from(index).ok().and_then(|at| tensor.shape().get(at));
    let extent = extent.ok_or_else(|| format!("there is no dimension {index} of {}", tensor.rank()))?;
    one(Tensor::scalar(*extent as i64))
}

fn empty(s: &Spec<'_>) -> Result<Kernel, String> {
    let (extents, dtype) = (extents(s.view)?, s.result_dtype(0)?);
    Ok(Box::new(move |inputs| {
        let shape = filled_in(&extents, &mut integers(&inputs)?.into_iter())?;
        one(Tensor::full(&shape, dtype, 0.0)?)
    }))
}

fn splat(s: &Spec<'_>) -> Result<Kernel, String> {
    let extents = extents(s.view)?;
    Ok(Box::new(move |inputs| {
        let (value, dims) = inputs.split_first().ok_or("an operand is missing")?;
        let shape = filled_in(&extents, &mut integers(dims)?.into_iter())?;
        let count = crate::tensor::checked_count(&shape, value.dtype().size())?;
        fn repeated<T: Element>(value: &[T], count: usize) -> Result<Data, String> {
            let &[value] = value else {
                return Err("a number was expected".to_owned());
            };
            Ok(T::wrap(gathered(std::iter::repeat_n(value, count))?))
        }
        let data = crate::each_type!(value.data(), v => repeated(v, count))?;
        one(Tensor::from_parts(shape, data))
    }))
}

fn from_elements(s: &Spec<'_>) -> Result<Kernel, String> {
    let (extents, dtype) = (extents(s.view)?, s.result_dtype(0)?);
    let shape = filled_in(&extents, &mut std::iter::empty())?;
    Ok(Box::new(move |inputs| {
        if inputs.is_empty() {
            return one(Tensor::full(&shape, dtype, 0.0)?);
        }
        let parts: Result<Vec<Tensor>, String> = inputs.into_iter().map(|x| x.reshaped(&[1])).collect();
        one(crate::kernels::join(&parts?, 0)?.reshaped(&shape)?)
    }))
}

fn insert(mut inputs: Vec<Tensor>) -> Result<Outputs, String> {
    if inputs.len() < 2 {
        return Err("an operand is missing".to_owned());
    }
    let indices = inputs.split_off(2);
    let (Some(dest), Some(scalar)) = (inputs.pop(), inputs.pop()) else {
        return Err("an operand is missing".to_owned());
    };
    let at = place(&dest, &indices)?;
    let (shape, data) = dest.into_parts();
    fn with<T: Element>(data: Data, scalar: &[T], at: usize) -> Result<Data, String> {
        let mut values = T::take(data)?.ok_or("the element has another type")?;
        let &[scalar] = scalar else {
            return Err("a number was expected".to_owned());
        };
        *values
            .get_mut(at)
            .ok_or("the index is out of the bounds of the tensor")? = scalar;
        Ok(T::wrap(values))
    }
    let data = crate::each_type!(scalar.data(), v => with(data, v, at))?;
    one(Tensor::from_parts(shape, data))
}

fn reshape(s: &Spec<'_>) -> Result<Kernel, String> {
    let extents = extents(s.view)?;
    Ok(Box::new(move |inputs| {
        let [x, shape] = take(inputs)?;
        let shape = crate::kernels::dims(&shape.to_i64())?;
        fits(&extents, &shape)?;
        one(x.reshaped(&shape)?)
    }))
}

/// The groups of dimensions that become one.
pub(crate) fn groups(view: OpView<'_>) -> Result<Vec<Vec<usize>>, String> {
    let wrong = || "`reassociation` must be a list of lists of dimensions".to_owned();
    let attr = view.attr("reassociation").ok_or_else(wrong)?;
    let AttrData::Array(groups) = view.ctx.attr_data(attr) else {
        return Err(wrong());
    };
    let index = |number: i64| usize::try_from(number).map_err(|_| wrong());
    groups
        .iter()
        .map(|&group| match view.ctx.attr_data(group) {
            AttrData::Ints(list) => list.iter().map(|&number| index(number)).collect(),
            AttrData::Array(items) => items
                .iter()
                .map(|&item| index(view.ctx.attr_int(item).ok_or_else(wrong)?))
                .collect(),
            _ => Err(wrong()),
        })
        .collect()
}

fn collapse(s: &Spec<'_>) -> Result<Kernel, String> {
    let (groups, extents) = (groups(s.view)?, extents(s.view)?);
    Ok(Box::new(move |inputs| {
        let [x] = take(inputs)?;
        let extent = |group: &Vec<usize>| {
            group
                .iter()
                .map(|&at| x.shape().get(at).copied())
                .product::<Option<usize>>()
        };
        let shape: Option<Shape> = groups.iter().map(extent).collect();
        let shape = shape.ok_or("`reassociation` names a dimension that does not exist")?;
        fits(&extents, &shape)?;
        one(x.reshaped(&shape)?)
    }))
}

fn expand(s: &Spec<'_>) -> Result<Kernel, String> {
    let extents = extents(s.view)?;
    Ok(Box::new(move |inputs| {
        let (x, given) = inputs.split_first().ok_or("an operand is missing")?;
        let shape = filled_in(&extents, &mut integers(given)?.into_iter())?;
        one(x.clone().reshaped(&shape)?)
    }))
}

/// The places of a part in a tensor, in row-major order.
fn places(lists: &[Vec<i64>; 3], shape: &[usize]) -> Result<Vec<usize>, String> {
    let extents: Vec<i64> = shape.iter().map(|&extent| extent as i64).collect();
    within(lists, &extents)?;
    let [offsets, sizes, steps] = lists;
    let counts = crate::kernels::dims(sizes)?;
    let count = crate::tensor::checked_count(&counts, size_of::<usize>())?;
    // The stride of each dimension.
    let (mut first, mut strides, mut row) = (0, steps.clone(), 1);
    for at in (0..extents.len()).rev() {
        first += offsets[at] * row;
        strides[at] = strides[at].wrapping_mul(row);
        row *= extents[at];
    }
    let mut places = Vec::with_capacity(count);
    each_place(first, sizes, &strides, |place| {
        places.push(usize::try_from(place).map_err(|_| "an index is out of the bounds of the tensor".to_owned())?);
        Ok::<(), String>(())
    })?;
    Ok(places)
}

fn extract_slice(s: &Spec<'_>) -> Result<Kernel, String> {
    let slice = Slice::new(s.view, s.view.result_type(0))?;
    Ok(Box::new(move |inputs| {
        let (x, given) = inputs.split_first().ok_or("an operand is missing")?;
        let lists = slice.lists(&integers(given)?)?;
        let places = places(&lists, x.shape())?;
        let kept = slice.kept()?.into_iter().zip(&lists[1]);
        let sizes: Vec<i64> = kept.filter(|(kept, _)| *kept).map(|(_, &size)| size).collect();
        let shape = crate::kernels::dims(&sizes)?;
        fn picked<T: Element>(values: &[T], places: &[usize]) -> Result<Data, String> {
            Ok(T::wrap(gathered(places.iter().map(|&at| values[at]))?))
        }
        let data = crate::each_type!(x.data(), v => picked(v, &places))?;
        one(Tensor::from_parts(shape, data))
    }))
}

fn insert_slice(s: &Spec<'_>) -> Result<Kernel, String> {
    let slice = Slice::new(s.view, s.view.operand_type(0))?;
    Ok(Box::new(move |mut inputs| {
        if inputs.len() < 2 {
            return Err("an operand is missing".to_owned());
        }
        let given = integers(&inputs[2..])?;
        inputs.truncate(2);
        let [source, dest] = take(inputs)?;
        let lists = slice.lists(&given)?;
        let places = places(&lists, dest.shape())?;
        if places.len() != source.len() {
            return Err("the slice and the inserted tensor have different extents".to_owned());
        }
        let (shape, data) = dest.into_parts();
        fn with<T: Element>(data: Data, source: &[T], places: &[usize]) -> Result<Data, String> {
            let mut values = T::take(data)?.ok_or("the elements have another type")?;
            for (&at, &value) in places.iter().zip(source) {
                *values
                    .get_mut(at)
                    .ok_or("the index is out of the bounds of the tensor")? = value;
            }
            Ok(T::wrap(values))
        }
        let data = crate::each_type!(source.data(), v => with(data, v, &places))?;
        one(Tensor::from_parts(shape, data))
    }))
}
