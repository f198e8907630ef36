//! Parallel reading of functions.
//!
//! An isolated operation at top level does not depend on its surroundings. A long text is cut in front of some of these
//! operations, and the chunks are parsed as independent modules. If anything unexpected occurs, in particular an error,
//! the whole text is read again from its beginning: diagnostics do not depend on the number of threads.
//!
//! Aliases may be defined on separate lines in front of all operations, where `mlir-opt` prints them. They are read
//! first, and shared by all chunks.

use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memrchr};
use rayon::prelude::*;

use super::aliases::Aliases;
use super::parser::{MAX_EXPANSION, MAX_SOURCE, Parser};
use crate::body::Body;
use crate::context::Context;
use crate::declare::Traits;
use crate::edit::OpSpec;
use crate::entity::BlockId;
use crate::module::Module;
use crate::text::cursor;
use crate::text::options::{ParseOptions, Parsed};

/// A piece of fewer bytes is read before another thread has woken up.
const PIECE: usize = 1 << 16;

/// Into how many pieces for each thread a text is cut: they do not take equally long, and at the end one thread waits for another.
const PIECES_FOR_A_THREAD: usize = 16;

/// Reads a module on the threads of the pool that this is called in, if it is long, has several functions and nothing is
/// wrong with it.
pub(in crate::text) fn parse(ctx: &Arc<Context>, source: &[u8], options: ParseOptions) -> Option<Parsed> {
    if source.len() < 2 * PIECE {
        return None;
    }
    let threads = rayon::current_num_threads();
    if threads < 2 {
        return None;
    }
    parse_in_chunks(
        ctx,
        source,
        options,
        (threads * PIECES_FOR_A_THREAD).min(source.len() / PIECE),
    )
}

/// Reads a module in about this many chunks, however short they are. The result is that of [`parse`](super::parse),
/// without diagnostics; `None` if the text cannot be cut, or has an error.
pub fn parse_in_chunks(ctx: &Arc<Context>, source: &[u8], options: ParseOptions, pieces: usize) -> Option<Parsed> {
    if source.len() > MAX_SOURCE {
        return None;
    }
    let end = end_of_aliases(source);
    // A piece that defines an alias cannot be read. Locations and resources are at the end: `#loc = …`, and `#-}`.
    let last = source[end..].trim_ascii_end();
    let last = &last[memrchr(b'\n', last).map_or(0, |at| at + 1)..];
    if matches!(last.first(), Some(b'#' | b'!')) {
        return None;
    }
    let mut cuts = vec![end];
    for piece in 1..pieces {
        let at = (source.len() / pieces * piece).max(cuts[cuts.len() - 1] + 1);
        cuts.extend(cut_behind(ctx, source, at));
    }
    cuts.dedup();
    cuts.push(source.len());
    if cuts.len() < 3 {
        return None;
    }
    let pieces: Vec<Range<usize>> = cuts.windows(2).map(|w| w[0]..w[1]).collect();
    let head = Head::read(ctx, source, end, options)?;
    // As many types and attributes may be written out as if the text were read at once.
    let most_expanded = MAX_EXPANSION.saturating_sub(head.expanded) / pieces.len();
    let read = |piece: &Range<usize>| {
        let mut parser = Parser::of_piece(ctx, source, piece.clone(), options);
        parser.aliases = head.aliases.clone();
        parser.most_expanded = piece.len() + most_expanded;
        if piece.start == end {
            parser.comment.clone_from(&head.comment);
        }
        let parsed = parser.run();
        parsed.diagnostics.is_empty().then_some(parsed.module)
    };
    let modules: Option<Vec<Module>> = pieces.par_iter().with_max_len(1).map(read).collect();
    let mut modules = modules?.into_iter();
    let mut all = modules.next()?;
    let top = all.top();
    for module in modules {
        append(&mut all.body, module.body, top)?;
    }
    Some(Parsed {
        module: all,
        diagnostics: Vec::new(),
    })
}

/// The text in front of the operations.
#[derive(Default)]
struct Head<'s> {
    aliases: Aliases<'s>,
    /// How many types and attributes their definitions have.
    expanded: usize,
    /// Comments, which belong to the first operation.
    comment: String,
}

impl<'s> Head<'s> {
    /// Reads the alias definitions at the start of a text; `None` if it starts with something else, or with an error.
    fn read(ctx: &'s Arc<Context>, source: &'s [u8], end: usize, options: ParseOptions) -> Option<Self> {
        let mut parser = Parser::of_piece(ctx, source, 0..end, options);
        parser.length = source.len();
        loop {
            parser.comments();
            match parser.peek() {
                b'#' | b'!' => parser.alias().ok()?,
                _ if parser.pos >= end && parser.later.is_empty() => break,
                _ => return None,
            }
        }
        Some(Head {
            aliases: parser.aliases,
            expanded: parser.expanded,
            comment: parser.comment,
        })
    }
}

/// Where the last line ends that begins like the definition of an alias, if only comments and empty lines are in front of it.
fn end_of_aliases(source: &[u8]) -> usize {
    let (mut at, mut end) = (0, 0);
    while at < source.len() {
        let next = memchr(b'\n', &source[at..]).map_or(source.len(), |len| at + len + 1);
        let line = source[at..next].trim_ascii();
        match line.first() {
            Some(b'#' | b'!') => end = next,
            _ if line.is_empty() || line.starts_with(b"//") => {}
            _ => break,
        }
        at = next;
    }
    end
}

/// The first place from `at` on where a line begins with the name of an operation that is isolated and has a symbol, or
/// where the comments in front of it begin. If that line is not at top level, the pieces cannot be read.
fn cut_behind(ctx: &Context, source: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let line = at + memchr(b'\n', source.get(at..)?)? + 1;
        let word = cursor::name(&source[line..]).map_or(&[][..], |(_, word)| word);
        let word = str::from_utf8(word).unwrap_or_default();
        let def = ctx.registered_op(word).and_then(|name| ctx.op_def(name));
        if def.is_some_and(|def| def.has(Traits::ISOLATED | Traits::SYMBOL)) {
            return Some(before_comments(source, line));
        }
        at = line;
    }
}

/// Where the empty lines and comments in front of a line begin.
fn before_comments(source: &[u8], mut line: usize) -> usize {
    while line > 0 {
        let above = memrchr(b'\n', &source[..line - 1]).map_or(0, |at| at + 1);
        let text = source[above..line].trim_ascii_start();
        if !text.is_empty() && !text.starts_with(b"//") {
            break;
        }
        line = above;
    }
    line
}

/// Appends a piece to the rest; `None` if it contains more than independent operations.
fn append(all: &mut Body, mut piece: Body, top: BlockId) -> Option<()> {
    let alone = piece.values.is_empty() && piece.regions.len() == 1 && piece.frame.is_none();
    if !alone || all.end_comment(top).is_some() || all.frame.is_some() {
        return None;
    }
    for op in piece.block_ops_vec(top) {
        let body = piece.take_boxed(op)?;
        let new = all.create_op(OpSpec {
            attrs: piece.attrs(op),
            span: piece.op_span(op),
            ..OpSpec::new(piece.op_name(op))
        });
        all.set_boxed(new, body);
        all.append_op(top, new);
        if let Some(comment) = piece.comment(op) {
            all.set_comment(new, comment);
        }
        if let Some(loc) = piece.loc(op) {
            all.set_loc(new, loc);
        }
    }
    if let Some(comment) = piece.end_comment(top) {
        all.set_end_comment(top, comment);
    }
    Some(())
}
