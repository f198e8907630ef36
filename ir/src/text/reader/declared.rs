//! Reports attributes that the definition of an operation does not have, at their locations.

use rustc_hash::FxHashMap;

use super::parser::{Failure, Parser};
use super::pending::Pending;
use crate::diagnostics::Span;
use crate::entity::{OpName, Sym};
use crate::registry::InferArgs;
use crate::types::{AttrDict, Type};
use crate::verify::{are_declared, faults, plan};

impl Parser<'_> {
    /// Whether the attributes of an operation, whose name is at the position that [`op_place`](super::caches::op_place) computes, are as
    /// declared. The same come again and again.
    #[inline]
    pub(super) fn are_declared(&mut self, place: usize, name: OpName, attrs: AttrDict) -> bool {
        if attrs == AttrDict::EMPTY {
            return true;
        }
        let recent = self.recent_ops.find(place, |_| true);
        if recent.is_some_and(|(_, op)| op.declared == attrs && op.known.name == Some(name)) {
            return true;
        }
        let open = self.options.allow_unregistered;
        let fits = plan(self.ctx, name).is_none_or(|plan| are_declared(self.ctx, plan, attrs, usize::MAX, open));
        if let Some((_, op)) = self.recent_ops.at(place)
            && fits
            && op.known.name == Some(name)
        {
            op.declared = attrs;
        }
        fits
    }

    /// Reports attributes that are not declared or not of the declared types. Missing ones are reported by the verifier.
    pub(super) fn check_attributes(
        &mut self,
        pending: &Pending,
        attrs: AttrDict,
        results: &[Type],
    ) -> Result<(), Failure> {
        let ctx = self.ctx;
        let (Some(def), Some(plan)) = (ctx.op_def(pending.name), plan(ctx, pending.name)) else {
            return Ok(());
        };
        let open = self.options.allow_unregistered;
        if attrs == AttrDict::EMPTY || are_declared(ctx, plan, attrs, usize::MAX, open) {
            return Ok(());
        }
        let faults = faults(ctx, def, plan, attrs, usize::MAX, open);
        // The locations are only needed here.
        let end = self.pos;
        self.attr_places = Some(Vec::new());
        for &dict in &pending.dicts {
            self.pos = dict as usize;
            let _ = self.parse_dict(&mut Vec::new());
        }
        self.pos = end;
        let places = self.attr_places.take().unwrap_or_default();
        let places: FxHashMap<Sym, (Span, Span)> = places
            .into_iter()
            .rev()
            .map(|(name, at, value)| (name, (at, value)))
            .collect();
        let mut last = None;
        let args = InferArgs {
            ctx,
            body: &self.bodies[self.bodies.len() - 1],
            def,
            operands: &pending.operands,
            attrs,
            regions: &pending.regions,
        };
        let mut faults = faults;
        faults.iter_mut().for_each(|fault| fault.complete(args, results));
        for fault in faults {
            let Some((name, is_value)) = fault.place else { continue };
            let place = places.get(&name);
            let span = place.map_or(pending.span, |&(name, value)| if is_value { value } else { name });
            let mut failure = self.error(fault.code, fault.message, span).with_help(fault.help);
            if let Some(text) = fault.replacement {
                failure = failure.with_edit(span, text);
            }
            if let Some(earlier) = last.replace(failure) {
                self.report(earlier);
            }
        }
        last.map_or(Ok(()), Err)
    }
}
