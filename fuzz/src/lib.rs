//! What the fuzz targets share: each hands the inputs of libFuzzer to the target of its name.

pub use libfuzzer_sys;
use pir_fuzzing::{Random, mutate, seeds};

/// Changes an input in place, and gives its new size.
pub fn change(target: &str, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random::new(u64::from(seed));
    // Half of the mutations are unaware of the format; for targets that take raw bytes, all are.
    if target == "generated" || random.below(2) == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    thread_local!(static SEEDS: std::cell::OnceCell<Vec<(String, Vec<u8>)>> = const { std::cell::OnceCell::new() });
    SEEDS.with(|all| {
        let other = random.pick(all.get_or_init(|| seeds(target)));
        let other = other.map_or(&[][..], |(_, bytes)| bytes);
        let changed = mutate(&mut random, target, &data[..size], other, max_size);
        data[..changed.len()].copy_from_slice(&changed);
        changed.len()
    })
}

/// A fuzz target: the one of this name.
#[macro_export]
macro_rules! fuzz {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            if let Some(target) = pir_fuzzing::target($name) {
                (target.run)(data);
            }
        });
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::change($name, data, size, max_size, seed)
        });
    };
}
