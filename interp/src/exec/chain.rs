//! Chains of elementwise operations on floats, of any size.
//!
//! Consecutive operations compute tile by tile, in registers of a tile each, so that only results with other uses are
//! written. Unlike a [group](super::fuse), a chain calls no kernels: its steps are compiled together. A chain of one
//! operation pays off too unless the tensors are tiny: its loops are compiled for the instruction set, and subnormal
//! results become zeros while they are in the nearest cache.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use smallvec::SmallVec;

use super::ExecError;
use super::flow::{Flow, Source};
use super::value::Value;
use crate::kernels::steps::{self, Flushing, Given, Number, Part, Step, TILE, Target};
use crate::parallel;
use crate::tensor::buffer::{LARGEST, done, room, stale};
use crate::tensor::{Buffer, DType, Element, Shape, Storage, Tensor};

/// From this number of elements on, a single operation is a chain.
pub(super) const WORTH: usize = 128;
/// The elements that a thread computes at once.
const PART: usize = 1 << 14;

/// After a run without subnormal products, so many runs are not careful of them: to compute one takes a hundred times as long as another,
/// but care takes some instructions for each product.
const CARELESS: u32 = 31;

/// Elementwise operations that are computed together.
pub(crate) struct Chain {
    flow: Flow,
    codes: Vec<steps::Code>,
    /// The number of registers of the steps.
    registers: usize,
    /// The result that the last step writes to its target, if it is one. The others are written to registers.
    direct: Option<usize>,
    /// How the operands are read if they have the shapes of their types, and these shapes.
    known: Option<(Ways, Vec<Shape>)>,
    /// If there are products, how many runs need not be careful of subnormal ones.
    subnormal: Option<AtomicU32>,
}

/// How the operands are read.
struct Ways {
    /// The shape of the results, and the number of their elements.
    shape: Shape,
    count: usize,
    kinds: SmallVec<[Kind; 8]>,
    /// The length of a row.
    row: usize,
}

/// The registers of chains that run one after the other: as many as the largest chain needs.
#[derive(Default)]
pub(super) struct Registers {
    singles: Vec<f32>,
    doubles: Vec<f64>,
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

impl Ways {
    /// For values from outside with these shapes, if all results have one shape.
    fn of(flow: &Flow, shapes: &[Shape]) -> Option<Ways> {
        let mut result: &[usize] = &[];
        let mut most = 0;
        for shape in shapes {
            let count = shape.iter().product();
            if count > most || count == most && shape.len() > result.len() {
                (result, most) = (shape, count);
            }
        }
        let mut kinds = SmallVec::new();
        let mut row = 0;
        for shape in shapes {
            let kind = kind(shape, result, 1)?;
            if matches!(kind, Kind::Row) {
                let length = shape.iter().product();
                if row != 0 && row != length {
                    return None;
                }
                row = length;
            }
            kinds.push(kind);
        }
        // Each operation has an operand of that shape.
        let full = |from| match from {
            Source::Outside(number) => matches!(kinds[number], Kind::Each),
            Source::Step(_) => true,
        };
        let all = (flow.steps.iter()).all(|operands| operands.iter().any(|operand| full(operand.from)));
        let shape = result.into();
        (all && most > 0).then_some(Ways {
            shape,
            count: most,
            kinds,
            row,
        })
    }
}

/// Where a result is written.
enum Place<T: Element> {
    /// Over the elements of an operand that is not needed any more, which were moved out of it.
    Old(Buffer<T>, usize),
    /// Over unspecified elements.
    Set(Buffer<T>),
    /// Behind the elements of an empty list. In a box, since there are few of them, and places are moved.
    New(Box<Storage<T>>),
}

impl<T: Element> Place<T> {
    /// The operand that the elements are from.
    fn of(&self) -> Option<usize> {
        match self {
            Place::Old(_, number) => Some(*number),
            _ => None,
        }
    }
}

/// Whether shapes are equal. They are short, so that a call would take longer.
fn same(a: &[usize], b: &[usize]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// Gives a tensor the elements that were moved out of it.
fn put_back<T: Element>(value: &mut Value, values: Buffer<T>) {
    if let Value::Tensor(tensor) = value {
        tensor.moved_in(values);
    }
}

impl Chain {
    /// A chain of steps; `None` if one has no operands. The shapes are those of the values from outside, if they are known.
    pub(super) fn of(flow: Flow, steps: Vec<Step>, shapes: Option<Vec<Shape>>) -> Option<Chain> {
        let (mut free, mut registers) = (Vec::new(), 0);
        let mut codes: Vec<steps::Code> = Vec::with_capacity(steps.len());
        for (step, operands) in steps.into_iter().zip(&flow.steps) {
            let place = |from| match from {
                Source::Outside(number) => steps::Place::Outside(number),
                Source::Step(at) => steps::Place::Register(codes[at].to),
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
        let last = codes.last();
        let direct = (flow.wanted.iter()).position(|&(at, _)| last.is_some_and(|last| last.to == codes[at].to));
        let known = shapes.and_then(|shapes| Some((Ways::of(&flow, &shapes)?, shapes)));
        let multiplies = codes.iter().any(|code| code.step.multiplies());
        Some(Chain {
            flow,
            codes,
            registers,
            direct,
            known,
            subnormal: multiplies.then(AtomicU32::default),
        })
    }

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    /// Runs the operations; false if that is not possible, and nothing has been changed.
    ///
    /// Results of at most `kept` elements are written over those of the last run, and such operands stay for theirs.
    pub(super) fn run(
        &self,
        env: &mut [Value],
        kept: usize,
        flush: bool,
        registers: &mut Registers,
    ) -> Result<bool, ExecError> {
        let first = self.flow.outside.first().map(|src| &env[src.slot as usize]);
        let Some(Value::Tensor(first)) = first else {
            return Ok(false);
        };
        match first.dtype() {
            DType::F32 => self.run_as(env, kept, self.flushing(flush), &mut registers.singles),
            DType::F64 => self.run_as(env, kept, self.flushing(flush), &mut registers.doubles),
            _ => Ok(false),
        }
    }

    /// What becomes of subnormal results in the next run.
    fn flushing<T: Number>(&self, flush: bool) -> Flushing<T> {
        let careful = match &self.subnormal {
            Some(runs) if flush => {
                let left = runs.load(Ordering::Relaxed);
                runs.store(left.saturating_sub(1), Ordering::Relaxed);
                left == 0
            }
            _ => false,
        };
        let mask = if flush { T::ON } else { T::OFF };
        Flushing { mask, careful }
    }

    /// Notes whether a run that was careful of subnormal products found some.
    fn note<T: Number>(&self, flush: Flushing<T>, found: bool) {
        if let (true, Some(runs)) = (flush.careful, &self.subnormal) {
            runs.store(if found { 0 } else { CARELESS }, Ordering::Relaxed);
        }
    }

    fn tensor<'e>(&self, env: &'e [Value], number: usize) -> Option<&'e Tensor> {
        match &env[self.flow.outside[number].slot as usize] {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Whether the operands have these shapes and this type.
    fn have<T: Number>(&self, env: &[Value], shapes: &[Shape]) -> bool {
        let numbers = 0..self.flow.outside.len();
        numbers.zip(shapes).all(|(number, shape)| {
            let tensor = self.tensor(env, number);
            tensor.is_some_and(|tensor| same(tensor.shape(), shape) && tensor.view::<T>().is_some())
        })
    }

    /// How the operands are read, if all have this type.
    fn ways<T: Number>(&self, env: &[Value]) -> Option<Ways> {
        let shape = |number| {
            let tensor = self.tensor(env, number)?;
            tensor.view::<T>().map(|_| Shape::from_slice(tensor.shape()))
        };
        let shapes: Option<SmallVec<[Shape; 8]>> = (0..self.flow.outside.len()).map(shape).collect();
        Ways::of(&self.flow, &shapes?)
    }

    fn run_as<T: Number>(
        &self,
        env: &mut [Value],
        kept: usize,
        flush: Flushing<T>,
        own: &mut Vec<T>,
    ) -> Result<bool, ExecError> {
        let found;
        let ways = match &self.known {
            Some((ways, shapes)) if self.is_few(ways, kept) => {
                return self.few(env, ways, shapes, flush, own).map_err(ExecError::new);
            }
            Some((ways, shapes)) if self.have::<T>(env, shapes) => ways,
            _ => match self.ways::<T>(env) {
                Some(ways) => {
                    found = ways;
                    &found
                }
                None => return Ok(false),
            },
        };
        let &Ways {
            ref shape,
            count,
            ref kinds,
            row,
        } = ways;
        if self.codes.len() == 1 && count < WORTH {
            return Ok(false);
        }
        if self.is_few(ways, kept) {
            return self.few(env, ways, &[], flush, own).map_err(ExecError::new);
        }
        let tile = match row {
            1..=TILE => TILE / row * row,
            _ => TILE.min(count),
        };
        let row = if row > TILE { row } else { usize::MAX };
        let work = count * self.codes.len() / 4;
        let spread = parallel::pays(work) && count > PART;
        // Where the results go: in place of operands that are not needed any more.
        let mut results: SmallVec<[Place<T>; 2]> = SmallVec::new();
        for _ in &self.flow.wanted {
            let taken = |number: usize| results.iter().any(|place| place.of() == Some(number));
            let dead = (0..kinds.len()).find_map(|number| {
                let src = self.flow.outside[number];
                if !src.last || !matches!(kinds[number], Kind::Each) || taken(number) {
                    return None;
                }
                match &mut env[src.slot as usize] {
                    Value::Tensor(tensor) => Some(Place::Old(tensor.moved_out::<T>()?, number)),
                    _ => None,
                }
            });
            results.push(match dead {
                Some(place) => place,
                // The elements of a small list are kept with it, those of a large one would be set first.
                None if spread || count <= LARGEST => Place::Set(stale(count).map_err(ExecError::new)?.into()),
                None => Place::New(Box::new(room(count).map_err(ExecError::new)?)),
            });
        }
        self.compute(env, shape, kinds, [count, tile, row], spread, &mut results, flush, own)
            .map_err(ExecError::new)?;
        for (place, &(_, slot)) in results.into_iter().zip(&self.flow.wanted) {
            let slot = slot as usize;
            let values = match place {
                Place::Old(values, number) => {
                    // It has the shape of the result.
                    let from = self.flow.outside[number].slot as usize;
                    put_back(&mut env[from], values);
                    env.swap(from, slot);
                    continue;
                }
                Place::Set(values) => values,
                Place::New(values) => (*values).into(),
            };
            env[slot] = Value::Tensor(Tensor::from_parts(Shape::from_slice(shape), T::wrap_shared(values)));
        }
        for src in self.flow.outside.iter().filter(|src| src.last) {
            env[src.slot as usize] = Value::None;
        }
        Ok(true)
    }

    /// Whether there are so few elements that their results stay.
    fn is_few(&self, ways: &Ways, kept: usize) -> bool {
        ways.count <= kept && (self.codes.len() > 1 || ways.count >= WORTH)
    }

    /// Computes so few elements that their results have places of their own, in which those of the last run are; the operands stay too, for
    /// the next operations in their slots. False if the operands do not have these shapes, as far as any are given, or not the type.
    fn few<T: Number>(
        &self,
        env: &mut [Value],
        ways: &Ways,
        shapes: &[Shape],
        flush: Flushing<T>,
        own: &mut Vec<T>,
    ) -> Result<bool, String> {
        let &Ways {
            ref shape,
            count,
            ref kinds,
            ..
        } = ways;
        let tile = TILE.min(count);
        let mut results: SmallVec<[(Buffer<T>, bool); 2]> = SmallVec::new();
        for &(_, slot) in &self.flow.wanted {
            let last = match &mut env[slot as usize] {
                Value::Tensor(last) if same(last.shape(), shape) => last.moved_out::<T>(),
                _ => None,
            };
            results.push(match last {
                Some(values) => (values, true),
                None => (stale(count)?.into(), false),
            });
        }
        let mut registers = self.registers;
        let mut given: SmallVec<[Given<'_, T>; 8]> = SmallVec::new();
        for (number, kind) in kinds.iter().enumerate() {
            let is_right = |of: &&Tensor| shapes.get(number).is_none_or(|shape| same(of.shape(), shape));
            let Some(values) = self.tensor(env, number).filter(is_right).and_then(Tensor::view::<T>) else {
                break;
            };
            let copied = registers;
            registers += usize::from(!matches!(kind, Kind::Each));
            given.push(match *kind {
                Kind::Each => Given::Each(values),
                Kind::Row => Given::Repeated(values, copied),
                Kind::One => Given::Stretched(values, count, copied),
                Kind::Stretched(last) => {
                    let stretch = shape[shape.len() - last..].iter().product();
                    Given::Stretched(values, stretch, copied)
                }
            });
        }
        let fits = given.len() == kinds.len();
        if own.len() < registers * tile {
            own.resize(registers * tile, T::default());
        }
        let mut part = Part {
            start: 0,
            end: count,
            targets: SmallVec::new(),
        };
        for ((values, _), &(at, _)) in results.iter_mut().zip(&self.flow.wanted) {
            let values = values.get_mut().ok_or("a result is shared")?;
            part.targets.push((Target::Place(values), self.codes[at].to));
        }
        let chain = steps::Chain {
            codes: &self.codes,
            given: &given,
            direct: self.direct,
            registers: own,
            part: &mut part,
            tile,
            row: usize::MAX,
            flush,
        };
        if fits {
            self.note(flush, chain.compute());
        }
        drop((given, part));
        for ((values, is_own), &(_, slot)) in results.into_iter().zip(&self.flow.wanted) {
            let place = &mut env[slot as usize];
            match is_own {
                true => put_back(place, values),
                false if !fits => {}
                false => *place = Value::Tensor(Tensor::from_parts(Shape::from_slice(shape), T::wrap_shared(values))),
            }
        }
        Ok(fits)
    }

    #[allow(clippy::too_many_arguments, reason = "they are the state of one run")]
    fn compute<T: Number>(
        &self,
        env: &[Value],
        shape: &[usize],
        kinds: &[Kind],
        [count, tile, row]: [usize; 3],
        spread: bool,
        results: &mut [Place<T>],
        flush: Flushing<T>,
        own: &mut Vec<T>,
    ) -> Result<(), String> {
        let mut registers = self.registers;
        let view = |number| self.tensor(env, number).and_then(Tensor::view::<T>);
        let is_long = |kind: &Kind, values: &[T]| matches!(kind, Kind::Row) && values.len() > TILE;
        let mut fixed: SmallVec<[Storage<T>; 2]> = SmallVec::new();
        for (number, kind) in kinds.iter().enumerate() {
            if matches!(kind, Kind::Row | Kind::One)
                && let Some(values) = view(number)
                && !is_long(kind, values)
            {
                let mut all = room(tile)?;
                match *values {
                    [one] => all.resize(tile, one),
                    _ => {
                        while all.len() < tile {
                            let next = &values[..values.len().min(tile - all.len())];
                            all.extend_from_slice(next);
                        }
                    }
                }
                fixed.push(all);
            }
        }
        let mut next_fixed = fixed.iter();
        let (last, direct) = (self.codes.last(), self.direct);
        let mut given: SmallVec<[Given<'_, T>; 8]> = SmallVec::new();
        for (number, kind) in kinds.iter().enumerate() {
            if let Some(target) = results.iter().position(|place| place.of() == Some(number)) {
                let is_read = |last: &steps::Code| last.from.contains(&steps::Place::Outside(number));
                given.push(match direct == Some(target) && last.is_some_and(is_read) {
                    true => {
                        registers += 1;
                        Given::Copied(target, registers - 1)
                    }
                    false => Given::Target(target),
                });
                continue;
            }
            let values = view(number).ok_or("an operand is missing")?;
            given.push(match *kind {
                Kind::Each => Given::Each(values),
                Kind::Stretched(last) => {
                    registers += 1;
                    let stretch = shape[shape.len() - last..].iter().product();
                    Given::Stretched(values, stretch, registers - 1)
                }
                Kind::Row if is_long(kind, values) => Given::Row(values),
                Kind::Row | Kind::One => Given::Fixed(next_fixed.next().ok_or("a tile is missing")?),
            });
        }
        let places = results.iter_mut().zip(&self.flow.wanted);
        let targets = places.map(|(place, &(at, _))| {
            let target = match place {
                Place::New(values) => Target::New(values),
                Place::Old(values, _) | Place::Set(values) => {
                    Target::Place(values.get_mut().ok_or("an operand is shared")?)
                }
            };
            Ok::<_, String>((target, self.codes[at].to))
        });
        let part = |start, end| Part {
            start,
            end,
            targets: SmallVec::new(),
        };
        let found = AtomicBool::default();
        let run = |part: &mut Part<'_, T>, own: &mut [T]| {
            let chain = steps::Chain {
                codes: &self.codes,
                given: &given,
                direct,
                registers: own,
                part,
                tile,
                row,
                flush,
            };
            if chain.compute() {
                found.store(true, Ordering::Relaxed);
            }
        };
        let size = registers * tile;
        if spread {
            let unit = if row == usize::MAX { tile } else { row };
            let length = PART.next_multiple_of(unit);
            let starts = (0..count).step_by(length);
            let mut parts: Vec<Part<'_, T>> = starts.map(|start| part(start, (start + length).min(count))).collect();
            for target in targets {
                // Nothing is appended by several threads.
                if let (Target::Place(values), register) = target? {
                    for (part, values) in parts.iter_mut().zip(values.chunks_mut(length)) {
                        part.targets.push((Target::Place(values), register));
                    }
                }
            }
            parallel::try_chunks(&mut parts, 1, count * self.codes.len() / 4, |_, parts| {
                let mut own = stale(size)?;
                parts.iter_mut().for_each(|part| run(part, &mut own));
                done(own);
                Ok(())
            })?;
        } else {
            let mut all = part(0, count);
            for target in targets {
                all.targets.push(target?);
            }
            if own.len() < size {
                own.resize(size, T::default());
            }
            run(&mut all, own);
        }
        drop(given);
        self.note(flush, found.into_inner());
        fixed.into_iter().for_each(done);
        Ok(())
    }
}
