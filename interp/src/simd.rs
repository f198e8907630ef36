//! Loops compiled for several instruction sets, of which the best one of the processor runs.
//!
//! A loop is a [`Task`]; everything that it calls must be inlined into it (`#[inline(always)]`), since only then is it
//! compiled for the instruction set too. The compiler makes vectors of such a loop if its body does not branch.

use std::any::TypeId;
use std::sync::LazyLock;

use pulp::{Arch, Scalar, Simd, WithSimd};

/// Code to compile for several instruction sets.
pub(crate) trait Task {
    /// The result.
    type Output;

    /// Runs it. `FMA`: whether `f64::mul_add` is an instruction; where it is not, it would be a slow function.
    fn run<const FMA: bool>(self) -> Self::Output;
}

struct Wrapped<T>(T);

impl<T: Task> WithSimd for Wrapped<T> {
    type Output = T::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> T::Output {
        if TypeId::of::<S>() == TypeId::of::<Scalar>() {
            self.0.run::<false>()
        } else {
            self.0.run::<true>()
        }
    }
}

/// Runs a task with the best instruction set.
pub(crate) fn run<T: Task>(task: T) -> T::Output {
    dispatch(Wrapped(task))
}

/// The same for code with explicit vectors.
pub(crate) fn dispatch<T: WithSimd>(task: T) -> T::Output {
    static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);
    ARCH.dispatch(task)
}
