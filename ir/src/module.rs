//! A module: a body of top-level operations and the context it lives in.

use std::sync::Arc;

use crate::body::Body;
use crate::context::Context;
use crate::entity::{BlockId, OpId};

/// An ordered list of top-level operations.
///
/// The root region of [`Module::body`] has exactly one block, which needs no terminator. A program may consist of
/// operations at top level, of functions, or of both.
#[derive(Clone, Debug)]
pub struct Module {
    /// The interned data and the dialects.
    pub ctx: Arc<Context>,
    /// The top-level operations.
    pub body: Body,
}

impl Module {
    /// A module without operations.
    pub fn new(ctx: Arc<Context>) -> Self {
        let mut body = Body::new();
        let root = body.root();
        body.create_block(root);
        Module { ctx, body }
    }

    /// The block of the top-level operations.
    pub fn top(&self) -> BlockId {
        self.body.region_blocks(self.body.root())[0]
    }

    /// Calls `f` for every body: the module's own and those of isolated operations at any depth, outer ones first.
    pub fn for_each_body(&self, mut f: impl FnMut(&Body)) {
        let mut pending = vec![&self.body];
        while let Some(body) = pending.pop() {
            f(body);
            let mut inner: Vec<&Body> = body.extras.iter().filter_map(|e| e.isolated.as_deref()).collect();
            inner.reverse();
            pending.extend(inner);
        }
    }

    /// The number of operations, isolated bodies included.
    pub fn num_ops(&self) -> usize {
        let mut count = 0;
        self.for_each_body(|body| count += body.num_ops());
        count
    }

    /// The top-level operation with the symbol name `name`.
    pub fn lookup_symbol(&self, name: &str) -> Option<OpId> {
        self.body
            .block_ops(self.top())
            .find(|&op| self.body.view(&self.ctx, op).str("sym_name") == Some(name))
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        // Bodies nest as deeply as the input nests: they are dropped one by one, not by recursion.
        let mut pending: Vec<Box<Body>> = self.extras.iter_mut().filter_map(|e| e.isolated.take()).collect();
        while let Some(mut body) = pending.pop() {
            pending.extend(body.extras.iter_mut().filter_map(|e| e.isolated.take()));
        }
    }
}
