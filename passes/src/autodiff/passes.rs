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

/// The outputs and inputs of the derivative.
pub(super) const ENDS: &[OptionSpec] = &[OF, WRT];

/// Outputs, inputs, and the cotangents of the outputs.
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
        help: "use PaddlePaddle's gradient operations where they replace several operations; for its executor",
    },
    OptionSpec {
        name: "from-operands",
        kind: OptionKind::Bool,
        default: Some("false"),
        help: "differentiate functions of one operand that expand to another operation, like `stablehlo.tanh`, from their operands and not \
               from their results, which loops that are run again would carry",
    },
    OptionSpec {
        name: "rank",
        kind: OptionKind::Int(0, 1 << 30),
        default: None,
        help: "the number of the process that runs the program, on which derivatives of `pd.broadcast` and `pd.all_gather` depend",
    },
];

pub(super) fn asked_for(options: &Options) -> BackwardOptions {
    let list = |name| options.list(name).unwrap_or_default();
    BackwardOptions {
        of: list("of"),
        wrt: list("wrt"),
        seed: list("seed"),
        twins: options.flag("twins"),
        from_operands: options.flag("from-operands"),
        rank: options.int("rank"),
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
         creates a stack. Its other regions push all of their local values, in the order of definition. The stack \
         becomes the last result. `prune-stacks` later removes the values that need not be recorded."
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
        "Step 2 of `backward`; takes the same options as the `stack-locals` before it. Processes the operations from \
         last to first. A `pd.while` gets a `pd.while_grad` at the same depth, a `pd.if` a `pd.if_grad`; their regions \
         pop the values that the corresponding regions pushed, in reverse order. At top level, gradients are fetched \
         under the name of the input with the suffix `_grad`; in a function, they are returned after the results."
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
        "Step 3 of `backward`. Removes each pair of a push and a pop if the popped value is unused, a constant, or a \
         loop invariant that can be recomputed in front of the dual. A loop that then records nothing counts its \
         iterations instead of testing its stack. Stacks without readers are removed with their init regions and \
         results."
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
        "Replaces each `_grad` operation with an equivalent expression: `pd.tanh_grad (%out, %g)` becomes `%g * (1 - \
         %out * %out)`. `backward` does not need this pass: it differentiates a gradient operation through the same \
         expansion. A gradient operation of PaddlePaddle that has only a declaration is replaced with the result of its \
         operation's gradient rule. An operation that declares what it computes, in its row or in a dialect file, is \
         replaced with that computation. The duals of loops and branches stay, and so does an operation whose expansion \
         needs a static shape that it does not have."
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
        "Runs `stack-locals`, `build-backward` and `prune-stacks`. By default, differentiates every fetched float \
         value, with a cotangent of ones, with respect to every float `pd.data` and `pd.parameter` without \
         `stop_gradient = true`. In a function, differentiates the float results with respect to the float arguments."
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
