//! Fuses chains of elementwise operations on large tensors, without intermediate tensors.
//!
//! Consecutive operations run on tiles of a few thousand elements, so that intermediate results stay in the cache. The
//! kernels are the same ones, and the results are bit-identical. If anything prevents fusion, the operations run one by
//! one.

use pir_ir::{Body, Context, OpId, Traits, Type};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::ExecError;
use super::flow::{Flow, Operand, Source};
use super::program::{Code, Group, Instr};
use super::value::Value;
use crate::each_type;
use crate::kernels::{Inputs, known_count};
use crate::tensor::buffer::room;
use crate::tensor::{DType, Element, Shape, Tensor};

/// The number of elements of a tile.
const TILE: usize = 4096;
/// Smaller tensors fit in the cache entirely, and copying tiles would cost more than it saves.
pub(super) const LEAST: usize = 1 << 21;
/// The maximal number of operations in a group, so that intermediate results stay in the cache.
const MOST: usize = 24;

/// Finds the groups in a block, and attaches them to their first instructions: consecutive operations on numbers of one
/// shape, which is large or dynamic.
pub(super) fn group(ctx: &Context, body: &Body, instrs: &mut [Instr], least: usize) {
    let elementwise = |instr: &Instr| match &instr.code {
        Code::Kernel { inputs, lists, .. } => {
            !inputs.is_empty()
                && lists.is_empty()
                && instr.results.count == 1
                && body.view(ctx, instr.op).has(Traits::ELEMENTWISE)
        }
        _ => false,
    };
    // Loop counters among the operations must not split a group.
    let shape = |instr: &Instr| {
        let (shape, elem) = ctx.as_tensor(body.value_type(body.results(instr.op).next()?))?;
        let fits = known_count(shape).is_none_or(|n| usize::try_from(n).is_ok_and(|n| n >= least))
            && (ctx.is_float(elem) || elem == Type::I1);
        (fits && elementwise(instr)).then_some(shape)
    };
    let mut start = 0;
    while start < instrs.len() {
        let first = shape(&instrs[start]);
        let like_first = |instr: &&Instr| first.is_some() && shape(instr) == first;
        let length = instrs[start..].iter().take(MOST).take_while(like_first).count();
        if length >= 2 {
            let group = Group::of(body, &instrs[start..start + length], least);
            instrs[start].group = group.map(Box::new);
        }
        start += length.max(1);
    }
}

impl Flow {
    /// `None` if the instructions are not kernels.
    pub(super) fn of(body: &Body, instrs: &[Instr]) -> Option<Flow> {
        let ops: FxHashMap<OpId, usize> = instrs.iter().enumerate().map(|(at, i)| (i.op, at)).collect();
        let mut sources: FxHashMap<u32, Source> = FxHashMap::default();
        let mut flow = Flow {
            steps: Vec::new(),
            outside: Vec::new(),
            wanted: Vec::new(),
        };
        for (at, instr) in instrs.iter().enumerate() {
            let Code::Kernel { inputs, .. } = &instr.code else {
                return None;
            };
            let mut operands = SmallVec::new();
            for src in inputs {
                let from = *sources.entry(src.slot).or_insert_with(|| {
                    flow.outside.push(*src);
                    Source::Outside(flow.outside.len() - 1)
                });
                if let Source::Outside(number) = from {
                    flow.outside[number].last |= src.last;
                }
                operands.push(Operand { from, last: false });
            }
            flow.steps.push(operands);
            sources.insert(instr.results.first, Source::Step(at));
            let mut uses = body.uses(body.result(instr.op, 0));
            if !uses.all(|u| ops.contains_key(&u.op)) {
                flow.wanted.push((at, instr.results.first));
            }
        }
        let mut seen: Vec<Source> = flow.wanted.iter().map(|&(at, _)| Source::Step(at)).collect();
        for operand in flow.steps.iter_mut().rev().flat_map(|step| step.iter_mut().rev()) {
            operand.last = !seen.contains(&operand.from);
            if operand.last {
                seen.push(operand.from);
            }
        }
        Some(flow)
    }
}

impl Group {
    /// `None` if fusion would not save anything.
    fn of(body: &Body, instrs: &[Instr], least: usize) -> Option<Group> {
        let flow = Flow::of(body, instrs)?;
        (flow.wanted.len() < instrs.len()).then_some(Group { flow, least })
    }

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.flow.steps.len()
    }

    /// The common shape of the large operands, if they have one, and whether each operand is large.
    fn shape(&self, env: &[Value]) -> Option<(Shape, SmallVec<[bool; 8]>)> {
        let mut shape: Option<&[usize]> = None;
        let mut large: SmallVec<[bool; 8]> = SmallVec::new();
        let mut rank = 0;
        for src in &self.flow.outside {
            let Value::Tensor(tensor) = &env[src.slot as usize] else {
                return None;
            };
            let one = tensor.len() == 1;
            large.push(!one);
            match shape {
                _ if one => rank = rank.max(tensor.rank()),
                Some(shape) if shape != tensor.shape() => return None,
                Some(_) => {}
                None if tensor.len() < self.least => return None,
                None => shape = Some(tensor.shape()),
            }
        }
        // An operand of one element must not raise the rank.
        let shape = shape.filter(|shape| shape.len() >= rank)?;
        // Each operation must produce a large tensor.
        let mut steps: SmallVec<[bool; MOST]> = SmallVec::new();
        for operands in &self.flow.steps {
            let makes = operands.iter().any(|operand| match operand.from {
                Source::Outside(number) => large[number],
                Source::Step(at) => steps[at],
            });
            if !makes {
                return None;
            }
            steps.push(true);
        }
        Some((shape.into(), large))
    }

    /// Runs the operations of the group; false if that is not possible, and nothing has been changed.
    pub(super) fn run(&self, env: &mut [Value], instrs: &[Instr]) -> Result<bool, ExecError> {
        let Some((shape, large)) = self.shape(env) else {
            return Ok(false);
        };
        let count: usize = shape.iter().product();
        let mut run = Run {
            group: self,
            instrs,
            large,
            outside: Vec::new(),
            results: Vec::new(),
            exact: true,
        };
        // The first tile determines the element types, and whether the kernels succeed. Integer division may fail in
        // later tiles, so groups with integers are not fused.
        if run.tile(env, 0, TILE).is_err() {
            return Ok(false);
        }
        let exact = |tensor: &Tensor| tensor.dtype().is_float() || tensor.dtype() == DType::I1;
        let first = self.flow.wanted.iter().map(|&(at, _)| run.results[at].as_ref());
        let Some(first) = first.collect::<Option<SmallVec<[&Tensor; 4]>>>() else {
            return Ok(false);
        };
        if !run.exact || !first.iter().all(|tensor| exact(tensor)) {
            return Ok(false);
        }
        let mut targets = Vec::with_capacity(first.len());
        let mut taken: SmallVec<[bool; 8]> = SmallVec::from_elem(false, self.flow.outside.len());
        for tensor in first {
            let dead = (0..self.flow.outside.len()).find(|&number| {
                run.large[number]
                    && !taken[number]
                    && self.flow.outside[number].last
                    && fits(self.value(env, number), tensor)
            });
            targets.push(match dead {
                Some(number) => {
                    taken[number] = true;
                    Target::Outside(number)
                }
                None => Target::New(Tensor::full(&shape, tensor.dtype(), 0.0).map_err(ExecError::new)?),
            });
        }
        let mut start = 0;
        loop {
            for (target, &(at, _)) in targets.iter_mut().zip(&self.flow.wanted) {
                let place = match target {
                    Target::New(tensor) => Some(tensor),
                    Target::Outside(number) => match &mut env[self.flow.outside[*number].slot as usize] {
                        Value::Tensor(tensor) => Some(tensor),
                        _ => None,
                    },
                };
                let put = place
                    .zip(run.results[at].take())
                    .is_some_and(|(place, tile)| put(place, start, &tile));
                if !put {
                    return Err(ExecError::new("the parts of a result have different types"));
                }
            }
            start += TILE;
            if start >= count {
                break;
            }
            run.tile(env, start, (start + TILE).min(count))
                .map_err(ExecError::new)?;
        }
        self.leave(env, targets);
        Ok(true)
    }

    fn value<'e>(&self, env: &'e [Value], number: usize) -> Option<&'e Tensor> {
        match &env[self.flow.outside[number].slot as usize] {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Stores the results in their slots, and drops operands that are not needed any more.
    fn leave(&self, env: &mut [Value], targets: Vec<Target>) {
        let results: SmallVec<[Value; 4]> = targets
            .into_iter()
            .map(|target| match target {
                Target::New(tensor) => Value::Tensor(tensor),
                Target::Outside(number) => std::mem::take(&mut env[self.flow.outside[number].slot as usize]),
            })
            .collect();
        for src in self.flow.outside.iter().filter(|src| src.last) {
            env[src.slot as usize] = Value::None;
        }
        for (value, &(_, slot)) in results.into_iter().zip(&self.flow.wanted) {
            env[slot as usize] = value;
        }
    }
}

/// Where a result is written.
enum Target {
    New(Tensor),
    /// In place of an operand that is not needed after the group.
    Outside(usize),
}

/// The state of a running group.
struct Run<'g> {
    group: &'g Group,
    instrs: &'g [Instr],
    large: SmallVec<[bool; 8]>,
    outside: Vec<Option<Tensor>>,
    results: Vec<Option<Tensor>>,
    /// Whether all values are floats and booleans.
    exact: bool,
}

impl Run<'_> {
    /// Computes the elements from `start` to `end` of all results.
    fn tile(&mut self, env: &[Value], start: usize, end: usize) -> Result<(), String> {
        const MISSING: &str = "an operand is missing";
        self.outside.clear();
        self.results.clear();
        self.exact = true;
        for (number, &large) in self.large.iter().enumerate() {
            let tensor = self.group.value(env, number).ok_or(MISSING)?;
            self.outside.push(Some(match large {
                true => part(tensor, start, end)?,
                false => tensor.clone().reshaped(&[])?,
            }));
        }
        for (instr, operands) in self.instrs.iter().zip(&self.group.flow.steps) {
            let Code::Kernel { kernel, .. } = &instr.code else {
                return Err(MISSING.to_owned());
            };
            let mut inputs = Inputs::new();
            for operand in operands {
                let place = match operand.from {
                    Source::Outside(number) => &mut self.outside[number],
                    Source::Step(at) => &mut self.results[at],
                };
                let tensor = if operand.last { place.take() } else { place.clone() };
                inputs.push(tensor.ok_or(MISSING)?);
            }
            let mut results = kernel(inputs)?;
            let result = results.pop().filter(|tensor| tensor.shape() == [end - start]);
            let result = result.ok_or("the shape of a result differs from that of the operands")?;
            self.exact &= result.dtype().is_float() || result.dtype() == DType::I1;
            self.results.push(Some(result));
        }
        Ok(())
    }
}

/// A range of the elements as a vector.
fn part(tensor: &Tensor, start: usize, end: usize) -> Result<Tensor, String> {
    fn copy<T: Element>(values: &[T]) -> Result<crate::tensor::Data, String> {
        let mut out = room(values.len())?;
        out.extend_from_slice(values);
        Ok(T::wrap(out))
    }
    let data = each_type!(tensor.data(), v => copy(&v[start..end]))?;
    Ok(Tensor::from_parts(Shape::from_slice(&[end - start]), data))
}

/// Whether a tensor can be overwritten with elements of the type of `like`.
fn fits(tensor: Option<&Tensor>, like: &Tensor) -> bool {
    tensor.is_some_and(|tensor| tensor.dtype() == like.dtype() && each_type!(tensor.data(), v => v.is_unique()))
}

/// Writes elements into a tensor; false if the type differs or the tensor is shared.
fn put(into: &mut Tensor, at: usize, part: &Tensor) -> bool {
    fn copy<T: Element>(into: &mut Tensor, at: usize, part: &[T]) -> bool {
        let place = into
            .unique::<T>()
            .and_then(|values| values.get_mut(at..at + part.len()));
        place.map(|place| place.copy_from_slice(part)).is_some()
    }
    each_type!(part.data(), v => copy(into, at, v))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use crate::exec::compile::Compiler;
    use crate::testing::parsed;

    /// The number of operations in each group of a program.
    fn groups(text: &str) -> Vec<usize> {
        let module = parsed(text);
        let mut compiler = Compiler::new(&module.ctx);
        compiler.fuse_from = 65_536;
        let program = compiler.compile(&module.body).unwrap();
        let instrs = program.blocks.iter().flat_map(|block| &block.instrs);
        instrs.filter_map(|instr| Some(instr.group.as_ref()?.len())).collect()
    }

    #[test]
    fn a_counter_does_not_keep_operations_apart() {
        let body = |size: &str| {
            format!(
                "%x = pd.data {{name = \"x\", dtype = f32, shape = [1]}} : tensor<{size}xf32>\n\
                 %n = pd.full {{shape = [], value = 3, dtype = i64}} : tensor<i64>\n\
                 %e, %r = pd.while (%n, %x) cond (%i: tensor<i64>, %a: tensor<{size}xf32>) {{\n\
                 %go = pd.less_than (%i, %n)\ncf.cond_yield (%go, %i, %a)\n\
                 }} body (%j: tensor<i64>, %b: tensor<{size}xf32>) {{\n\
                 %c = pd.tanh (%b)\n%d = pd.multiply (%c, %b)\n%next = pd.add (%j, %n)\n%f = pd.exp (%d)\n\
                 %g = pd.add (%f, %d)\n%h = pd.less_than (%g, %d)\n%k = pd.where (%h, %g, %d)\n\
                 cf.yield (%next, %k)\n}}\npd.fetch (%r) {{name = \"r\"}}\n"
            )
        };
        assert_eq!(groups(&body("65536")), [2, 4]);
        assert_eq!(groups(&body("?")), [2, 4]);
        assert_eq!(groups(&body("65535")), []);
    }
}
