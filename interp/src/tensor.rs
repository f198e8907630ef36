//! Tensors: a shape and a shared, row-major buffer of one of ten element types.

use std::fmt;
use std::sync::Arc;

use half::{bf16, f16};
use smallvec::SmallVec;

/// The extents of the dimensions; none for a scalar.
pub type Shape = SmallVec<[usize; 4]>;

/// No tensor has more bytes: a shape that is asked for by mistake must not take the machine down.
pub const MAX_BYTES: usize = 1 << 36;

/// The type of the elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DType {
    /// Truth values.
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
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

impl DType {
    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            DType::I1 | DType::I8 | DType::UI8 => 1,
            DType::I16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// Whether the elements are floats.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
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
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }
}

/// The elements, row by row.
#[derive(Clone, Debug)]
pub enum Data {
    /// `i1`.
    I1(Arc<Vec<bool>>),
    /// `i8`.
    I8(Arc<Vec<i8>>),
    /// `i16`.
    I16(Arc<Vec<i16>>),
    /// `i32`.
    I32(Arc<Vec<i32>>),
    /// `i64`.
    I64(Arc<Vec<i64>>),
    /// `ui8`.
    UI8(Arc<Vec<u8>>),
    /// `f16`.
    F16(Arc<Vec<f16>>),
    /// `bf16`.
    BF16(Arc<Vec<bf16>>),
    /// `f32`.
    F32(Arc<Vec<f32>>),
    /// `f64`.
    F64(Arc<Vec<f64>>),
}

/// Runs the same code for whatever the elements are.
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
            $crate::tensor::Data::F16($v) => $body,
            $crate::tensor::Data::BF16($v) => $body,
            $crate::tensor::Data::F32($v) => $body,
            $crate::tensor::Data::F64($v) => $body,
        }
    };
}

/// An element type, and how its values become others.
pub trait Element: Copy + Default + PartialEq + Send + Sync + 'static {
    /// Its name.
    const DTYPE: DType;
    /// From a float: truncated towards zero for integers, not zero for truth values.
    fn from_f64(value: f64) -> Self;
    /// From an integer.
    fn from_i64(value: i64) -> Self;
    /// As a float.
    fn to_f64(self) -> f64;
    /// As an integer; floats are truncated.
    fn to_i64(self) -> i64;
    /// Wraps a buffer.
    fn wrap(values: Vec<Self>) -> Data;
    /// The buffer, if it has these elements.
    fn view(data: &Data) -> Option<&[Self]>;
    /// The buffer alone, if it has these elements; copied if others share it.
    fn take(data: Data) -> Option<Vec<Self>>;
}

macro_rules! element {
    ($ty:ty, $variant:ident, $from_f64:expr, $from_i64:expr, $to_f64:expr, $to_i64:expr) => {
        impl Element for $ty {
            const DTYPE: DType = DType::$variant;

            #[inline]
            fn from_f64(value: f64) -> Self {
                $from_f64(value)
            }

            #[inline]
            fn from_i64(value: i64) -> Self {
                $from_i64(value)
            }

            #[inline]
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }

            #[inline]
            fn to_i64(self) -> i64 {
                $to_i64(self)
            }

            fn wrap(values: Vec<Self>) -> Data {
                Data::$variant(Arc::new(values))
            }

            fn view(data: &Data) -> Option<&[Self]> {
                match data {
                    Data::$variant(values) => Some(values),
                    _ => None,
                }
            }

            fn take(data: Data) -> Option<Vec<Self>> {
                match data {
                    Data::$variant(values) => Some(Arc::try_unwrap(values).unwrap_or_else(|shared| (*shared).clone())),
                    _ => None,
                }
            }
        }
    };
}

element!(
    bool,
    I1,
    |v: f64| v != 0.0,
    |v: i64| v != 0,
    |v: bool| f64::from(u8::from(v)),
    |v: bool| i64::from(v)
);
element!(
    i8,
    I8,
    |v: f64| v as i64 as i8,
    |v: i64| v as i8,
    |v: i8| f64::from(v),
    |v: i8| i64::from(v)
);
element!(
    i16,
    I16,
    |v: f64| v as i64 as i16,
    |v: i64| v as i16,
    |v: i16| f64::from(v),
    |v: i16| i64::from(v)
);
element!(
    i32,
    I32,
    |v: f64| v as i64 as i32,
    |v: i64| v as i32,
    |v: i32| f64::from(v),
    |v: i32| i64::from(v)
);
element!(i64, I64, |v: f64| v as i64, |v: i64| v, |v: i64| v as f64, |v: i64| v);
element!(
    u8,
    UI8,
    |v: f64| v as i64 as u8,
    |v: i64| v as u8,
    |v: u8| f64::from(v),
    |v: u8| i64::from(v)
);
element!(
    f16,
    F16,
    f16::from_f64,
    |v: i64| f16::from_f64(v as f64),
    |v: f16| v.to_f64(),
    |v: f16| v.to_f64() as i64
);
element!(
    bf16,
    BF16,
    bf16::from_f64,
    |v: i64| bf16::from_f64(v as f64),
    |v: bf16| v.to_f64(),
    |v: bf16| v.to_f64() as i64
);
element!(
    f32,
    F32,
    |v: f64| v as f32,
    |v: i64| v as f32,
    |v: f32| f64::from(v),
    |v: f32| v as i64
);
element!(f64, F64, |v: f64| v, |v: i64| v as f64, |v: f64| v, |v: f64| v as i64);

/// A tensor. Cloning shares the elements.
#[derive(Clone, Debug)]
pub struct Tensor {
    shape: Shape,
    data: Data,
}

/// The number of elements of a shape, if a tensor may have so many of `size` bytes.
///
/// # Errors
/// When the tensor would be larger than [`MAX_BYTES`].
pub fn checked_count(shape: &[usize], size: usize) -> Result<usize, String> {
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    // A dimension of zero makes everything empty, however large the others are.
    let count = if shape.contains(&0) { Some(0) } else { count };
    count
        .filter(|n| n.checked_mul(size).is_some_and(|b| b <= MAX_BYTES))
        .ok_or_else(|| {
            let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
            format!(
                "a tensor of shape [{}] would be larger than {} GiB",
                dims.join(", "),
                MAX_BYTES >> 30
            )
        })
}

impl Tensor {
    /// A tensor of elements, row by row.
    ///
    /// # Errors
    /// When their number is not that of the shape.
    pub fn new<T: Element>(shape: &[usize], values: Vec<T>) -> Result<Tensor, String> {
        let count = checked_count(shape, T::DTYPE.size())?;
        if count != values.len() {
            return Err(format!("{} elements for a shape of {count}", values.len()));
        }
        Ok(Tensor {
            shape: shape.into(),
            data: T::wrap(values),
        })
    }

    /// The same from a shape that is known to fit.
    pub(crate) fn from_parts(shape: Shape, data: Data) -> Tensor {
        Tensor { shape, data }
    }

    /// A scalar.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor {
            shape: Shape::new(),
            data: T::wrap(vec![value]),
        }
    }

    /// A tensor of one number, converted to the element type.
    ///
    /// # Errors
    /// When it would be too large.
    pub fn full(shape: &[usize], dtype: DType, value: f64) -> Result<Tensor, String> {
        let count = checked_count(shape, dtype.size())?;
        macro_rules! fill {
            ($ty:ty) => {
                <$ty>::wrap(vec![<$ty>::from_f64(value); count])
            };
        }
        let data = match dtype {
            DType::I1 => fill!(bool),
            DType::I8 => fill!(i8),
            DType::I16 => fill!(i16),
            DType::I32 => fill!(i32),
            DType::I64 => fill!(i64),
            DType::UI8 => fill!(u8),
            DType::F16 => fill!(f16),
            DType::BF16 => fill!(bf16),
            DType::F32 => fill!(f32),
            DType::F64 => fill!(f64),
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
        fn of<T: Element>(_: &[T]) -> DType {
            T::DTYPE
        }
        each_type!(&self.data, v => of(v))
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

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the elements.
    pub fn bytes(&self) -> usize {
        self.len() * self.dtype().size()
    }

    /// The elements, if they have this type.
    pub fn view<T: Element>(&self) -> Option<&[T]> {
        T::view(&self.data)
    }

    /// The elements as floats.
    pub fn to_f64(&self) -> Vec<f64> {
        each_type!(&self.data, v => v.iter().map(|&x| x.to_f64()).collect())
    }

    /// The elements as integers.
    pub fn to_i64(&self) -> Vec<i64> {
        each_type!(&self.data, v => v.iter().map(|&x| x.to_i64()).collect())
    }

    /// The only element as a truth value.
    pub fn truth(&self) -> Option<bool> {
        match self.view::<bool>() {
            Some(&[one]) => Some(one),
            _ => None,
        }
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    /// When the number of elements differs.
    pub fn reshaped(self, shape: &[usize]) -> Result<Tensor, String> {
        let count = checked_count(shape, 1)?;
        if count != self.len() {
            return Err(format!("{} elements do not fit a shape of {count}", self.len()));
        }
        Ok(Tensor {
            shape: shape.into(),
            data: self.data,
        })
    }

    /// Every element converted.
    pub fn cast(&self, dtype: DType) -> Tensor {
        if dtype == self.dtype() {
            return self.clone();
        }
        // Between integers no float may stand: it would lose the low bits.
        let float = self.dtype().is_float();
        macro_rules! to {
            ($ty:ty) => {
                each_type!(&self.data, v => <$ty>::wrap(v.iter().map(|&x| if float { <$ty>::from_f64(x.to_f64()) } else { <$ty>::from_i64(x.to_i64()) }).collect()))
            };
        }
        let data = match dtype {
            DType::I1 => to!(bool),
            DType::I8 => to!(i8),
            DType::I16 => to!(i16),
            DType::I32 => to!(i32),
            DType::I64 => to!(i64),
            DType::UI8 => to!(u8),
            DType::F16 => to!(f16),
            DType::BF16 => to!(bf16),
            DType::F32 => to!(f32),
            DType::F64 => to!(f64),
        };
        Tensor {
            shape: self.shape.clone(),
            data,
        }
    }

    /// Whether shape, type and bits are the same.
    pub fn same_bits(&self, other: &Tensor) -> bool {
        if self.shape != other.shape || self.dtype() != other.dtype() {
            return false;
        }
        match (&self.data, &other.data) {
            (Data::F16(a), Data::F16(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::BF16(a), Data::BF16(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::F32(a), Data::F32(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            (Data::F64(a), Data::F64(b)) => a.iter().zip(&**b).all(|(x, y)| x.to_bits() == y.to_bits()),
            _ => self.to_i64() == other.to_i64(),
        }
    }
}

/// More elements than this are not all printed.
const SHOWN: usize = 1000;

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tensor<")?;
        for d in &self.shape {
            write!(f, "{d}x")?;
        }
        write!(f, "{}> ", self.dtype().name())?;
        // An empty tensor may have very many empty rows.
        let mut rows = self.shape.iter().scan(1usize, |count, &d| {
            *count = count.saturating_mul(d);
            Some(*count)
        });
        let edge = if rows.any(|count| count > SHOWN) { 3 } else { usize::MAX };
        self.write_elements(f, edge)
    }
}

impl Tensor {
    /// Nested lists; `edge` items at both ends of one that has more than twice as many. Not by recursion, since the
    /// number of dimensions is the program's choice.
    fn write_elements(&self, f: &mut fmt::Formatter<'_>, edge: usize) -> fmt::Result {
        if self.shape.is_empty() {
            return self.write_element(f, 0);
        }
        let mut steps = vec![1usize; self.shape.len()];
        for dim in (1..steps.len()).rev() {
            // Too large only if another dimension is zero.
            steps[dim - 1] = steps[dim].saturating_mul(self.shape[dim]);
        }
        // Of each list that is open: the next item, and the element that the list begins with.
        let mut open = vec![(0, 0)];
        f.write_str("[")?;
        while let Some((at, first)) = open.last().copied() {
            let dim = open.len() - 1;
            let n = self.shape[dim];
            let mut item = at;
            if item < n {
                if item > 0 {
                    f.write_str(", ")?;
                }
                if n / 2 > edge && item == edge {
                    f.write_str("…, ")?;
                    item = n - edge;
                }
                open[dim].0 = item + 1;
                if dim + 1 < self.shape.len() {
                    f.write_str("[")?;
                    open.push((0, first + item * steps[dim]));
                } else {
                    self.write_element(f, first + item)?;
                }
            } else {
                f.write_str("]")?;
                open.pop();
            }
        }
        Ok(())
    }

    fn write_element(&self, f: &mut fmt::Formatter<'_>, at: usize) -> fmt::Result {
        match &self.data {
            Data::I1(v) => write!(f, "{}", v[at]),
            Data::F16(v) => write!(f, "{}", v[at]),
            Data::BF16(v) => write!(f, "{}", v[at]),
            Data::F32(v) if is_long(v[at].into()) => write!(f, "{:e}", v[at]),
            Data::F32(v) => write!(f, "{}", v[at]),
            Data::F64(v) if is_long(v[at]) => write!(f, "{:e}", v[at]),
            Data::F64(v) => write!(f, "{}", v[at]),
            other => each_type!(other, v => write!(f, "{}", v[at].to_i64())),
        }
    }
}

/// Whether a number has so many zeros that it is better written with an exponent.
fn is_long(value: f64) -> bool {
    value.is_finite() && value != 0.0 && !(1e-5..1e16).contains(&value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shape: &[usize], values: Vec<f64>) -> String {
        Tensor::new(shape, values).map_or_else(|e| e, |t| t.to_string())
    }

    #[test]
    fn tensors_are_written_as_lists() {
        assert_eq!(text(&[], vec![0.5]), "tensor<f64> 0.5");
        assert_eq!(
            text(&[2, 2], vec![1.0, -0.0, 1e300, f64::NAN]),
            "tensor<2x2xf64> [[1, -0], [1e300, NaN]]"
        );
        assert_eq!(
            text(&[2, 1, 2], vec![1.0, 2.0, 3.0, 1e-9]),
            "tensor<2x1x2xf64> [[[1, 2]], [[3, 1e-9]]]"
        );
        assert_eq!(text(&[2, 0], vec![]), "tensor<2x0xf64> [[], []]");
        assert_eq!(text(&[0, 2], vec![]), "tensor<0x2xf64> []");
    }

    #[test]
    fn long_ones_are_cut() {
        let row = "0, 0, 0, …, 0, 0, 0";
        assert_eq!(text(&[1001], vec![0.0; 1001]), format!("tensor<1001xf64> [{row}]"));
        let rows = format!("[{row}], [{row}], [{row}]");
        assert_eq!(
            text(&[100, 20], vec![0.0; 2000]),
            format!("tensor<100x20xf64> [{rows}, …, {rows}]")
        );
        assert_eq!(
            text(&[1 << 30, 0], vec![]),
            "tensor<1073741824x0xf64> [[], [], [], …, [], [], []]"
        );
        assert_eq!(text(&[1; 200_000], vec![0.0]).matches('[').count(), 200_000);
    }
}
