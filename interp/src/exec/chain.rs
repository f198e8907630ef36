//! Chains of elementwise operations on floats, of any size.
//!
//! Consecutive operations compute tile by tile, in registers of a tile each, so that only results with other uses are
//! written. Unlike a [group](super::fuse), a chain calls no kernels: its steps are compiled together. A chain of one
//! operation pays off too unless the tensors are tiny: its loops are compiled for the instruction set, and subnormal
//! results become zeros while they are in the nearest cache.

use smallvec::SmallVec;

use super::ExecError;
use super::flow::{Flow, Source};
use super::value::Value;
use crate::kernels::steps::{self, Given, Number, Part, Place, Step, TILE, Target};
use crate::parallel;
use crate::tensor::buffer::{done, room, stale};
use crate::tensor::subnormal::Flush;
use crate::tensor::{DType, Shape, Storage, Tensor};

/// From this number of elements on, a single operation is a chain.
pub(super) const WORTH: usize = 512;
/// The elements that a thread computes at once.
const PART: usize = 1 << 14;

/// Elementwise operations that are computed together.
pub(crate) struct Chain {
    flow: Flow,
    codes: Vec<steps::Code>,
    /// The number of registers of the steps.
    registers: usize,
}

/// How an operand is read.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Each,
    Row,
    One,
    /// A number for so many of the last dimensions: for each channel of an image.
    Stretched(usize),
}

/// How an operand of a shape is read for a result of another one, if a chain can. Extents may be unknown.
pub(super) fn kind<D: PartialEq + Copy>(shape: &[D], result: &[D], one: D) -> Option<Kind> {
    let inner = &shape[shape.iter().take_while(|&&d| d == one).count()..];
    match () {
        () if shape == result => Some(Kind::Each),
        () if shape.len() > result.len() => None,
        () if inner.is_empty() => Some(Kind::One),
        () if result.ends_with(inner) => Some(Kind::Row),
        () => {
            let last = inner.iter().rev().take_while(|&&d| d == one).count();
            let outer = &result[..result.len() - last];
            let fits = last > 0 && outer.ends_with(&inner[..inner.len() - last]);
            fits.then_some(Kind::Stretched(last))
        }
    }
}

impl Chain {
    /// A chain of steps; `None` if one has no operands.
    pub(super) fn of(flow: Flow, steps: Vec<Step>) -> Option<Chain> {
        let (mut free, mut registers) = (Vec::new(), 0);
        let mut codes: Vec<steps::Code> = Vec::with_capacity(steps.len());
        for (step, operands) in steps.into_iter().zip(&flow.steps) {
            let place = |from| match from {
                Source::Outside(number) => Place::Outside(number),
                Source::Step(at) => Place::Register(codes[at].to),
            };
            let (first, last) = (operands.first()?, operands.last()?);
            let from = [place(first.from), place(last.from)];
            // Before registers become free: a result does not overwrite an operand.
            let to = free.pop().unwrap_or_else(|| {
                registers += 1;
                registers - 1
            });
            free.extend(
                operands
                    .iter()
                    .filter(|operand| operand.last)
                    .filter_map(|operand| match operand.from {
                        Source::Step(at) => Some(codes[at].to),
                        Source::Outside(_) => None,
                    }),
            );
            codes.push(steps::Code { step, from, to });
        }
        // Unread values have a register until the end.
        Some(Chain { flow, codes, registers })
    }

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    /// Runs the operations; false if that is not possible, and nothing has been changed.
    pub(super) fn run(&self, env: &mut [Value], flush: bool) -> Result<bool, ExecError> {
        let first = self.flow.outside.first().map(|src| &env[src.slot as usize]);
        match first {
            Some(Value::Tensor(tensor)) => match tensor.dtype() {
                DType::F32 => self.run_as::<f32>(env, if flush { f32::ON } else { f32::OFF }),
                DType::F64 => self.run_as::<f64>(env, if flush { f64::ON } else { f64::OFF }),
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    fn tensor<'e>(&self, env: &'e [Value], number: usize) -> Option<&'e Tensor> {
        match &env[self.flow.outside[number].slot as usize] {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The shape of the results, how each operand is read, and the length of a row, if all results have that shape.
    fn shape<T: Number>(&self, env: &[Value]) -> Option<(Shape, SmallVec<[Kind; 8]>, usize)> {
        let numbers = 0..self.flow.outside.len();
        let mut result: &[usize] = &[];
        let mut most = 0;
        for number in numbers.clone() {
            let tensor = self.tensor(env, number)?;
            let count = tensor.view::<T>()?.len();
            if count > most || count == most && tensor.rank() > result.len() {
                (result, most) = (tensor.shape(), count);
            }
        }
        let mut kinds = SmallVec::new();
        let mut row = 0;
        for number in numbers {
            let tensor = self.tensor(env, number)?;
            let kind = kind(tensor.shape(), result, 1)?;
            if matches!(kind, Kind::Row) {
                if row != 0 && row != tensor.len() {
                    return None;
                }
                row = tensor.len();
            }
            kinds.push(kind);
        }
        // Each operation has an operand of that shape.
        let full = |from| match from {
            Source::Outside(number) => matches!(kinds[number], Kind::Each),
            Source::Step(_) => true,
        };
        let all = (self.flow.steps.iter()).all(|operands| operands.iter().any(|operand| full(operand.from)));
        (all && most > 0).then(|| (result.into(), kinds, row))
    }

    fn run_as<T: Number>(&self, env: &mut [Value], flush: T::Least) -> Result<bool, ExecError> {
        let Some((shape, kinds, row)) = self.shape::<T>(env) else {
            return Ok(false);
        };
        let count: usize = shape.iter().product();
        if self.codes.len() == 1 && count < WORTH {
            return Ok(false);
        }
        let tile = match row {
            1..=TILE => TILE / row * row,
            _ => TILE.min(count),
        };
        let row = if row > TILE { row } else { usize::MAX };
        let work = count * self.codes.len() / 4;
        let spread = parallel::pays(work) && count > PART;
        // Where the results go: in place of operands that are not needed any more.
        let mut results: SmallVec<[(Value, Option<usize>); 2]> = SmallVec::new();
        let mut new: SmallVec<[Storage<T>; 2]> = SmallVec::new();
        for _ in &self.flow.wanted {
            let taken = |number: usize| results.iter().any(|&(_, of)| of == Some(number));
            let dead = (0..kinds.len()).find(|&number| {
                let src = self.flow.outside[number];
                let unique = match &mut env[src.slot as usize] {
                    Value::Tensor(tensor) => tensor.unique::<T>().is_some(),
                    _ => false,
                };
                src.last && matches!(kinds[number], Kind::Each) && !taken(number) && unique
            });
            match dead {
                Some(number) => {
                    let slot = self.flow.outside[number].slot as usize;
                    results.push((std::mem::take(&mut env[slot]), dead));
                }
                None => {
                    let storage = if spread { stale(count) } else { room(count) };
                    new.push(storage.map_err(ExecError::new)?);
                    results.push((Value::None, None));
                }
            }
        }
        self.compute(
            env,
            &shape,
            &kinds,
            [count, tile, row],
            spread,
            &mut results,
            &mut new,
            flush,
        )
        .map_err(ExecError::new)?;
        for src in self.flow.outside.iter().filter(|src| src.last) {
            env[src.slot as usize] = Value::None;
        }
        // In place: what moves a list that was written a moment ago waits for the processor to store it.
        let mut new = new.iter_mut();
        for ((old, dead), &(_, slot)) in results.iter_mut().zip(&self.flow.wanted) {
            env[slot as usize] = match dead {
                Some(_) => std::mem::take(old),
                None => {
                    let storage = new.next().map(std::mem::take);
                    Value::Tensor(Tensor::from_parts(shape.clone(), T::wrap(storage.unwrap_or_default())))
                }
            };
        }
        Ok(true)
    }

    #[allow(clippy::too_many_arguments, reason = "they are the state of one run")]
    fn compute<T: Number>(
        &self,
        env: &[Value],
        shape: &[usize],
        kinds: &[Kind],
        [count, tile, row]: [usize; 3],
        spread: bool,
        results: &mut [(Value, Option<usize>)],
        new: &mut [Storage<T>],
        flush: T::Least,
    ) -> Result<(), String> {
        let mut registers = self.registers;
        let mut given: SmallVec<[Given<'_, T>; 8]> = SmallVec::new();
        for (number, kind) in kinds.iter().enumerate() {
            if let Some(target) = results.iter().position(|&(_, of)| of == Some(number)) {
                given.push(Given::Target(target, registers));
                registers += 1;
                continue;
            }
            let values = self.tensor(env, number).and_then(Tensor::view::<T>);
            let values = values.ok_or("an operand is missing")?;
            given.push(match *kind {
                Kind::Each => Given::Each(values),
                Kind::Stretched(last) => {
                    registers += 1;
                    let stretch = shape[shape.len() - last..].iter().product();
                    Given::Stretched(values, stretch, registers - 1)
                }
                Kind::Row if values.len() > TILE => Given::Row(values),
                Kind::Row | Kind::One => {
                    let mut fixed = room(tile)?;
                    fixed.extend(values.iter().copied().cycle().take(tile));
                    Given::Fixed(fixed)
                }
            });
        }
        let unit = if row == usize::MAX { tile } else { row };
        let size = if spread { PART.next_multiple_of(unit) } else { count };
        let mut parts: SmallVec<[Part<'_, T>; 1]> = SmallVec::new();
        for start in (0..count).step_by(size) {
            let end = (start + size).min(count);
            parts.push(Part {
                start,
                end,
                targets: SmallVec::new(),
            });
        }
        let mut new = new.iter_mut();
        for ((old, dead), &(at, _)) in results.iter_mut().zip(&self.flow.wanted) {
            let register = self.codes[at].to;
            let place = match (old, dead) {
                (Value::Tensor(tensor), Some(_)) => tensor.unique::<T>().ok_or("an operand is shared")?,
                _ => {
                    let storage = new.next().ok_or("a result is missing")?;
                    if !spread {
                        parts[0].targets.push((Target::New(storage), register));
                        continue;
                    }
                    storage
                }
            };
            for (part, values) in parts.iter_mut().zip(place.chunks_mut(size)) {
                part.targets.push((Target::Place(values), register));
            }
        }
        let run = |part: &mut Part<'_, T>| -> Result<(), String> {
            let mut own = stale(registers * tile)?;
            let chain = steps::Chain {
                codes: &self.codes,
                given: &given,
                registers: &mut own,
                part,
                tile,
                row,
                flush,
            };
            chain.compute();
            done(own);
            Ok(())
        };
        match &mut parts[..] {
            [part] => run(part)?,
            parts => parallel::try_chunks(parts, 1, count * self.codes.len() / 4, |_, parts| {
                parts.iter_mut().try_for_each(&run)
            })?,
        }
        for given in &mut given {
            if let Given::Fixed(values) = given {
                done(std::mem::take(values));
            }
        }
        Ok(())
    }
}
