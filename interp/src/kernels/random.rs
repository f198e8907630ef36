//! Random bits of a state, as XLA makes them: by Threefry of two words and twenty rounds, or Philox of four words and ten rounds
//! (Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, 2011).
//!
//! The first number of the state is the key, the others count. Numbers of less than 32 bits are the lowest of those of 32 bits.

use pir_dialects::stablehlo::ops;
use pir_ir::{AttrData, DYNAMIC};
use smallvec::smallvec;

use super::{Kernel, Outputs, Prepare, Spec, take};
use crate::tensor::{DType, Shape, Tensor};

pub(super) const KERNELS: &[(&str, Prepare)] = &[(ops::RngBitGenerator::NAME, prepare)];

fn prepare(s: &Spec<'_>) -> Result<Kernel, String> {
    let algorithm = s.view.attr("rng_algorithm").map(|attr| s.view.ctx.attr_data(attr));
    let word = match algorithm {
        Some(AttrData::Opaque(text)) => text.trim_end_matches('>').rsplit(' ').next().unwrap_or_default(),
        _ => "",
    };
    let by_threefry = match word {
        "THREE_FRY" => true,
        // The algorithms that XLA uses on processors.
        "PHILOX" | "DEFAULT" => false,
        _ => return Err("`rng_algorithm` must be DEFAULT, THREE_FRY or PHILOX".to_owned()),
    };
    let dtype = s.result_dtype(1)?;
    let dims = s.view.result_type(1).and_then(|ty| s.view.ctx.as_tensor(ty));
    let dims = dims.map(|tensor| tensor.0).filter(|dims| !dims.contains(&DYNAMIC));
    let shape: Shape = dims
        .ok_or("the shape of the bits must be static")?
        .iter()
        .map(|&dim| dim as usize)
        .collect();
    Ok(Box::new(move |inputs| {
        let [state] = take(inputs)?;
        let numbers = state.view::<u64>().ok_or("the state must have element type `ui64`")?;
        let wide = dtype.size() == 8;
        let ((counts, words), width) = match (by_threefry, numbers) {
            (true, &[key, count]) => (threefry_bits(key, count, &shape, wide), 2),
            // Without more numbers the key counts too.
            (false, &[key, low]) => (philox_bits(key, [low, key], &shape, wide), 4),
            (false, &[key, low, high]) => (philox_bits(key, [low, high], &shape, wide), 4),
            _ => return Err("the state must have two numbers, or three for PHILOX".to_owned()),
        };
        let mut next = numbers.to_vec();
        let steps = counts as u64;
        let (low, carried) = next[1].overflowing_add(steps);
        next[1] = low;
        if let (4, Some(high)) = (width, next.get_mut(2)) {
            *high = high.wrapping_add(carried.into());
        }
        let bits = match wide {
            true => words
                .chunks(2)
                .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
                .collect(),
            false => words.into_iter().map(u64::from).collect(),
        };
        let out: Outputs = smallvec![Tensor::new(state.shape(), next)?, bits_of(&shape, dtype, bits)?];
        Ok(out)
    }))
}

/// The lowest bits of numbers.
fn bits_of(shape: &[usize], dtype: DType, bits: Vec<u64>) -> Result<Tensor, String> {
    match dtype {
        DType::UI8 => Tensor::new(shape, bits.into_iter().map(|v| v as u8).collect()),
        DType::UI16 => Tensor::new(shape, bits.into_iter().map(|v| v as u16).collect()),
        DType::UI32 => Tensor::new(shape, bits.into_iter().map(|v| v as u32).collect()),
        DType::UI64 => Tensor::new(shape, bits),
        DType::I8 => Tensor::new(shape, bits.into_iter().map(|v| v as i8).collect()),
        DType::I16 => Tensor::new(shape, bits.into_iter().map(|v| v as i16).collect()),
        DType::I32 => Tensor::new(shape, bits.into_iter().map(|v| v as i32).collect()),
        DType::I64 => Tensor::new(shape, bits.into_iter().map(|v| v as i64).collect()),
        _ => Err(format!("bits of type {} are not supported", dtype.name())),
    }
}

fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// How often was counted, and the words. Those of 32 bits are pairs along the first dimension of even size, halves of which are beside
/// one another; without such a dimension they come one after the other.
fn threefry_bits(key: u64, start: u64, shape: &[usize], wide: bool) -> (usize, Vec<u32>) {
    let count: usize = shape.iter().product();
    let pair = |at: usize| threefry(halves(key), halves(start.wrapping_add(at as u64)));
    if wide {
        return (count, (0..count).flat_map(pair).collect());
    }
    let steps = count.div_ceil(2);
    let inner = match shape.iter().position(|&dim| dim % 2 == 0) {
        Some(at) => shape[at + 1..].iter().product(),
        None => 1,
    };
    let mut words = vec![0; 2 * steps];
    for at in 0..steps {
        let place = at / inner * 2 * inner + at % inner;
        [words[place], words[place + inner]] = pair(at);
    }
    words.truncate(count);
    (steps, words)
}

fn threefry(key: [u32; 2], count: [u32; 2]) -> [u32; 2] {
    const TURNS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA];
    let (mut x, mut y) = (count[0].wrapping_add(keys[0]), count[1].wrapping_add(keys[1]));
    for round in 0..5 {
        for turn in TURNS[round % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(turn) ^ x;
        }
        x = x.wrapping_add(keys[(round + 1) % 3]);
        y = y.wrapping_add(keys[(round + 2) % 3]).wrapping_add(round as u32 + 1);
    }
    [x, y]
}

/// How often was counted, and the words, at least as many as are needed.
fn philox_bits(key: u64, [low, high]: [u64; 2], shape: &[usize], wide: bool) -> (usize, Vec<u32>) {
    let count: usize = shape.iter().product::<usize>() * if wide { 2 } else { 1 };
    let steps = count.div_ceil(4);
    let start = u128::from(low) | u128::from(high) << 64;
    let four = |at: usize| {
        let number = start.wrapping_add(at as u128);
        let [a, b] = halves(number as u64);
        let [c, d] = halves((number >> 64) as u64);
        philox(halves(key), [a, b, c, d])
    };
    let mut words: Vec<u32> = (0..steps).flat_map(four).collect();
    words.truncate(count);
    (steps, words)
}

fn philox(mut key: [u32; 2], mut x: [u32; 4]) -> [u32; 4] {
    for _ in 0..10 {
        let [low, high] = halves(u64::from(x[0]) * 0xD251_1F53);
        let [other_low, other_high] = halves(u64::from(x[2]) * 0xCD9E_8D57);
        x = [other_high ^ x[1] ^ key[0], other_low, high ^ x[3] ^ key[1], low];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    x
}
