//! Constants of many numbers: one buffer of bytes with a type, never an object for each number.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::budget::{self, Exhausted, Reservation};
use crate::context::Context;
use crate::float_kind::FloatKind;
use crate::types::{DYNAMIC, Signedness, Type, TypeData};

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
struct Buffer {
    words: Box<[u64]>,
    len: usize,
    _reserved: Reservation,
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

/// Why there is no constant of these bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElementsError {
    /// The type has no elements that bytes hold, or not a known number.
    Type,
    /// So many bytes are wanted, but so many are there.
    Len(usize, usize),
    /// There is no memory.
    Memory(Exhausted),
}

/// Bytes that become the elements of a constant.
pub struct ElementsBuilder {
    words: Vec<u64>,
    len: usize,
    reserved: Reservation,
}

impl ElementsBuilder {
    /// Room for so many bytes.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(bytes: usize) -> Result<Self, Exhausted> {
        let words = bytes.div_ceil(8);
        let mut builder = ElementsBuilder {
            words: Vec::new(),
            len: 0,
            reserved: budget::reserve(words.saturating_mul(8))?,
        };
        let refused = |_| budget::Budget::current().system_refused(bytes as u64);
        builder.words.try_reserve_exact(words).map_err(refused)?;
        Ok(builder)
    }

    /// Adds the lowest bytes of a number, at most eight.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn push(&mut self, bits: u64, bytes: usize) -> Result<(), Exhausted> {
        let (word, shift) = (self.len / 8, self.len % 8 * 8);
        if word + 1 >= self.words.len() {
            for _ in self.words.len()..word + 2 {
                self.reserved.room_for_one(&mut self.words)?;
                self.words.push(0);
            }
        }
        let bits = if bytes < 8 {
            bits & ((1 << (8 * bytes)) - 1)
        } else {
            bits
        };
        self.words[word] |= bits << shift;
        if shift + 8 * bytes > 64 {
            self.words[word + 1] |= bits >> (64 - shift);
        }
        self.len += bytes;
        Ok(())
    }

    /// So many bytes, all zero, in place of those that are there.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn fill(&mut self, len: usize) -> Result<&mut [u8], Exhausted> {
        let missing = (len.div_ceil(8) * 8).saturating_sub(self.words.capacity() * 8);
        self.reserved.grow(missing as u64)?;
        self.words.clear();
        self.words.resize(len.div_ceil(8), 0);
        self.len = len;
        Ok(&mut bytemuck::cast_slice_mut(&mut self.words)[..len])
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }

    /// The elements of the type `ty`, or of an array of it. If all are the same, one is kept.
    ///
    /// # Errors
    /// When the bytes are neither all elements nor one.
    pub fn finish(mut self, ctx: &Context, ty: Type, form: ElementsForm) -> Result<Elements, ElementsError> {
        let (count, elem) = match form {
            ElementsForm::Dense => elements_of(ctx, ty).ok_or(ElementsError::Type)?,
            ElementsForm::Array => (None, ty),
        };
        let (kind, is_complex) = element_kind(ctx, elem).ok_or(ElementsError::Type)?;
        let size = kind.bytes() * (1 + usize::from(is_complex));
        let len = count.unwrap_or(self.len / size);
        let wanted = len.checked_mul(size).ok_or(ElementsError::Type)?;
        if self.len != wanted && self.len != size || !self.len.is_multiple_of(size) {
            return Err(ElementsError::Len(wanted, self.len));
        }
        if len == 0 {
            // One for all of none.
            self.len = 0;
        }
        let bytes = self.bytes();
        let is_splat = self.len > size && form == ElementsForm::Dense && bytes[size..] == bytes[..self.len - size];
        if is_splat {
            self.len = size;
        }
        self.words.truncate(self.len.div_ceil(8));
        if let (Some(last), used @ 1..) = (self.words.last_mut(), self.len % 8) {
            *last &= (1 << (8 * used)) - 1;
        }
        self.words.shrink_to_fit();
        let kept = self.words.len() as u64 * 8;
        self.reserved.shrink(self.reserved.bytes().saturating_sub(kept));
        Ok(Elements {
            ty,
            form,
            kind,
            is_complex,
            len,
            buffer: Arc::new(Buffer {
                words: self.words.into(),
                len: self.len,
                _reserved: self.reserved,
            }),
        })
    }
}

/// How many elements a type has, and of which type.
fn elements_of(ctx: &Context, ty: Type) -> Option<(Option<usize>, Type)> {
    let (shape, elem) = ctx.as_elements(ty)?;
    let mut count = 1usize;
    for &dim in shape.iter().filter(|&&dim| dim != 0 || shape.contains(&DYNAMIC)) {
        count = count.checked_mul(usize::try_from(dim).ok()?)?;
    }
    let count = if shape.contains(&0) { 0 } else { count };
    Some((Some(count), elem))
}

/// What numbers of a type are, and whether they are complex.
pub(crate) fn element_kind(ctx: &Context, elem: Type) -> Option<(ElementKind, bool)> {
    Some(match *ctx.type_data(elem) {
        TypeData::Integer { width, sign } if (1..=64).contains(&width) => (ElementKind::Integer { width, sign }, false),
        TypeData::Index => {
            let sign = Signedness::Signless;
            (ElementKind::Integer { width: 64, sign }, false)
        }
        TypeData::Float(kind) => (ElementKind::Float(kind), false),
        TypeData::Complex(part) => (element_kind(ctx, part)?.0, true),
        _ => return None,
    })
}

impl Elements {
    /// Elements of a tensor or vector type whose bytes, the lowest first, are these: all, or one that all are.
    ///
    /// # Errors
    /// When the type has no such elements, or not as many, or there is no memory.
    pub fn from_bytes(ctx: &Context, ty: Type, bytes: &[u8]) -> Result<Self, ElementsError> {
        let mut builder = ElementsBuilder::new(bytes.len()).map_err(ElementsError::Memory)?;
        builder
            .fill(bytes.len())
            .map_err(ElementsError::Memory)?
            .copy_from_slice(bytes);
        builder.finish(ctx, ty, ElementsForm::Dense)
    }

    /// The type of the tensor or vector; of an array, that of its elements.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// How it is written.
    pub fn form(&self) -> ElementsForm {
        self.form
    }

    /// What the numbers are: of complex elements, their halves.
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

    /// Whether the bytes are those of one element that all are.
    pub fn is_splat(&self) -> bool {
        self.len > 0 && self.buffer.len == self.size() && self.form == ElementsForm::Dense
    }

    /// How many bytes an element takes.
    fn size(&self) -> usize {
        self.kind.bytes() * (1 + usize::from(self.is_complex))
    }

    /// The bytes, the lowest of each number first, in the order of the elements; of a splat, those of one.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.buffer.words)[..self.buffer.len]
    }

    /// The numbers, if they are such; of a splat, those of one element.
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
        (size <= 8).then(|| {
            (0..all).map(move |at| {
                let at = at % stored * size;
                let mut number = [0; 8];
                number[..size].copy_from_slice(&bytes[at..at + size]);
                u64::from_le_bytes(number)
            })
        })
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

    /// The numbers as `f64`, the nearest of integers; nothing if they are floats that an `f64` cannot hold.
    pub fn floats(&self) -> Option<impl ExactSizeIterator<Item = f64> + '_> {
        let kind = self.kind;
        Some(self.bits()?.map(move |bits| match kind {
            ElementKind::Integer {
                width: 64,
                sign: Signedness::Unsigned,
            } => bits as f64,
            ElementKind::Integer { width, sign } => extend(bits, width, sign) as f64,
            // Those with more than 64 bits have no bits here.
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

/// The value of an integer with so many bits. One bit is a truth value.
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
    /// Some of the words of a large constant tell it from most others; all of them would take as long as reading it.
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
