//! Between `pd` and StableHLO: `stablehlo-to-pd-control` on the way in, and `pd-to-stablehlo` on the way out, to
//! programs for XLA.
//!
//! Each operation of `pd` becomes operations of StableHLO by a row of a table (`pir_dialects::stablehlo::from_pd`); an
//! operation without a row is first replaced with its composition, as far as it is differentiated through it. Loops and
//! branches become `stablehlo.while` and `stablehlo.if`. Operations without a counterpart are errors.

use pir_dialects::stablehlo::ops;
use pir_dialects::stablehlo::{self, from_pd};
use pir_ir::{Diagnostic, Module, OpId, OpView, Rewriter, expand_composites};

use crate::autodiff::{RuleTable, expansion};
use crate::bodies::atomically;
use crate::inline::recursive_functions;
use crate::pass::{Changed, Pass, PassContext};

/// The pass `stablehlo-to-pd-control`.
pub struct StablehloToPdControl;

impl Pass for StablehloToPdControl {
    fn name(&self) -> &'static str {
        "stablehlo-to-pd-control"
    }

    fn summary(&self) -> &'static str {
        "Convert loops and branches of StableHLO to `pd`"
    }

    fn description(&self) -> &'static str {
        "`stablehlo.while` becomes `pd.while`; `stablehlo.if` and `stablehlo.case` become `pd.if`, nested if there are \
         more than two branches. An index that is out of range selects the last branch. Other operations stay. The \
         passes on loops and branches require this form; `backward` converts to it automatically. `pd-to-stablehlo` is \
         the inverse."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let is_control = |op: OpView<'_>| matches!(op.name(), ops::While::NAME | ops::If::NAME | ops::Case::NAME);
        Ok(atomically(module, |module| expand_composites(module, &|op| !is_control(op)))?.into())
    }
}

/// The pass `pd-to-stablehlo`.
pub struct PdToStablehlo;

impl Pass for PdToStablehlo {
    fn name(&self) -> &'static str {
        "pd-to-stablehlo"
    }

    fn summary(&self) -> &'static str {
        "Convert operations, loops and branches of `pd` to StableHLO"
    }

    fn description(&self) -> &'static str {
        "Replaces operations of `pd` and of dialect files with operations of StableHLO that compute the same, also \
         where the conventions differ, as for the sign of a remainder or for negative indices. Operations of \
         `stablehlo` and `chlo`, and unregistered operations, stay. `pd.while` and `pd.while_grad` become \
         `stablehlo.while`; a condition that also forwards computed values is evaluated before the loop and at the end \
         of its body. Operations at top level become a function `main`: its arguments are the inputs; its results are \
         the fetched values, or the unused values if nothing is fetched. Scalars become tensors of rank 0. Types must \
         be static. Stacks, lists, effects and random numbers are errors."
    }

    fn run(&self, module: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        atomically(module, convert)?;
        Ok(Changed::Yes)
    }
}

fn convert(module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    expand_composites(module, &|op| stablehlo::has_name(op.name()))?;
    let ctx = module.ctx.clone();
    let rules = RuleTable::new(&ctx);
    let expand = |r: &mut Rewriter<'_>, op: OpId| expansion(r, &rules, op);
    let (mut errors, mut pending) = (Vec::new(), vec![(true, &mut module.body)]);
    while let Some((is_module, body)) = pending.pop() {
        if is_module {
            from_pd::wrap(&ctx, body)?;
        }
        errors.extend(from_pd::convert(&ctx, body, &expand).err().into_iter().flatten());
        let inner = body.isolated_ops_mut();
        pending.extend(inner.map(|(_, name, body)| (ctx.op_str(name) == "builtin.module", body)));
    }
    errors.extend(recursive_functions(module).into_iter().map(|function| {
        let name = module.body.view(&ctx, function).str("sym_name").unwrap_or_default();
        let message = format!("`@{name}` is recursive, which StableHLO does not support");
        Diagnostic::error("no-stablehlo", message).label(module.body.op_span(function), "")
    }));
    if !errors.is_empty() {
        return Err(errors);
    }
    from_pd::set_signatures(&ctx, &mut module.body);
    Ok(())
}
