//! Functions of the library: calls, loops and branches that name functions.
//!
//! A call is read in place, with the values of the caller as arguments. Loops and branches become `pd.while` and `pd.if`,
//! whose regions see the values around them: an argument of a loop that its body gives back unchanged is not carried. The
//! types of carried values are those of their initial values; where the body gives others, they are made more general, and
//! the graph is read again (`Learned`).

use std::rc::Rc;

use pir_dialects::{cf, pd};
use pir_ir::{OpSpec, RegionId, Type, ValueId};
use rustc_hash::FxHashMap;

use super::super::proto::{FunctionDef, NodeDef, Value};
use super::reader::{Input, Reader, Result};
use super::row::{Row, plain_name};
use super::scope::{Binding, Function, Scope, find};
use super::signature;

/// Rows as in [`ops::TABLE`](super::ops::TABLE).
pub(super) const TABLE: &[Row] = &[
    ("Case", "Tbranch Tin**", "branches output_shapes= Tout", case),
    (
        "If",
        "Tcond Tin**",
        "then_branch else_branch output_shapes= Tout",
        branch,
    ),
    (
        "PartitionedCall",
        "Tin**",
        "f Tout config= config_proto= executor_type=",
        call,
    ),
    (
        "StatefulPartitionedCall",
        "Tin**",
        "f Tout config= config_proto= executor_type=",
        call,
    ),
    ("StatelessCase", "Tbranch Tin**", "branches output_shapes= Tout", case),
    (
        "StatelessIf",
        "Tcond Tin**",
        "then_branch else_branch output_shapes= Tout",
        branch,
    ),
    (
        "StatelessWhile",
        "T**",
        "cond body output_shapes= parallel_iterations=10",
        repeat,
    ),
    (
        "While",
        "T**",
        "cond body output_shapes= parallel_iterations=10",
        repeat,
    ),
];

/// The nesting of calls, so that recursive functions end.
const DEEPEST: usize = 64;

/// The operation of a node that represents an argument of a function.
pub(super) const ARGUMENT: &str = "_Arg";

impl Function {
    pub(super) fn of(def: &FunctionDef, library: &FxHashMap<String, FunctionDef>) -> Result<Function> {
        let signature = def.signature.clone().unwrap_or_default();
        let argument = |arg: &super::super::proto::ArgDef| NodeDef {
            name: arg.name.clone(),
            op: ARGUMENT.to_owned(),
            ..NodeDef::default()
        };
        let mut nodes: Vec<NodeDef> = signature.inputs.iter().map(argument).collect();
        let arguments = nodes.len();
        nodes.extend(def.nodes.iter().cloned());
        let mut places = FxHashMap::default();
        for (at, node) in nodes.iter().enumerate() {
            places.entry(node.name.clone()).or_insert(at);
        }
        let mut named = FxHashMap::default();
        let mut flat = |text: &str| flat_name(&nodes, &places, library, &mut named, text);
        let place = |name: &str| places.get(name).copied();
        let mut results = Vec::new();
        for output in &signature.outputs {
            let text = def.results.get(&output.name);
            let text = text.ok_or_else(|| format!("`{}` does not declare its results", signature.name))?;
            results.push(find(&flat(text)?, place)?);
        }
        let effects = def.controls.values().map(|text| Ok(find(text, place)?.node));
        let effects = effects.collect::<Result<Vec<_>>>()?;
        let mut inputs = Vec::new();
        for node in &nodes {
            inputs.push(node.inputs.iter().map(|text| flat(text)).collect::<Result<Vec<_>>>()?);
        }
        for (node, inputs) in nodes.iter_mut().zip(inputs) {
            node.inputs = inputs;
        }
        Ok(Function {
            scope: Scope::new(Rc::new(nodes), Vec::new()),
            places,
            arguments,
            results,
            effects,
        })
    }
}

/// `node:output:index`, as `node:index` counted over all outputs of the operation.
///
/// `named` has the output by which a node was read before, if the order of its outputs is not known here: it can have but one.
fn flat_name(
    nodes: &[NodeDef],
    places: &FxHashMap<String, usize>,
    library: &FxHashMap<String, FunctionDef>,
    named: &mut FxHashMap<usize, String>,
    text: &str,
) -> Result<String> {
    let mut parts = text.split(':');
    let (Some(name), Some(output), Some(index)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(text.to_owned());
    };
    let at = *places
        .get(name)
        .ok_or_else(|| format!("`{text}` is read, but does not exist"))?;
    let op = plain_name(&nodes[at].op);
    let called = library.get(op).and_then(|def| def.signature.as_ref());
    let first = called.and_then(|called| called.outputs.iter().position(|arg| arg.name == output));
    let first = match first.or_else(|| signature::first_result(op, output)) {
        Some(first) => first,
        None if named.entry(at).or_insert_with(|| output.to_owned()) == output => 0,
        None => {
            return Err(format!(
                "`{text}` is read, but the order of the results of `{op}` is not supported"
            ));
        }
    };
    let index: usize = index.parse().map_err(|_| format!("`{text}` does not name a result"))?;
    Ok(format!("{name}:{}", first + index))
}

/// The name of the function in an attribute.
fn named(r: &Reader<'_>, at: usize, attr: &str) -> Result<String> {
    match r.attr(at, attr) {
        Some(Value::Function(function)) => Ok(function.name.clone()),
        _ => Err(format!("its attribute `{attr}` does not name a function")),
    }
}

/// The value that an input is bound to in a function.
fn binding(r: &mut Reader<'_>, at: usize, index: usize) -> Result<Binding> {
    let input = r.input(at, index)?;
    let handle = r.handle(input);
    let constant = r.computed(input).cloned();
    let value = match handle {
        Some(_) => None,
        None => r.value(input).ok(),
    };
    Ok(Binding {
        value,
        constant,
        handle,
    })
}

fn bindings(r: &mut Reader<'_>, at: usize, first: usize) -> Result<Vec<Binding>> {
    (first..r.num_inputs(at)).map(|index| binding(r, at, index)).collect()
}

/// Reads the nodes of a function at the current place, and gives what it returns.
fn inline(r: &mut Reader<'_>, at: usize, name: &str, arguments: &[Binding], wanted: &[usize]) -> Result<Vec<Binding>> {
    if r.path.len() >= DEEPEST {
        return Err(format!("functions are nested too deeply at `{name}`"));
    }
    let function = r.function(name)?;
    if function.arguments != arguments.len() {
        return Err(format!(
            "`{name}` has {} arguments, found {}",
            function.arguments,
            arguments.len()
        ));
    }
    let root = |&index: &usize| function.results.get(index).copied();
    let roots: Option<Vec<Input>> = wanted.iter().map(root).collect();
    let roots = roots.ok_or("it has fewer results than are read")?;
    let caller = r.nodes[at].name.clone();
    let mut scope = function.scope.again();
    r.swap(&mut scope);
    r.path.push(caller);
    let result = read_body(r, arguments, &roots, &function.effects);
    r.path.pop();
    r.swap(&mut scope);
    result
}

fn read_body(r: &mut Reader<'_>, arguments: &[Binding], roots: &[Input], effects: &[usize]) -> Result<Vec<Binding>> {
    let errors = r.errors.len();
    r.connect();
    for (at, argument) in arguments.iter().enumerate() {
        r.bind(at, argument);
    }
    let roots_and_effects = roots.iter().map(|root| root.node).chain(effects.iter().copied());
    r.prune(&roots_and_effects.collect::<Vec<_>>());
    r.read_nodes();
    if r.errors.len() > errors {
        // Said already.
        return Err(String::new());
    }
    let mut results = Vec::new();
    for &root in roots {
        let handle = r.handle(root);
        let constant = r.computed(root).cloned();
        let value = match handle {
            Some(_) => None,
            None => Some(r.value(root)?),
        };
        results.push(Binding {
            value,
            constant,
            handle,
        });
    }
    Ok(results)
}

/// `PartitionedCall` and `StatefulPartitionedCall`.
pub(super) fn call(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let name = named(r, at, "f")?;
    call_of(r, at, &name)
}

/// A node whose operation is a function of the library.
pub(super) fn call_of(r: &mut Reader<'_>, at: usize, name: &str) -> Result<()> {
    let arguments = bindings(r, at, 0)?;
    let count = r.function(name)?.results.len();
    let wanted: Vec<usize> = (0..count).collect();
    let results = inline(r, at, name, &arguments, &wanted)?;
    r.gives(at, results);
    Ok(())
}

/// Starts a region, and gives it with the region around.
fn begin(r: &mut Reader<'_>, arguments: &[(Type, Option<ValueId>)]) -> (RegionId, pir_ir::BlockId, Vec<ValueId>) {
    let region = r.body.create_region();
    let block = r.body.create_block(region);
    let mut values = Vec::new();
    for (ty, like) in arguments {
        let name = like.and_then(|v| r.body.value_name(v));
        values.push(r.body.add_block_arg(block, *ty, name));
    }
    let outer = std::mem::replace(&mut r.block, block);
    (region, outer, values)
}

/// Ends a region with what it gives.
fn end(r: &mut Reader<'_>, outer: pir_ir::BlockId, terminator: &str, values: &[ValueId]) {
    let op = r.body.create_op(OpSpec {
        operands: values,
        ..OpSpec::new(r.ctx.op_name(terminator))
    });
    let block = std::mem::replace(&mut r.block, outer);
    r.body.append_op(block, op);
}

/// A value as a condition.
fn truth(r: &mut Reader<'_>, at: usize, value: ValueId) -> Result<ValueId> {
    let (dims, elem) = r.dims(value)?;
    if !dims.is_empty() {
        return Err("its condition is not a scalar".to_owned());
    }
    match elem {
        Type::I1 => Ok(value),
        _ => {
            let zero = super::select::like(r, at, value, 0.0)?;
            r.helper(at, pd::NotEqual::NAME, &[value, zero], &[])
        }
    }
}

/// `If` and `StatelessIf`.
pub(super) fn branch(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let condition = r.operand(at, 0)?;
    let condition = truth(r, at, condition)?;
    let sides = [named(r, at, "then_branch")?, named(r, at, "else_branch")?];
    let arguments = bindings(r, at, 1)?;
    let results = choose(r, at, condition, |r, side| {
        let name = &sides[side];
        let wanted: Vec<usize> = (0..r.function(name)?.results.len()).collect();
        inline(r, at, name, &arguments, &wanted)
    })?;
    r.gives(at, results);
    Ok(())
}

/// `Case` and `StatelessCase`: the last branch is also that of numbers out of range.
pub(super) fn case(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let index = r.operand(at, 0)?;
    let names: Vec<String> = match r.attr(at, "branches") {
        Some(Value::List(list)) => list.functions.iter().map(|f| f.name.clone()).collect(),
        _ => Vec::new(),
    };
    let arguments = bindings(r, at, 1)?;
    let results = cases(r, at, index, &names, 0, &arguments)?;
    r.gives(at, results);
    Ok(())
}

fn cases(
    r: &mut Reader<'_>,
    at: usize,
    index: ValueId,
    names: &[String],
    number: usize,
    arguments: &[Binding],
) -> Result<Vec<Binding>> {
    if number > DEEPEST {
        return Err("it has too many branches".to_owned());
    }
    let name = names.get(number).ok_or("it has no branches")?;
    let side = |r: &mut Reader<'_>| {
        let wanted: Vec<usize> = (0..r.function(name)?.results.len()).collect();
        inline(r, at, name, arguments, &wanted)
    };
    if number + 1 == names.len() {
        return side(r);
    }
    let place = super::select::like(r, at, index, number as f64)?;
    let here = r.helper(at, pd::Equal::NAME, &[index, place], &[])?;
    choose(r, at, here, |r, which| match which {
        0 => side(r),
        _ => cases(r, at, index, names, number + 1, arguments),
    })
}

/// A `pd.if` of two sides.
fn choose(
    r: &mut Reader<'_>,
    at: usize,
    condition: ValueId,
    mut side: impl FnMut(&mut Reader<'_>, usize) -> Result<Vec<Binding>>,
) -> Result<Vec<Binding>> {
    let mut regions = Vec::new();
    let mut types: Vec<Type> = Vec::new();
    let mut lists: Vec<ValueId> = Vec::new();
    for which in 0..2 {
        let (region, outer, _) = begin(r, &[]);
        let results = side(r, which);
        let values = results.and_then(|results| plain_values(&results));
        end(r, outer, cf::YIELD, values.as_deref().unwrap_or(&[]));
        let values = values?;
        for (place, &value) in values.iter().enumerate() {
            let ty = r.body.value_type(value);
            let Some(&common) = types.get(place) else {
                types.push(ty);
                lists.push(value);
                continue;
            };
            // If one side is not a tensor, it gets the type of the other.
            types[place] = match (r.missing.get(&lists[place]).cloned(), r.missing.get(&value).cloned()) {
                (Some(key), _) if ty != common => {
                    r.learn(&key, ty, common);
                    lists[place] = value;
                    ty
                }
                (_, Some(key)) if ty != common => {
                    r.learn(&key, common, ty);
                    common
                }
                _ => r.general(common, ty)?,
            };
        }
        regions.push(region);
    }
    let op = r.regional(at, pd::If::NAME, &[condition], &types, &regions);
    let values: Vec<ValueId> = r.body.results(op).collect();
    for (value, list) in values.iter().zip(lists) {
        r.same_list(list, *value);
    }
    Ok(values.into_iter().map(Binding::of).collect())
}

/// The results of a region, which must be tensors.
fn plain_values(results: &[Binding]) -> Result<Vec<ValueId>> {
    let value = |b: &Binding| b.value.ok_or_else(|| "a branch returns a handle".to_owned());
    results.iter().map(value).collect()
}

/// `While` and `StatelessWhile`.
pub(super) fn repeat(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (cond, body) = (named(r, at, "cond")?, named(r, at, "body")?);
    let arguments = bindings(r, at, 0)?;
    let function = r.function(&body)?;
    let carried: Vec<usize> = (0..arguments.len()).filter(|&i| !gives_back(&function, i)).collect();
    let mut inits = Vec::new();
    let mut keys = Vec::new();
    for &index in &carried {
        inits.push(arguments[index].value.ok_or("it carries a handle that changes")?);
        keys.push(format!("{}#{index}", r.place(at)));
    }
    let types: Vec<Type> = inits.iter().zip(&keys).map(|(&v, key)| r.learned_or(key, v)).collect();
    let shaped: Vec<(Type, Option<ValueId>)> = types.iter().zip(&inits).map(|(&t, &v)| (t, Some(v))).collect();

    let mut regions = Vec::new();
    for first in [true, false] {
        let (region, outer, values) = begin(r, &shaped);
        let mut inner: Vec<Binding> = arguments.clone();
        for ((&index, &value), init) in carried.iter().zip(&values).zip(&inits) {
            inner[index] = Binding::of(value);
            r.same_list(*init, value);
        }
        let (name, wanted): (&str, Vec<usize>) = match first {
            true => (&cond, vec![0]),
            false => (&body, carried.clone()),
        };
        let results = inline(r, at, name, &inner, &wanted).and_then(|results| plain_values(&results));
        let given = match (first, results) {
            (true, Ok(results)) => truth(r, at, results[0]).map(|go| [&[go][..], &values].concat()),
            (_, results) => results,
        };
        let terminator = if first { cf::COND_YIELD } else { cf::YIELD };
        end(r, outer, terminator, given.as_deref().unwrap_or(&[]));
        let given = given?;
        if !first {
            for (((key, &ty), &value), init) in keys.iter().zip(&types).zip(&given).zip(&inits) {
                // A list whose elements have just become known is read again with these.
                if !(r.changed && r.lists.contains_key(init)) {
                    let general = r.general(ty, r.body.value_type(value))?;
                    r.learn(key, general, ty);
                }
            }
        }
        regions.push(region);
    }
    let op = r.regional(at, pd::While::NAME, &inits, &types, &regions);
    let mut results = arguments;
    let values: Vec<ValueId> = r.body.results(op).collect();
    for ((&index, value), init) in carried.iter().zip(values).zip(inits) {
        r.same_list(init, value);
        results[index] = Binding::of(value);
    }
    r.gives(at, results);
    Ok(())
}

/// Whether a function returns its argument `index` unchanged, at the same place.
fn gives_back(function: &Function, index: usize) -> bool {
    let mut found = function.results.get(index).copied();
    for _ in 0..=function.scope.nodes.len() {
        let Some(Input { node, index: 0 }) = found else {
            return false;
        };
        if node < function.arguments {
            return node == index;
        }
        let node = &function.scope.nodes[node];
        let forwarded = node.inputs.first().filter(|_| node.op == "Identity");
        found = forwarded.and_then(|text| find(text, |name| function.places.get(name).copied()).ok());
    }
    false
}
