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

#[cfg(test)]
mod tests {
    use super::*;

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
