//! Opening and closing regions, and the blocks in them.

use super::parser::{Failure, Open, Parser};
use super::pending::Pending;
use crate::body::{Body, CapacityHint};
use crate::diagnostics::Span;
use crate::entity::{BlockId, OpId};

impl Parser<'_> {
    /// `(%a: T, %b)`. The types of an entry block's arguments may be omitted when they follow from the operation.
    pub(super) fn block_args(&mut self, block: BlockId, is_entry: bool) -> Result<(), Failure> {
        self.expect(b"(", "`(`", "arguments are written in parentheses")?;
        // An entry block's follow from the operation, another's from a branch to it that was read before.
        let inferred = if is_entry { self.entry_arg_types() } else { None };
        let inferred = inferred.or_else(|| self.scopes.region().and_then(|r| r.passed.remove(&block)));
        self.skip();
        if self.eat(b")") {
            return Ok(());
        }
        let mut index = 0;
        loop {
            let (name, start) = self.new_name()?;
            self.skip();
            let ty = if self.peek() == b':' && !self.starts_with(b"::") {
                self.pos += 1;
                self.parse_type()?
            } else if let Some(&ty) = inferred.as_ref().and_then(|types| types.get(index)) {
                ty
            } else {
                return Err(self
                    .error(
                        "untyped-argument",
                        format!("the type of `%{}` cannot be inferred", self.ctx.name_text(name)),
                        self.name_span(start),
                    )
                    .with_help(format!("write it: `%{}: tensor<…>`", self.ctx.name_text(name))));
            };
            let value = self.body().add_block_arg(block, ty, None);
            self.define(name, value, 1, start);
            index += 1;
            self.skip();
            if let Some(loc) = self.location()? {
                self.body().set_arg_loc(value, loc);
                self.skip();
            }
            if self.eat(b")") {
                return Ok(());
            }
            self.expect(b",", "`,` or `)`", "arguments are separated by commas")?;
        }
    }

    /// The block that operations go to; made when a region begins with an operation.
    #[inline]
    pub(super) fn current_block(&mut self) -> BlockId {
        let (region, block) = match self.open.last() {
            Some(open) => (open.region, open.block),
            None => (self.bodies[0].root(), None),
        };
        match block {
            Some(block) => block,
            None => {
                let block = self.body().create_block(region);
                if let Some(open) = self.open.last_mut() {
                    open.block = Some(block);
                }
                block
            }
        }
    }

    /// Puts an operation into the current block.
    pub(super) fn append(&mut self, op: OpId) {
        let block = self.current_block();
        let body = self.body();
        body.append_op(block, op);
        if let Some(open) = self.open.last_mut() {
            open.last = Some(op);
        }
        if !self.comment.is_empty() {
            let comment = std::mem::take(&mut self.comment);
            self.body().set_comment(op, &comment);
        }
    }

    /// Opens a region of an operation; the brace is next.
    pub(super) fn open_region(&mut self, mut owner: Box<Pending>, isolated: bool) -> Result<(), Failure> {
        let brace = self.pos;
        self.expect(b"{", "`{`", "a region is written in braces")?;
        let header = owner.header.take();
        if isolated {
            let room = self.room_for_body();
            self.bodies.push(Body::in_room(room));
            self.scopes.enter_body();
        }
        self.scopes.enter();
        let region = if isolated {
            self.body().root()
        } else {
            self.body().create_region()
        };
        let function_args = std::mem::take(&mut owner.function_args);
        let pretty = !owner.generic;
        self.open.push(Open {
            region,
            block: None,
            owner: Some(owner),
            isolated,
            brace,
            last: None,
        });
        if let Some(header) = header {
            let back = std::mem::replace(&mut self.pos, header);
            let block = self.current_block();
            let read = self.block_args(block, true);
            self.pos = back;
            read?;
        } else if !function_args.is_empty() {
            let block = self.current_block();
            for (name, ty, loc, start) in function_args {
                let value = self.body().add_block_arg(block, ty, None);
                if let Some(loc) = loc {
                    self.body().set_arg_loc(value, loc);
                }
                self.define(name, value, 1, start);
            }
        } else if pretty {
            self.current_block();
        }
        Ok(())
    }

    /// Memory for a body that is opened.
    fn room_for_body(&mut self) -> CapacityHint {
        let mut room = std::mem::take(&mut self.room);
        if room.is_used_up() {
            // The body around may begin with this one, and then it is likely to be the smaller part.
            room.take_from(self.body());
            // The input determines how deep bodies are nested: not all of them can have room for all that is to come.
            if room.is_used_up() && self.bodies.len() <= 3 {
                let left = (self.src.len() - self.pos) as u64;
                room.for_ops((self.lines as u64 * left / self.length as u64) as usize);
            }
        }
        room
    }

    pub(super) fn close_region(&mut self) -> Result<(), Failure> {
        let comment = std::mem::take(&mut self.comment);
        if self.open.len() == 1 {
            return Err(self
                .error_at(self.pos, self.pos + 1, "unopened", "unmatched closing brace".to_owned())
                .with_help("remove it"));
        }
        self.pos += 1;
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        if !comment.is_empty()
            && let Some(block) = open.block
        {
            self.body().set_end_comment(block, &comment);
        }
        let Some(mut owner) = open.owner.take() else {
            return Ok(());
        };
        let ctx = self.ctx;
        if let (Some(block), Some(terminator)) = (open.block, owner.implicit_terminator(ctx)) {
            let brace = Span::new(self.pos - 1, self.pos);
            let forwards = owner.forwards(ctx);
            self.add_implicit_terminator(block, terminator, forwards, brace);
        }
        let mut region = self.scopes.leave();
        if !region.blocks.is_empty() {
            self.report_undefined_blocks(std::mem::take(&mut region.blocks));
        }
        if open.isolated {
            if !region.forward.is_empty() {
                self.report_undefined(std::mem::take(&mut region.forward));
            }
            self.scopes.leave_body();
            owner.isolated = self.bodies.pop();
            if let Some(body) = &mut owner.isolated {
                body.settle(&mut self.room);
            }
        } else {
            // The name may be defined further down, in a region around this one.
            if let Some(outer) = self.scopes.region().filter(|_| !region.forward.is_empty()) {
                let mut inner = std::mem::take(&mut region.forward);
                if inner.len() > outer.forward.len() {
                    std::mem::swap(&mut inner, &mut outer.forward);
                }
                for (name, uses) in inner {
                    outer.forward.entry(name).or_default().extend(uses);
                }
            }
            owner.regions.push(open.region);
        }
        self.scopes.recycle(region);
        self.continue_operation(owner)
    }
}
