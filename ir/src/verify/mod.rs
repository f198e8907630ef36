//! The verifier: what must be true of every program between passes.
//!
//! Each rule has a code of its own, a message that states what is wrong with what, and help. The rules are:
//!
//!  1. `unregistered-op`: every operation is registered, unless the options allow otherwise.
//!  2. `operand-count`, `result-count`, `region-count`, `successor-count`: as the definition declares.
//!  3. `missing-attribute`, `attribute-type`, `unknown-attribute`: required attributes are there, attributes are of the
//!     declared types, and there are no others, except names with a dot and the marks of the tools ([`Mark`](crate::Mark)).
//!     Operations with [`Traits::OPEN_ATTRS`] may have others where operations may be unregistered.
//!  4. `empty-region`: a region that the definition requires has a block.
//!  5. `empty-block`, `missing-terminator`: a block has operations, the last of which is a terminator, unless the
//!     parent states that its blocks need none. The list of top-level operations needs none.
//!  6. `terminator-not-last`: a terminator is at the end of its block.
//!  7. `entry-predecessor`: the entry block of a region is not a successor.
//!  8. `successor-region`: successors are blocks of the same region.
//!  9. `successor-operands`, `successor-type`: they are passed as many operands as they have arguments, of those types.
//! 10. `undefined-value`: operands are defined by something that is in the body.
//! 11. `not-visible`: a value defined in a region is not visible outside it.
//! 12. `use-before-definition`: within a block, and from nested regions, definitions are before uses.
//! 13. `not-dominated`: between blocks of a region, the block of a definition dominates those of its uses.
//! 14. `isolation`: isolated operations, and only those, own a body. (That nothing inside sees values of the outside
//!     is true by construction: a body has ids of its own.)
//! 15. `missing-symbol-name`, `duplicate-symbol`: symbols have names, different ones within a region.
//! 16. `unknown-symbol`, `not-callable`, `call-operands`, `call-results`: what the attribute `callee` of an operation
//!     names exists and has a function type that fits.
//! 17. `custom-vjp`: a function with the attribute `custom_vjp` has tensors or integers for operands and results, floats among both;
//!     what the attribute names takes the operands, the results and their cotangents, and returns the cotangents of the
//!     operands of floats.
//! 18. `inference`, `result-type`: the inference of result types finds no fault with the operands and attributes, and
//!     the written types are compatible with what it infers: a dimension that is unknown fits any extent.
//! 19. `constraint`: types and attributes of a dialect that states constraints ([`Constraints`](crate::Constraints)) keep them.
//! 20. What the definition's own hook checks. It runs only on operations that keep the rules above, except those about
//!     the visibility of values.
//!
//! The time is linear in the size of the program, beside the dominator trees of regions with several blocks, and
//! nothing recurses on nesting.

mod advice;
mod attrs;
mod constrained;
mod declared;
mod describe;
mod memory;
mod options;
mod plan;
mod scope;
mod symbols;

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::body::Body;
use crate::context::Context;
use crate::declare::Traits;
use crate::diagnostics::Diagnostic;
use crate::entity::OpId;
use crate::module::Module;
use crate::registry::OpDef;
use crate::threads::pays_off_on_threads;

use memory::Memory;
use options::MAX_ERRORS;

pub(crate) use attrs::{are_declared, faults};
pub use constrained::verify_constraints;
pub(crate) use describe::does_not_fit;
pub use describe::{compatible, describe_type, describe_value};
pub use options::VerifyOptions;
pub(crate) use plan::plan;

/// Everything that is wrong with a module, in the order of the source.
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    verify_with(module, VerifyOptions::default())
}

/// Everything that is wrong with a module, in the order of the source.
///
/// Bodies share nothing but the context, so they are looked at on the threads of the pool that this is called in.
pub fn verify_with(module: &Module, options: VerifyOptions) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let ctx = &module.ctx;
    let mut symbols = symbols::Symbols::new(ctx);
    let root = symbols
        .concern(&module.body)
        .then(|| symbols.add_body(&module.body, None, &mut errors));
    let mut bodies: Vec<Owned<'_>> = Vec::new();
    let mut pending = vec![(&module.body, None, root)];
    while let Some((body, owner, table)) = pending.pop() {
        bodies.push((body, owner));
        if body.isolated_bodies().next().is_none() {
            continue;
        }
        let inner = body.walk_all().filter_map(|op| Some((op, body.isolated(op)?)));
        let inner: Vec<(OpId, &Body)> = inner.collect();
        let concerned: Vec<bool> = match pays_off_on_threads(inner.iter().map(|(_, body)| body.num_op_slots())) {
            true => inner.par_iter().map(|(_, body)| symbols.concern(body)).collect(),
            false => inner.iter().map(|(_, body)| symbols.concern(body)).collect(),
        };
        let first = pending.len();
        for ((op, inner), is_concerned) in inner.into_iter().zip(concerned) {
            let parent = table.map(|t| (t, op));
            let inner_table = is_concerned.then(|| symbols.add_body(inner, parent, &mut errors));
            pending.push((inner, ctx.op_def(body.op_name(op)), inner_table));
        }
        pending[first..].reverse();
    }
    if pays_off_on_threads(bodies.iter().map(|(body, _)| body.num_op_slots())) {
        let found = bodies
            .par_iter()
            .map_init(Seen::default, |seen, &body| seen.verify(ctx, body, options));
        errors.extend(found.collect::<Vec<_>>().into_iter().flatten());
    } else {
        let mut seen = Seen::default();
        errors.extend(bodies.into_iter().flat_map(|body| seen.verify(ctx, body, options)));
    }
    symbols.check_calls(&module.ctx, MAX_ERRORS, &mut errors);
    sort(&mut errors);
    errors
}

/// A body, and the definition of the isolated operation that it belongs to.
type Owned<'m> = (&'m Body, Option<&'m OpDef>);

/// The bodies that one thread has looked at.
#[derive(Default)]
struct Seen<'m> {
    memory: Memory,
    /// Those without faults, by their fingerprints.
    right: FxHashMap<u64, Owned<'m>>,
}

impl<'m> Seen<'m> {
    /// What is wrong with a body: nothing if it is the same as one that is right.
    fn verify(&mut self, ctx: &Context, (body, owner): Owned<'m>, options: VerifyOptions) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let fingerprint = body.fingerprint();
        let same = fingerprint.and_then(|fingerprint| self.right.get(&fingerprint));
        let name = |owner: Option<&'m OpDef>| owner.map(|def| &*def.name);
        if same.is_some_and(|&(other, of)| name(of) == name(owner) && other.is_same_as(body)) {
            return errors;
        }
        verify_one(ctx, body, owner, options, &mut self.memory, &mut errors);
        if let Some(fingerprint) = fingerprint.filter(|_| errors.is_empty()) {
            self.right.insert(fingerprint, (body, owner));
        }
        errors
    }
}

/// Everything that is wrong with one body: the rules above without those about symbols. `owner` is the definition of
/// the isolated operation that the body belongs to. Bodies inside are not looked into.
pub fn verify_body(ctx: &Context, body: &Body, owner: Option<&OpDef>, options: VerifyOptions) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    verify_one(ctx, body, owner, options, &mut Memory::default(), &mut errors);
    sort(&mut errors);
    errors
}

/// Whether nothing is wrong with one operation, as far as this depends only on itself and its operands.
pub(crate) fn fits(ctx: &Context, body: &Body, op: OpId) -> bool {
    let options = VerifyOptions::default();
    let mut errors = Vec::new();
    declared::Checker { ctx, body, options }.op(op, &mut Memory::default(), &mut errors);
    errors.is_empty()
}

fn sort(errors: &mut Vec<Diagnostic>) {
    errors.sort_by_key(|e| e.labels.first().map(|l| l.span.start));
    errors.truncate(MAX_ERRORS);
}

fn verify_one(
    ctx: &Context,
    body: &Body,
    owner: Option<&OpDef>,
    options: VerifyOptions,
    memory: &mut Memory,
    errors: &mut Vec<Diagnostic>,
) {
    // The list of top-level operations needs no terminator; the body of a function does.
    let terminated = owner.is_some_and(|def| !def.has(Traits::NO_TERMINATOR));
    let checker = declared::Checker { ctx, body, options };
    checker.region(body.root(), owner, terminated, errors);
    for op in body.walk_all() {
        checker.op(op, memory, errors);
        if errors.len() >= MAX_ERRORS {
            return;
        }
    }
    scope::check(&checker, owner, memory, errors);
    constrained::check(ctx, body, errors);
}
