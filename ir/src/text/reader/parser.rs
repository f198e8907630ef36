//! The parser's state, and the statements of regions: operations, labels, closing braces.
//!
//! Nesting is kept in an explicit list of open regions: each knows the operation that it belongs to, as far as that
//! was read. An operation is created when all of its parts are there.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::aliases::{Aliases, Meaning};
use super::caches::{DICTS, KnownOp, LongSym, RECENT_OPS, RECENT_STEMS, RECENT_TYPES, RecentOp, num_syms};
use super::directives::Directives;
use super::pending::{OdsState, Pending};
use super::repeated::Repeated;
use super::scope::Scopes;
use crate::body::{Body, CapacityHint};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Severity, Span};
use crate::entity::{BlockId, OpId, OpName, RegionId, Sym, ValueId};
use crate::module::Module;
use crate::names::Stem;
use crate::recent::Recent;
use crate::text::cursor::{self, balanced_end, line_end};
use crate::text::options::{ParseOptions, Parsed};
use crate::types::{Attr, AttrDict, Type};

pub(super) use super::failure::Failure;

/// Stop after this many errors.
const MAX_ERRORS: usize = 200;

/// How many bytes a text has at most: places in it are numbers of 32 bits.
pub(super) const MAX_SOURCE: usize = u32::MAX as usize - 1;

/// For how many operations room is made in advance at most.
const MAX_RESERVE: usize = 1 << 20;

/// How many types and attributes aliases may denote, beyond one for each byte.
pub(super) const MAX_EXPANSION: usize = 1 << 24;

/// An open region.
pub(super) struct Open {
    pub(super) region: RegionId,
    /// The block that operations are added to.
    pub(super) block: Option<BlockId>,
    /// The operation that the region belongs to; `None` for the top level.
    pub(super) owner: Option<Box<Pending>>,
    /// Whether the region is the root of an isolated body.
    pub(super) isolated: bool,
    /// Where its brace is.
    pub(super) brace: usize,
    /// The last operation, for comments at the end of its line.
    pub(super) last: Option<OpId>,
}

pub(in crate::text) struct Parser<'s> {
    pub(super) ctx: &'s Arc<Context>,
    /// The whole text, of which only the part of `src` after `pos` is read.
    pub(super) whole: &'s [u8],
    pub(super) src: &'s [u8],
    pub(super) pos: usize,
    pub(super) options: ParseOptions,
    pub(super) bodies: Vec<Body>,
    pub(super) scopes: Scopes,
    pub(super) open: Vec<Open>,
    pub(super) type_cache: FxHashMap<&'s [u8], Type>,
    pub(super) aliases: Aliases<'s>,
    /// How many types and attributes the one that is read is nested in.
    pub(super) nested: u32,
    /// The number of types and attributes read, expansions of aliases counted each time.
    pub(super) expanded: usize,
    /// How many there may be.
    pub(super) most_expanded: usize,
    /// Symbols that were met lately, by hash: short ones, and others.
    pub(super) short_syms: Recent<u64, Sym>,
    pub(super) syms: Recent<LongSym, Sym>,
    pub(super) op_names: FxHashMap<&'s [u8], KnownOp>,
    /// The operations of some names, at the positions that [`op_place`](super::caches::op_place) computes.
    pub(super) recent_ops: Recent<&'s [u8], RecentOp<'s>>,
    /// The operation of a word without a dialect that was read last, with the operation around it.
    pub(super) recent_word: Option<(OpName, &'s [u8], OpName)>,
    /// Words in front of numbers and their numbers, if they have one, each at a position that follows from its hash.
    pub(super) recent_stems: Recent<Stem, Option<u32>>,
    pub(super) entries: Vec<(Sym, Attr)>,
    /// Results of operations that could not be read: what uses them is not to blame.
    pub(super) poison: FxHashSet<ValueId>,
    diagnostics: Vec<Diagnostic>,
    /// Aliases that were used before their definition, which must follow.
    pub(super) later: Vec<(u8, &'s [u8], Span)>,
    pub(super) directives: Option<Directives<'s>>,
    /// Comments for the next operation.
    pub(super) comment: String,
    /// The operation that was read last, for the memory that it has, and others that were read in parts.
    pub(super) ready: Option<Box<Pending>>,
    #[allow(clippy::vec_box, reason = "it is the boxes that are used again")]
    pub(super) spare: Vec<Box<Pending>>,
    /// Recently read tensor types with their texts, by a hash of the first letters in the brackets.
    pub(super) recent_types: Recent<&'s [u8], Type>,
    /// Recently read attribute dictionaries, with the numbers of attributes and types in them, by a hash of their text.
    /// The text ends at its first closing brace, and means the same everywhere.
    pub(super) recent_dicts: Recent<&'s [u8], (AttrDict, usize)>,
    /// Attributes whose text was composed from the elements of an assembly format.
    pub(super) composed_attrs: FxHashMap<Box<str>, Attr>,
    /// Attributes that are lists of integers: of 32 bits, like the numbers of values of each operand or result, and of 64 bits.
    pub(super) narrow_lists: FxHashMap<Box<[i64]>, Attr>,
    pub(super) wide_lists: FxHashMap<Box<[i64]>, Attr>,
    /// The states of operations with rows that were created, for their memory.
    #[allow(clippy::vec_box, reason = "it is the boxes that are used again")]
    pub(super) spare_states: Vec<Box<OdsState>>,
    /// Operations whose text may come again.
    pub(super) repeated: Repeated<'s>,
    /// The locations of attribute names and values, if requested.
    pub(super) attr_places: Option<Vec<(Sym, Span, Span)>>,
    /// About how many operations there are to be read, in how many bytes.
    pub(super) lines: usize,
    pub(super) length: usize,
    /// For the next body.
    pub(super) room: CapacityHint,
}

impl<'s> Parser<'s> {
    pub(in crate::text) fn new(ctx: &'s Arc<Context>, src: &'s [u8], options: ParseOptions) -> Self {
        Self::of_piece(ctx, src, 0..src.len(), options)
    }

    /// For a piece of a text alone.
    pub(super) fn of_piece(ctx: &'s Arc<Context>, text: &'s [u8], piece: Range<usize>, options: ParseOptions) -> Self {
        let src = &text[..piece.end];
        let mark = if src.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        Parser {
            ctx,
            whole: text,
            src,
            pos: piece.start.max(mark),
            options,
            bodies: Vec::new(),
            scopes: Scopes::new(piece.len()),
            open: Vec::new(),
            type_cache: FxHashMap::default(),
            aliases: Aliases::default(),
            nested: 0,
            expanded: 0,
            most_expanded: src.len().saturating_add(MAX_EXPANSION),
            short_syms: Recent::new(num_syms(piece.len())),
            syms: Recent::new(num_syms(piece.len())),
            op_names: FxHashMap::default(),
            recent_ops: Recent::new(RECENT_OPS),
            recent_word: None,
            recent_stems: Recent::new(RECENT_STEMS),
            entries: Vec::new(),
            poison: FxHashSet::default(),
            diagnostics: Vec::new(),
            later: Vec::new(),
            directives: None,
            comment: String::new(),
            ready: None,
            spare: Vec::new(),
            recent_types: Recent::new(RECENT_TYPES),
            recent_dicts: Recent::new(DICTS),
            composed_attrs: FxHashMap::default(),
            narrow_lists: FxHashMap::default(),
            wide_lists: FxHashMap::default(),
            spare_states: Vec::new(),
            repeated: Repeated::default(),
            attr_places: None,
            lines: 0,
            length: piece.len().max(1),
            room: CapacityHint::default(),
        }
    }

    /// Reads an item that must be the whole text.
    pub(super) fn only<T>(mut self, f: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Diagnostic> {
        let found = f(&mut self).map_err(|e| *e.0)?;
        self.skip();
        if self.pos < self.src.len() {
            return Err(*self.expected("the end of the text", "remove the text that follows").0);
        }
        Ok(found)
    }

    pub(in crate::text) fn run(mut self) -> Parsed {
        let mut module = Module::new(self.ctx.clone());
        if self.src.len() > MAX_SOURCE {
            let diagnostic =
                Diagnostic::error("too-large", "the input is larger than 4 GiB").help("split it into several files");
            return Parsed {
                module,
                diagnostics: vec![diagnostic],
            };
        }
        let top = module.top();
        // Most operations are on a line of their own, and read two values.
        let lines = memchr::memchr_iter(b'\n', &self.src[self.pos..]).count();
        self.lines = lines.min((self.src.len() - self.pos) / 16).min(MAX_RESERVE);
        self.room.for_ops(self.lines);
        self.room.take_from(&mut module.body);
        self.bodies.push(std::mem::take(&mut module.body));
        self.scopes.enter_body();
        self.scopes.enter();
        let region = self.body().root();
        self.open.push(Open {
            region,
            block: Some(top),
            owner: None,
            isolated: true,
            brace: 0,
            last: None,
        });
        while self.diagnostics.len() < MAX_ERRORS && self.statement() {}
        // Regions that are still open have been reported; the module is not used then.
        while self.open.len() > 1 {
            self.open.pop();
        }
        let region = self.scopes.leave();
        self.report_undefined(region.forward);
        self.report_undefined_blocks(region.blocks);
        self.report_undefined_aliases();
        module.body = self.bodies.swap_remove(0);
        module.body.frame = self.aliases.frame();
        self.diagnostics.sort_by_key(|d| {
            (
                d.severity != Severity::Error,
                d.labels.first().map_or(0, |l| l.span.start),
            )
        });
        Parsed {
            module,
            diagnostics: self.diagnostics,
        }
    }

    // ----- the input -----

    pub(super) fn peek(&self) -> u8 {
        self.src.get(self.pos).copied().unwrap_or(0)
    }

    // Inlined, the comparison with a literal is one of numbers.
    #[inline(always)]
    pub(super) fn starts_with(&self, text: &[u8]) -> bool {
        self.src.get(self.pos..).is_some_and(|rest| rest.starts_with(text))
    }

    #[inline(always)]
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.starts_with(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    /// Skips blanks and comments.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.pos = self.after(self.pos);
    }

    #[inline(always)]
    pub(super) fn expect(&mut self, text: &[u8], what: &str, help: &str) -> Result<(), Failure> {
        self.skip();
        if self.eat(text) {
            Ok(())
        } else {
            Err(self.expected(what, help))
        }
    }

    /// The stretch of the token at the present place, for messages.
    fn token(&self) -> Span {
        let end = match self.src.get(self.pos) {
            None => self.pos,
            Some(b'"') => cursor::string_end(self.src, self.pos).unwrap_or(self.pos + 1),
            Some(b) if cursor::is_suffix_byte(*b) || matches!(b, b'%' | b'^' | b'@' | b'#' | b'!') => {
                let rest = &self.src[self.pos + 1..];
                self.pos + 1 + rest.iter().take_while(|&&b| cursor::is_suffix_byte(b)).count()
            }
            // A character may have several bytes.
            Some(_) => (self.pos + 1..self.src.len())
                .find(|&i| self.src[i] & 0xC0 != 0x80)
                .unwrap_or(self.src.len()),
        };
        Span::new(self.pos, end)
    }

    pub(super) fn text(&self, span: Span) -> String {
        String::from_utf8_lossy(&self.src[span.start as usize..span.end as usize]).into_owned()
    }

    pub(super) fn expected(&self, what: &str, help: &str) -> Failure {
        let span = self.token();
        let found = match self.text(span).as_str() {
            "" => "the end of the input".to_owned(),
            "\n" | "\r" => "the end of the line".to_owned(),
            text if text.len() > 40 => "something else".to_owned(),
            text => format!("`{}`", text.escape_debug()),
        };
        self.error("syntax", format!("expected {what}, found {found}"), span)
            .with_help(help)
    }

    pub(super) fn error(&self, code: &'static str, message: impl Into<String>, span: Span) -> Failure {
        Failure(Box::new(Diagnostic::error(code, message).label(span, "here")))
    }

    pub(super) fn error_at(&self, start: usize, end: usize, code: &'static str, message: String) -> Failure {
        self.error(code, message, Span::new(start, end.min(self.src.len())))
    }

    pub(super) fn unclosed(&self) -> Failure {
        self.error("unclosed", "this bracket is not closed", self.token())
            .with_help("add the closing bracket")
    }

    /// Whether something was reported.
    pub(super) fn has_failed(&self) -> bool {
        !self.diagnostics.is_empty()
    }

    pub(super) fn report(&mut self, failure: Failure) {
        self.diagnostics.push(*failure.0);
    }

    // ----- statements -----

    /// Reads one statement; `false` at the end of the input.
    fn statement(&mut self) -> bool {
        self.comments();
        let start = self.pos;
        let done = match self.peek() {
            0 if self.pos >= self.src.len() => return self.end_of_input(),
            b'}' => self.close_region(),
            // Comments belong to operations, and these are none: the next one gets it.
            b'^' => self.label(),
            b'#' | b'!' if self.open.len() == 1 => self.for_all().and_then(|()| self.alias()),
            b'{' if self.starts_with(b"{-#") => self.for_all().and_then(|()| self.resources()),
            _ => self.operation(),
        };
        if let Err(failure) = done {
            self.report(failure);
            self.recover(start);
        }
        true
    }

    fn end_of_input(&mut self) -> bool {
        let comment = std::mem::take(&mut self.comment);
        if !comment.is_empty()
            && let Some(block) = self.open.last().and_then(|o| o.block)
        {
            self.body().set_end_comment(block, &comment);
        }
        if let [_, .., open] = self.open.as_slice() {
            let failure = self
                .error_at(
                    open.brace,
                    open.brace + 1,
                    "unclosed-region",
                    "this region is not closed".to_owned(),
                )
                .with_help("add a `}`");
            self.report(failure);
        }
        false
    }

    /// Goes on after the statement at `start`, in which an error was found: at the next line, with everything in
    /// braces that the statement opened skipped. The results that it names are poisoned.
    fn recover(&mut self, start: usize) {
        self.pos = start;
        if self.peek() == b'%' {
            // The names before the `=`.
            while self.peek() == b'%' {
                let Ok((name, start)) = self.new_name() else { break };
                let mut count = 1;
                if self.eat(b":") {
                    let digits = cursor::digits(&self.src[self.pos..]);
                    count = digits.parse().unwrap_or(1u32).clamp(1, 1024);
                    self.pos += digits.len();
                }
                if self.scopes.get(name).is_none() {
                    let first = self.body().create_placeholder(Type::NONE);
                    for _ in 1..count {
                        self.body().create_placeholder(Type::NONE);
                    }
                    for at in 0..count as usize {
                        self.poison.insert(ValueId::new(first.index() + at));
                    }
                    self.define(name, first, count, start);
                }
                self.skip();
                if !self.eat(b",") {
                    break;
                }
                self.skip();
            }
        }
        self.pos = self.pos.max(start);
        // A brace that nothing closes was looked for to the end once: that is enough. On its line, one may be meant to.
        let (mut closed, mut open) = (true, 0usize);
        while self.pos < self.src.len() {
            match self.peek() {
                b'\n' | b'\r' => return,
                b'}' => {
                    // The brace of the region around, unless the statement began with it.
                    if self.pos > start && open == 0 {
                        return;
                    }
                    open = open.saturating_sub(1);
                    self.pos += 1;
                }
                b'"' => {
                    self.pos = cursor::string_end(self.src, self.pos).unwrap_or_else(|| line_end(self.src, self.pos))
                }
                b'/' if self.starts_with(b"//") => self.pos = line_end(self.src, self.pos),
                b'{' if closed => match balanced_end(self.src, self.pos) {
                    Some(end) => self.pos = end,
                    None => closed = false,
                },
                b'{' => {
                    open += 1;
                    self.pos += 1;
                }
                _ => self.pos += 1,
            }
        }
    }

    /// An error if a chunk contains a definition that affects other chunks.
    fn for_all(&self) -> Result<(), Failure> {
        match self.length < self.whole.len() {
            true => Err(self.expected("an operation", "parse the text as a whole")),
            false => Ok(()),
        }
    }

    /// `#name = attribute` or `!name = type`.
    pub(super) fn alias(&mut self) -> Result<(), Failure> {
        let sigil = self.peek();
        let start = self.pos;
        self.pos += 1;
        while cursor::is_suffix_byte(self.peek()) {
            self.pos += 1;
        }
        let word = &self.src[start + 1..self.pos];
        let end = self.pos;
        self.expect(b"=", "`=`", "an alias is written `#name = attribute` or `!name = type`")?;
        let before = self.expanded;
        self.aliases.begin();
        let meaning = match sigil {
            b'#' => Meaning::Attr(self.parse_attr()?),
            _ => Meaning::Type(self.parse_type()?),
        };
        let size = self.expanded - before;
        if !self.aliases.define(word, meaning, size, &self.src[start..self.pos]) {
            return Err(self
                .error_at(start, end, "redefinition", "this alias is defined twice".to_owned())
                .with_help("give one of them another name"));
        }
        self.repeated.clear();
        Ok(())
    }

    /// Reports words that look like aliases and are defined nowhere, each once.
    fn report_undefined_aliases(&mut self) {
        // The definition of one may be what could not be read.
        if !self.diagnostics.is_empty() {
            return;
        }
        let mut seen = FxHashSet::default();
        for (sigil, word, span) in std::mem::take(&mut self.later) {
            if self.aliases.is_defined(sigil, word) || !seen.insert((sigil, word)) {
                continue;
            }
            let message = format!("there is no alias `{}`", self.text(span));
            let help = match sigil {
                b'#' => "define it: `#name = attribute`; an attribute of a dialect is written `#dialect.name`",
                _ => "define it: `!name = type`; a type of a dialect is written `!dialect.name`",
            };
            let failure = self.error("undefined-alias", message, span).with_help(help);
            self.report(failure);
        }
    }

    /// Counts what an alias denotes.
    pub(super) fn expand(&mut self, start: usize, size: usize) -> Result<(), Failure> {
        self.expanded = self.expanded.saturating_add(size);
        if self.expanded <= self.most_expanded {
            return Ok(());
        }
        Err(self
            .error_at(
                start,
                self.pos,
                "alias-expansion",
                "the expansion of this alias is too large".to_owned(),
            )
            .with_help("an alias that uses another alias twice doubles in size at each level"))
    }

    /// `{-# … #-}`: data of other tools, kept as it is written.
    fn resources(&mut self) -> Result<(), Failure> {
        match memchr::memmem::find(&self.src[self.pos..], b"#-}") {
            Some(at) => {
                let text = &self.src[self.pos..self.pos + at + 3];
                self.aliases.resources = text;
                self.pos += at + 3;
                Ok(())
            }
            None => Err(self.unclosed()),
        }
    }

    /// `^name:` or `^name(%a: T, …):`.
    fn label(&mut self) -> Result<(), Failure> {
        let start = self.pos;
        self.pos += 1;
        let (sym, span) = self.block_name(start)?;
        let fresh = self.open.last().is_some_and(|o| o.block.is_none());
        let region = self.open.last().map(|o| o.region);
        let empty_entry = self.open.last().and_then(|o| o.block).filter(|&b| {
            let body = &self.bodies[self.bodies.len() - 1];
            body.first_op(b).is_none() && body.block_args(b).is_empty() && body.block_label(b).is_none()
        });
        let known = self.scopes.region().and_then(|r| r.blocks.get(&sym).copied());
        let block = match (known, empty_entry) {
            (Some((_, true, old)), _) => {
                return Err(self
                    .error(
                        "redefinition",
                        format!("block `^{}` is defined twice", self.ctx.str(sym)),
                        span,
                    )
                    .with_label(old, "first defined here")
                    .with_help("give one of them another name"));
            }
            (Some((block, false, _)), _) => {
                if let Some(region) = region {
                    self.body().append_block(region, block);
                }
                block
            }
            // The entry block was made when the region was opened.
            (None, Some(block)) => block,
            (None, _) => match region {
                Some(region) => self.body().create_block(region),
                None => return Ok(()),
            },
        };
        self.body().set_block_label(block, Some(sym));
        if let Some(region) = self.scopes.region() {
            region.blocks.insert(sym, (block, true, span));
        }
        if let Some(open) = self.open.last_mut() {
            open.block = Some(block);
            open.last = None;
        }
        self.skip();
        if self.peek() == b'(' {
            let is_entry = fresh || empty_entry == Some(block);
            self.block_args(block, is_entry)?;
        }
        self.expect(b":", "`:`", "a block is written `^name(%arg: type):`")
    }

    /// The name of a block; the `^` has been read.
    pub(super) fn block_name(&mut self, start: usize) -> Result<(Sym, Span), Failure> {
        match cursor::suffix(&self.src[self.pos..]) {
            // Specification style: `^%arg`.
            Ok((rest, text)) => {
                self.pos = self.src.len() - rest.len();
                let sym = self.sym(text);
                Ok((sym, Span::new(start, self.pos)))
            }
            Err(_) => Err(self.expected("the name of a block", "blocks are written `^name`")),
        }
    }
}
