//! The steps of differentiation as passes.

use pir_ir::{Diagnostic, Module, expand_composites};

use super::{BackwardOptions, build_backward, decompose, mlir, prune_stacks, stack_locals};
use crate::bodies::atomically;
use crate::options::{OptionKind, OptionSpec, Options};
use crate::pass::Invocation;
use crate::pass::{Changed, Pass, PassContext};

const OF: OptionSpec = OptionSpec {
    name: "of",
    kind: OptionKind::List,
    default: None,
    help: "outputs: `%value`, the name of a fetch, or the number of a function's result; default: all floating-point outputs",
};

const WRT: OptionSpec = OptionSpec {
    name: "wrt",
    kind: OptionKind::List,
    default: None,
    help: "inputs: `%value`, or the name of a `pd.data` or `pd.parameter`; default: all floating-point inputs without `stop_gradient`",
};

/// What is differentiated with respect to what.
pub(super) const ENDS: &[OptionSpec] = &[OF, WRT];

/// Those, and the cotangents that the derivative starts from.
pub(crate) const OPTIONS: &[OptionSpec] = &[
    OF,
    WRT,
    OptionSpec {
        name: "seed",
        kind: OptionKind::List,
        default: None,
        help: "cotangents of the outputs, one for all or one for each: a number, `%value` or the name of an input; `args`: new \
               arguments of the function; default: 1",
    },
    OptionSpec {
        name: "twins",
        kind: OptionKind::Bool,
        default: Some("false"),
        help: "use PaddlePaddle's gradient operations where they do at once what takes several operations: for its executor",
    },
];

pub(super) fn asked_for(options: &Options) -> BackwardOptions {
    let list = |name| options.list(name).unwrap_or_default();
    BackwardOptions {
        of: list("of"),
        wrt: list("wrt"),
        seed: list("seed"),
        twins: options.flag("twins"),
    }
}

/// Step 1 of `backward`.
pub struct StackLocals;

impl Pass for StackLocals {
    fn name(&self) -> &'static str {
        "stack-locals"
    }

    fn summary(&self) -> &'static str {
        "Record the locals of every loop and branch that the derivative passes through"
    }

    fn description(&self) -> &'static str {
        "Step 1 of `backward`. Each `pd.if` and `pd.while` between the inputs and the outputs gets an init region that \
         makes a stack; its other regions push all of their locals in order of definition; the stack becomes the last \
         result. What need not be recorded is removed again by `prune-stacks`."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let notes = stack_locals(module, &asked_for(cx.options))?;
        notes.into_iter().for_each(|note| cx.report(note));
        Ok(Changed::Yes)
    }
}

/// Step 2 of `backward`.
pub struct BuildBackward;

impl Pass for BuildBackward {
    fn name(&self) -> &'static str {
        "build-backward"
    }

    fn summary(&self) -> &'static str {
        "Append the adjoint program"
    }

    fn description(&self) -> &'static str {
        "Step 2 of `backward`, with the same options as `stack-locals` before it. Operations are treated from last to \
         first; a `pd.while` gets a `pd.while_grad` at the same depth, a `pd.if` a `pd.if_grad`, whose regions pop what \
         the regions they face pushed, in reverse order. Gradients are fetched under the name of the input with \
         `_grad` (at top level) or returned after the results (in a function)."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        build_backward(module, &asked_for(cx.options)).map(|()| Changed::Yes)
    }
}

/// Step 3 of `backward`.
pub struct PruneStacks;

impl Pass for PruneStacks {
    fn name(&self) -> &'static str {
        "prune-stacks"
    }

    fn summary(&self) -> &'static str {
        "Remove recorded values that the derivative does not read"
    }

    fn description(&self) -> &'static str {
        "Step 3 of `backward`. Removes every pair of a push and a pop whose value is not used, or is a constant or a \
         loop invariant that is computed again in front of the dual. A loop that then records nothing counts its trips \
         in place of testing its stack. Stacks without readers go with their init regions and results."
    }

    fn run(&self, module: &mut Module, _cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        prune_stacks(module);
        mlir::convert_back(module)?;
        Ok(Changed::Yes)
    }
}

/// Gradient operations in terms of primitive ones.
pub struct Decompose;

impl Pass for Decompose {
    fn name(&self) -> &'static str {
        "decompose"
    }

    fn summary(&self) -> &'static str {
        "Rewrite gradient operations into primitive ones"
    }

    fn description(&self) -> &'static str {
        "Puts in the place of each `_grad` operation what computes it from operations that are not gradients: \
         `pd.tanh_grad (%out, %g)` becomes `%g * (1 - %out * %out)`. `backward` does not need it: it differentiates a \
         gradient operation through the same expansion. PaddlePaddle's gradient operations, of which only declarations are known, become \
         what the rule of their operation gives. The duals of loops and branches stay, and so does an operation \
         whose expansion needs a static shape that it does not have. An operation whose row says what it computes, as those \
         of `--load-dialect` may, becomes that."
    }

    fn run(&self, module: &mut Module, _cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let expanded = atomically(module, |module| expand_composites(module, &|_| false))?;
        Ok((decompose(module) || expanded).into())
    }
}

/// The pipeline of the three steps.
pub struct Backward;

impl Pass for Backward {
    fn name(&self) -> &'static str {
        "backward"
    }

    fn summary(&self) -> &'static str {
        "Differentiate in reverse mode, through loops and branches"
    }

    fn description(&self) -> &'static str {
        "The pipeline `stack-locals`, `build-backward`, `prune-stacks`. By default every fetched float value is \
         differentiated, seeded with ones, with respect to every float `pd.data` and `pd.parameter` that does not say \
         `stop_gradient = true`; in a function, its float results with respect to its float arguments."
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn expand(&self, options: &Options) -> Option<Vec<Invocation>> {
        let steps: [&'static dyn Pass; 3] = [&StackLocals, &BuildBackward, &PruneStacks];
        Some(
            steps
                .into_iter()
                .map(|pass| Invocation::forwarding(pass, options))
                .collect(),
        )
    }

    fn run(&self, _module: &mut Module, _cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        Ok(Changed::No)
    }
}
