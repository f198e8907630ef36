//! Operations in MLIR's custom assembly or the generic form whose text came before, with other names of values.
//!
//! The text of an operation without regions and successors depends on its name, its attributes, the types of its operands and results,
//! and the names of its operands. Without these names it is kept, since most operations are like others. So is the text of others in
//! front of their first region, which may also have the names of arguments of the region.

use smallvec::SmallVec;

use super::names::Names;
use super::printer::Printer;
use crate::body::Body;
use crate::context::Context;
use crate::entity::{OpId, OpName, ValueId};
use crate::ods::OdsRow;
use crate::recent::RecentSets;
use crate::types::{AttrDict, Type};

/// How many sets of texts are kept, a power of two, and how long they are at most.
const SETS: usize = 64;
const MAX_TEXT: usize = 256;
/// How many operands, results, and arguments of the first region operations have at most whose texts are kept.
const OPERANDS: usize = 6;
const RESULTS: usize = 2;
const ARGS: usize = 4;

/// What the text of an operation depends on.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    name: OpName,
    attrs: AttrDict,
    counts: (u32, u32),
    operands: [Type; OPERANDS],
    results: [Type; RESULTS],
    /// The dialect whose name is left out.
    default: &'a str,
}

impl PartialEq for Shape<'_> {
    fn eq(&self, other: &Self) -> bool {
        // The same dialect is nearly always the same text in memory.
        self.name == other.name
            && self.attrs == other.attrs
            && self.counts == other.counts
            && self.operands == other.operands
            && self.results == other.results
            && std::ptr::eq(self.default, other.default)
    }
}

impl<'a> Shape<'a> {
    #[inline]
    fn of(body: &Body, op: OpId, default: &'a str) -> Option<Self> {
        let data = &body.ops[op.index()];
        let operands = body.operands.get(data.operands.range())?;
        let results = body.values.get(data.results.range())?;
        if operands.len() > OPERANDS || results.len() > RESULTS {
            return None;
        }
        let mut shape = Shape {
            name: data.name,
            attrs: data.attrs,
            counts: (data.operands.len, data.results.len),
            operands: [Type::NONE; OPERANDS],
            results: [Type::NONE; RESULTS],
            default,
        };
        for (ty, &value) in shape.operands.iter_mut().zip(operands) {
            *ty = body.value_type(value);
        }
        for (ty, value) in shape.results.iter_mut().zip(results) {
            *ty = value.ty;
        }
        Some(shape)
    }

    #[inline]
    fn hash(&self) -> u64 {
        let [first, second, ..] = self.operands.map(|ty| ty.index() as u64);
        let what = self.name.index() as u64 | u64::from(self.attrs.0) << 32;
        let types = first << 12 ^ second << 24 ^ (self.results[0].index() as u64) << 48;
        (what ^ types).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// What the text of an operation in front of its first region depends on.
#[derive(Clone, Copy, PartialEq)]
struct HeadShape<'a> {
    op: Shape<'a>,
    args: [Type; ARGS],
    /// How many arguments the region has; nothing if it has no block.
    num_args: Option<usize>,
}

/// A text without names of values.
struct Text {
    text: String,
    /// Where in it which value is: the operands, then the arguments of the region.
    names: SmallVec<[(u32, u32); 4]>,
}

/// Where the format of an operation goes on after its first region, and which region that is.
type Then = ((usize, usize), usize);

/// What is known of the text of an operation.
enum Kept<T> {
    /// It came once.
    Once,
    /// It depends on more.
    Special,
    Text(T),
}

/// The text in front of a region.
struct Head {
    text: Text,
    /// Whether it names the arguments of the region.
    has_args: bool,
    then: Option<Then>,
}

/// The texts that were written, and the names in the one that is being written.
pub(super) struct Repeated<'a> {
    kept: RecentSets<(Shape<'a>, Kept<Text>)>,
    heads: RecentSets<(HeadShape<'a>, Kept<Head>)>,
    is_traced: bool,
    /// From where to where which names are.
    trace: Vec<(usize, usize, ValueId)>,
    /// Whether arguments of the first region were named.
    has_args: bool,
    /// Where a text in front of a region ends.
    end: Option<(usize, Then)>,
}

impl Default for Repeated<'_> {
    fn default() -> Self {
        Repeated {
            kept: RecentSets::new(SETS),
            heads: RecentSets::new(SETS),
            is_traced: false,
            trace: Vec::new(),
            has_args: false,
            end: None,
        }
    }
}

impl Repeated<'_> {
    /// An operation is written whose text may be kept.
    fn begin(&mut self) {
        self.is_traced = true;
        self.trace.clear();
        self.has_args = false;
        self.end = None;
    }

    /// A region of the operation that is being written begins.
    #[inline]
    pub(super) fn reach(&mut self, end: usize, then: Then) {
        if std::mem::take(&mut self.is_traced) {
            self.end = Some((end, then));
        }
    }

    /// Says that the name of a value was written.
    #[inline]
    pub(super) fn wrote(&mut self, start: usize, end: usize, value: ValueId) {
        if self.is_traced {
            self.trace.push((start, end, value));
        }
    }

    /// Says that the arguments of a region were named.
    pub(super) fn named_args(&mut self) {
        self.has_args = true;
    }

    /// Says that something was inserted at a place, or removed.
    pub(super) fn moved(&mut self, from: usize, by: isize) {
        for (start, end, _) in self.trace.iter_mut().filter(|name| name.0 >= from) {
            *start = start.saturating_add_signed(by);
            *end = end.saturating_add_signed(by);
        }
    }
}

impl Text {
    #[inline]
    fn write(&self, mut name: impl FnMut(&mut String, usize), out: &mut String) {
        let mut at = 0;
        for &(end, value) in &self.names {
            out.push_str(&self.text[at..end as usize]);
            name(out, value as usize);
            at = end as usize;
        }
        out.push_str(&self.text[at..]);
    }
}

impl<'a> Printer<'a, '_> {
    /// Writes an operation like one before. Otherwise gives what its text depends on, if it may come again.
    #[inline]
    pub(super) fn write_again(&mut self, body: &'a Body, op: OpId) -> Result<(), Option<Shape<'a>>> {
        if body.extra(op).is_some() || body.loc(op).is_some() {
            return Err(None);
        }
        let shape = Shape::of(body, op, self.default_dialect(body, op)).ok_or(None)?;
        let hash = shape.hash();
        match self.repeated.kept.find(hash, |known| known.0 == shape) {
            Some((_, Kept::Text(text))) => {
                let (ctx, names) = (self.ctx, &self.names);
                let operands = &body.operands[body.ops[op.index()].operands.range()];
                text.write(|out, at| names.write(ctx, out, operands[at]), &mut self.out);
                Ok(())
            }
            Some((_, Kept::Special)) => Err(None),
            Some((_, Kept::Once)) => Err(Some(shape)),
            None => {
                self.repeated.kept.keep(hash, (shape, Kept::Once));
                Err(None)
            }
        }
    }

    /// Writes an operation in the generic form, and keeps the text if it may come again.
    pub(super) fn in_generic_form(&mut self, body: &'a Body, op: OpId) {
        let shape = match self.write_again(body, op) {
            Ok(()) => return,
            Err(shape) => shape,
        };
        let start = self.out.len();
        if shape.is_some() {
            self.trace_names();
        }
        self.generic(body, op);
        self.keep_text(body, op, shape, start, true);
    }

    /// Writes an operation, and keeps the text if it may come again.
    pub(super) fn in_row(&mut self, body: &'a Body, op: OpId, row: &'a OdsRow, shape: Option<Shape<'a>>) {
        let start = self.out.len();
        if body.extra(op).is_some() {
            return self.head_in_row(body, op, row);
        }
        if shape.is_some() {
            self.trace_names();
        }
        self.op_name(body, op);
        self.ods(body, op, row, 0, 0);
        self.keep_text(body, op, shape, start, false);
    }

    /// Keeps the text from `start` on, which is that of an operation, if it may come again.
    fn keep_text(&mut self, body: &Body, op: OpId, shape: Option<Shape<'a>>, start: usize, is_in_order: bool) {
        let Some(shape) = shape else { return };
        self.repeated.is_traced = false;
        let operands = &body.operands[body.ops[op.index()].operands.range()];
        let kept = self.without_names(operands, start, self.out.len(), is_in_order);
        self.repeated.kept.keep(shape.hash(), (shape, kept));
    }

    /// The same of an operation with regions.
    fn head_in_row(&mut self, body: &'a Body, op: OpId, row: &'a OdsRow) {
        let start = self.out.len();
        let shape = self.head_shape(body, op);
        let heads = &self.repeated.heads;
        let found = shape
            .as_ref()
            .and_then(|shape| heads.find(shape.op.hash(), |known| known.0 == *shape));
        let mut is_traced = false;
        match (found, &shape) {
            (Some((_, Kept::Text(head))), _) => {
                let args = match head.has_args {
                    true => name_region_args(self.ctx, (&mut self.names, &mut self.args_mark), body, op, 0),
                    false => SmallVec::new(),
                };
                let (ctx, names, then) = (self.ctx, &self.names, head.then);
                let operands = &body.operands[body.ops[op.index()].operands.range()];
                let value = |at: usize| match at.checked_sub(operands.len()) {
                    None => operands[at],
                    Some(at) => args[at],
                };
                head.text
                    .write(|out, at| names.write(ctx, out, value(at)), &mut self.out);
                if let Some((then, region)) = then {
                    self.ods_region(body, op, row, region, then);
                }
                return;
            }
            (Some((_, Kept::Once)), _) => is_traced = true,
            (Some((_, Kept::Special)), _) | (None, None) => {}
            (None, Some(shape)) => self.repeated.heads.keep(shape.op.hash(), (*shape, Kept::Once)),
        }
        if is_traced {
            self.trace_names();
        }
        self.op_name(body, op);
        self.ods(body, op, row, 0, 0);
        let Some(shape) = shape.filter(|_| is_traced) else {
            return;
        };
        self.repeated.is_traced = false;
        let (end, then) = match self.repeated.end.take() {
            Some((end, then)) => (end, Some(then)),
            None => (self.out.len(), None),
        };
        let mut values: SmallVec<[ValueId; 8]> = body.operands(op).collect();
        if self.repeated.has_args {
            values.extend(first_args(body, op).unwrap_or_default().iter().copied());
        }
        let kept = match self.without_names(&values, start, end, false) {
            Kept::Text(text) => Kept::Text(Head {
                text,
                has_args: self.repeated.has_args,
                then,
            }),
            Kept::Once => Kept::Once,
            Kept::Special => Kept::Special,
        };
        self.repeated.heads.keep(shape.op.hash(), (shape, kept));
    }

    fn head_shape(&self, body: &'a Body, op: OpId) -> Option<HeadShape<'a>> {
        if body.loc(op).is_some() || body.isolated(op).is_some() || !body.successors(op).is_empty() {
            return None;
        }
        let args = first_args(body, op);
        let mut shape = HeadShape {
            op: Shape::of(body, op, self.default_dialect(body, op))?,
            args: [Type::NONE; ARGS],
            num_args: args.map(<[ValueId]>::len),
        };
        let args = args.unwrap_or_default();
        if args.len() > ARGS {
            return None;
        }
        for (ty, &arg) in shape.args.iter_mut().zip(args) {
            *ty = body.value_type(arg);
        }
        Some(shape)
    }

    /// The text that is written next may be kept.
    fn trace_names(&mut self) {
        self.repeated.begin();
        self.looked_around.set(false);
    }

    /// The text from `start` to `end` without the names of these values. `is_in_order` says that it names them in this order.
    fn without_names(&self, values: &[ValueId], start: usize, end: usize, is_in_order: bool) -> Kept<Text> {
        let is_new = |at: usize| !values[..at].contains(&values[at]);
        if !is_in_order && !(0..values.len()).all(is_new) {
            // Which of two equal operands is where cannot be seen.
            return Kept::Once;
        }
        let place = |number: usize, value: ValueId| match is_in_order {
            true => (values.get(number) == Some(&value)).then_some(number),
            false => values.iter().position(|&known| known == value),
        };
        let split = || {
            let (mut text, mut names) = (String::new(), SmallVec::new());
            let mut at = start;
            let traced = self.repeated.trace.iter().filter(|name| name.1 <= end);
            for (number, &(from, to, value)) in traced.enumerate() {
                text.push_str(self.out.get(at..from)?);
                names.push((text.len() as u32, place(number, value)? as u32));
                at = to;
            }
            text.push_str(self.out.get(at..end)?);
            // Another name, or a line whose indentation depends on what is around.
            let is_plain = text.len() <= MAX_TEXT && !text.contains(['%', '\n']) && !self.looked_around.get();
            is_plain.then_some(Text { text, names })
        };
        split().map_or(Kept::Special, Kept::Text)
    }
}

/// The arguments of the first region of an operation, if that has a block.
fn first_args(body: &Body, op: OpId) -> Option<&[ValueId]> {
    let region = body.op_regions(op).first()?;
    Some(body.block_args(body.entry_block(*region)?))
}

/// Names the arguments of a region of an operation, whose head shows them.
pub(super) fn name_region_args(
    ctx: &Context,
    (names, mark): (&mut Names, &mut Option<usize>),
    body: &Body,
    op: OpId,
    region: usize,
) -> SmallVec<[ValueId; 4]> {
    let region = body.op_regions(op).get(region);
    let Some(entry) = region.and_then(|&region| body.entry_block(region)) else {
        return SmallVec::new();
    };
    mark.get_or_insert(names.mark());
    for &arg in body.block_args(entry) {
        if !names.has(arg) {
            names.arg(ctx, body, arg);
        }
    }
    body.block_args(entry).into()
}
