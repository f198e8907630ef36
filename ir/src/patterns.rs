//! Rewrite patterns: how operations are brought into a simpler form by changing or making others. What folding can return — a
//! value that is there, a constant — is not a pattern.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::context::Context;
use crate::declare::Text;
use crate::diagnostics::Diagnostic;
use crate::entity::{OpId, OpName};
use crate::rewriter::Rewriter;
use crate::types::Attr;

/// A rewrite of one operation: a function, or a pair of programs of a dialect file.
pub trait Pattern: Send + Sync {
    /// Changes `op`, or replaces its results and erases it; whether it did. It is given the constant values of the operands; the
    /// rewriter inserts before the operation. Nothing may be made when nothing is done. Each step must bring the program nearer
    /// to a simplest form, since it is repeated until nothing changes.
    fn rewrite(&self, r: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]) -> bool;

    /// Reports errors of the pattern. Asked once, when all dialects are registered.
    fn check(&self, _: &Context) -> Vec<Diagnostic> {
        Vec::new()
    }
}

impl<F: Fn(&mut Rewriter<'_>, OpId, &[Option<Attr>]) -> bool + Send + Sync> Pattern for F {
    fn rewrite(&self, r: &mut Rewriter<'_>, op: OpId, constants: &[Option<Attr>]) -> bool {
        self(r, op, constants)
    }
}

/// Patterns, each for operations of one name or for all. Of several for one operation, the one with the highest benefit is tried
/// first, and of those with the same the one that was added first.
#[derive(Clone, Default)]
pub struct PatternSet {
    patterns: Vec<(Option<Text>, u32, Arc<dyn Pattern>)>,
    /// What adds those that come before the others.
    later: Vec<fn(&mut PatternSet)>,
}

impl PatternSet {
    /// Adds a pattern for operations called `root`.
    pub fn add(&mut self, root: impl Into<Text>, benefit: u32, pattern: Arc<dyn Pattern>) -> &mut Self {
        self.patterns.push((Some(root.into()), benefit, pattern));
        self
    }

    /// Adds a pattern that looks at every operation.
    pub fn add_for_any(&mut self, benefit: u32, pattern: Arc<dyn Pattern>) -> &mut Self {
        self.patterns.push((None, benefit, pattern));
        self
    }

    /// Adds what a function adds, when the patterns are asked for; before all that were added one by one.
    pub(crate) fn add_later(&mut self, add: fn(&mut PatternSet)) {
        self.later.push(add);
    }

    /// The patterns by the registered operations that they are for.
    pub fn by_op(&self, ctx: &Context) -> Patterns {
        let mut all = PatternSet::default();
        self.later.iter().for_each(|add| add(&mut all));
        let mut patterns = all.patterns;
        patterns.extend(self.patterns.iter().cloned());
        patterns.sort_by_key(|&(_, benefit, _)| Reverse(benefit));
        let mut of = vec![Vec::new(); ctx.num_op_indices() + 1];
        for (root, _, pattern) in patterns {
            match root {
                // One for an operation that is not registered is determined by its check.
                Some(root) => {
                    if let Some(root) = ctx.registered_op(&root) {
                        of[root.index()].push(pattern);
                    }
                }
                None => of.iter_mut().for_each(|all: &mut Vec<_>| all.push(pattern.clone())),
            }
        }
        Patterns { of }
    }
}

/// The patterns of a [`PatternSet`] by operation.
#[derive(Default)]
pub struct Patterns {
    /// By registered operation, and at the end those for operations that are not.
    of: Vec<Vec<Arc<dyn Pattern>>>,
}

impl Patterns {
    /// The patterns for operations of a name, in the order in which they are tried.
    #[inline]
    pub fn of(&self, op: OpName) -> &[Arc<dyn Pattern>] {
        let last = self.of.len().saturating_sub(1);
        self.of.get(op.index().min(last)).map_or(&[], Vec::as_slice)
    }
}
