//! Random numbers, as TensorFlow's CPU kernels compute them from a key and a counter by Philox.
//!
//! A stateful generator gives the numbers of its first execution, since the graph is executed once.

use std::rc::Rc;

use pir_dialects::pd::{self, Expr};
use pir_dialects::stablehlo::from_pd::dialect;
use pir_dialects::stablehlo::ops as hlo;
use pir_ir::{FloatKind, Signedness, Type, TypeData, ValueId};

use super::super::types::{INT32, Number};
use super::reader::{Reader, Result};
use super::row::Row;

/// The generators that an operation may choose: this one, and whichever the device has.
const PHILOX: [i64; 2] = [1, 3];
/// The key by which seeds are mixed.
const MIXING_KEY: i64 = 0x0246_1e29_3ec8_f720;
/// Larger tensors are not supported.
const MOST: i64 = 1 << 32;

pub(super) const TABLE: &[Row] = &[
    ("RandomStandardNormal", "T", "dtype seed=0 seed2=0", |r, at| {
        numbers(r, at, Source::Own, Spread::Normal)
    }),
    ("RandomUniform", "T", "dtype seed=0 seed2=0", |r, at| {
        numbers(r, at, Source::Own, Spread::Even)
    }),
    ("RandomUniformInt", "T Tout Tout", "seed=0 seed2=0", |r, at| {
        numbers(r, at, Source::Own, Spread::Between(1))
    }),
    ("StatelessRandomGetAlg", "", "", |r, at| {
        let attrs = super::constants::full(r, &[], Number::Int(PHILOX[0].into()), Type::I32);
        r.op(at, pd::Full::NAME, &[], &attrs)?;
        r.computed[at] = vec![Some(Rc::new((Vec::new(), vec![Number::Int(PHILOX[0].into())], INT32)))];
        Ok(())
    }),
    ("StatelessRandomGetKeyCounter", "Tseed -> key counter", "", |r, at| {
        let (key, counter) = mixed(r, at, 0)?;
        r.values[at] = vec![key, counter];
        Ok(())
    }),
    ("StatelessRandomNormal", "T Tseed", "dtype=DT_FLOAT", |r, at| {
        numbers(r, at, Source::Seed, Spread::Normal)
    }),
    (
        "StatelessRandomNormalV2",
        "Tshape u64 u64 i32",
        "dtype=DT_FLOAT",
        |r, at| numbers(r, at, Source::Key, Spread::Normal),
    ),
    ("StatelessTruncatedNormal", "T Tseed", "dtype=DT_FLOAT", |r, at| {
        numbers(r, at, Source::Seed, Spread::Truncated)
    }),
    (
        "StatelessTruncatedNormalV2",
        "Tshape u64 u64 i32",
        "dtype=DT_FLOAT",
        |r, at| numbers(r, at, Source::Key, Spread::Truncated),
    ),
    ("TruncatedNormal", "T", "dtype seed=0 seed2=0", |r, at| {
        numbers(r, at, Source::Own, Spread::Truncated)
    }),
    ("StatelessRandomUniform", "T Tseed", "dtype=DT_FLOAT", |r, at| {
        numbers(r, at, Source::Seed, Spread::Even)
    }),
    (
        "StatelessRandomUniformFullInt",
        "T Tseed",
        "dtype=DT_UINT64",
        |r, at| numbers(r, at, Source::Seed, Spread::All),
    ),
    (
        "StatelessRandomUniformFullIntV2",
        "Tshape u64 u64 i32",
        "dtype=DT_UINT64",
        |r, at| numbers(r, at, Source::Key, Spread::All),
    ),
    ("StatelessRandomUniformInt", "T Tseed dtype dtype", "", |r, at| {
        numbers(r, at, Source::Seed, Spread::Between(2))
    }),
    (
        "StatelessRandomUniformIntV2",
        "Tshape u64 u64 i32 dtype dtype",
        "",
        |r, at| numbers(r, at, Source::Key, Spread::Between(4)),
    ),
    (
        "StatelessRandomUniformV2",
        "Tshape u64 u64 i32",
        "dtype=DT_FLOAT",
        |r, at| numbers(r, at, Source::Key, Spread::Even),
    ),
];

/// From what a node makes its numbers.
#[derive(Clone, Copy)]
enum Source {
    /// Has attributes of its own.
    Own,
    /// A seed, which is its second input.
    Seed,
    /// A key, a counter and the generator.
    Key,
}

/// How the numbers are spread.
#[derive(Clone, Copy)]
enum Spread {
    /// From 0 to 1.
    Even,
    Normal,
    /// Normal numbers between -2 and 2.
    Truncated,
    /// All integers of the type.
    All,
    /// Integers between the input of this number and the next one.
    Between(usize),
}

pub(super) fn word(r: &Reader<'_>, width: u16) -> Type {
    r.ctx.intern_type(TypeData::Integer {
        width: width.into(),
        sign: Signedness::Unsigned,
    })
}

/// Random bits as a list of a type, from a state of three numbers of 64 bits.
fn bits(r: &mut Reader<'_>, at: usize, state: ValueId, count: i64, elem: Type) -> Result<ValueId> {
    let types = [r.body.value_type(state), r.ctx.tensor(&[count], elem)];
    let algorithm = dialect(r.ctx, "<rng_algorithm PHILOX>");
    let op = r.append(
        at,
        hlo::RngBitGenerator::NAME,
        &[state],
        &types,
        &[("rng_algorithm", algorithm)],
    )?;
    let value = r.body.result(op, 1);
    if !r.plain {
        r.pieces.push((value, at));
    }
    Ok(value)
}

/// A list of numbers of 64 bits.
fn words(r: &mut Reader<'_>, at: usize, values: &[i64]) -> Result<ValueId> {
    let elem = word(r, 64);
    r.vector(at, values, elem)
}

fn joined(r: &mut Reader<'_>, at: usize, parts: &[ValueId]) -> Result<ValueId> {
    r.helper(at, pd::Concat::NAME, parts, &[("axis", r.ctx.int_attr(0))])
}

/// The key and the counter of a seed.
fn mixed(r: &mut Reader<'_>, at: usize, index: usize) -> Result<(ValueId, ValueId)> {
    let seed = r.operand(at, index)?;
    if r.dims(seed)?.0 != [2] {
        return Err("its seed must be two numbers".to_owned());
    }
    let unsigned = word(r, 64);
    let wide = r.express(at, &[seed], |_, x| {
        Ok(vec![x[0].to(Some(Type::I64)).to(Some(unsigned))])
    })?[0];
    let key = words(r, at, &[MIXING_KEY])?;
    let state = joined(r, at, &[key, wide])?;
    let out = bits(r, at, state, 2, unsigned)?;
    let both = r.express(at, &[out], |_, x| Ok(vec![x[0].cut(0, 0, 1), x[0].cut(0, 1, 2)]))?;
    let zero = words(r, at, &[0])?;
    let counter = joined(r, at, &[zero, both[1]])?;
    Ok((both[0], counter))
}

/// Whether a node may run several times, or not at all.
fn is_repeated(r: &Reader<'_>, at: usize) -> bool {
    let waits = |at: usize| !r.controls[at].is_empty();
    match r.plain {
        true => r.block != r.front,
        false => waits(at) || r.inputs[at].iter().any(|input| waits(input.node)),
    }
}

/// The state from which a node makes its numbers.
fn state(r: &mut Reader<'_>, at: usize, source: Source) -> Result<ValueId> {
    match source {
        Source::Own => {
            let (seed, second) = (r.int(at, "seed").unwrap_or(0), r.int(at, "seed2").unwrap_or(0));
            if seed == 0 && second == 0 {
                return Err("without a seed, its numbers differ between runs: call `tf.random.set_seed`".to_owned());
            }
            if is_repeated(r, at) {
                return Err(
                    "in a loop or a function, it draws new numbers in each run: use `tf.random.stateless_…`".to_owned(),
                );
            }
            words(r, at, &[seed, 0, second])
        }
        Source::Seed => {
            let (key, counter) = mixed(r, at, 1)?;
            joined(r, at, &[key, counter])
        }
        Source::Key => {
            if !PHILOX.contains(&r.scalar(at, 3, "generator")?) {
                return Err("only the algorithm Philox is supported".to_owned());
            }
            let (key, counter) = (r.operand(at, 1)?, r.operand(at, 2)?);
            joined(r, at, &[key, counter])
        }
    }
}

fn numbers(r: &mut Reader<'_>, at: usize, source: Source, spread: Spread) -> Result<()> {
    let shape = r.list(at, 0, "shape")?;
    let count = shape.iter().try_fold(1i64, |n, &d| n.checked_mul(d));
    let count = count.filter(|n| (0..=MOST).contains(n) && shape.iter().all(|&d| d >= 0));
    let count = count.ok_or("its shape is invalid or too large")?;
    let elem = match spread {
        Spread::Between(index) => {
            let low = r.operand(at, index)?;
            r.dims(low)?.1
        }
        Spread::All => r.elem(at, "dtype").unwrap_or(word(r, 64)),
        _ => r.elem(at, "dtype").unwrap_or(Type::F32),
    };
    let state = state(r, at, source)?;
    let values = match spread {
        Spread::All => {
            whole_bits(r, elem)?;
            let all = bits(r, at, state, count, elem)?;
            r.express(at, &[all], |_, x| Ok(vec![x[0].reshape(&*shape)]))?
        }
        Spread::Between(index) => {
            let width = whole_bits(r, elem)?;
            let all = bits(r, at, state, count, word(r, width))?;
            let (low, high) = (r.operand(at, index)?, r.operand(at, index + 1)?);
            let unsigned = word(r, 64);
            r.express(at, &[all, low, high], |_, x| {
                let (low, high) = (
                    x[1].reshape([]).to(Some(Type::I64)),
                    x[2].reshape([]).to(Some(Type::I64)),
                );
                let range = (high - low).to(Some(unsigned));
                let rest = x[0].to(Some(unsigned)).remainder(range).to(Some(Type::I64));
                Ok(vec![(rest + low).to(Some(elem)).reshape(&*shape)])
            })?
        }
        Spread::Even => {
            let even = even(r, at, state, count, elem)?;
            r.express(at, &[even], |_, x| Ok(vec![x[0].reshape(&*shape)]))?
        }
        Spread::Truncated => truncated(r, at, state, &shape, count, elem)?,
        Spread::Normal => {
            let pairs = (count + 1) / 2;
            let even = even(r, at, state, 2 * pairs, elem)?;
            // Box and Muller: the logarithm of the first number of a pair, the angle of the second.
            r.express(at, &[even], |scope, x| {
                let of = |k| x[0].reshape([pairs, 2]).cut(1, k, k + 1);
                let size = of(0).maximum(of(0).filled(1e-7)).log().affine(-2.0, 0.0).sqrt();
                let angle = of(1).affine(2.0 * std::f64::consts::PI, 0.0);
                let both = scope.concat_with(&[angle.sin() * size, angle.cos() * size], |o| o.axis(1));
                let flat = both.reshape([2 * pairs]);
                Ok(vec![
                    if count % 2 == 1 { flat.cut(0, 0, count) } else { flat }.reshape(&*shape),
                ])
            })?
        }
    };
    r.is_expressed(at, values, &[]);
    Ok(())
}

/// Normal numbers between -2 and 2: each group of four, or of two in double precision, takes the first candidates in the
/// range from a separate sequence.
fn truncated(
    r: &mut Reader<'_>,
    at: usize,
    state: ValueId,
    shape: &[i64],
    count: i64,
    elem: Type,
) -> Result<Vec<ValueId>> {
    /// With this many candidates, fewer than four are in the range once in 10^26 groups.
    const CANDIDATES: i64 = 32;
    /// More groups would need too much memory.
    const GROUPS: i64 = 1 << 16;
    // How many numbers a group has, and how many lie between the start of one group and that of the next one.
    let (each, apart) = match elem {
        Type::F32 => (4, 4 * 256),
        Type::F64 => (2, 256),
        _ => return Err("truncated normal numbers that are neither f32 nor f64 are not supported".to_owned()),
    };
    let groups = (count + each - 1) / each;
    if groups > GROUPS {
        return Err("it has too many elements".to_owned());
    }
    let even = even(r, at, state, groups * apart, elem)?;
    r.express(at, &[even], |scope, x| {
        let pairs = x[0]
            .reshape([groups, apart])
            .cut(1, 0, CANDIDATES)
            .reshape([groups, CANDIDATES / 2, 2]);
        let of = |k| pairs.cut(2, k, k + 1);
        let size = of(0).maximum(of(0).filled(1e-7)).log().affine(-2.0, 0.0).sqrt();
        let angle = of(1).affine(2.0 * std::f64::consts::PI, 0.0);
        let both = scope.concat_with(&[angle.sin() * size, angle.cos() * size], |o| o.axis(2));
        let all = both.reshape([groups, 1, CANDIDATES]);
        let inside = all.abs().less_than(all.filled(2.0));
        let place = inside.cast(Type::I64).cumsum_with(|o| o.axis(2)).affine(1.0, -1.0);
        let wanted = scope
            .arange_with(|o| o.start(0).end(each).step(1).dtype(Type::I64))
            .reshape([1, each, 1]);
        let is_wanted = place.equal(wanted).logical_and(inside);
        let all = all.expand([groups, each, CANDIDATES]);
        let picked = is_wanted.select(all, all.zeros()).sum_with(|o| o.axis([2]));
        let flat = picked.reshape([each * groups]);
        Ok(vec![
            if count % each == 0 { flat } else { flat.cut(0, 0, count) }.reshape(shape),
        ])
    })
}

/// The width of integers that are drawn from their full range.
fn whole_bits(r: &Reader<'_>, elem: Type) -> Result<u16> {
    match r.ctx.type_data(elem) {
        TypeData::Integer { width: 32, .. } => Ok(32),
        TypeData::Integer { width: 64, .. } => Ok(64),
        _ => Err("integers of this type are not supported".to_owned()),
    }
}

/// Numbers from 0 to 1, of as many random bits as a float holds.
fn even(r: &mut Reader<'_>, at: usize, state: ValueId, count: i64, elem: Type) -> Result<ValueId> {
    let (all, mantissa) = match r.ctx.type_data(elem) {
        TypeData::Float(FloatKind::F64) => (2 * count, 20),
        TypeData::Float(FloatKind::F32) => (count, 23),
        TypeData::Float(FloatKind::F16) => (count, 10),
        TypeData::Float(FloatKind::BF16) => (count, 7),
        _ => return Err("floats of this type are not supported".to_owned()),
    };
    let mask = f64::from((1u32 << mantissa) - 1);
    let out = bits(r, at, state, all, word(r, 32))?;
    let values = r.express(at, &[out], |_, x| {
        Ok(vec![match elem {
            Type::F64 => {
                let of = |k| x[0].reshape([count, 2]).cut(1, k, k + 1).reshape([count]);
                fraction(of(0), Some(mask), mantissa, elem) + fraction(of(1), None, mantissa + 32, elem)
            }
            _ => fraction(x[0], Some(mask), mantissa, elem),
        }])
    })?;
    values.first().copied().ok_or_else(|| "its value is missing".to_owned())
}

/// Bits as a float; the lowest bit has weight 2^-places.
fn fraction(x: Expr<'_>, mask: Option<f64>, places: i32, elem: Type) -> Expr<'_> {
    let x = mask.map_or(x, |mask| x.bitwise_and(x.filled(mask)));
    x.cast(elem).affine((-f64::from(places)).exp2(), 0.0)
}
