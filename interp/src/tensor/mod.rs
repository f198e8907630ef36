//! Tensors: a shape and a shared, row-major buffer of one of fifteen element types.

pub(crate) mod buffer;
mod complex;
mod convert;
mod display;
mod element;
pub(crate) mod subnormal;

use std::sync::atomic::{AtomicUsize, Ordering};

use half::{bf16, f16};
use smallvec::SmallVec;

pub use buffer::{Buffer, Local, Pool, Storage};
pub use complex::{Complex, Part};
pub use element::Element;
pub(crate) use element::{of_rank, rank};

/// The extents of the dimensions; empty for a scalar.
pub type Shape = SmallVec<[usize; 4]>;

/// The default of [`set_max_bytes`].
pub const DEFAULT_MAX_BYTES: usize = 1 << 33;

static MAX_BYTES: AtomicUsize = AtomicUsize::new(DEFAULT_MAX_BYTES);

/// The maximal size of a tensor: a mistaken shape must not exhaust the machine's memory.
pub fn max_bytes() -> usize {
    MAX_BYTES.load(Ordering::Relaxed)
}

/// Sets the maximal size of a tensor, for the whole process.
pub fn set_max_bytes(limit: usize) {
    MAX_BYTES.store(limit, Ordering::Relaxed);
}

/// The type of the elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DType {
    /// Booleans.
    I1,
    /// Signed integers of 8 bits.
    I8,
    /// Signed integers of 16 bits.
    I16,
    /// Signed integers of 32 bits.
    I32,
    /// Signed integers of 64 bits; also `index`.
    I64,
    /// Unsigned integers of 8 bits.
    UI8,
    /// Unsigned integers of 16 bits.
    UI16,
    /// Unsigned integers of 32 bits.
    UI32,
    /// Unsigned integers of 64 bits.
    UI64,
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Complex numbers of two single precision parts.
    C64,
    /// Complex numbers of two double precision parts.
    C128,
}

impl DType {
    /// The size of an element in bytes.
    pub fn size(self) -> usize {
        match self {
            DType::I1 | DType::I8 | DType::UI8 => 1,
            DType::I16 | DType::UI16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::UI32 | DType::F32 => 4,
            DType::I64 | DType::UI64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// Whether the elements are floats.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// Whether the elements are integers; truth values are not.
    pub fn is_integer(self) -> bool {
        !self.is_float() && !self.is_complex() && self != DType::I1
    }

    /// Whether the elements are complex numbers.
    pub fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }

    /// The name in the text format.
    pub fn name(self) -> &'static str {
        match self {
            DType::I1 => "i1",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::UI8 => "ui8",
            DType::UI16 => "ui16",
            DType::UI32 => "ui32",
            DType::UI64 => "ui64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::C64 => "complex<f32>",
            DType::C128 => "complex<f64>",
        }
    }
}

/// The elements in row-major order.
#[derive(Clone, Debug)]
pub enum Data {
    /// `i1`.
    I1(Buffer<bool>),
    /// `i8`.
    I8(Buffer<i8>),
    /// `i16`.
    I16(Buffer<i16>),
    /// `i32`.
    I32(Buffer<i32>),
    /// `i64`.
    I64(Buffer<i64>),
    /// `ui8`.
    UI8(Buffer<u8>),
    /// `ui16`.
    UI16(Buffer<u16>),
    /// `ui32`.
    UI32(Buffer<u32>),
    /// `ui64`.
    UI64(Buffer<u64>),
    /// `f16`.
    F16(Buffer<f16>),
    /// `bf16`.
    BF16(Buffer<bf16>),
    /// `f32`.
    F32(Buffer<f32>),
    /// `f64`.
    F64(Buffer<f64>),
    /// `complex<f32>`.
    C64(Buffer<Complex<f32>>),
    /// `complex<f64>`.
    C128(Buffer<Complex<f64>>),
}

/// Runs the same code for any element type.
#[macro_export]
macro_rules! each_type {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            $crate::tensor::Data::I1($v) => $body,
            $crate::tensor::Data::I8($v) => $body,
            $crate::tensor::Data::I16($v) => $body,
            $crate::tensor::Data::I32($v) => $body,
            $crate::tensor::Data::I64($v) => $body,
            $crate::tensor::Data::UI8($v) => $body,
            $crate::tensor::Data::UI16($v) => $body,
            $crate::tensor::Data::UI32($v) => $body,
            $crate::tensor::Data::UI64($v) => $body,
            $crate::tensor::Data::F16($v) => $body,
            $crate::tensor::Data::BF16($v) => $body,
            $crate::tensor::Data::F32($v) => $body,
            $crate::tensor::Data::F64($v) => $body,
            $crate::tensor::Data::C64($v) => $body,
            $crate::tensor::Data::C128($v) => $body,
        }
    };
}

/// A tensor. Cloning shares the elements.
#[derive(Debug)]
pub struct Tensor {
    shape: Shape,
    data: Data,
}

/// The number of elements of a shape, if a tensor may have that many of `size` bytes.
///
/// # Errors
/// If the tensor would be larger than [`max_bytes`].
pub fn checked_count(shape: &[usize], size: usize) -> Result<usize, String> {
    // An extent of 0 makes the tensor empty, but the other extents are multiplied and iterated as well, so they must
    // fit.
    let (mut extent, mut empty) = (Some(size), false);
    for &d in shape {
        empty |= d == 0;
        extent = extent.and_then(|n| n.checked_mul(d.max(1)));
    }
    let limit = max_bytes();
    match extent {
        Some(bytes) if empty && bytes <= isize::MAX as usize => Ok(0),
        Some(bytes) if !empty && bytes <= limit => Ok(bytes / size.max(1)),
        _ => Err(format!(
            "a tensor of shape {shape:?} would be larger than the limit of {limit} bytes"
        )),
    }
}

impl Clone for Tensor {
    fn clone(&self) -> Self {
        // The clone of a list goes number by number.
        let shape = Shape::from_slice(&self.shape);
        let data = self.data.clone();
        Tensor { shape, data }
    }
}

impl Tensor {
    /// A tensor of elements in row-major order.
    ///
    /// # Errors
    /// If their number does not match the shape, or the budget is exceeded.
    pub fn new<T: Element>(shape: &[usize], values: Vec<T>) -> Result<Tensor, String> {
        Self::of(shape, Storage::adopt(values)?)
    }

    /// A tensor whose elements are computed in order; their memory is reserved first.
    ///
    /// # Errors
    /// If the tensor would be too large, or computing an element fails.
    pub fn generated<T: Element>(
        shape: &[usize],
        mut next: impl FnMut() -> Result<T, String>,
    ) -> Result<Tensor, String> {
        let count = checked_count(shape, T::DTYPE.size())?;
        let mut values = buffer::room(count)?;
        for _ in 0..count {
            values.push(next()?);
        }
        Self::of(shape, values)
    }

    /// A tensor of elements whose memory is already reserved.
    ///
    /// # Errors
    /// If their number does not match the shape.
    pub fn of<T: Element>(shape: &[usize], values: Storage<T>) -> Result<Tensor, String> {
        let count = checked_count(shape, T::DTYPE.size())?;
        if count != values.len() {
            return Err(format!("expected {count} elements, found {}", values.len()));
        }
        Ok(Tensor {
            shape: shape.into(),
            data: T::wrap(values),
        })
    }

    /// The same for a matching shape.
    pub(crate) fn from_parts(shape: Shape, data: Data) -> Tensor {
        Tensor { shape, data }
    }

    /// A scalar.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor {
            shape: Shape::new(),
            data: T::wrap(buffer::one(value)),
        }
    }

    /// A tensor of one number, converted to the element type.
    ///
    /// # Errors
    /// If it would be too large.
    pub fn full(shape: &[usize], dtype: DType, value: f64) -> Result<Tensor, String> {
        let count = checked_count(shape, dtype.size())?;
        macro_rules! fill {
            ($ty:ty) => {
                <$ty>::wrap(buffer::filled(count, <$ty>::from_f64(value))?)
            };
        }
        let data = match dtype {
            DType::I1 => fill!(bool),
            DType::I8 => fill!(i8),
            DType::I16 => fill!(i16),
            DType::I32 => fill!(i32),
            DType::I64 => fill!(i64),
            DType::UI8 => fill!(u8),
            DType::UI16 => fill!(u16),
            DType::UI32 => fill!(u32),
            DType::UI64 => fill!(u64),
            DType::F16 => fill!(f16),
            DType::BF16 => fill!(bf16),
            DType::F32 => fill!(f32),
            DType::F64 => fill!(f64),
            DType::C64 => fill!(Complex<f32>),
            DType::C128 => fill!(Complex<f64>),
        };
        Ok(Tensor {
            shape: shape.into(),
            data,
        })
    }

    /// The extents of the dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// The elements.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Shape and elements.
    pub fn into_parts(self) -> (Shape, Data) {
        (self.shape, self.data)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        each_type!(&self.data, v => v.len())
    }

    /// Whether the tensor has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the elements in bytes.
    pub fn bytes(&self) -> usize {
        self.len() * self.dtype().size()
    }

    /// The elements, if they have this type.
    pub fn view<T: Element>(&self) -> Option<&[T]> {
        T::view(&self.data)
    }

    /// Moves the elements out, if they have this type and are unshared; the tensor has none then.
    pub(crate) fn moved_out<T: Element>(&mut self) -> Option<Buffer<T>> {
        T::place(&mut self.data)
            .filter(|values| values.is_unique())
            .map(std::mem::take)
    }

    /// Gives a tensor elements in place of those that were [moved out](Tensor::moved_out), as many of the same type.
    pub(crate) fn moved_in<T: Element>(&mut self, values: Buffer<T>) {
        if let Some(place) = T::place(&mut self.data) {
            *place = values;
        }
    }

    /// The elements for writing, if they have this type and are unshared.
    pub(crate) fn unique<T: Element>(&mut self) -> Option<&mut [T]> {
        T::unique(&mut self.data)
    }

    /// The elements as floats.
    pub fn to_f64(&self) -> Vec<f64> {
        each_type!(&self.data, v => v.iter().map(|&x| x.to_f64()).collect())
    }

    /// The elements as integers.
    pub fn to_i64(&self) -> Vec<i64> {
        each_type!(&self.data, v => v.iter().map(|&x| x.to_i64()).collect())
    }

    /// The elements as floats, in a buffer that may be shared.
    pub(crate) fn doubles(&self) -> Result<Buffer<f64>, String> {
        self.data.doubles()
    }

    /// The elements as floats, in an unshared buffer.
    pub(crate) fn own_doubles(&self) -> Result<Storage<f64>, String> {
        self.data.own_doubles()
    }

    /// The elements as integers that are ordered as they are.
    pub(crate) fn ranks(&self) -> Result<Buffer<i64>, String> {
        self.data.ranks()
    }

    /// The elements as integers, in a buffer that may be shared.
    pub(crate) fn wholes(&self) -> Result<Buffer<i64>, String> {
        self.data.wholes()
    }

    /// The only element as a boolean.
    pub fn truth(&self) -> Option<bool> {
        match self.view::<bool>() {
            Some(&[one]) => Some(one),
            _ => None,
        }
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    /// If the number of elements differs.
    pub fn reshaped(self, shape: &[usize]) -> Result<Tensor, String> {
        let count = checked_count(shape, 1)?;
        if count != self.len() {
            return Err(format!("expected {count} elements, found {}", self.len()));
        }
        Ok(Tensor {
            shape: shape.into(),
            data: self.data,
        })
    }

    /// The real and the imaginary parts, if the elements are complex numbers.
    ///
    /// # Errors
    /// If the budget is exceeded.
    pub fn parts(&self) -> Result<Option<(Tensor, Tensor)>, String> {
        macro_rules! part {
            ($values:expr, $part:ident) => {{
                let data = Element::wrap(buffer::gathered($values.iter().map(|v| v.$part))?);
                Tensor::from_parts(self.shape.clone(), data)
            }};
        }
        Ok(match &self.data {
            Data::C64(values) => Some((part!(values, re), part!(values, im))),
            Data::C128(values) => Some((part!(values, re), part!(values, im))),
            _ => None,
        })
    }

    /// The complex numbers of real and imaginary parts.
    ///
    /// # Errors
    /// If these are not floats of one type and shape, or the budget is exceeded.
    pub fn of_parts(re: &Tensor, im: &Tensor) -> Result<Tensor, String> {
        fn pairs<T: Part>(re: &[T], im: &[T]) -> Result<Storage<Complex<T>>, String>
        where
            Complex<T>: Element,
        {
            buffer::gathered(re.iter().zip(im).map(|(&re, &im)| Complex::new(re, im)))
        }
        let data = match (&re.data, &im.data) {
            _ if re.shape != im.shape => return Err("the parts have different shapes".to_owned()),
            (Data::F32(re), Data::F32(im)) => Element::wrap(pairs(re, im)?),
            (Data::F64(re), Data::F64(im)) => Element::wrap(pairs(re, im)?),
            _ => return Err("the parts of complex numbers must be both `f32` or both `f64`".to_owned()),
        };
        Ok(Tensor::from_parts(re.shape.clone(), data))
    }

    /// Converts every element; of a complex number that becomes a real one the imaginary part is lost.
    ///
    /// # Errors
    /// If the budget is exceeded.
    pub fn cast(&self, dtype: DType) -> Result<Tensor, String> {
        let data = self.data.cast(dtype)?;
        Ok(Tensor {
            shape: self.shape.clone(),
            data,
        })
    }

    /// Whether shape, type and bits are equal.
    pub fn same_bits(&self, other: &Tensor) -> bool {
        if self.shape != other.shape || self.dtype() != other.dtype() {
            return false;
        }
        match (&self.data, &other.data) {
            (Data::F16(a), Data::F16(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::BF16(a), Data::BF16(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::F32(a), Data::F32(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::F64(a), Data::F64(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::C64(a), Data::C64(b)) => a.iter().zip(&**b).all(|(x, y)| x.bits() == y.bits()),
            (Data::C128(a), Data::C128(b)) => a.iter().zip(&**b).all(|(x, y)| x.bits() == y.bits()),
            _ => self.to_i64() == other.to_i64(),
        }
    }
}
