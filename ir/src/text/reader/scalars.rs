//! Words that denote types without parameters.

use crate::float_kind::FloatKind;
use crate::types::{Signedness, Type};

pub(super) enum Scalar {
    Type(Type),
    Integer(u32, Signedness),
    Float(FloatKind),
}

/// Whether a word denotes a type without parameters.
pub(crate) fn is_type_name(word: &str) -> bool {
    scalar(word.as_bytes()).is_some()
}

/// A word that denotes a type without parameters. Names of other frameworks are read too.
pub(super) fn scalar(word: &[u8]) -> Option<Scalar> {
    let ty = match word {
        b"i1" | b"bool" | b"b" => Type::I1,
        b"i8" | b"int8" => Type::I8,
        b"i16" | b"int16" => Type::I16,
        b"i32" | b"int32" => Type::I32,
        b"i64" | b"int64" => Type::I64,
        b"ui8" | b"uint8" => Type::UI8,
        b"ui16" | b"uint16" => Type::UI16,
        b"ui32" | b"uint32" => Type::UI32,
        b"ui64" | b"uint64" => Type::UI64,
        b"f16" | b"float16" => Type::F16,
        b"bf16" | b"bfloat16" => Type::BF16,
        b"f32" | b"float32" => Type::F32,
        b"f64" | b"float64" => Type::F64,
        b"index" => Type::INDEX,
        _ => {
            if let [b'f' | b't', ..] = word {
                return std::str::from_utf8(word)
                    .ok()
                    .and_then(FloatKind::from_name)
                    .map(Scalar::Float);
            }
            let (sign, digits) = match word {
                [b'i', rest @ ..] => (Signedness::Signless, rest),
                [b's', b'i', rest @ ..] => (Signedness::Signed, rest),
                [b'u', b'i', rest @ ..] => (Signedness::Unsigned, rest),
                _ => return None,
            };
            // Integers wider than MLIR's limit are not types.
            let width = std::str::from_utf8(digits)
                .ok()?
                .parse()
                .ok()
                .filter(|&w: &u32| w < 1 << 24)?;
            return Some(Scalar::Integer(width, sign));
        }
    };
    Some(Scalar::Type(ty))
}
