//! Making constants of many numbers.

use crate::budget::{self, Exhausted, Reservation};
use crate::context::Context;
use crate::elements::{Buffer, ElementKind, Elements, ElementsForm};
use crate::types::{DYNAMIC, Signedness, Type, TypeData};

/// Why the bytes do not represent a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElementsError {
    /// The type has no elements that bytes hold, or not a known number.
    Type,
    /// The expected and the actual number of bytes.
    Len(usize, usize),
    /// Memory is exhausted.
    Memory(Exhausted),
}

/// Bytes that become the elements of a constant.
pub struct ElementsBuilder {
    words: Vec<u64>,
    len: usize,
    reserved: Reservation,
}

impl ElementsBuilder {
    /// Reserves memory for this many bytes.
    ///
    /// # Errors
    /// If memory is exhausted.
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

    /// Appends the lowest bytes of a number, at most eight.
    ///
    /// # Errors
    /// If memory is exhausted.
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

    /// Replaces the contents with `len` zeros.
    ///
    /// # Errors
    /// If memory is exhausted.
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
        let buffer = Buffer::new(self.words, self.len, self.reserved);
        Ok(Elements::new(ty, form, (kind, is_complex), len, buffer))
    }
}

/// The number of elements of a type, and their type.
fn elements_of(ctx: &Context, ty: Type) -> Option<(Option<usize>, Type)> {
    let (shape, elem) = ctx.as_elements(ty)?;
    let mut count = 1usize;
    for &dim in shape.iter().filter(|&&dim| dim != 0 || shape.contains(&DYNAMIC)) {
        count = count.checked_mul(usize::try_from(dim).ok()?)?;
    }
    let count = if shape.contains(&0) { 0 } else { count };
    Some((Some(count), elem))
}

/// The kind of the numbers of a type, and whether they are complex.
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
    /// Elements of a tensor or vector type from little-endian bytes: those of all elements, or of one for all.
    ///
    /// # Errors
    /// If the type has no elements, or another number of them, or memory is exhausted.
    pub fn from_bytes(ctx: &Context, ty: Type, bytes: &[u8]) -> Result<Self, ElementsError> {
        let mut builder = ElementsBuilder::new(bytes.len()).map_err(ElementsError::Memory)?;
        builder
            .fill(bytes.len())
            .map_err(ElementsError::Memory)?
            .copy_from_slice(bytes);
        builder.finish(ctx, ty, ElementsForm::Dense)
    }
}
