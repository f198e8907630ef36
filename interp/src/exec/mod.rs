//! The structured executor.
//!
//! A body is compiled once: operations become instructions, values become slots of an environment, and attributes are
//! part of prepared kernels. The machine keeps an explicit stack of frames, one per active region, so that nesting is
//! limited only by memory. The last use moves a value out of its slot, which lets kernels overwrite unshared buffers.

pub(crate) mod apply;
pub(crate) mod buffers;
mod chain;
pub(crate) mod compile;
mod fuse;
mod machine;
pub(crate) mod memory;
mod profile;
pub(crate) mod program;
mod stacks;
mod stats;
pub(crate) mod value;

use pir_dialects::df;
use std::borrow::Cow;
use std::io::Write;
use std::time::{Duration, Instant};

use pir_dialects::mlir::scf;
use pir_dialects::pd;
use pir_ir::{Body, Context, Diagnostic, Module, OpId, OpView, Span, Traits, Type, expand_composites, has_composites};
use rustc_hash::FxHashMap;

use crate::kernels::{Kernels, dtype_of};
use crate::tensor::Tensor;

pub(crate) use profile::count_flops;
pub use profile::{Profile, Row};
pub use stats::{LoopStats, Stats};
pub use value::Value;

/// The entry point and the inputs of a run.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The function to run; `None` for the operations at top level, or the only function.
    pub function: Option<String>,
    /// The inputs by name: of `pd.data` and `pd.parameter`, or the arguments of the function.
    pub inputs: FxHashMap<String, Tensor>,
    /// The maximal number of instructions.
    pub max_steps: Option<u64>,
    /// The maximal size of live tensors: inputs, values with remaining uses, and stacks. Tensors that share their
    /// elements count once. The limit is checked after each operation, when its results already exist.
    pub max_memory: Option<u64>,
    /// The minimal number of elements for fusing consecutive elementwise operations; by default two million, which
    /// exceeds the caches. The results are identical.
    pub fuse_from: Option<usize>,
    /// Whether subnormal numbers of `f32` and `f64`, among the inputs and the results of every operation, become zeros
    /// of the same sign. Most processors compute with them many times slower than with others. The eager engine keeps
    /// them.
    pub flush_subnormals: bool,
    /// Whether every operation is measured: see [`Outcome::profile`]. None are fused then.
    pub profile: bool,
}

/// An input of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputSpec {
    /// The name by which it is bound.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its declaration.
    pub span: Span,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The fetched values in order, by name.
    pub fetched: Vec<(String, Tensor)>,
    /// The results of the function.
    pub results: Vec<Tensor>,
    /// Execution statistics.
    pub stats: Stats,
    /// What each operation took, with [`Options::profile`].
    pub profile: Option<Profile>,
}

/// A run-time error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExecError {
    /// The message.
    pub message: String,
    /// The failing operation, if any.
    pub op: Option<String>,
    /// Its place in the source.
    pub span: Option<Span>,
    /// A suggestion for fixing it.
    pub help: Option<String>,
    /// Additional notes, one per line.
    pub notes: Vec<String>,
}

impl ExecError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        ExecError {
            message: message.into(),
            op: None,
            span: None,
            help: None,
            notes: Vec::new(),
        }
    }

    /// The error for a dataflow graph in a structured program.
    pub(crate) fn graph() -> Self {
        ExecError::new("this is a dataflow graph").help("`pir-run --dataflow` runs it")
    }

    pub(crate) fn at(mut self, ctx: &Context, body: &Body, op: OpId) -> Self {
        self.op.get_or_insert_with(|| ctx.op_str(body.op_name(op)).to_owned());
        self.span.get_or_insert(body.op_span(op));
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Converts it to a diagnostic.
    pub fn into_diagnostic(self) -> Diagnostic {
        let message = match &self.op {
            Some(op) => format!("`{op}` failed: {}", self.message),
            None => self.message,
        };
        let mut diagnostic = Diagnostic::error("execution", message);
        if let Some(span) = self.span {
            diagnostic = diagnostic.label(span, "executed here");
        }
        diagnostic.help = self.help;
        diagnostic.notes = self.notes;
        diagnostic
    }
}

/// The body to run, and whether it is that of a function.
pub(crate) struct Entry<'m> {
    /// The body in which called functions are looked up.
    pub(crate) scope: &'m Body,
    pub(crate) body: &'m Body,
    pub(crate) is_function: bool,
}

/// Whether an isolated operation is a module: neither a function nor a graph.
fn is_module(module: &Module, body: &Body, op: OpId) -> bool {
    let view = body.view(&module.ctx, op);
    !view.has(Traits::FUNCTION) && view.name() != df::GRAPH
}

/// Whether an operation at top level has no effect: passes may remove it.
fn does_nothing(module: &Module, body: &Body, op: OpId) -> bool {
    if let Some(inner) = body.isolated(op) {
        return body.view(&module.ctx, op).name() == df::GRAPH && inner.walk_all().next().is_none();
    }
    let inside = body.op_regions(op).iter().flat_map(|&region| body.walk(region));
    std::iter::once(op).chain(inside).all(|op| {
        let view = body.view(&module.ctx, op);
        view.def().is_some() && body.isolated(op).is_none() && view.own_effects().is_empty()
    })
}

/// Whether an operation takes and gives nothing, and has no expansion: it is an annotation for other tools.
fn is_remark(op: OpView<'_>) -> bool {
    let def = op.def().filter(|def| def.is_composite() && def.regions.is_empty());
    def.is_some_and(|def| def.operands.is_empty() && def.results.is_empty())
}

/// The body with the top-level operations: if a file consists of one module and operations without effects, the
/// module's.
pub(crate) fn top_level(module: &Module) -> &Body {
    let path = path_to_top(module).into_iter();
    path.fold(&module.body, |body, op| body.isolated(op).unwrap_or(body))
}

/// The modules that lead to that body.
pub(crate) fn path_to_top(module: &Module) -> Vec<OpId> {
    let (mut body, mut path) = (&module.body, Vec::new());
    loop {
        let Some(block) = body.single_block(body.root()) else {
            return path;
        };
        // Few files have a module: the operations beside it are checked only if there is one.
        let isolated = body.block_ops(block).filter_map(|op| Some((op, body.isolated(op)?)));
        let mut modules = isolated.filter(|&(op, _)| is_module(module, body, op));
        match (modules.next(), modules.next()) {
            (Some((only, inner)), None)
                if body
                    .block_ops(block)
                    .all(|op| op == only || does_nothing(module, body, op)) =>
            {
                path.push(only);
                body = inner;
            }
            _ => return path,
        }
    }
}

pub(crate) fn functions<'m>(ctx: &Context, scope: &'m Body) -> Vec<(String, &'m Body)> {
    let Some(block) = scope.single_block(scope.root()) else {
        return Vec::new();
    };
    scope
        .block_ops(block)
        .filter_map(|op| {
            let view = scope.view(ctx, op);
            let body = scope
                .isolated(op)
                .filter(|b| view.has(Traits::FUNCTION) && b.entry_block(b.root()).is_some())?;
            Some((view.str("sym_name")?.to_owned(), body))
        })
        .collect()
}

pub(crate) fn entry<'m>(module: &'m Module, function: Option<&str>) -> Result<Entry<'m>, ExecError> {
    let scope = top_level(module);
    let functions = functions(&module.ctx, scope);
    let names: Vec<&str> = functions.iter().map(|(name, _)| &**name).collect();
    if let Some(wanted) = function {
        let wanted = wanted.strip_prefix('@').unwrap_or(wanted);
        return match functions.iter().find(|(name, _)| name == wanted) {
            Some((_, body)) => Ok(Entry {
                scope,
                body,
                is_function: true,
            }),
            None => Err(
                ExecError::new(format!("there is no function @{wanted} with a body")).help(format!(
                    "functions are: {}",
                    if names.is_empty() {
                        "none".to_owned()
                    } else {
                        names.join(", ")
                    }
                )),
            ),
        };
    }
    let Some(block) = scope.single_block(scope.root()) else {
        return Err(ExecError::new("the program has no operations"));
    };
    let at_top = scope
        .block_ops(block)
        .any(|op| scope.isolated(op).is_none() && !is_remark(scope.view(&module.ctx, op)));
    if at_top || functions.is_empty() {
        return Ok(Entry {
            scope,
            body: scope,
            is_function: false,
        });
    }
    let main = functions
        .iter()
        .find(|(name, _)| name == "main")
        .or(if functions.len() == 1 { functions.first() } else { None });
    match main {
        Some((_, body)) => Ok(Entry {
            scope,
            body,
            is_function: true,
        }),
        None => Err(ExecError::new("the program has several functions")
            .help(format!("choose one with `--function`: {}", names.join(", ")))),
    }
}

/// The function that is run, if it is one and no program at top level.
pub fn entry_name(module: &Module, function: Option<&str>) -> Option<String> {
    let entry = entry(module, function).ok()?;
    let functions = functions(&module.ctx, entry.scope).into_iter();
    let mut found = functions.filter(|(_, body)| std::ptr::eq(*body, entry.body));
    found.next().map(|(name, _)| name)
}

/// The names of the functions with a body that can be run, in their order.
pub fn function_names(module: &Module) -> Vec<String> {
    let functions = functions(&module.ctx, top_level(module)).into_iter();
    functions.map(|(name, _)| name).collect()
}

fn input_name(ctx: &Context, body: &Body, op: OpId) -> Option<String> {
    let view = body.view(ctx, op);
    matches!(view.name(), pd::Data::NAME | pd::Feed::NAME | pd::Parameter::NAME)
        .then(|| view.str("name").unwrap_or_default().to_owned())
}

/// The input that an operation declares, if it does.
pub(crate) fn input_spec(ctx: &Context, body: &Body, op: OpId) -> Option<InputSpec> {
    Some(InputSpec {
        name: input_name(ctx, body, op)?,
        ty: body.value_type(body.result(op, 0)),
        span: body.op_span(op),
    })
}

/// The input `name`, checked against its type.
pub(crate) fn check_input(ctx: &Context, options: &Options, name: &str, ty: Type) -> Result<Tensor, ExecError> {
    let tensor = options.inputs.get(name).ok_or_else(|| {
        ExecError::new(format!("the input `{name}` has no value"))
            .help(format!("it has type `{}`", pir_ir::text::print_type(ctx, ty)))
    })?;
    let (shape, _) = ctx.as_shaped(ty).unwrap_or((&[], ty));
    let fits = tensor.rank() == shape.len()
        && shape
            .iter()
            .zip(tensor.shape())
            .all(|(&want, &have)| want < 0 || want == have as i64)
        && dtype_of(ctx, ty) == Some(tensor.dtype());
    if !fits {
        let dims: Vec<String> = tensor.shape().iter().map(|d| format!("{d}x")).collect();
        return Err(ExecError::new(format!(
            "the input `{name}` must have type `{}`, not `tensor<{}{}>`",
            pir_ir::text::print_type(ctx, ty),
            dims.concat(),
            tensor.dtype().name()
        )));
    }
    let mut tensor = tensor.clone();
    if options.flush_subnormals {
        tensor.flush_subnormals().map_err(ExecError::new)?;
    }
    Ok(tensor)
}

/// The inputs of a program, in order.
///
/// # Errors
/// If there is no function of that name.
pub fn inputs_of(module: &Module, function: Option<&str>) -> Result<Vec<InputSpec>, ExecError> {
    let ctx = &*module.ctx;
    let entry = entry(module, function)?;
    let body = entry.body;
    let mut inputs: Vec<InputSpec> = Vec::new();
    if entry.is_function
        && let Some(block) = body.entry_block(body.root())
    {
        for (at, &arg) in body.block_args(block).iter().enumerate() {
            let name = body
                .value_name(arg)
                .map_or_else(|| format!("arg{at}"), |n| ctx.name_text(n.name).into());
            inputs.push(InputSpec {
                name,
                ty: body.value_type(arg),
                span: Span::default(),
            });
        }
    }
    for op in body.walk_all() {
        if body.view(ctx, op).name() == df::GRAPH {
            return Err(ExecError::graph().at(ctx, body, op));
        }
        if let Some(input) = input_spec(ctx, body, op)
            && !inputs.iter().any(|other| other.name == input.name)
        {
            inputs.push(input);
        }
    }
    Ok(inputs)
}

/// The program with operations that have no kernel replaced by their compositions.
///
/// # Errors
/// If a composition cannot be expanded.
pub fn runnable(module: &Module) -> Result<Cow<'_, Module>, ExecError> {
    expanded(module, &|kernels, op| {
        // Loops in no order run as loops that count.
        kernels.has(op.name()) || op.name().starts_with("scf.") && !matches!(op.name(), scf::PARALLEL | scf::FORALL)
    })
}

/// The same for all operations except those for which `keep` returns true.
pub(crate) fn expanded<'m>(
    module: &'m Module,
    keep: &dyn Fn(&Kernels, OpView<'_>) -> bool,
) -> Result<Cow<'m, Module>, ExecError> {
    if !module.ctx.has_composites() {
        return Ok(Cow::Borrowed(module));
    }
    let keep = |op: OpView<'_>| keep(Kernels::of(&module.ctx), op);
    if !has_composites(module, &keep) {
        return Ok(Cow::Borrowed(module));
    }
    let mut expanded = module.clone();
    match expand_composites(&mut expanded, &keep) {
        Ok(_) => Ok(Cow::Owned(expanded)),
        Err(errors) => {
            let first = errors.into_iter().next();
            Err(first.map_or_else(|| ExecError::new("an operation has no expansion"), ExecError::from))
        }
    }
}

impl From<Diagnostic> for ExecError {
    fn from(diagnostic: Diagnostic) -> Self {
        ExecError {
            message: diagnostic.message,
            op: None,
            span: diagnostic.labels.first().map(|label| label.span),
            help: diagnostic.help,
            notes: diagnostic.notes,
        }
    }
}

/// Runs a program. The output of `pd.print` goes to `out`.
///
/// # Errors
/// The error, with its place.
pub fn run(module: &Module, options: &Options, out: &mut dyn Write) -> Result<Outcome, ExecError> {
    run_timed(module, options, out).map(|(outcome, _)| outcome)
}

/// The same, with the time from the beginning until the first operation is executed.
///
/// # Errors
/// As for [`run`].
pub fn run_timed(module: &Module, options: &Options, out: &mut dyn Write) -> Result<(Outcome, Duration), ExecError> {
    let start = Instant::now();
    let module = &*runnable(module)?;
    let entry = entry(module, options.function.as_deref())?;
    let machine = machine::Machine::new(&module.ctx, &entry, options, out)?;
    let compiling = start.elapsed();
    Ok((machine.run()?, compiling))
}
