//! The functions to differentiate: the outputs, the inputs and the seeds of a program or a function.

use pir_dialects::{func, pd};
use pir_ir::text::print_type;
use pir_ir::verify::compatible;
use pir_ir::{BlockId, Body, Context, Diagnostic, Module, Name, OpId, Span, Traits, Type, ValueId, nearest};
use rustc_hash::FxHashSet;

use super::functions::{is_adjoint, is_kept};
use super::{custom, signature};

/// The options of the passes of `backward`.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct BackwardOptions {
    /// Outputs: `%name` of a value, or the name of a fetch; in a function also the number of a result.
    pub of: Vec<String>,
    /// Inputs: `%name` of a value, or the `name` of a `pd.data` or `pd.parameter`.
    pub wrt: Vec<String>,
    /// Cotangents of the outputs: one for all or one for each; `%name`, the name of an input, or a number. `args` alone: new
    /// arguments of the function.
    pub seed: Vec<String>,
    /// Use PaddlePaddle's gradient operations where they do at once what takes several operations.
    pub twins: bool,
    /// Differentiate functions of one operand that expand to another operation from their operands, not from their results.
    pub from_operands: bool,
    /// The number of the process that runs the program.
    pub rank: Option<i64>,
}

/// The kind of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnitKind {
    /// Operations at top level: outputs are fetched.
    Program,
    /// A function: outputs are returned.
    Function,
}

/// A body that is differentiated: the isolated operations that lead to it.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) path: Vec<OpId>,
    pub(crate) kind: UnitKind,
    /// Where its function is.
    span: Span,
    /// Whether cotangents are arguments of it already.
    seeded: bool,
    /// Whether it becomes the adjoint of another function.
    pub(crate) is_adjoint: bool,
}

/// An output and its cotangent.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) value: ValueId,
    pub(crate) seed: Seed,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Seed {
    Number(f64),
    Value(ValueId),
    /// A new argument of the function.
    Argument,
}

/// The outputs and the inputs of a unit.
#[derive(Clone, Default, Debug)]
pub(crate) struct Targets {
    pub(crate) outputs: Vec<Output>,
    /// The inputs and what their gradients are called.
    pub(crate) inputs: Vec<(ValueId, String)>,
}

impl Targets {
    /// The inputs themselves.
    pub(crate) fn input_values(&self) -> Vec<ValueId> {
        self.inputs.iter().map(|input| input.0).collect()
    }

    /// The outputs themselves.
    pub(crate) fn output_values(&self) -> Vec<ValueId> {
        self.outputs.iter().map(|output| output.value).collect()
    }
}

/// The body that a path leads to.
pub(crate) fn body_at<'m>(module: &'m mut Module, path: &[OpId]) -> Option<&'m mut Body> {
    path.iter()
        .try_fold(&mut module.body, |body, &op| body.isolated_mut(op))
}

/// The bodies to differentiate: programs that fetch something, and functions that no other one calls or names as its
/// derivative. One that names a derivative is differentiated where it is called.
pub(crate) fn units(module: &Module) -> Vec<Unit> {
    let ctx = &*module.ctx;
    let mut called: FxHashSet<&str> = FxHashSet::default();
    // Where there are no functions, none is called.
    let mut bodies: Vec<(&Body, Option<&str>)> = Vec::new();
    bodies.extend(module.body.has_isolated().then_some((&module.body, None)));
    while let Some((body, own)) = bodies.pop() {
        for op in body.walk_all() {
            let view = body.view(ctx, op);
            let callee = func::callee(ctx, body, op).and_then(|path| Some(ctx.str(*path.last()?)));
            // A call of itself is none of another one.
            called.extend(callee.filter(|&name| own != Some(name)));
            called.extend(func::custom_vjp(view).map(|s| ctx.str(s)));
            called.extend(custom::marked_vjp(ctx, body, op).map(|s| ctx.str(s)));
            let name = view.str("sym_name").filter(|_| view.has(Traits::FUNCTION));
            bodies.extend(body.isolated(op).map(|inner| (inner, name)));
        }
    }
    let mut units = Vec::new();
    let mut pending: Vec<(Vec<OpId>, &Body)> = vec![(Vec::new(), &module.body)];
    while let Some((path, body)) = pending.pop() {
        let Some(block) = body.single_block(body.root()) else {
            continue;
        };
        let mut fetches = false;
        for op in body.block_ops(block) {
            let view = body.view(ctx, op);
            fetches |= is_fetch(ctx, body, op);
            let Some(inner) = body.isolated(op) else { continue };
            let mut path = path.clone();
            path.push(op);
            if view.has(Traits::FUNCTION) {
                let uncalled = view.str("sym_name").is_none_or(|name| !called.contains(name));
                // A private function without calls is what `inline` leaves.
                let seen = view.str("sym_visibility") != Some("private");
                let is_adjoint = is_adjoint(ctx, body, op);
                let is_wanted = uncalled
                    && seen
                    && !is_kept(ctx, body, op)
                    && func::custom_vjp(view).is_none()
                    && inner.entry_block(inner.root()).is_some();
                if is_adjoint || is_wanted {
                    units.push(Unit {
                        path,
                        kind: UnitKind::Function,
                        span: body.op_span(op),
                        seeded: signature::cotangents(ctx, body, op).is_some(),
                        is_adjoint,
                    });
                }
            } else {
                pending.push((path, inner));
            }
        }
        if fetches {
            units.push(Unit {
                path,
                kind: UnitKind::Program,
                span: Span::default(),
                seeded: false,
                is_adjoint: false,
            });
        }
    }
    units.sort_by(|a, b| a.path.cmp(&b.path));
    units
}

fn is_fetch(ctx: &Context, body: &Body, op: OpId) -> bool {
    matches!(ctx.op_str(body.op_name(op)), pd::Fetch::NAME | pd::ShadowOutput::NAME)
}

/// The names of the fetches at the top level of a body.
pub(crate) fn fetched_names(ctx: &Context, body: &Body) -> FxHashSet<String> {
    let blocks = body.region_blocks(body.root()).iter();
    blocks
        .flat_map(|&block| body.block_ops(block))
        .filter(|&op| is_fetch(ctx, body, op))
        .filter_map(|op| body.view(ctx, op).str("name").map(str::to_owned))
        .collect()
}

fn is_input(ctx: &Context, body: &Body, op: OpId) -> bool {
    matches!(
        ctx.op_str(body.op_name(op)),
        pd::Data::NAME | pd::Feed::NAME | pd::Parameter::NAME
    )
}

/// The block that holds a unit.
pub(crate) fn unit_block(body: &Body) -> Result<BlockId, Box<Diagnostic>> {
    body.single_block(body.root()).ok_or_else(|| {
        let span = body.walk_all().next().map_or(Span::default(), |op| body.op_span(op));
        Box::new(
            Diagnostic::error("not-structured", "a body with several blocks cannot be differentiated")
                .label(span, "in this body")
                .help("run `lift-cfg`, which converts the blocks to branches and loops"),
        )
    })
}

/// Finds the outputs and inputs of a unit.
pub(crate) fn resolve(
    ctx: &Context,
    body: &Body,
    unit: &Unit,
    options: &BackwardOptions,
) -> Result<Targets, Vec<Diagnostic>> {
    let block = unit_block(body).map_err(|d| vec![*d])?;
    let scope = Scope { ctx, body, block, unit };
    let mut errors = Vec::new();
    if unit.seeded {
        errors.push(
            Diagnostic::error(
                "seed-arguments",
                "a function that takes cotangents cannot be differentiated again",
            )
            .label(unit.span, "differentiated with `seed=args`")
            .help("run `split-vjp`, which separates the gradients into a function that can be differentiated"),
        );
    }
    let mut keep = |found: Result<Vec<ValueId>, Diagnostic>| found.map_err(|e| errors.push(e)).unwrap_or_default();

    let values: Vec<ValueId> = if options.of.is_empty() {
        scope.default_outputs()
    } else {
        options.of.iter().flat_map(|name| keep(scope.output(name))).collect()
    };
    let inputs: Vec<ValueId> = if options.wrt.is_empty() {
        scope.default_inputs()
    } else {
        options
            .wrt
            .iter()
            .flat_map(|name| keep(scope.input(name).map(|v| vec![v])))
            .collect()
    };
    let as_arguments = options.seed == ["args"];
    if as_arguments && unit.kind == UnitKind::Program {
        errors.push(
            Diagnostic::error(
                "seed-arguments",
                "operations at top level have no arguments for cotangents",
            )
            .note("`seed=args` turns the cotangents of a function's results into arguments")
            .help("give numbers, values or names of inputs as seeds, or move the program into a function"),
        );
    }
    let named = options.seed.iter().filter(|_| !as_arguments);
    let seeds: Vec<Seed> = named
        .filter_map(|s| scope.seed(s).map_err(|e| errors.push(e)).ok())
        .collect();
    if !seeds.is_empty() && errors.is_empty() && seeds.len() != 1 && seeds.len() != values.len() {
        let (given, outputs) = (seeds.len(), values.len());
        let message = match outputs {
            1 => format!("expected 1 seed for 1 output, found {given}"),
            _ => format!("expected 1 seed, or 1 for each of the {outputs} outputs, found {given}"),
        };
        errors.push(
            Diagnostic::error("seed-count", message)
                .help("a single seed, like `seed=1.0`, is the cotangent of every output; `of` selects the outputs"),
        );
    }
    let mut check = |values: &[ValueId], message: &str| {
        for &value in values.iter().filter(|&&v| !ctx.is_continuous(body.value_type(v))) {
            errors.push(
                Diagnostic::error("not-float", message)
                    .label(scope.span(value), "defined here")
                    .help("integers and booleans have no derivative"),
            );
        }
    };
    check(&values, "a differentiated output must be a float tensor");
    check(&inputs, "an input in `wrt` must be a float tensor");
    let default = if as_arguments {
        Seed::Argument
    } else {
        Seed::Number(1.0)
    };
    let seed_of = |at: usize| seeds.get(at).or(seeds.first()).copied().unwrap_or(default);
    let outputs = values.iter().enumerate();
    let outputs: Vec<Output> = outputs
        .map(|(at, &value)| Output {
            value,
            seed: seed_of(at),
        })
        .collect();
    errors.extend(scope.wrong_seeds(&outputs));
    if !errors.is_empty() {
        return Err(errors);
    }
    let inputs = inputs.into_iter().map(|v| (v, scope.name_of_input(v))).collect();
    Ok(Targets { outputs, inputs })
}

/// Whether what has a value of the type is differentiated without being named: complex numbers only in functions, as a program of
/// PaddlePaddle's that has any is about real ones.
fn is_default(ctx: &Context, kind: UnitKind, ty: Type) -> bool {
    ctx.is_float(ty) || kind == UnitKind::Function && ctx.is_continuous(ty)
}

struct Scope<'a> {
    ctx: &'a Context,
    body: &'a Body,
    block: BlockId,
    unit: &'a Unit,
}

impl Scope<'_> {
    fn fetches(&self) -> impl Iterator<Item = OpId> + '_ {
        self.body
            .block_ops(self.block)
            .filter(|&op| is_fetch(self.ctx, self.body, op))
    }

    /// Operands of the return, in a function.
    fn returned(&self) -> Vec<ValueId> {
        match (self.unit.kind, self.body.last_op(self.block)) {
            (UnitKind::Function, Some(last)) => self.body.operands(last).collect(),
            _ => Vec::new(),
        }
    }

    fn default_outputs(&self) -> Vec<ValueId> {
        let all: Vec<ValueId> = match self.unit.kind {
            UnitKind::Program => self.fetches().flat_map(|op| self.body.operands(op)).collect(),
            UnitKind::Function => self.returned(),
        };
        all.into_iter()
            .filter(|&v| is_default(self.ctx, self.unit.kind, self.body.value_type(v)))
            .collect()
    }

    fn default_inputs(&self) -> Vec<ValueId> {
        let all: Vec<ValueId> = match self.unit.kind {
            UnitKind::Program => self
                .body
                .block_ops(self.block)
                .filter(|&op| is_input(self.ctx, self.body, op))
                .filter(|&op| self.body.view(self.ctx, op).bool("stop_gradient") != Some(true))
                .flat_map(|op| self.body.results(op))
                .collect(),
            UnitKind::Function => self.body.block_args(self.block).to_vec(),
        };
        all.into_iter()
            .filter(|&v| is_default(self.ctx, self.unit.kind, self.body.value_type(v)))
            .collect()
    }

    fn named_values(&self) -> impl Iterator<Item = (Name, ValueId)> + '_ {
        let args = self.body.block_args(self.block).iter().copied();
        let results = self.body.block_ops(self.block).flat_map(|op| self.body.results(op));
        args.chain(results)
            .filter_map(|v| self.body.value_name(v).map(|n| (n.name, v)))
    }

    fn ssa(&self, name: &str) -> Result<ValueId, Diagnostic> {
        let (base, index) = match name.split_once('#') {
            Some((base, index)) => (base, index.parse::<usize>().unwrap_or(usize::MAX)),
            None => (name, 0),
        };
        let wanted = self.ctx.name(base);
        self.named_values()
            .filter(|&(n, _)| n == wanted)
            .nth(index)
            .map(|(_, v)| v)
            .ok_or_else(|| {
                let error = Diagnostic::error("unknown-value", format!("there is no value `%{name}` at this level"));
                let texts: Vec<_> = self.named_values().map(|(n, _)| self.ctx.name_text(n)).collect();
                match nearest(base, texts.iter().map(|text| &**text)) {
                    Some(near) => error.help(format!("did you mean `%{near}`?")),
                    None => error.help("name a value that is defined outside of all regions"),
                }
            })
    }

    fn output(&self, name: &str) -> Result<Vec<ValueId>, Diagnostic> {
        if let Some(ssa) = name.strip_prefix('%') {
            return self.ssa(ssa).map(|v| vec![v]);
        }
        if let (UnitKind::Function, Ok(number)) = (self.unit.kind, name.parse::<usize>()) {
            return self
                .returned()
                .get(number)
                .map(|&v| vec![v])
                .ok_or_else(|| Diagnostic::error("unknown-output", format!("the function has no result {number}")));
        }
        let found: Vec<ValueId> = self
            .fetches()
            .filter(|&op| self.body.view(self.ctx, op).str("name") == Some(name))
            .flat_map(|op| self.body.operands(op))
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let names: Vec<&str> = self
            .fetches()
            .filter_map(|op| self.body.view(self.ctx, op).str("name"))
            .collect();
        let error = Diagnostic::error("unknown-output", format!("nothing is fetched under the name `{name}`"));
        Err(match nearest(name, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("fetched names are: {}", listed(&names))),
        })
    }

    fn input(&self, name: &str) -> Result<ValueId, Diagnostic> {
        if let Some(ssa) = name.strip_prefix('%') {
            return self.ssa(ssa);
        }
        let inputs = || {
            self.body
                .block_ops(self.block)
                .filter(|&op| is_input(self.ctx, self.body, op))
        };
        if let Some(op) = inputs().find(|&op| self.body.view(self.ctx, op).str("name") == Some(name)) {
            return Ok(self.body.result(op, 0));
        }
        let args = self.body.block_args(self.block);
        let wanted = self.ctx.name(name);
        if let Some((_, v)) = self.named_values().find(|&(n, v)| n == wanted && args.contains(&v)) {
            return Ok(v);
        }
        let names: Vec<&str> = inputs()
            .filter_map(|op| self.body.view(self.ctx, op).str("name"))
            .collect();
        let error = Diagnostic::error("unknown-input", format!("there is no input called `{name}`"));
        Err(match nearest(name, names.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("inputs are: {}", listed(&names))),
        })
    }

    fn seed(&self, text: &str) -> Result<Seed, Diagnostic> {
        match text.parse::<f64>() {
            Ok(number) => Ok(Seed::Number(number)),
            Err(_) => self.input(text).map(Seed::Value),
        }
    }

    /// A cotangent is of the type of its output.
    fn wrong_seeds(&self, outputs: &[Output]) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        for output in outputs {
            let Seed::Value(seed) = output.seed else { continue };
            let (given, wanted) = (self.body.value_type(seed), self.body.value_type(output.value));
            if !compatible(self.ctx, given, wanted) {
                let message = format!(
                    "a seed has type `{}`, but its output has type `{}`",
                    print_type(self.ctx, given),
                    print_type(self.ctx, wanted)
                );
                errors.push(
                    Diagnostic::error("seed-type", message)
                        .label(self.span(seed), "the seed")
                        .label(self.span(output.value), "the output")
                        .help(
                            "one seed can be used for all outputs only if they have its type; a number can be used \
                               for any output",
                        ),
                );
            }
        }
        errors
    }

    fn name_of_input(&self, value: ValueId) -> String {
        let of_op = self
            .body
            .defining_op(value)
            .and_then(|op| self.body.view(self.ctx, op).str("name"));
        match (of_op, self.body.value_name(value)) {
            (Some(name), _) => name.to_owned(),
            (None, Some(name)) => self.ctx.name_text(name.name).into(),
            (None, None) => "input".to_owned(),
        }
    }

    fn span(&self, value: ValueId) -> Span {
        self.body
            .defining_op(value)
            .map_or(self.unit.span, |op| self.body.op_span(op))
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
