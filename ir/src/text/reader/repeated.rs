//! Operations whose text came before: the same custom assembly is written again and again, with other names of values.
//!
//! What an operation is depends on the text around the names of its operands and on their types. Both are kept of an operation that
//! was read, or of its head up to its first region. If they come again, the result is the same but for the operands, so that neither
//! the format is gone through nor types and attributes are looked up.

use smallvec::SmallVec;

use super::hidden::Hidden;
use super::parser::Parser;
use super::pending::{OdsState, Pending};
use crate::declare::Traits;
use crate::diagnostics::Span;
use crate::entity::{OpName, Sym, ValueId};
use crate::ods::Element;
use crate::recent::RecentSets;
use crate::text::cursor;
use crate::types::{Attr, AttrDict, Type};

/// How many sets of operations are kept, a power of two.
const SETS: usize = 128;
/// The number of bits that record which texts came, a power of two, and how many are set at most.
const SEEN: usize = 1 << 13;
const MOST_SEEN: usize = SEEN / 4;
/// How long they are at most, and how many names they have.
const MAX_TEXT: usize = 512;
const MAX_NAMES: usize = 16;

/// A text without names of values.
#[derive(Clone, Copy)]
struct Piece {
    start: u32,
    len: u32,
    /// Its first bytes, at most eight, the first one lowest, and which bits of eight bytes they are.
    word: u64,
    mask: u64,
}

/// Where names are in a text, and the texts in front of each and after the last.
type Split = (SmallVec<[usize; 4]>, SmallVec<[Piece; 4]>);

/// A name of a value.
#[derive(Clone, Copy)]
enum Place {
    /// A use as an operand: which one, and its type.
    Use(u16, Type),
    /// An argument of the region, and its type.
    Argument(Type),
}

/// An operation that was read to its end.
struct Whole<'s> {
    attrs: AttrDict,
    /// Regions that the text does not show.
    regions: Vec<Hidden>,
    results: SmallVec<[Type; 2]>,
    /// How many results had names.
    named: usize,
    /// What followed it.
    behind: &'s [u8],
}

/// What was read of an operation.
enum Outcome<'s> {
    Whole(Whole<'s>),
    /// Everything in front of its first region.
    Head(Box<OdsState>, SmallVec<[(Sym, Attr); 4]>),
}

/// An operation that was read.
struct Known<'s> {
    name: OpName,
    /// The names, each with the text in front of it.
    places: SmallVec<[(Piece, Place); 4]>,
    /// The text after the last name.
    last: Piece,
    outcome: Outcome<'s>,
    /// How many types and attributes were read.
    expanded: usize,
    /// Whether what reads it may see that operands are the same: those of what is kept are not.
    differ: bool,
}

/// The operations that were read.
pub(super) struct Repeated<'s> {
    known: RecentSets<Box<Known<'s>>>,
    /// A bit for parts of the hashes of texts that came, and how many are set: a text that comes once is not kept.
    seen: Vec<u64>,
    num_seen: usize,
}

impl Default for Repeated<'_> {
    fn default() -> Self {
        Repeated {
            known: RecentSets::new(SETS),
            seen: Vec::new(),
            num_seen: 0,
        }
    }
}

impl Repeated<'_> {
    /// Forgets them: aliases in their texts may have another meaning from here on.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    /// Whether a text came before.
    fn has_come(&mut self, hash: u64) -> bool {
        if self.num_seen >= MOST_SEEN {
            self.seen.clear();
            self.num_seen = 0;
        }
        self.seen.resize(SEEN / 64, 0);
        let at = (hash >> 48) as usize % SEEN;
        let (word, bit) = (&mut self.seen[at / 64], 1 << (at % 64));
        let has_come = *word & bit != 0;
        *word |= bit;
        self.num_seen += usize::from(!has_come);
        has_come
    }
}

/// How far an operation was read.
#[derive(PartialEq, Eq)]
pub(super) enum ReadSoFar {
    /// To its end; with its attributes.
    Whole(AttrDict),
    /// To the brace of its first region.
    Head,
    /// Not at all.
    Not,
}

impl<'s> Parser<'s> {
    /// Reads what follows the name of an operation, if the same text came before. Whether it is to be kept otherwise is noted in `op`.
    pub(super) fn met_before(&mut self, op: &mut Pending) -> ReadSoFar {
        let Some(hash) = self.hash_of_line(op.name) else {
            return ReadSoFar::Not;
        };
        if let Some(known) = self.repeated.known.take(hash, |known| known.name == op.name) {
            let met = self.repeat(op, &known);
            self.repeated.known.keep(hash, known);
            if met != ReadSoFar::Not {
                return met;
            }
        }
        op.keep = self.repeated.has_come(hash).then_some((hash, self.expanded));
        ReadSoFar::Not
    }

    /// A hash of parts of the line without names of values: of its first bytes here, and of its last ones.
    #[inline]
    fn hash_of_line(&self, name: OpName) -> Option<u64> {
        const EACH: u64 = 0x0101_0101_0101_0101;
        let rest = &self.src[self.pos..];
        let first = u64::from_le_bytes(*rest.first_chunk()?);
        // The lowest byte that becomes zero is the first sign of a value.
        let signs = first ^ (EACH * u64::from(b'%'));
        let zeros = signs.wrapping_sub(EACH) & !signs & (EACH << 7);
        let before = match zeros {
            0 => first,
            _ => first & !(u64::MAX << (zeros.trailing_zeros() & !7)),
        };
        let line = &rest[..rest.len().min(MAX_TEXT)];
        let line = &line[..memchr::memchr(b'\n', line)?];
        let behind = match memchr::memrchr(b'%', line) {
            Some(at) => line.len() - at - 1 - cursor::suffix_len(&line[at + 1..]),
            None => line.len(),
        };
        let last = u64::from_le_bytes(*self.src[..self.pos + line.len()].last_chunk()?);
        let after = match behind {
            0 => 0,
            1..8 => last >> (64 - 8 * behind),
            _ => last,
        };
        let mixed = before ^ after.rotate_left(21) ^ ((name.index() as u64) << 43);
        Some(mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn repeat(&mut self, op: &mut Pending, known: &Known<'s>) -> ReadSoFar {
        let (start, expanded) = (self.pos, self.expanded.saturating_add(known.expanded));
        // The reader of the format reports that it is too much.
        let met = match expanded <= self.most_expanded {
            true => self.repeat_outcome(op, known),
            false => None,
        };
        match met {
            Some(met) => {
                self.expanded = expanded;
                met
            }
            None => {
                self.pos = start;
                op.operands.clear();
                op.function_args.clear();
                ReadSoFar::Not
            }
        }
    }

    #[inline]
    fn repeat_outcome(&mut self, op: &mut Pending, known: &Known<'s>) -> Option<ReadSoFar> {
        match &known.outcome {
            Outcome::Whole(whole) => {
                if whole.named != op.num_named {
                    return None;
                }
                self.operands_between(op, known)?;
                let (next, behind) = self.behind(self.pos)?;
                if behind != whole.behind {
                    return None;
                }
                self.pos = next;
                op.results.extend_from_slice(&whole.results);
                for hidden in &whole.regions {
                    let region = hidden.create(self.body(), op.span);
                    op.regions.push(region);
                }
                Some(ReadSoFar::Whole(whole.attrs))
            }
            Outcome::Head(state, attrs) => {
                let mut copy = self.spare_states.pop().unwrap_or_default();
                let fits = self.head_between(op, known, &mut copy).is_some() && self.peek() == b'{';
                if !fits {
                    copy.clear();
                    self.spare_states.push(copy);
                    return None;
                }
                copy.copy_from(state);
                op.attrs.extend_from_slice(attrs);
                op.ods = Some(copy);
                Some(ReadSoFar::Head)
            }
        }
    }

    /// Reads the operands of an operation, if the text around them is the known one.
    #[inline]
    fn operands_between(&mut self, op: &mut Pending, known: &Known<'s>) -> Option<()> {
        for (piece, place) in &known.places {
            self.eat_piece(piece)?;
            let Place::Use(_, ty) = *place else { return None };
            let value = self.defined_value()?;
            if self.body().value_type(value) != ty {
                return None;
            }
            if known.differ && op.operands.contains(&value) {
                return None;
            }
            op.operands.push(value);
        }
        self.eat_piece(&known.last)
    }

    /// The same of a head, whose names may be those of arguments.
    fn head_between(&mut self, op: &mut Pending, known: &Known<'s>, state: &mut OdsState) -> Option<()> {
        for (piece, place) in &known.places {
            self.eat_piece(piece)?;
            let start = self.pos;
            match *place {
                Place::Use(slot, ty) => {
                    let value = self.defined_value()?;
                    let is_same = |operand: &(u16, ValueId, Span)| operand.1 == value;
                    if self.body().value_type(value) != ty || known.differ && state.operands.iter().any(is_same) {
                        return None;
                    }
                    state.operands.push((slot, value, Span::new(start, self.pos)));
                }
                Place::Argument(ty) => {
                    let (name, start) = self.result_name().ok()?;
                    op.function_args.push((name, ty, None, start));
                }
            }
        }
        self.eat_piece(&known.last)
    }

    #[inline]
    fn eat_piece(&mut self, piece: &Piece) -> Option<()> {
        let (src, len) = (self.src, piece.len as usize);
        let word = u64::from_le_bytes(*src.get(self.pos..)?.first_chunk()?);
        if word & piece.mask != piece.word {
            return None;
        }
        if len > 8 {
            let start = piece.start as usize;
            if src.get(self.pos + 8..self.pos + len)? != src.get(start + 8..start + len)? {
                return None;
            }
        }
        self.pos += len;
        Some(())
    }

    fn piece(&self, start: usize, end: usize) -> Option<Piece> {
        let first = u64::from_le_bytes(*self.src.get(start..)?.first_chunk()?);
        let len = end - start;
        let mask = match len {
            0 => 0,
            1..8 => !(u64::MAX << (8 * len)),
            _ => u64::MAX,
        };
        Some(Piece {
            start: start as u32,
            len: len as u32,
            word: first & mask,
            mask,
        })
    }

    /// The beginning of what comes after an operation that ends its line, as far as it decides whether the operation goes on there. The
    /// words that formats have are without dots, and those that begin an operation mostly have one. Also where that is.
    #[inline]
    fn behind(&self, end: usize) -> Option<(usize, &'s [u8])> {
        if !matches!(self.src.get(end), Some(b'\n' | b'\r')) {
            return None;
        }
        let at = cursor::blanks(self.src, end);
        let rest = self.src.get(at..)?;
        let behind = match rest.first()? {
            b'%' | b'}' | b'^' => &rest[..1],
            _ => {
                let word = &rest[..cursor::name_len(rest)];
                if word.contains(&b'.') { b"." } else { word }
            }
        };
        (!behind.is_empty()).then_some((at, behind))
    }

    /// Keeps an operation without successors and without regions in its text that was read to its end.
    pub(super) fn keep_whole(&mut self, op: &mut Pending, attrs: AttrDict) {
        let Some((hash, expanded)) = op.keep.take() else { return };
        let start = op.span.end as usize;
        let is_plain = !op.generic && op.successors.is_empty() && !op.has(self.ctx, Traits::ISOLATED);
        let has_region = || !op.regions.is_empty() && self.src[start..self.pos].contains(&b'{');
        if !is_plain || has_region() || self.has_failed() {
            return;
        }
        let body = &self.bodies[self.bodies.len() - 1];
        let regions: Option<Vec<Hidden>> = op.regions.iter().map(|&region| Hidden::of(body, region)).collect();
        let (Some(regions), Some((_, behind))) = (regions, self.behind(self.pos)) else {
            return;
        };
        let Some((names, pieces)) = self.split_at_names(start, self.pos) else {
            return;
        };
        // Equal operands may be in any order.
        let is_new = |at: usize| !op.operands[..at].contains(&op.operands[at]);
        if names.len() != op.operands.len() || !(0..op.operands.len()).all(is_new) {
            return;
        }
        let mut places = SmallVec::new();
        for ((&name, &piece), &operand) in names.iter().zip(&pieces).zip(&op.operands) {
            if self.value_at(name) != Some(operand) {
                return;
            }
            places.push((piece, Place::Use(0, self.body().value_type(operand))));
        }
        let outcome = Outcome::Whole(Whole {
            attrs,
            regions,
            results: op.results.as_slice().into(),
            named: op.num_named,
            behind,
        });
        self.keep(op.name, hash, (places, pieces.last().copied()), outcome, expanded);
    }

    /// Keeps what was read of an operation up to its first region.
    pub(super) fn keep_head(&mut self, op: &mut Pending) {
        let Some((hash, expanded)) = op.keep.take() else { return };
        let start = op.span.end as usize;
        let Some(state) = op.ods.as_ref().filter(|_| !self.has_failed()) else {
            return;
        };
        let is_first = op.regions.is_empty() && state.regions.len() == 1;
        // Errors report the location of a dictionary.
        let is_plain = op.dicts.is_empty() && state.ints.is_empty() && state.all_operands.is_none();
        // What follows the brace may determine whether this is our own form.
        let next = self.after(start);
        let may_be_own = op.def(self.ctx).is_some()
            && match self.src.get(next) {
                Some(b'(') => self.operands_end(next).is_some(),
                first => first == Some(&b'{'),
            };
        if !is_first || !is_plain || may_be_own {
            return;
        }
        let Some((names, pieces)) = self.split_at_names(start, self.pos) else {
            return;
        };
        let is_new = |at: usize| state.operands[..at].iter().all(|other| other.1 != state.operands[at].1);
        if !(0..state.operands.len()).all(is_new) {
            return;
        }
        let (mut operands, mut args) = (state.operands.iter().peekable(), op.function_args.iter().peekable());
        let mut places = SmallVec::new();
        for (&name, &piece) in names.iter().zip(&pieces) {
            let place = if let Some(&(slot, value, _)) = operands.next_if(|operand| operand.2.start as usize == name) {
                let ty = self.bodies[self.bodies.len() - 1].value_type(value);
                // The type of one that is defined later is not known.
                if ty == Type::NONE {
                    return;
                }
                Place::Use(slot, ty)
            } else if let Some(&(_, ty, None, _)) = args.next_if(|arg| arg.3 as usize == name) {
                Place::Argument(ty)
            } else {
                return;
            };
            places.push((piece, place));
        }
        if operands.next().is_some() || args.next().is_some() {
            return;
        }
        let mut copy = Box::<OdsState>::default();
        copy.copy_from(state);
        let outcome = Outcome::Head(copy, op.attrs.as_slice().into());
        self.keep(op.name, hash, (places, pieces.last().copied()), outcome, expanded);
    }

    fn keep(
        &mut self,
        name: OpName,
        hash: u64,
        (places, last): (SmallVec<[(Piece, Place); 4]>, Option<Piece>),
        outcome: Outcome<'s>,
        expanded: usize,
    ) {
        let Some(last) = last else { return };
        let row = self.ctx.ods(name).and_then(|ods| ods.row().ok());
        let has_hooks = row.is_some_and(|row| row.items.iter().any(|item| matches!(item.element, Element::Custom(..))));
        let known = Known {
            name,
            places,
            last,
            outcome,
            expanded: self.expanded.saturating_sub(expanded),
            differ: has_hooks,
        };
        self.repeated.known.keep(hash, Box::new(known));
    }

    /// Where the names of values are in a text, and the texts in front of each and after the last.
    fn split_at_names(&self, start: usize, end: usize) -> Option<Split> {
        if end < start || end - start > MAX_TEXT {
            return None;
        }
        let (mut names, mut pieces) = (SmallVec::new(), SmallVec::new());
        let (mut at, mut from) = (start, start);
        while at < end {
            match self.src[at] {
                b'"' => at = cursor::string_end(self.src, at)?,
                // Comments belong to operations, and blocks to regions.
                b'/' | b'^' => return None,
                b'%' => {
                    pieces.push(self.piece(from, at)?);
                    names.push(at);
                    at += 1 + cursor::suffix_len(&self.src[at + 1..]);
                    if self.src.get(at) == Some(&b'#') {
                        at += 1 + cursor::digits(&self.src[at + 1..]).len();
                    }
                    from = at;
                }
                _ => at += 1,
            }
        }
        pieces.push(self.piece(from, end)?);
        (at == end && names.len() <= MAX_NAMES).then_some((names, pieces))
    }

    /// The value that is named at a place, if it is defined.
    fn value_at(&mut self, start: usize) -> Option<ValueId> {
        let back = std::mem::replace(&mut self.pos, start);
        let value = self.defined_value();
        self.pos = back;
        value
    }
}
