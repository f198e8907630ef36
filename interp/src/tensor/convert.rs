//! Conversions of the elements. Only the types that are converted most have loops of their own; the others pass through the
//! widest type of their kind.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::buffer::{Buffer, Storage, gathered, stale};
use super::{Complex, DType, Data, Element, Part, rank};
use crate::each_type;

impl Data {
    /// The type of the elements.
    pub(crate) fn dtype(&self) -> DType {
        fn of<T: Element>(_: &[T]) -> DType {
            T::DTYPE
        }
        each_type!(self, v => of(v))
    }

    /// The elements as floats, in a buffer that may be shared.
    pub(crate) fn doubles(&self) -> Result<Buffer<f64>, String> {
        match self {
            Data::F64(values) => Ok(values.clone()),
            _ => Ok(self.own_doubles()?.into()),
        }
    }

    /// The elements as floats, in an unshared buffer.
    pub(crate) fn own_doubles(&self) -> Result<Storage<f64>, String> {
        each_type!(self, v => gathered(v.iter().map(|&x| x.to_f64())))
    }

    /// The same; they are not copied if this is their only owner.
    pub(crate) fn into_doubles(self) -> Result<Storage<f64>, String> {
        match self {
            Data::F64(values) => values.into_storage(),
            data => data.own_doubles(),
        }
    }

    /// The elements as integers, in a buffer that may be shared.
    pub(crate) fn wholes(&self) -> Result<Buffer<i64>, String> {
        match self {
            Data::I64(values) => Ok(values.clone()),
            data => Ok(each_type!(data, v => gathered(v.iter().map(|&x| x.to_i64())))?.into()),
        }
    }

    /// The elements as integers that are ordered as they are.
    pub(crate) fn ranks(&self) -> Result<Buffer<i64>, String> {
        match self {
            Data::UI64(values) => Ok(gathered(values.iter().map(|&x| rank(x)))?.into()),
            _ => self.wholes(),
        }
    }

    /// Converts every element; of a complex number that becomes a real one the imaginary part is lost.
    pub(crate) fn cast(&self, dtype: DType) -> Result<Data, String> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        Ok(match dtype {
            DType::I1 => bool::wrap(self.converted()?),
            DType::I8 => i8::wrap(self.converted()?),
            DType::I16 => i16::wrap(self.converted()?),
            DType::I32 => i32::wrap(self.converted()?),
            DType::I64 => i64::wrap(self.converted()?),
            DType::UI8 => u8::wrap(self.converted()?),
            DType::UI16 => u16::wrap(self.converted()?),
            DType::UI32 => u32::wrap(self.converted()?),
            DType::UI64 => u64::wrap(self.converted()?),
            DType::F16 => f16::wrap(self.halved()?),
            DType::BF16 => bf16::wrap(self.halved()?),
            DType::F32 => f32::wrap(match self {
                Data::F16(values) => singles(values)?,
                Data::BF16(values) => singles(values)?,
                _ => self.converted()?,
            }),
            DType::F64 => f64::wrap(self.own_doubles()?),
            DType::C64 => Element::wrap(self.complex::<f32>()?),
            DType::C128 => Element::wrap(self.complex::<f64>()?),
        })
    }

    /// In half precision: of single precision all at once, where the processor has instructions for it.
    fn halved<H: Element>(&self) -> Result<Storage<H>, String>
    where
        [H]: HalfFloatSliceExt,
    {
        let Data::F32(values) = self else {
            return self.converted();
        };
        let mut out = stale::<H>(values.len())?;
        out.convert_from_f32_slice(values);
        Ok(out)
    }

    /// Integers are not converted through floats, which would lose the low bits.
    fn converted<T: Element>(&self) -> Result<Storage<T>, String> {
        let through_floats = match self.dtype() {
            // The upper half of `ui64` is not in `i64`.
            DType::UI64 => T::DTYPE.is_float(),
            dtype => dtype.is_float() || dtype.is_complex(),
        };
        match self {
            Data::F32(values) => gathered(values.iter().map(|&x| T::from_f64(x.into()))),
            Data::I32(values) => gathered(values.iter().map(|&x| T::from_i64(x.into()))),
            Data::I1(values) => gathered(values.iter().map(|&x| T::from_i64(x.into()))),
            _ if through_floats => gathered(self.doubles()?.iter().map(|&x| T::from_f64(x))),
            _ => gathered(self.wholes()?.iter().map(|&x| T::from_i64(x))),
        }
    }

    /// The numbers as complex ones.
    fn complex<T: Part>(&self) -> Result<Storage<Complex<T>>, String>
    where
        Complex<T>: Element,
    {
        match self {
            Data::C64(values) => gathered(values.iter().map(|v| Complex::narrow(v.wide()))),
            Data::C128(values) => gathered(values.iter().map(|v| Complex::narrow(v.wide()))),
            _ => gathered(
                self.doubles()?
                    .iter()
                    .map(|&v| Complex::new(T::narrow(v), T::default())),
            ),
        }
    }
}

/// Half precision in single precision, likewise.
fn singles<H: Element>(halves: &[H]) -> Result<Storage<f32>, String>
where
    [H]: HalfFloatSliceExt,
{
    let mut out = stale(halves.len())?;
    halves.convert_to_f32_slice(&mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of half precision, and numbers of single precision between all of them, as they are converted one by one.
    #[test]
    fn half_precision() {
        fn check<T: Element>(bits: impl Fn(u16) -> T, word: impl Fn(T) -> u16, rounded: impl Fn(f32) -> u16) {
            let all: Vec<T> = (0..=u16::MAX).map(&bits).collect();
            let halves = T::wrap(gathered(all.iter().copied()).unwrap());
            let Data::F32(wide) = halves.cast(DType::F32).unwrap() else {
                panic!()
            };
            for (wide, half) in wide.iter().zip(&all) {
                assert!(wide.to_bits() == (half.to_f64() as f32).to_bits() || wide.is_nan() && half.to_f64().is_nan());
            }
            let near = wide.iter().flat_map(|w| {
                [-0x1801i32, -0x1000, -0xfff, -1, 1, 0x7fff, 0x8000, 0x8001]
                    .map(|by| f32::from_bits(w.to_bits().wrapping_add_signed(by)))
            });
            let near: Vec<f32> = wide.iter().copied().chain(near).collect();
            let narrow = f32::wrap(gathered(near.iter().copied()).unwrap())
                .cast(T::DTYPE)
                .unwrap();
            let narrow = T::view(&narrow).unwrap();
            for (&narrow, &from) in narrow.iter().zip(&near) {
                let both_nan = narrow.to_f64().is_nan() && from.is_nan();
                assert!(word(narrow) == rounded(from) || both_nan, "{from:e}");
            }
        }
        check(f16::from_bits, f16::to_bits, |x| f16::from_f64(x.into()).to_bits());
        // The upper half, rounded to nearest, ties to even.
        let upper = |x: f32| ((u64::from(x.to_bits()) + 0x7fff + u64::from(x.to_bits() >> 16 & 1)) >> 16) as u16;
        check(bf16::from_bits, bf16::to_bits, upper);
    }
}
