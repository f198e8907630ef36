//! `outline`: equal branches and loops as one function.
//!
//! ```text
//! %a = pd.while (%x) cond … body …             %a = func.call @outlined (%x, %w)
//! %b = pd.while (%y) cond … body …     ==>     %b = func.call @outlined (%y, %w)
//! ```
//!
//! # Algorithm
//! Each operation with regions gets a hash of all that is in it, from the inside out, that does not depend on which values
//! it takes from outside. Those with equal hashes are written down as numbers, with values numbered in the order in which
//! they appear; if what is written is the same, they do the same to what they take from outside, which becomes the
//! arguments of the function. Outer operations are looked at before inner ones. Writing down stops when it has taken a
//! multiple of the size of the program, so that the time is linear.
//!
//! # Conditions
//! * What reads inputs of the program, writes outputs or prints is left where it is.
//! * At least `min-size` operations, and at least two of the same.
//! * `backward` does not go into functions: this is for afterwards, or `inline` brings the operations back.

use std::hash::{Hash, Hasher};

use pir_ir::{
    AttrData, AttrDict, Body, Context, Diagnostic, Module, OpId, OpSpec, Rewriter, Type, ValueDef, ValueId, ValueMap,
};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;

use crate::analysis::{EffectAnalysis, EffectSet};
use crate::options::{OptionKind, OptionSpec};
use crate::pass::{Changed, Pass, PassContext};

/// How many times the size of the program may be written down.
const MAX_WRITTEN: usize = 32;

/// The pass `outline`.
pub struct Outline;

impl Pass for Outline {
    fn name(&self) -> &'static str {
        "outline"
    }

    fn summary(&self) -> &'static str {
        "Replace identical branches and loops with calls of one function"
    }

    fn description(&self) -> &'static str {
        "Finds operations with regions that are identical except for the values that they capture, such as the duals of \
         one loop for two cotangents, and replaces them with calls of one private function, which takes the captured \
         values as arguments. Operations that read inputs, write outputs or print are not outlined. Use it after \
         differentiation, which does not enter functions; `inline` is the inverse."
    }

    fn options(&self) -> &'static [OptionSpec] {
        const OPTIONS: &[OptionSpec] = &[OptionSpec {
            name: "min-size",
            kind: OptionKind::Int(1, i64::MAX),
            default: Some("6"),
            help: "the minimum size of a branch or loop to outline, in operations, including itself",
        }];
        OPTIONS
    }

    fn run(&self, module: &mut Module, cx: &PassContext<'_>) -> Result<Changed, Vec<Diagnostic>> {
        let min_size = cx.options.int("min-size").unwrap_or(1);
        let min_size = usize::try_from(min_size).unwrap_or(usize::MAX);
        let classes = find(module, min_size);
        cx.count("functions", classes.len());
        let mut names = Names::new(module);
        for class in &classes {
            outline(module, class, &mut names);
        }
        Ok((!classes.is_empty()).into())
    }
}

/// An operation of the body of the function, or of the module itself.
type Place = (Option<OpId>, OpId);

fn body_of(module: &Module, function: Option<OpId>) -> &Body {
    let inner = function.and_then(|op| module.body.isolated(op));
    inner.unwrap_or(&module.body)
}

/// Groups of equal operations, one for each function to create.
fn find(module: &Module, min_size: usize) -> Vec<Vec<Place>> {
    let ctx = &*module.ctx;
    let functions = module
        .body
        .block_ops(module.top())
        .filter(|&op| module.body.isolated(op).is_some());
    let owners: Vec<Option<OpId>> = std::iter::once(None).chain(functions.map(Some)).collect();
    let mut groups: FxHashMap<u64, Vec<Place>> = FxHashMap::default();
    let mut hash_of: FxHashMap<Place, u64> = FxHashMap::default();
    let mut size = 0;
    for &owner in &owners {
        let body = body_of(module, owner);
        size += body.num_ops();
        for (op, hash) in candidates(ctx, body, min_size) {
            groups.entry(hash).or_default().push((owner, op));
            hash_of.insert((owner, op), hash);
        }
    }
    let mut budget = size * MAX_WRITTEN;
    let mut covered: FxHashSet<Place> = FxHashSet::default();
    let mut classes = Vec::new();
    for &owner in &owners {
        let body = body_of(module, owner);
        for op in body.walk_all() {
            let group = hash_of.get(&(owner, op)).and_then(|hash| groups.remove(hash));
            let members = group
                .unwrap_or_default()
                .into_iter()
                .filter(|place| !covered.contains(place));
            let members: Vec<Place> = members.collect();
            if members.len() < 2 {
                continue;
            }
            let mut written: Vec<(Written, Vec<Place>)> = Vec::new();
            let mut by_text: FxHashMap<u64, SmallVec<[usize; 1]>> = FxHashMap::default();
            for place in members {
                let (text, _) = write_down(ctx, body_of(module, place.0), place.1);
                if text.0.len() > budget {
                    return classes;
                }
                budget -= text.0.len();
                let mut hasher = FxHasher::default();
                text.hash(&mut hasher);
                let same = by_text.entry(hasher.finish()).or_default();
                match same.iter().find(|&&at| written[at].0 == text) {
                    Some(&at) => written[at].1.push(place),
                    None => {
                        same.push(written.len());
                        written.push((text, vec![place]));
                    }
                }
            }
            for (_, class) in written.into_iter().filter(|(_, class)| class.len() > 1) {
                for &(owner, op) in &class {
                    let body = body_of(module, owner);
                    let inner = body.op_regions(op).iter().flat_map(|&r| body.walk(r));
                    covered.extend(inner.map(|op| (owner, op)));
                }
                classes.push(class);
            }
        }
    }
    classes
}

/// The operations that may be moved into a function, with their hashes.
fn candidates(ctx: &Context, body: &Body, min_size: usize) -> Vec<(OpId, u64)> {
    let facts = body.analysis::<EffectAnalysis>(ctx);
    let mut hashes = vec![0u64; body.num_op_slots()];
    let mut sizes = vec![0usize; body.num_op_slots()];
    let mut found = Vec::new();
    for op in body.post_order() {
        let mut hasher = FxHasher::default();
        let mut size = 1;
        body.op_name(op).index().hash(&mut hasher);
        ctx.dict_sorted(body.attrs(op)).hash(&mut hasher);
        for value in body.operands(op).chain(body.results(op)) {
            body.value_type(value).index().hash(&mut hasher);
        }
        for &region in body.op_regions(op) {
            body.region_blocks(region).len().hash(&mut hasher);
            for &block in body.region_blocks(region) {
                body.block_args(block).len().hash(&mut hasher);
                for inner in body.block_ops(block) {
                    hashes[inner.index()].hash(&mut hasher);
                    size += sizes[inner.index()];
                }
            }
        }
        hashes[op.index()] = hasher.finish();
        sizes[op.index()] = size;
        let fits = !body.op_regions(op).is_empty()
            && body.region_flow(ctx, op).is_some()
            && size >= min_size
            && !facts.touched(op).intersects(EffectSet::SEEN | EffectSet::READ_MEMORY);
        if fits {
            found.push((op, hashes[op.index()]));
        }
    }
    found
}

/// The key of an operation, as numbers, and its attributes.
type Written = (Vec<u64>, Vec<AttrDict>);

/// All that an operation is, and the values that it takes from outside.
fn write_down(ctx: &Context, body: &Body, op: OpId) -> (Written, Vec<ValueId>) {
    let (mut text, mut attrs) = (Vec::new(), Vec::new());
    let mut captures: Vec<ValueId> = Vec::new();
    // Values of the inside and captures count separately.
    let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
    let mut inside = 0;
    let regions = body.op_regions(op).iter().flat_map(|&r| body.walk(r));
    for op in std::iter::once(op).chain(regions) {
        text.push(body.op_name(op).index() as u64);
        attrs.push(ctx.dict_sorted(body.attrs(op)));
        text.push(body.num_operands(op) as u64);
        for value in body.operands(op) {
            let number = *numbers.entry(value).or_insert_with(|| {
                captures.push(value);
                (captures.len() as u64) << 1
            });
            text.push(number);
            text.push(body.value_type(value).index() as u64);
        }
        let mut define = |value: ValueId, text: &mut Vec<u64>| {
            inside += 1;
            numbers.insert(value, inside << 1 | 1);
            text.push(body.value_type(value).index() as u64);
        };
        text.push(body.num_results(op) as u64);
        body.results(op).for_each(|r| define(r, &mut text));
        text.push(body.op_regions(op).len() as u64);
        for &region in body.op_regions(op) {
            text.push(body.region_blocks(region).len() as u64);
            for &block in body.region_blocks(region) {
                text.push(body.block_args(block).len() as u64);
                body.block_args(block).iter().for_each(|&a| define(a, &mut text));
                text.push(body.block_ops(block).count() as u64);
            }
        }
        // Never two of these: branches between blocks are not compared.
        if !body.successors(op).is_empty() || body.isolated(op).is_some() {
            text.push(u64::MAX);
            text.push(op.index() as u64);
        }
    }
    ((text, attrs), captures)
}

/// Creates a function of equal operations, and replaces them with calls.
fn outline(module: &mut Module, class: &[Place], names: &mut Names) {
    let Some(&(owner, op)) = class.first() else { return };
    let ctx = module.ctx.clone();
    let from = body_of(module, owner);
    let mut body = Body::new();
    let root = body.root();
    let entry = body.create_block(root);
    let mut map = ValueMap::new();
    let mut inputs: Vec<Type> = Vec::new();
    for capture in write_down(&ctx, from, op).1 {
        let ty = from.value_type(capture);
        inputs.push(ty);
        let name = from.value_name(capture).filter(|n| !n.pack);
        map.insert(capture, body.add_block_arg(entry, ty, name));
    }
    let results: Vec<Type> = from.results(op).map(|r| from.value_type(r)).collect();
    let mut rewriter = Rewriter::new(&ctx, &mut body);
    rewriter.at_end(entry);
    let copy = rewriter.import_op(from, op, &mut map);
    let values: Vec<ValueId> = rewriter.body.results(copy).collect();
    rewriter.at_end(entry).op("func.return").operands(values).build();
    let name = names.free();
    let span = from.op_span(op);
    let attrs = ctx.dict(&[
        (ctx.sym("sym_name"), ctx.str_attr(&name)),
        (
            ctx.sym("function_type"),
            ctx.type_attr(ctx.function_type(&inputs, &results)),
        ),
        (ctx.sym("sym_visibility"), ctx.str_attr("private")),
    ]);
    let mut spec = OpSpec::new(ctx.op_name("func.func"));
    (spec.attrs, spec.span) = (attrs, span);
    let top = module.top();
    let function = module.body.create_op(spec);
    module.body.set_isolated(function, body);
    module.body.append_op(top, function);
    let callee = ctx.attr(AttrData::Symbol([ctx.sym(&name)].into()));
    for &(owner, op) in class {
        let body = match owner {
            Some(owner) => module.body.isolated_mut(owner),
            None => Some(&mut module.body),
        };
        let Some(body) = body else { continue };
        // Not before now: what is outside may have been replaced by calls.
        let (_, captures) = write_down(&ctx, body, op);
        let mut rewriter = Rewriter::new(&ctx, body);
        let call = rewriter.before(op).op("func.call").attr("callee", callee);
        let call = call.operands(captures).results(results.iter().copied());
        let call = call.build();
        let values: SmallVec<[ValueId; 4]> = rewriter.body.results(call).collect();
        for (old, &new) in rewriter.body.results(op).zip(&values) {
            let name = rewriter.body.value_name(old);
            rewriter.body.set_value_name(new, name);
        }
        debug_assert!(
            values
                .iter()
                .all(|&v| !matches!(rewriter.body.value_def(v), ValueDef::None))
        );
        rewriter.replace_op(op, &values);
    }
}

/// Names for functions.
struct Names {
    taken: FxHashSet<String>,
    next: usize,
}

impl Names {
    fn new(module: &Module) -> Self {
        let names = module.body.block_ops(module.top());
        let taken = names.filter_map(|op| module.body.view(&module.ctx, op).str("sym_name").map(str::to_owned));
        Names {
            taken: taken.collect(),
            next: 0,
        }
    }

    /// A name that is not taken.
    fn free(&mut self) -> String {
        loop {
            let name = match self.next {
                0 => "outlined".to_owned(),
                n => format!("outlined_{n}"),
            };
            self.next += 1;
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}
