//! Pipelines with names: `O0` to `O3`, `training`, `inference` and `jax-vjp`.
//!
//! In a pipeline the name represents the passes: it is replaced by them when the text is read, so that
//! `--print-pipeline` shows what runs.

use pir_ir::{Diagnostic, Module};

use crate::autodiff::SPLIT;
use crate::options::{OptionKind, OptionSpec, Options};
use crate::pass::Invocation;
use crate::pass::{Changed, Pass, PassContext, Scope};
use crate::pipeline::Pipeline;

/// A pipeline with a name.
pub struct Preset {
    name: &'static str,
    summary: &'static str,
    description: &'static str,
    /// The passes with these options, as text.
    passes: fn(&Options) -> &'static str,
    /// The options that are forwarded to the passes that declare them.
    options: &'static [OptionSpec],
}

/// Nothing.
pub const O0: Preset = Preset {
    name: "O0",
    summary: "Verify only",
    description: "Runs no passes: the program is read, verified and printed.",
    passes: |_| "",
    options: &[],
};

/// Fast passes.
pub const O1: Preset = Preset {
    name: "O1",
    summary: "Optimize quickly",
    description: "Simplifies operations, eliminates common subexpressions, and removes unused operations.",
    passes: |_| "canonicalize,cse,dce",
    options: &[],
};

/// Full optimization.
pub const O2: Preset = Preset {
    name: "O2",
    summary: "Optimize",
    description: "`O1` with conditional constant propagation, loop-invariant code motion, and sinking of operations \
                  into the only branch that uses them.",
    passes: |_| "canonicalize,sccp,licm,cse,sink,canonicalize,dce",
    options: &[],
};

/// Everything.
pub const O3: Preset = Preset {
    name: "O3",
    summary: "Optimize, allowing code growth",
    description: "`O2` with inlining, and with unrolling of loops with few iterations, followed by further \
                  simplification.",
    passes: |_| "inline,symbol-dce,canonicalize,sccp,licm,cse,canonicalize,unroll{full=true, max-ops=128},licm,cse,sink,canonicalize,dce",
    options: &[],
};

/// From a program to one that computes its gradients.
pub const TRAINING: Preset = Preset {
    name: "training",
    summary: "Optimize, differentiate, prune, optimize",
    description: "First moves loop-invariant operations out of loops, so that they are neither recorded nor \
                  differentiated in each iteration. Fuses attention, whose weights are then computed again and not recorded. \
                  Then runs `backward`, which prunes the recorded values, \
                  recomputes what takes no longer than reading it from the record, \
                  optimizes the result, multiplies once after a loop where each iteration adds a product to a \
                  gradient, and records in a branch what only its derivative reads. Takes the options of `backward`.",
    passes: |_| "canonicalize,sccp,licm{branches=false},cse,canonicalize,dce,fuse-attention,backward,canonicalize,remat{recompute=cheap},licm,cse,batch-weight-grads,sink-stacks,canonicalize,dce",
    options: crate::autodiff::OPTIONS,
};

/// From a program that computes gradients to one that does not.
pub const INFERENCE: Preset = Preset {
    name: "inference",
    summary: "Strip gradients, prune, optimize",
    description: "Removes gradients and recorded values that no other result needs, then optimizes.",
    passes: |_| "strip-backward{by=liveness},prune-stacks,canonicalize,sccp,licm,cse,sink,canonicalize,dce",
    options: &[],
};

/// The passes of `jax-vjp`, which let loops record less in this way.
macro_rules! jax_vjp {
    ($from_operands:literal, $remat:literal) => {
        concat!(
            "stablehlo-to-pd-control,inline{always=true, max-growth=4000000},symbol-dce,forward-args,canonicalize,cse,licm{branches=false},\
             cse,dce,stack-locals{from-operands=",
            $from_operands,
            "},build-backward{seed=args, from-operands=",
            $from_operands,
            "},inline{always=true, max-growth=4000000, custom-vjp=true},symbol-dce,\
             prune-stacks,canonicalize,cse,",
            $remat,
            ",batch-weight-grads{static=true},lower-stacks,canonicalize,licm,cse,split-vjp,dce"
        )
    };
}

/// From what JAX lowers a function to, to its vector-Jacobian product.
pub const JAX_VJP: Preset = Preset {
    name: "jax-vjp",
    summary: "Differentiate functions lowered by JAX, with cotangents as arguments",
    description: "For functions of StableHLO and other dialects. `@main` returns the results; `@main.fwd` returns the \
                  results and the residuals; `@main.bwd` takes the residuals and the cotangents of the float results, \
                  in order, and returns the cotangents of the float arguments, in order. With `split=false`, there is \
                  only `@main`, which takes the arguments and the cotangents and returns the cotangents of the \
                  arguments.\
                  \n\nLong loops and loops of unknown length, including nested ones, are recomputed from snapshots in \
                  segments of iterations, as in `remat{slots,segment}`. With `bound`, they are recorded up to that many \
                  iterations. Recorded values are tensors of static shape, so `--emit=stablehlo` can write the result.",
    passes: |options| match options.is_given("bound") {
        true if matches!(options.text("overflow").as_deref(), Some("nan" | "unchecked")) => jax_vjp!("false", "remat"),
        true => jax_vjp!("false", "remat{slots=32,segment=128,spill=true}"),
        false => jax_vjp!("true", "remat{slots=32,segment=128}"),
    },
    options: &[
        OptionSpec {
            name: "bound",
            kind: OptionKind::Int(1, i32::MAX as i64),
            default: None,
            help: "the maximum trip count of loops of unknown length; all of their iterations are recorded",
        },
        crate::autodiff::TOTAL,
        crate::autodiff::OVERFLOW,
        OptionSpec {
            name: "slots",
            kind: OptionKind::Int(1, i64::MAX),
            default: Some("32"),
            help: "the number of snapshots to keep of each loop that is recomputed",
        },
        OptionSpec {
            name: "segment",
            kind: OptionKind::Int(1, 1 << 24),
            default: Some("128"),
            help: "the number of iterations to recompute and record at a time",
        },
        SPLIT,
    ],
};

impl Pass for Preset {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn options(&self) -> &'static [OptionSpec] {
        self.options
    }

    fn scope(&self) -> Scope {
        let inner = self.expand(&Options::new(self.options)).unwrap_or_default();
        match inner.iter().all(|i| i.pass.scope() == Scope::Body) {
            true => Scope::Body,
            false => Scope::Module,
        }
    }

    fn is_preset(&self) -> bool {
        true
    }

    fn expand(&self, options: &Options) -> Option<Vec<Invocation>> {
        let mut pipeline = Pipeline::parse((self.passes)(options)).unwrap_or_default();
        for invocation in &mut pipeline.invocations {
            invocation.options.forward_from(options);
        }
        Some(pipeline.invocations)
    }

    fn run(&self, _: &mut Module, _: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        Ok(Changed::No)
    }
}

#[cfg(test)]
mod tests {
    use crate::{PassRegistry, Pipeline};

    #[test]
    fn names_stand_for_their_passes() {
        let printed = |text: &str| Pipeline::parse(text).map(|p| p.to_string());
        assert_eq!(printed("O0"), Ok(String::new()));
        assert_eq!(printed("O0,cse,O1"), Ok("cse,canonicalize,cse,dce".to_owned()));
        let training = printed("training{of=loss wrt=[%x]}").unwrap();
        assert!(training.contains(",backward{of=[loss], wrt=[%x]},"), "{training}");
    }

    #[test]
    fn all_of_them_can_be_read() {
        for pass in PassRegistry::standard().iter().filter(|p| p.is_preset()) {
            let inner = pass.expand(&crate::Options::new(pass.options())).unwrap();
            assert_eq!(inner.is_empty(), pass.name() == "O0", "{}", pass.name());
        }
    }
}
