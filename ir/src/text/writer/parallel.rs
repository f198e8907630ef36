//! Prints several isolated operations concurrently.
//!
//! The text of an isolated operation without operands and results depends only on the indentation: its body has a name
//! scope of its own.

use rayon::prelude::*;

use super::printer::Printer;
use crate::body::Body;
use crate::entity::OpId;

/// Fewer operations than this are printed before another thread has woken up.
const WORTH_THREADS: usize = 4000;
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
        let mut pieces: Vec<Vec<OpId>> = Vec::new();
        let (mut total, mut in_piece) = (0, PIECE);
        while let Some(op) = next.filter(|&op| total < BATCH && is_alone(body, op)) {
            if in_piece >= PIECE {
                pieces.push(Vec::new());
                in_piece = 0;
            }
            if let Some(piece) = pieces.last_mut() {
                piece.push(op);
            }
            let size = 1 + body.isolated(op).map_or(0, Body::num_op_slots);
            in_piece += size;
            total += size;
            next = body.next_op(op);
        }
        if pieces.len() < 2 || total < WORTH_THREADS {
            self.in_turn = pieces.iter().map(Vec::len).sum::<usize>().saturating_sub(1);
            return false;
        }
        let (ctx, options, indent) = (self.ctx, self.options, self.indent);
        let print = |ops: &Vec<OpId>| {
            let mut printer = Printer::new(ctx, options, None);
            printer.indent = indent;
            ops.iter().for_each(|&op| printer.alone(body, op));
            printer.into_string()
        };
        let texts: Vec<String> = pieces.par_iter().map(print).collect();
        for text in texts {
            self.whole_lines(&text);
        }
        *at = next;
        true
    }
}

/// Whether nothing but its indentation ties what is printed of an operation to what is around it.
fn is_alone(body: &Body, op: OpId) -> bool {
    body.isolated(op).is_some() && body.num_operands(op) == 0 && body.num_results(op) == 0
}
