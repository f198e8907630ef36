//! Floating-point formats: their names and how values are encoded.

/// A floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatKind {
    /// IEEE half precision.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// The 19 bits that tensor cores multiply.
    TF32,
    /// The extended precision of x87.
    F80,
    /// IEEE quadruple precision.
    F128,
    /// 8 bits, 2 of them of the mantissa.
    F8E5M2,
    /// 8 bits, 3 of them of the mantissa.
    F8E4M3,
    /// The same without infinities.
    F8E4M3FN,
    /// 8 bits, 2 of them of the mantissa, without infinities and negative zero.
    F8E5M2FNUZ,
    /// 8 bits, 3 of them of the mantissa, without infinities and negative zero.
    F8E4M3FNUZ,
    /// The same with a bias of 11.
    F8E4M3B11FNUZ,
    /// 8 bits, 4 of them of the mantissa.
    F8E3M4,
    /// 8 bits of an exponent, for scales.
    F8E8M0FNU,
    /// 6 bits, 3 of them of the mantissa, finite.
    F6E2M3FN,
    /// 6 bits, 2 of them of the mantissa, finite.
    F6E3M2FN,
    /// 4 bits, 1 of them of the mantissa, finite.
    F4E2M1FN,
}

/// All formats with their names and numbers of bits.
const KINDS: [(FloatKind, &str, u32); 18] = [
    (FloatKind::F16, "f16", 16),
    (FloatKind::BF16, "bf16", 16),
    (FloatKind::F32, "f32", 32),
    (FloatKind::F64, "f64", 64),
    (FloatKind::TF32, "tf32", 19),
    (FloatKind::F80, "f80", 80),
    (FloatKind::F128, "f128", 128),
    (FloatKind::F8E5M2, "f8E5M2", 8),
    (FloatKind::F8E4M3, "f8E4M3", 8),
    (FloatKind::F8E4M3FN, "f8E4M3FN", 8),
    (FloatKind::F8E5M2FNUZ, "f8E5M2FNUZ", 8),
    (FloatKind::F8E4M3FNUZ, "f8E4M3FNUZ", 8),
    (FloatKind::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8),
    (FloatKind::F8E3M4, "f8E3M4", 8),
    (FloatKind::F8E8M0FNU, "f8E8M0FNU", 8),
    (FloatKind::F6E2M3FN, "f6E2M3FN", 6),
    (FloatKind::F6E3M2FN, "f6E3M2FN", 6),
    (FloatKind::F4E2M1FN, "f4E2M1FN", 4),
];

impl FloatKind {
    /// The format called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|kind| kind.1 == name).map(|kind| kind.0)
    }

    /// Its name in types.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// How many bits a value has.
    pub fn bits(self) -> u32 {
        KINDS[self as usize].2
    }

    /// Whether an `f64` can hold all its values.
    pub fn fits_f64(self) -> bool {
        !matches!(self, FloatKind::F80 | FloatKind::F128)
    }
}

/// The encodings of the largest exponent and of the sign without a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// Infinities and NaNs, as IEEE 754 has them.
    Ieee,
    /// No infinities; all ones are NaN.
    AllOnes,
    /// No infinities and no negative zero, whose bits are NaN.
    NegativeZero,
    /// Neither infinities nor NaN.
    None,
}

/// How a format encodes numbers.
#[derive(Clone, Copy)]
struct Layout {
    mantissa: u32,
    bias: i32,
    specials: Specials,
}

impl FloatKind {
    /// The layout of formats of at most 19 bits with a sign.
    fn layout(self) -> Option<Layout> {
        let (mantissa, bias, specials) = match self {
            FloatKind::F16 => (10, 15, Specials::Ieee),
            FloatKind::BF16 => (7, 127, Specials::Ieee),
            FloatKind::TF32 => (10, 127, Specials::Ieee),
            FloatKind::F8E5M2 => (2, 15, Specials::Ieee),
            FloatKind::F8E4M3 => (3, 7, Specials::Ieee),
            FloatKind::F8E4M3FN => (3, 7, Specials::AllOnes),
            FloatKind::F8E5M2FNUZ => (2, 16, Specials::NegativeZero),
            FloatKind::F8E4M3FNUZ => (3, 8, Specials::NegativeZero),
            FloatKind::F8E4M3B11FNUZ => (3, 11, Specials::NegativeZero),
            FloatKind::F8E3M4 => (4, 3, Specials::Ieee),
            FloatKind::F6E2M3FN => (3, 1, Specials::None),
            FloatKind::F6E3M2FN => (2, 3, Specials::None),
            FloatKind::F4E2M1FN => (1, 1, Specials::None),
            FloatKind::F32 | FloatKind::F64 | FloatKind::F80 | FloatKind::F128 | FloatKind::F8E8M0FNU => return None,
        };
        Some(Layout {
            mantissa,
            bias,
            specials,
        })
    }

    /// The number of decimal digits that distinguish a number from its neighbours.
    pub(crate) fn decimal_digits(self) -> usize {
        let precision = match self {
            FloatKind::F32 => 24,
            FloatKind::F64 => 53,
            FloatKind::F80 => 64,
            FloatKind::F128 => 113,
            FloatKind::F8E8M0FNU => 1,
            _ => self.layout().map_or(0, |layout| layout.mantissa as usize + 1),
        };
        2 + precision * 59 / 196
    }

    /// The value of the lowest bits of a number; nothing for formats that an `f64` cannot hold.
    pub fn decode(self, bits: u64) -> Option<f64> {
        let bits = if self.bits() < 64 {
            bits & ((1 << self.bits()) - 1)
        } else {
            bits
        };
        let Some(layout) = self.layout() else {
            return match self {
                FloatKind::F32 => Some(f64::from(f32::from_bits(bits as u32))),
                FloatKind::F64 => Some(f64::from_bits(bits)),
                FloatKind::F8E8M0FNU if bits == 255 => Some(f64::NAN),
                FloatKind::F8E8M0FNU => Some(f64::powi(2.0, bits as i32 - 127)),
                _ => None,
            };
        };
        let sign_bit = 1 << (self.bits() - 1);
        let rest = bits & (sign_bit - 1);
        let mantissa = rest & ((1 << layout.mantissa) - 1);
        let exponent = (rest >> layout.mantissa) as i32;
        let last = (sign_bit - 1) >> layout.mantissa;
        let is_nan = match layout.specials {
            Specials::Ieee => exponent as u64 == last && mantissa != 0,
            Specials::AllOnes => rest == sign_bit - 1,
            Specials::NegativeZero => bits == sign_bit,
            Specials::None => false,
        };
        let size = match exponent {
            _ if is_nan => f64::NAN,
            _ if layout.specials == Specials::Ieee && exponent as u64 == last => f64::INFINITY,
            0 => mantissa as f64 * f64::powi(2.0, 1 - layout.bias - layout.mantissa as i32),
            _ => {
                let number = (1 << layout.mantissa) + mantissa;
                number as f64 * f64::powi(2.0, exponent - layout.bias - layout.mantissa as i32)
            }
        };
        Some(if bits & sign_bit == 0 { size } else { -size })
    }

    /// The bits of the nearest number; of two, of the even one. Nothing for formats that an `f64` cannot hold.
    pub fn encode(self, value: f64) -> Option<u64> {
        let Some(layout) = self.layout() else {
            return match self {
                FloatKind::F32 => Some(u64::from((value as f32).to_bits())),
                FloatKind::F64 => Some(value.to_bits()),
                FloatKind::F8E8M0FNU if value.is_nan() || value <= 0.0 => Some(255),
                FloatKind::F8E8M0FNU => Some((value.log2().round_ties_even() + 127.0).clamp(0.0, 254.0) as u64),
                _ => None,
            };
        };
        let sign_bit = 1u64 << (self.bits() - 1);
        let sign = if value.is_sign_negative() { sign_bit } else { 0 };
        let ones = sign_bit - 1;
        let infinity = ones >> layout.mantissa << layout.mantissa;
        let nan = match layout.specials {
            Specials::Ieee => infinity | 1 << (layout.mantissa - 1),
            Specials::AllOnes => ones,
            Specials::NegativeZero => return Some(self.encode_finite(value, layout).unwrap_or(sign_bit)),
            // There is none: the largest number.
            Specials::None => ones,
        };
        if value.is_nan() {
            return Some(sign | nan);
        }
        Some(match self.encode_finite(value, layout) {
            Some(bits) => bits,
            None if layout.specials == Specials::Ieee => sign | infinity,
            None => sign | nan,
        })
    }

    /// The bits of a finite number; nothing if it is too large.
    fn encode_finite(self, value: f64, layout: Layout) -> Option<u64> {
        if !value.is_finite() {
            return None;
        }
        let sign_bit = 1u64 << (self.bits() - 1);
        let size = value.abs();
        // The exponent of the value, that of subnormal ones or smaller included.
        let smallest = 1 - layout.bias;
        let exponent = (((size.to_bits() >> 52) as i32) - 1023).max(smallest);
        let scaled = size * f64::powi(2.0, layout.mantissa as i32 - exponent);
        let number = scaled.round_ties_even() as u64;
        // A number that was rounded up to the next power of two has the next exponent, by the carry.
        let bits = match number >> layout.mantissa {
            0 => number,
            _ => (((exponent + layout.bias) as u64) << layout.mantissa) + number - (1 << layout.mantissa),
        };
        let last = match layout.specials {
            Specials::Ieee => ((sign_bit - 1) >> layout.mantissa << layout.mantissa) - 1,
            Specials::AllOnes => sign_bit - 2,
            Specials::NegativeZero | Specials::None => sign_bit - 1,
        };
        if bits > last {
            return None;
        }
        let negative = value.is_sign_negative() && !(bits == 0 && layout.specials == Specials::NegativeZero);
        Some(if negative { sign_bit | bits } else { bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_of_small_formats_survive() {
        for (kind, name, bits) in KINDS.into_iter().filter(|kind| kind.2 <= 19) {
            for number in 0..1 << bits {
                let value = kind.decode(number).expect("it fits an f64");
                let again = kind.encode(value).expect("it fits an f64");
                if value.is_nan() {
                    assert!(kind.decode(again).is_some_and(f64::is_nan), "{name} {number:#x}");
                } else {
                    assert_eq!(again, number, "{name} {value}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        let around = |kind: FloatKind, value| kind.encode(value).and_then(|bits| kind.decode(bits));
        assert_eq!(around(FloatKind::F16, 0.1), Some(0.0999755859375));
        assert_eq!(around(FloatKind::BF16, 3.1), Some(3.09375));
        assert_eq!(around(FloatKind::F8E5M2, 1.125), Some(1.0));
        assert_eq!(around(FloatKind::F8E5M2, 1.375), Some(1.5));
        assert_eq!(around(FloatKind::F16, 65519.9), Some(65504.0));
        assert_eq!(around(FloatKind::F16, 65520.0), Some(f64::INFINITY));
        assert_eq!(around(FloatKind::F16, 1e-8), Some(0.0));
        assert_eq!(around(FloatKind::F4E2M1FN, 100.0), Some(6.0));
        assert!(around(FloatKind::F8E4M3FN, 1e9).is_some_and(f64::is_nan));
    }

    #[test]
    fn the_table_is_in_order() {
        for (at, &(kind, name, _)) in KINDS.iter().enumerate() {
            assert_eq!(
                (kind as usize, kind.name(), FloatKind::from_name(name)),
                (at, name, Some(kind))
            );
        }
    }
}
