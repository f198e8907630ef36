//! Tensors as the real numbers that are varied: of complex ones both parts.

use pir_interp::tensor::Complex;
use pir_interp::{DType, Tensor};

/// The numbers of a tensor; of complex ones the real part of each is followed by the imaginary one.
pub(super) fn of(tensor: &Tensor) -> Vec<f64> {
    match tensor.view::<Complex<f64>>() {
        Some(values) => values.iter().flat_map(|v| [v.re, v.im]).collect(),
        None => tensor.to_f64(),
    }
}

/// The derivatives in these numbers. The cotangent of a complex number is multiplied with its tangent, and the real part of the
/// product is the change.
pub(super) fn of_gradient(tensor: &Tensor) -> Vec<f64> {
    match tensor.view::<Complex<f64>>() {
        Some(values) => values.iter().flat_map(|v| [v.re, -v.im]).collect(),
        None => tensor.to_f64(),
    }
}

/// The tensor of these numbers, of the shape and the type of another.
pub(super) fn back(like: &Tensor, numbers: Vec<f64>) -> Result<Tensor, String> {
    match like.dtype() {
        DType::C128 => {
            let pairs = numbers.as_chunks().0.iter().map(|&[re, im]| Complex::new(re, im));
            Tensor::new(like.shape(), pairs.collect::<Vec<Complex<f64>>>())
        }
        _ => Tensor::new(like.shape(), numbers),
    }
}

/// The shape of these numbers.
pub(super) fn shape(tensor: &Tensor) -> Vec<usize> {
    let parts = tensor.dtype().is_complex().then_some(2);
    tensor.shape().iter().copied().chain(parts).collect()
}
