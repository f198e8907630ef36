//! `refine-shapes`: static shapes for a program whose inputs have open dimensions.
//!
//! # Algorithm
//! As `stablehlo-refine-arguments`, `stablehlo-refine-shapes` and `stablehlo-canonicalize-dynamism` of OpenXLA together. Calls are inlined.
//! The inputs get the shapes that are given. Then, in the order of the program, each operation gets the result types that its operands
//! have it infer, where these determine more than it states; small integers are computed on the way, since shapes are computed with them.
//! The arguments of a loop begin with the types of what it starts with, and get the dimensions open again that an iteration changes, until
//! nothing changes. Last, operations whose shapes are computed, as in `stablehlo.dynamic_reshape`, become those of static
//! shape, and assertions on shapes that hold are removed.
//!
//! # Conditions
//! * A given shape fits the type of the input. A dimension that the program states is never another one.
//! * What cannot be inferred stays as it is: a dimension that depends on values stays open.

use pir_dialects::stablehlo::refine::{Ints, assertion, edges, integers, is_dynamic, make_static, result_types};
use pir_dialects::{func, pd};
use pir_ir::text::print_type;
use pir_ir::{
    BlockId, Body, Context, DYNAMIC, Diagnostic, FlowEdge, FlowPoint, Module, OpId, RegionId, Rewriter, Traits, Type,
    ValueId, infer_by_semantics,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bodies::atomically;
use crate::inline::inline_all;
use crate::options::{OptionKind, OptionSpec, OptionValue};
use crate::pass::{Changed, Invocation, Pass, PassContext};
use crate::pipeline::Pipeline;
use crate::symbol_dce::SymbolDce;

/// The pass `refine-shapes`.
pub struct RefineShapes;

impl Pass for RefineShapes {
    fn name(&self) -> &'static str {
        "refine-shapes"
    }

    fn summary(&self) -> &'static str {
        "Propagate static shapes of inputs through the program"
    }

    fn description(&self) -> &'static str {
        "Gives the inputs the shapes of the option `shapes`, infers all result types from them, and replaces StableHLO \
         operations with computed shapes by their static forms: `dynamic_reshape`, `dynamic_broadcast_in_dim`, \
         `get_dimension_size` and others, which `jax.export` emits for symbolic dimensions. Calls are inlined first. A \
         shape assertion that fails is an error."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "shapes",
            kind: OptionKind::List,
            default: None,
            help: "the shapes of inputs, `\"x=4x3\"`; a single number is the extent of all dynamic dimensions of all inputs",
        }];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let shapes = cx.options.list("shapes").unwrap_or_default();
        let shapes: Result<Vec<Given>, String> = shapes.iter().map(|text| Given::parse(text)).collect();
        let shapes = shapes.map_err(|why| vec![Diagnostic::error("bad-option", why)])?;
        atomically(module, |module| {
            let is_open = has_open_functions(&module.ctx, &module.body);
            if is_open {
                inline_all(module)?;
                SymbolDce.run(module, cx)?;
            }
            refine(module, &shapes)?;
            // Windows whose extents were computed are reduced by functions.
            if is_open { inline_all(module) } else { Ok(()) }
        })?;
        Ok(Changed::Yes)
    }
}

/// The pass `refine-shapes` with such shapes, as a pipeline.
pub fn refine_shapes(shapes: Vec<String>) -> Pipeline {
    let run = Invocation::new(&RefineShapes).with("shapes", OptionValue::List(shapes));
    Pipeline { invocations: vec![run] }
}

/// A shape that is given.
enum Given {
    /// The extent of open dimensions.
    Open(i64),
    /// The shape of an input.
    Of(String, Vec<i64>),
}

impl Given {
    fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<i64>().ok().filter(|n| *n >= 0);
        let parsed = match text.rsplit_once('=') {
            None => number(text).map(Given::Open),
            Some((name, "")) => Some(Given::Of(name.to_owned(), Vec::new())),
            Some((name, dims)) => {
                let dims: Option<Vec<i64>> = dims.split('x').map(number).collect();
                dims.map(|dims| Given::Of(name.to_owned(), dims))
            }
        };
        parsed.ok_or_else(|| format!("expected `NAME=4x6x3`, or a number for all dynamic dimensions, found `{text}`"))
    }
}

fn is_open(ctx: &Context, ty: Type) -> bool {
    ctx.as_tensor(ty).is_some_and(|(dims, _)| dims.contains(&DYNAMIC))
}

fn refine(module: &mut Module, shapes: &[Given]) -> Result<(), Vec<Diagnostic>> {
    let ctx = module.ctx.clone();
    let mut unused: Vec<&str> = shapes
        .iter()
        .filter_map(|given| match given {
            Given::Of(name, _) => Some(name.as_str()),
            Given::Open(_) => None,
        })
        .collect();
    let (mut errors, mut names) = (Vec::new(), Vec::new());
    let is_given = |body: &Body| {
        inputs(&ctx, body)
            .iter()
            .any(|(_, value, _)| is_open(&ctx, body.value_type(*value)))
    };
    let mut any_open = false;
    module.for_each_body(|body| any_open |= is_given(body));
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        // Other functions may call their arguments the same.
        let given = if is_given(body) || !any_open { shapes } else { &[] };
        names.extend(give(&ctx, body, given, &mut unused, &mut errors));
        let mut refiner = Refiner::new(&ctx, body);
        refiner.run();
        errors.append(&mut refiner.errors);
        let known = refiner.known;
        errors.extend(make_all_static(&ctx, body, &known));
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
    set_signatures(&ctx, &mut module.body);
    errors.extend(unused.first().map(|name| {
        let error = Diagnostic::error("unknown-input", format!("there is no input called `{name}`"));
        error.help(format!("inputs are: {}", names.join(", ")))
    }));
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Whether a function takes or gives, or a call in it, what has open dimensions.
fn has_open_functions(ctx: &Context, body: &Body) -> bool {
    body.walk_all().filter_map(|op| body.isolated(op)).any(|inner| {
        let entry = inner.entry_block(inner.root());
        let mut args = entry.iter().flat_map(|&block| inner.block_args(block));
        args.any(|&arg| is_open(ctx, inner.value_type(arg))) || has_open_functions(ctx, inner)
    })
}

/// The inputs of a body, with their names: what it declares as such, or its arguments.
fn inputs(ctx: &Context, body: &Body) -> Vec<(String, ValueId, Option<OpId>)> {
    let Some(block) = body.entry_block(body.root()) else {
        return Vec::new();
    };
    let args = body.block_args(block).iter().enumerate().map(|(at, &arg)| {
        let name = body
            .value_name(arg)
            .map_or_else(|| format!("arg{at}"), |name| ctx.name_text(name.name).to_string());
        (name, arg, None)
    });
    let declared = body.block_ops(block).filter_map(|op| {
        let view = body.view(ctx, op);
        let name = view.str("name").filter(|_| view.name() == pd::Data::NAME)?;
        Some((name.to_owned(), body.result(op, 0), Some(op)))
    });
    args.chain(declared).collect()
}

/// Gives the inputs of a body their shapes, and gives their names.
fn give(
    ctx: &Context,
    body: &mut Body,
    shapes: &[Given],
    unused: &mut Vec<&str>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<String> {
    let inputs = inputs(ctx, body);
    for (name, value, op) in &inputs {
        let ty = body.value_type(*value);
        let Some((dims, elem)) = ctx.as_tensor(ty) else {
            continue;
        };
        let mut shape = dims.to_vec();
        for given in shapes {
            match given {
                Given::Of(of, wanted) if of == name => {
                    unused.retain(|&left| left != of);
                    let fits = wanted.len() == dims.len()
                        && wanted.iter().zip(dims).all(|(&new, &old)| old == DYNAMIC || new == old);
                    match fits {
                        true => shape.clone_from(wanted),
                        false => errors.push(does_not_fit(ctx, name, ty, wanted)),
                    }
                }
                Given::Open(extent) => shape
                    .iter_mut()
                    .filter(|dim| **dim == DYNAMIC)
                    .for_each(|dim| *dim = *extent),
                Given::Of(..) => {}
            }
        }
        body.set_value_type(*value, ctx.tensor(&shape, elem));
        if let Some(op) = *op {
            let attrs = ctx.dict_with(body.attrs(op), "shape", ctx.ints_attr(&shape));
            body.set_attrs(op, attrs);
        }
    }
    inputs.into_iter().map(|(name, ..)| name).collect()
}

fn does_not_fit(ctx: &Context, name: &str, ty: Type, wanted: &[i64]) -> Diagnostic {
    let dims = ctx.as_tensor(ty).map_or(&[][..], |(dims, _)| dims);
    let mut given = wanted.iter().copied().chain(std::iter::repeat(1));
    let fitting = dims.iter().map(|&dim| match (dim, given.next()) {
        (DYNAMIC, Some(given)) => given.to_string(),
        (dim, _) => dim.to_string(),
    });
    let fitting: Vec<String> = fitting.collect();
    let message = format!(
        "the input `{name}` has type `{}`, which does not match this shape",
        print_type(ctx, ty)
    );
    Diagnostic::error("input-shape", message).help(format!(
        "use a matching shape, for example `{name}={}`",
        fitting.join("x")
    ))
}

/// How often the arguments of a loop may get dimensions open again before all are: each time at least one does.
const MAX_ROUNDS: usize = 16;
/// How deep loops are refined; each level may be visited several times for one visit of that around it.
const MAX_DEPTH: usize = 8;

/// Facts about the values of a body, found so far.
struct Refiner<'a> {
    ctx: &'a Context,
    body: &'a mut Body,
    /// The types that the program states, of the values that got others.
    stated: FxHashMap<ValueId, Type>,
    /// The elements of small tensors of integers.
    known: FxHashMap<ValueId, Ints>,
    errors: Vec<Diagnostic>,
}

impl<'a> Refiner<'a> {
    fn new(ctx: &'a Context, body: &'a mut Body) -> Self {
        Refiner {
            ctx,
            body,
            stated: FxHashMap::default(),
            known: FxHashMap::default(),
            errors: Vec::new(),
        }
    }

    fn run(&mut self) {
        self.region(self.body.root(), 0);
    }

    fn region(&mut self, region: RegionId, depth: usize) {
        let blocks: Vec<BlockId> = self.body.region_blocks(region).to_vec();
        for block in blocks {
            let ops: Vec<OpId> = self.body.block_ops(block).collect();
            ops.into_iter().for_each(|op| self.op(op, depth));
        }
    }

    fn op(&mut self, op: OpId, depth: usize) {
        if let Some(edges) = edges(self.body.view(self.ctx, op)) {
            if depth < MAX_DEPTH {
                self.flow(op, &edges, depth);
            }
            return;
        }
        let known = |value: ValueId| self.known.get(&value).cloned();
        let view = self.body.view(self.ctx, op);
        let types = result_types(view, &known).or_else(|| {
            view.with_infer_args(|args| match args.def.infer {
                Some(infer) => infer(args).ok(),
                None => infer_by_semantics(args).ok(),
            })?
        });
        let found = integers(view, &known);
        let results: SmallVec<[ValueId; 2]> = self.body.results(op).collect();
        for (at, &result) in results.iter().enumerate() {
            self.set(result, types.as_ref().and_then(|types| types.get(at).copied()));
        }
        // With the types that are known by now, sizes are too.
        let found = found.or_else(|| {
            let known = |value: ValueId| self.known.get(&value).cloned();
            integers(self.body.view(self.ctx, op), &known)
        });
        if let (&[result], Some(found)) = (&*results, found) {
            self.known.insert(result, found);
        } else {
            results.iter().for_each(|result| _ = self.known.remove(result));
        }
    }

    /// Gives a value the type that it has by inference, as far as that is more precise than the stated one. Whether that is a new one.
    fn set(&mut self, value: ValueId, inferred: Option<Type>) -> bool {
        let now = self.body.value_type(value);
        let stated = self.stated.get(&value).copied().unwrap_or(now);
        let ty = inferred.and_then(|ty| self.both(stated, ty)).unwrap_or(stated);
        if ty == now {
            return false;
        }
        self.stated.entry(value).or_insert(now);
        self.body.set_value_type(value, ty);
        true
    }

    /// The type that has the dimensions that either states.
    fn both(&self, stated: Type, inferred: Type) -> Option<Type> {
        let ((a, elem), (b, of)) = (self.ctx.as_tensor(stated)?, self.ctx.as_tensor(inferred)?);
        if elem != of || a.len() != b.len() {
            return None;
        }
        let dims: Vec<i64> = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| if a == DYNAMIC { b } else { a })
            .collect();
        Some(self.ctx.tensor(&dims, elem))
    }

    /// The type that values of both types have: dimensions that differ are open.
    fn either(&self, one: Type, other: Type) -> Option<Type> {
        let ((a, elem), (b, of)) = (self.ctx.as_tensor(one)?, self.ctx.as_tensor(other)?);
        if elem != of || a.len() != b.len() {
            return None;
        }
        let dims: Vec<i64> = a
            .iter()
            .zip(b)
            .map(|(&a, &b)| if a == b { a } else { DYNAMIC })
            .collect();
        Some(self.ctx.tensor(&dims, elem))
    }

    fn flow(&mut self, op: OpId, edges: &[FlowEdge], depth: usize) {
        let regions = self.body.op_regions(op).to_vec();
        let mut visited = vec![false; regions.len()];
        for round in 0..=MAX_ROUNDS {
            let mut changed = false;
            for (at, &region) in regions.iter().enumerate() {
                let refined = self.inputs(op, edges, FlowPoint::Region(at), &visited, round == MAX_ROUNDS);
                if refined || !visited[at] {
                    self.region(region, depth + 1);
                    changed = true;
                }
                visited[at] = true;
            }
            if !changed {
                break;
            }
        }
        self.inputs(op, edges, FlowPoint::Parent, &visited, false);
    }

    /// Gives the arguments of a region, or the results, the types of the values bound to them. Whether one is new.
    fn inputs(&mut self, op: OpId, edges: &[FlowEdge], to: FlowPoint, visited: &[bool], give_up: bool) -> bool {
        let mut coming: FxHashMap<usize, Option<Type>> = FxHashMap::default();
        for edge in edges.iter().filter(|edge| edge.to == to) {
            let from = match edge.from {
                FlowPoint::Parent => Some(op),
                FlowPoint::Region(at) if visited[at] => {
                    let block = self.body.single_block(self.body.op_regions(op)[at]);
                    block.and_then(|block| self.body.last_op(block))
                }
                FlowPoint::Region(_) => continue,
            };
            for (place, index) in edge.operands.clone().enumerate() {
                let ty = from
                    .filter(|&from| index < self.body.num_operands(from))
                    .map(|from| self.body.value_type(self.body.operand(from, index)));
                coming
                    .entry(edge.at + place)
                    .and_modify(|old| *old = old.zip(ty).and_then(|(old, ty)| self.either(old, ty)))
                    .or_insert(ty);
            }
        }
        let values: Vec<ValueId> = match to {
            FlowPoint::Parent => self.body.results(op).collect(),
            FlowPoint::Region(at) => {
                let block = self.body.entry_block(self.body.op_regions(op)[at]);
                block.map_or_else(Vec::new, |block| self.body.block_args(block).to_vec())
            }
        };
        let mut changed = false;
        for (place, value) in values.into_iter().enumerate() {
            let ty = coming.get(&place).copied().flatten().filter(|_| !give_up);
            changed |= self.set(value, ty);
        }
        changed
    }
}

/// Replaces operations of computed shape with operations of static shape.
fn make_all_static(ctx: &Context, body: &mut Body, known: &FxHashMap<ValueId, Ints>) -> Vec<Diagnostic> {
    let known = |value: ValueId| known.get(&value).cloned();
    let mut errors = Vec::new();
    let mut r = Rewriter::new(ctx, body);
    for op in r.body.walk_all().collect::<Vec<_>>() {
        let view = r.view(op);
        if is_dynamic(view) {
            make_static(&mut r, op, &known);
            continue;
        }
        let Some(promised) = assertion(view) else { continue };
        match view.operand(0).and_then(known).as_deref() {
            Some([0]) => {
                let error = Diagnostic::error(
                    "input-shape",
                    format!("the shapes of the inputs violate an assertion: {promised}"),
                );
                let error = error.label(r.body.op_span(op), "asserted here");
                errors.push(error.help("give shapes that satisfy the assertion"));
            }
            Some([_]) => r.erase_op(op),
            _ => {}
        }
    }
    errors
}

/// Makes the types of functions match their bodies.
fn set_signatures(ctx: &Context, body: &mut Body) {
    for op in body.walk_all().collect::<Vec<_>>() {
        let Some(inner) = body.isolated_mut(op) else { continue };
        set_signatures(ctx, inner);
        let Some(block) = inner.single_block(inner.root()) else {
            continue;
        };
        let Some(last) = inner
            .last_op(block)
            .filter(|&last| inner.view(ctx, last).has(Traits::TERMINATOR))
        else {
            continue;
        };
        let types = |values: &[ValueId]| -> Vec<Type> { values.iter().map(|&v| inner.value_type(v)).collect() };
        let (inputs, results) = (types(inner.block_args(block)), types(&inner.operands_vec(last)));
        if body.view(ctx, op).ty("function_type").is_some() {
            func::set_type(ctx, body, op, &inputs, &results);
        }
    }
}
