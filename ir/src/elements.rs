//! Constants of many numbers: one buffer of bytes with a type, never an object for each number.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::budget::Reservation;
use crate::float_kind::FloatKind;
use crate::types::{Signedness, Type};

/// A number as the bytes of a constant hold it, or half of a complex one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementKind {
    /// An integer. One of a single bit takes a byte, 0 or 1.
    Integer {
        /// The number of bits, at most 64.
        width: u32,
        /// How they are read.
        sign: Signedness,
    },
    /// A float.
    Float(FloatKind),
}

impl ElementKind {
    /// How many bytes it takes.
    pub fn bytes(self) -> usize {
        match self {
            ElementKind::Integer { width, .. } => width.div_ceil(8).max(1) as usize,
            ElementKind::Float(kind) => kind.bits().div_ceil(8) as usize,
        }
    }
}

/// How a constant is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementsForm {
    /// `dense<[1, 2]> : tensor<2xi32>`, of the type of the tensor or vector.
    Dense,
    /// `array<i32: 1, 2>`, of the type of the elements.
    Array,
}

/// Bytes that many constants may share. They are aligned to eight, and reserved from the budget of who made them.
pub(crate) struct Buffer {
    words: Box<[u64]>,
    len: usize,
    _reserved: Reservation,
}

impl Buffer {
    pub(crate) fn new(words: Vec<u64>, len: usize, reserved: Reservation) -> Self {
        Buffer {
            words: words.into(),
            len,
            _reserved: reserved,
        }
    }
}

/// The elements of a constant: `dense<…>` or `array<…>`. Cloning shares the bytes.
#[derive(Clone)]
pub struct Elements {
    ty: Type,
    form: ElementsForm,
    kind: ElementKind,
    is_complex: bool,
    /// How many elements the type has.
    len: usize,
    buffer: Arc<Buffer>,
}

/// A number that the elements of a constant can be taken as.
pub trait Element: bytemuck::Pod {
    /// Whether the bytes of elements of this kind are such numbers.
    fn is(kind: ElementKind) -> bool;
}

macro_rules! element {
    ($($number:ty: $pattern:pat => ())*) => {
        $(impl Element for $number {
            fn is(kind: ElementKind) -> bool {
                matches!(kind, $pattern)
            }
        })*
    };
}

element! {
    i8: ElementKind::Integer { width: 8, sign: Signedness::Signless | Signedness::Signed } => ()
    i16: ElementKind::Integer { width: 16, sign: Signedness::Signless | Signedness::Signed } => ()
    i32: ElementKind::Integer { width: 32, sign: Signedness::Signless | Signedness::Signed } => ()
    i64: ElementKind::Integer { width: 64, sign: Signedness::Signless | Signedness::Signed } => ()
    u8: ElementKind::Integer { width: 1 | 8, .. } => ()
    u16: ElementKind::Integer { width: 16, .. } => ()
    u32: ElementKind::Integer { width: 32, .. } => ()
    u64: ElementKind::Integer { width: 64, .. } => ()
    f32: ElementKind::Float(FloatKind::F32) => ()
    f64: ElementKind::Float(FloatKind::F64) => ()
}

impl Elements {
    pub(crate) fn new(
        ty: Type,
        form: ElementsForm,
        (kind, is_complex): (ElementKind, bool),
        len: usize,
        buffer: Buffer,
    ) -> Self {
        Elements {
            ty,
            form,
            kind,
            is_complex,
            len,
            buffer: Arc::new(buffer),
        }
    }

    /// The type of the tensor or vector; for an array, of its elements.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Its textual form.
    pub fn form(&self) -> ElementsForm {
        self.form
    }

    /// The kind of the numbers: of complex elements, their halves.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Whether the elements are complex: two numbers each.
    pub fn is_complex(&self) -> bool {
        self.is_complex
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the bytes hold one element that all others equal.
    pub fn is_splat(&self) -> bool {
        self.len > 0 && self.buffer.len == self.size() && self.form == ElementsForm::Dense
    }

    /// How many bytes an element takes.
    fn size(&self) -> usize {
        self.kind.bytes() * (1 + usize::from(self.is_complex))
    }

    /// The bytes in the order of the elements, each little-endian; for a splat, of one element.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.buffer.words)[..self.buffer.len]
    }

    /// The numbers, if they have this type; for a splat, one element.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if !T::is(self.kind) || cfg!(target_endian = "big") {
            return None;
        }
        bytemuck::try_cast_slice(self.bytes()).ok()
    }

    /// The bits of the numbers, all of them also of a splat; nothing if they have more than 64.
    pub fn bits(&self) -> Option<impl ExactSizeIterator<Item = u64> + '_> {
        let size = self.kind.bytes();
        let bytes = self.bytes();
        let stored = bytes.len() / size;
        let all = self.len * (1 + usize::from(self.is_complex));
        (size <= 8).then(|| (0..all).map(move |at| number(bytes, size, at % stored)))
    }

    /// The numbers as `i64`, if they are integers that fit.
    pub fn ints(&self) -> Option<impl ExactSizeIterator<Item = i64> + '_> {
        let ElementKind::Integer { width, sign } = self.kind else {
            return None;
        };
        if sign == Signedness::Unsigned && width == 64 && self.bits()?.any(|bits| bits > i64::MAX as u64) {
            return None;
        }
        Some(self.bits()?.map(move |bits| extend(bits, width, sign)))
    }

    /// The number at a place as `i64`, if it is an integer that fits: in constant time, where an iterator passes all before it.
    pub fn int(&self, at: usize) -> Option<i64> {
        let ElementKind::Integer { width, sign } = self.kind else {
            return None;
        };
        let (size, bytes) = (self.kind.bytes(), self.bytes());
        let stored = bytes.len() / size;
        if at >= self.len * (1 + usize::from(self.is_complex)) || stored == 0 {
            return None;
        }
        let bits = (size <= 8).then(|| number(bytes, size, at % stored))?;
        let fits = sign != Signedness::Unsigned || width < 64 || bits <= i64::MAX as u64;
        fits.then(|| extend(bits, width, sign))
    }

    /// The numbers as `f64`, the nearest of integers; nothing if they are floats that an `f64` cannot hold.
    pub fn floats(&self) -> Option<impl ExactSizeIterator<Item = f64> + '_> {
        let kind = self.kind;
        Some(self.bits()?.map(move |bits| match kind {
            ElementKind::Integer {
                width: 64,
                sign: Signedness::Unsigned,
            } => bits as f64,
            ElementKind::Integer { width, sign } => extend(bits, width, sign) as f64,
            // Values of more than 64 bits have no bits here.
            ElementKind::Float(kind) => kind.decode(bits).unwrap_or(f64::NAN),
        }))
    }

    /// The truth values, if they are such.
    pub fn bools(&self) -> Option<impl ExactSizeIterator<Item = bool> + '_> {
        let is_bool = matches!(self.kind, ElementKind::Integer { width: 1, .. });
        let bits = self.bits().filter(|_| is_bool)?;
        Some(bits.map(|bits| bits != 0))
    }
}

/// The bits of a number of at most eight bytes, by its place.
fn number(bytes: &[u8], size: usize, at: usize) -> u64 {
    let mut number = [0; 8];
    number[..size].copy_from_slice(&bytes[at * size..][..size]);
    u64::from_le_bytes(number)
}

/// The value of an integer of `width` bits. A single bit is a boolean.
pub(crate) fn extend(bits: u64, width: u32, sign: Signedness) -> i64 {
    if sign == Signedness::Unsigned || width == 1 {
        return bits as i64;
    }
    let above = 64 - width.min(64);
    (bits << above) as i64 >> above
}

impl PartialEq for Elements {
    fn eq(&self, other: &Self) -> bool {
        (self.ty, self.form, self.len) == (other.ty, other.form, other.len)
            && (Arc::ptr_eq(&self.buffer, &other.buffer) || self.bytes() == other.bytes())
    }
}

impl Eq for Elements {}

impl Hash for Elements {
    /// Hashing some of the words of a large constant distinguishes it from most others; hashing all would take as long
    /// as reading it.
    fn hash<H: Hasher>(&self, state: &mut H) {
        const SAMPLES: usize = 64;
        (self.ty, self.form, self.len).hash(state);
        let words = &self.buffer.words;
        for word in words.iter().step_by(words.len().div_ceil(SAMPLES).max(1)) {
            word.hash(state);
        }
    }
}

impl std::fmt::Debug for Elements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Elements")
            .field("ty", &self.ty)
            .field("len", &self.len)
            .field("bytes", &self.buffer.len)
            .finish_non_exhaustive()
    }
}
