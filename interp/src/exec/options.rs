//! How a program is run, and what comes of it.

use rustc_hash::FxHashMap;

use super::profile::Profile;
use super::stats::Stats;
use crate::tensor::Tensor;

/// The entry point and the inputs of a run.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The function to run; `None` for the operations at top level, or the only function.
    pub function: Option<String>,
    /// The inputs by name: of `pd.data` and `pd.parameter`, or the arguments of the function.
    pub inputs: FxHashMap<String, Tensor>,
    /// The maximal number of instructions.
    pub max_steps: Option<u64>,
    /// The maximal size of live tensors: inputs, values with remaining uses, and stacks. Tensors that share their
    /// elements count once. The limit is checked after each operation, when its results already exist.
    pub max_memory: Option<u64>,
    /// The minimal number of elements for fusing consecutive elementwise operations; by default two million, which
    /// exceeds the caches. The results are identical.
    pub fuse_from: Option<usize>,
    /// Whether subnormal numbers of `f32` and `f64`, among the inputs and the results of every operation, become zeros
    /// of the same sign. Most processors compute with them many times slower than with others. The eager engine keeps
    /// them.
    pub flush_subnormals: bool,
    /// Whether the results of operations on `f32` are computed in double precision and rounded once. None are fused then.
    pub precise: bool,
    /// Whether every operation is measured: see [`Outcome::profile`]. None are fused then.
    pub profile: bool,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The fetched values in order, by name.
    pub fetched: Vec<(String, Tensor)>,
    /// The results of the function.
    pub results: Vec<Tensor>,
    /// Execution statistics.
    pub stats: Stats,
    /// The time of each operation, with [`Options::profile`].
    pub profile: Option<Profile>,
}
