//! `dce`: dead code elimination.
//!
//! # Algorithm
//! Backward liveness from the operations that have to stay, to a fixpoint ([`Liveness`]), then one sweep. An operation
//! has to stay if it writes anything, reads the inputs of the program, ends the body or has a symbol name. Everything
//! else lives only if something alive reads one of its results. A result of an `if` or a `while`, or an argument of
//! one of its regions, lives only if it flows into something alive: so a carried value whose only readers compute its
//! own next value is removed with all of its computation, with its operands, arguments and results.
//!
//! Before that, counters of loops that count to a constant become constants after the loop ([`crate::final_values`]), so
//! that a loop which only counts is not needed.
//!
//! # Conditions
//! * Nothing with effects is removed. A push on a stack is a write: stacks are the business of `prune-stacks`.
//! * A loop without effects whose results are not used is removed even if it might not end, a division even if it
//!   might fail: a program is not expected to hang or to fail on purpose.
//! * Slots of handles (stacks) stay.

use pir_ir::{Diagnostic, Module};

use crate::analysis::{Constants, FlowOps, Liveness, has_unknown_effects, sweep};
use crate::bodies::for_each_different_body_mut;
use crate::final_values::replace_final_values;
use crate::pass::{Changed, Pass, PassContext, Scope};

/// The pass `dce`.
pub struct Dce;

impl Pass for Dce {
    fn name(&self) -> &'static str {
        "dce"
    }

    fn summary(&self) -> &'static str {
        "Remove unused operations, arguments and results"
    }

    fn description(&self) -> &'static str {
        "Removes operations without effects whose results are unused, unused results of `if` and `while`, and \
         loop-carried values that only their own next value depends on. The final value of a counter with constant \
         bounds is a constant, so loops that only count are removed as well. Operations with effects stay, including \
         those on stacks: see `prune-stacks`."
    }

    fn scope(&self) -> Scope {
        Scope::Body
    }

    fn is_pure(&self) -> bool {
        true
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        for_each_different_body_mut(module, |ctx, body| {
            let flow = body.analysis::<FlowOps>(ctx);
            // An unknown operation may change what a counter starts from.
            let counted =
                !has_unknown_effects(ctx, body) && replace_final_values(&Constants::new(ctx, None, false), body, &flow);
            let live = body.analysis::<Liveness>(ctx);
            Ok((counted | sweep(ctx, body, &live)).into())
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{expect, expect_same, nest, run};

    #[test]
    fn unused_pure_operations_go_and_inputs_stay() {
        expect(
            "dce",
            r#"
            %x = t.in {name = "x"} : f32
            %u = t.in {name = "unused"} : f32
            %a = t.add (%x, %x) : f32
            %b = t.add (%a, %x) : f32
            %d = t.div (%x, %x) : f32
            t.print (%a)
            "#,
            r#"
            %x = t.in {name = "x"} : f32
            %u = t.in {name = "unused"} : f32
            %a = t.add (%x, %x) : f32
            t.print (%a)
            "#,
        );
    }

    #[test]
    fn effects_stay_with_what_they_need() {
        expect_same(
            "dce",
            r#"
            %c = t.in {name = "c"} : i1
            %x = t.in {name = "x"} : f32
            %s = t.new () : t.stack
            t.if (%c) then {
              %a = t.add (%x, %x) : f32
              t.push (%s, %a)
              t.yield
            }
            "#,
        );
        // Reading a stack is no effect, and nothing is known to read this one.
        expect(
            "dce",
            r#"
            %s = t.new () : t.stack
            %e = t.empty (%s) : i1
            "#,
            "",
        );
    }

    #[test]
    fn deep_nests_are_swept_without_recursion() {
        let source = nest(
            20_000,
            "%dead = t.add (%x, %x) : f32
t.print (%x)
",
        );
        let swept = run("dce", &source);
        assert!(!swept.contains("%dead"));
        assert!(swept.contains("t.print"));
        let gone = run(
            "dce",
            &nest(
                20_000,
                "%dead = t.add (%x, %x) : f32
",
            ),
        );
        assert!(!gone.contains("t.while"));
    }
}
