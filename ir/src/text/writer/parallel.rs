//! Prints several isolated operations concurrently.
//!
//! The text of an isolated operation without operands and results depends only on the indentation: its body has a name
//! scope of its own.

use rayon::prelude::*;

use super::LINE;
use super::printer::Printer;
use crate::body::Body;
use crate::entity::OpId;
use crate::threads::pays_off_on_threads;

/// How many operations one thread prints at a time.
const PIECE: usize = 1000;
/// How many operations are printed before the text is written: it is kept in memory until then.
const BATCH: usize = 32_000;

impl<'a> Printer<'a, '_> {
    /// Prints consecutive isolated operations, from `at` on, on the threads of the current pool, and advances `at`.
    /// Returns `false`, and prints nothing, if that would not be faster.
    pub(super) fn in_parallel(&mut self, body: &'a Body, at: &mut Option<OpId>) -> bool {
        if self.in_turn > 0 {
            self.in_turn -= 1;
            return false;
        }
        let mut next = *at;
        // With the number of operations in each.
        let mut pieces: Vec<(Vec<OpId>, usize)> = Vec::new();
        let mut total = 0;
        while let Some(op) = next.filter(|&op| total < BATCH && is_alone(body, op)) {
            let size = 1 + body.isolated(op).map_or(0, Body::num_op_slots);
            match pieces.last_mut().filter(|piece| piece.1 < PIECE) {
                Some(piece) => {
                    piece.0.push(op);
                    piece.1 += size;
                }
                None => pieces.push((vec![op], size)),
            }
            total += size;
            next = body.next_op(op);
        }
        if !pays_off_on_threads(pieces.iter().map(|piece| piece.1)) {
            self.in_turn = pieces
                .iter()
                .map(|piece| piece.0.len())
                .sum::<usize>()
                .saturating_sub(1);
            return false;
        }
        let (ctx, options, indent) = (self.ctx, self.options, self.indent);
        let print = |(ops, size): &(Vec<OpId>, usize)| {
            let mut printer = Printer::new(ctx, options, None);
            printer.out.reserve(size * LINE);
            printer.indent = indent;
            ops.iter().for_each(|&op| printer.alone(body, op));
            printer.into_string()
        };
        let texts: Vec<String> = pieces.par_iter().map(print).collect();
        for text in texts {
            self.whole_lines(text);
        }
        *at = next;
        true
    }
}

/// Whether nothing but its indentation ties what is printed of an operation to what is around it.
fn is_alone(body: &Body, op: OpId) -> bool {
    body.isolated(op).is_some() && body.num_operands(op) == 0 && body.num_results(op) == 0
}
