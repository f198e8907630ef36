//! The interface of a pass.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use pir_ir::{Attr, Diagnostic, Module, OpView, Preserved};
use smallvec::SmallVec;

use crate::options::{OptionSpec, OptionValue, Options};

/// Whether a pass changed the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Changed {
    /// The program is unchanged.
    #[default]
    No,
    /// The program may have changed.
    Yes,
}

impl From<bool> for Changed {
    fn from(changed: bool) -> Self {
        if changed { Changed::Yes } else { Changed::No }
    }
}

impl std::ops::BitOr for Changed {
    type Output = Changed;

    fn bitor(self, other: Changed) -> Changed {
        Changed::from(self == Changed::Yes || other == Changed::Yes)
    }
}

impl std::ops::BitOrAssign for Changed {
    fn bitor_assign(&mut self, other: Changed) {
        *self = *self | other;
    }
}

/// How much of a program a pass looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The whole: symbols, calls, several functions.
    Module,
    /// Each body by itself, as with [`for_each_body_mut`](crate::for_each_body_mut): such a pass can be run on some
    /// functions only, and on several at a time.
    Body,
}

/// Computes operations whose operands are constants. The kernels live in the interpreter, which passes do not depend
/// on, so the driver hands an evaluator in.
pub trait ConstantEvaluator: Sync {
    /// The values of the results of `op`, given those of its operands, in the form in which the dialect materializes
    /// constants; `None` if they cannot be determined or evaluation is too expensive.
    fn evaluate(&self, op: OpView<'_>, operands: &[Attr]) -> Option<SmallVec<[Attr; 2]>>;
}

/// Writes text to a file, given its path: all of it, or the file stays as it was. The error is for the user.
pub type WriteFile = dyn Fn(&str, &str) -> Result<(), Diagnostic> + Sync;

/// What a driver does for passes.
#[derive(Clone, Copy, Default)]
pub struct Services<'a> {
    /// Computes operations on constants.
    pub evaluator: Option<&'a dyn ConstantEvaluator>,
    /// Writes files.
    pub write_file: Option<&'a WriteFile>,
}

/// The environment of a pass.
pub struct PassContext<'a> {
    /// The options that were written after the name of the pass, and the defaults of the others.
    pub options: &'a Options,
    /// What the driver does for the pass.
    pub services: Services<'a>,
    reports: Mutex<Vec<Diagnostic>>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl<'a> PassContext<'a> {
    /// A context without services.
    pub fn new(options: &'a Options) -> Self {
        Self {
            options,
            services: Services::default(),
            reports: Mutex::new(Vec::new()),
            counts: Mutex::new(BTreeMap::new()),
        }
    }

    /// The same with services.
    #[must_use]
    pub fn with_services(self, services: Services<'a>) -> Self {
        Self { services, ..self }
    }

    /// Reports a diagnostic that does not stop the pass: a warning or a note.
    pub fn report(&self, diagnostic: Diagnostic) {
        self.reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(diagnostic);
    }

    /// Adds to a number that `--pass-statistics` shows: what was done how often, for example `"hoisted"`.
    pub fn count(&self, what: &'static str, by: usize) {
        if by > 0 {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(what).or_default() += by as u64;
        }
    }

    /// Takes the counters, by name.
    pub fn take_counts(&mut self) -> BTreeMap<&'static str, u64> {
        std::mem::take(self.counts.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Everything reported so far, in the order of the source.
    pub fn into_reports(self) -> Vec<Diagnostic> {
        let mut reports = self.reports.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Functions may be worked on in parallel; the order must not depend on which was first.
        reports.sort_by_key(|d| d.labels.first().map(|l| l.span));
        reports
    }
}

/// A transformation (or a check) of a whole module.
///
/// Implemented by unit structs without state: what varies from run to run is in the options.
pub trait Pass: Sync + Send {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// One line, without a full stop.
    fn summary(&self) -> &'static str;

    /// Paragraphs for the reference: what it does, under which conditions.
    fn description(&self) -> &'static str;

    /// The options it takes.
    fn options(&self) -> &'static [OptionSpec] {
        &[]
    }

    /// How much of the program it looks at.
    fn scope(&self) -> Scope {
        Scope::Module
    }

    /// The analyses that hold after it as they did before, whatever it changed. Others are computed again when they are requested
    /// ([`Body::analysis`](pir_ir::Body::analysis)).
    fn preserves(&self) -> Preserved {
        Preserved::none()
    }

    /// Whether it does nothing but change bodies, in a way that depends only on each body by itself, the options and the evaluator.
    /// One that left a program as it is would do so again, and the manager does not run it again until the program has changed.
    fn is_pure(&self) -> bool {
        false
    }

    /// Whether it is but a name for other passes, which [`Pass::expand`] gives: then they take its place when a pipeline is
    /// read.
    fn is_preset(&self) -> bool {
        false
    }

    /// For a pass that is nothing but a pipeline of others: the passes to run in its place, with their options. The
    /// manager then does not call [`Pass::run`].
    fn expand(&self, options: &Options) -> Option<Vec<Invocation>> {
        let _ = options;
        None
    }

    /// Runs the pass.
    ///
    /// # Errors
    /// What stopped it. The module is as it was before; debug builds compare.
    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>>;
}

/// The anchors around a pass, from the outside: names of operations. Shared by the passes in one pair of parentheses.
pub type Path = Arc<[Box<str>]>;

/// One run of a pass, with its options.
#[derive(Clone)]
pub struct Invocation {
    /// The pass.
    pub pass: &'static dyn Pass,
    /// The options.
    pub options: Options,
    /// The operations it runs on; empty for the whole program.
    pub path: Path,
}

impl Invocation {
    /// A run with the default options.
    pub fn new(pass: &'static dyn Pass) -> Self {
        Invocation {
            pass,
            options: Options::new(pass.options()),
            path: Path::default(),
        }
    }

    /// A run with those of `options` that the pass declares.
    pub fn forwarding(pass: &'static dyn Pass, options: &Options) -> Self {
        let mut new = Self::new(pass);
        new.options.forward_from(options);
        new
    }

    /// Sets an option; one that the pass does not declare is ignored.
    #[must_use]
    pub fn with(mut self, name: &str, value: OptionValue) -> Self {
        let known = self.options.set(name, value);
        debug_assert!(known, "`{}` has no option `{name}`", self.pass.name());
        self
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pass.name())?;
        let mut open = false;
        for (name, value) in self.options.given() {
            write!(f, "{}{name}={value}", if open { ", " } else { "{" })?;
            open = true;
        }
        f.write_str(if open { "}" } else { "" })
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The pass of a name, or of one that MLIR has for it.
pub(crate) fn find_in(passes: &[&'static dyn Pass], name: &str) -> Option<&'static dyn Pass> {
    let find = |name: &str| passes.iter().copied().find(|p| p.name() == name);
    // A pass that a tool registers under this name takes precedence.
    find(name).or_else(|| find(ALIASES.iter().find(|alias| alias.0 == name)?.1))
}

/// Names that MLIR has for passes, and ours.
const ALIASES: &[(&str, &str)] = &[
    ("loop-invariant-code-motion", "licm"),
    ("control-flow-sink", "sink"),
    ("remove-dead-values", "dce"),
    ("lift-cf-to-scf", "lift-cfg"),
    ("convert-scf-to-cf", "lower-to-cfg"),
    ("view-op-graph", "view-graph"),
];
