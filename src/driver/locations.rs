//! `--print-debuginfo`: operations are printed with their locations.

use pir_ir::text::print_attr;
use pir_ir::{AttrData, Body, Module, OpId};

use crate::source::Source;

/// Gives operations without a location that of their place in the source, as MLIR does: `loc("file":line:column)`. What no place is known
/// of, since a pass made it or the source is not text, gets `loc(unknown)`.
pub fn fill(module: &mut Module, source: &Source) {
    let file = match source.name() {
        "<stdin>" => "-",
        name => name,
    };
    let ctx = module.ctx.clone();
    let places = Places {
        source,
        file: print_attr(&ctx, ctx.str_attr(file)),
    };
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all().collect::<Vec<_>>() {
            if body.loc(op).is_none() {
                let text = places.of(body, op);
                body.set_loc(op, ctx.attr(AttrData::Opaque(text.into())));
            }
        }
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
}

struct Places<'s> {
    source: &'s Source,
    file: String,
}

impl Places<'_> {
    fn of(&self, body: &Body, op: OpId) -> String {
        let span = body.op_span(op);
        if span.start == span.end {
            return "loc(unknown)".to_owned();
        }
        let place = self.source.position(span.start as usize);
        format!("loc({}:{}:{})", self.file, place.line, place.column)
    }
}
