//! Kernels: the implementations of operations.
//!
//! A kernel is prepared once per operation, when its attributes are read and checked, and then applied to tensors any
//! number of times. It owns its operands: an unshared one may be overwritten.

mod activation;
mod attention;
mod binary;
mod bits;
mod boxes;
pub(crate) mod broadcast;
mod channel_norm;
mod complex;
mod conv;
mod create;
mod ctc;
mod depthwise;
mod eigen;
mod fft;
mod flops;
mod fractional;
mod gemm;
mod gemm_rows;
mod general;
mod grad;
mod im2col;
mod index;
mod lapack;
mod linalg;
mod line;
mod math;
mod matmul;
mod mlir;
mod nn;
mod norm;
mod normal;
mod norms;
mod number;
mod optimizer;
mod paddle;
mod panels;
pub(crate) mod pieces;
mod pool;
mod pooling;
mod random;
mod reduce;
mod rnn;
mod scan;
mod scatter;
mod sequences;
mod shape;
mod shifted;
mod single;
mod singular;
pub(crate) mod slices;
mod sort;
mod spec;
mod special;
pub(crate) mod steps;
mod sums;
mod suppression;
mod tile;
mod tiny;
mod unary;
mod vector;
mod winograd;
mod yolo;

use std::sync::LazyLock;

pub use matmul::peak_flops;
pub(crate) use mlir::groups;

use pir_ir::{Context, OpView, Text};
use rustc_hash::FxHashMap;
use single::Direct;
use steps::Step;
use vector::PrepareMapping;

use crate::tensor::Tensor;

pub(crate) use flops::{count_flops, flops};
pub(crate) use single::{Single, put};
pub(crate) use spec::{
    InPlace, IntList, Ints, around, attr_dtype, axis, constant_tensor, dims, known_count, one, take,
};
pub use spec::{Inputs, Kernel, Outputs, Prepare, Spec, dtype_of};

/// The kernels, by operation name.
///
/// A dialect adds those of its operations to the context, which executors and folding query:
///
/// ```
/// use pir_interp::{Tensor, kernels::Kernels};
/// let mut dialects = pir_ir::ContextBuilder::new();
/// dialects.extension::<Kernels>().add("demo.double", |_| {
///     Ok(Box::new(|inputs| {
///         let doubled = inputs[0].to_f64().into_iter().map(|x| 2.0 * x).collect();
///         let doubled = Tensor::new(inputs[0].shape(), doubled).and_then(|t| t.cast(inputs[0].dtype()));
///         Ok([doubled.map_err(|e| e.to_string())?].into_iter().collect())
///     }))
/// });
/// assert!(Kernels::of(&dialects.build()).has("demo.double"));
/// ```
pub struct Kernels {
    table: FxHashMap<Text, Entry>,
}

struct Entry {
    prepare: KernelKind,
    /// The kernel for complex numbers.
    complex: Option<KernelKind>,
    in_place: Option<InPlace>,
    /// The operation if its result is one element.
    direct: Option<Direct>,
    /// The step in a chain.
    step: Option<steps::PrepareStep>,
}

#[derive(Clone, Copy)]
enum KernelKind {
    Kernel(Prepare),
    /// A function of one float.
    Function(PrepareMapping),
}

static STANDARD: LazyLock<Kernels> = LazyLock::new(Kernels::standard);

impl Kernels {
    /// The kernels of the built-in dialects.
    pub fn standard() -> Self {
        let families = [
            unary::KERNELS,
            binary::KERNELS,
            bits::KERNELS,
            grad::KERNELS,
            matmul::KERNELS,
            attention::KERNELS,
            reduce::KERNELS,
            scan::KERNELS,
            shape::KERNELS,
            index::KERNELS,
            create::KERNELS,
            conv::KERNELS,
            pool::KERNELS,
            channel_norm::KERNELS,
            norm::KERNELS,
            nn::KERNELS,
            rnn::KERNELS,
            activation::KERNELS,
            linalg::KERNELS,
            ctc::KERNELS,
            sequences::KERNELS,
            boxes::KERNELS,
            suppression::KERNELS,
            yolo::KERNELS,
            fractional::KERNELS,
            paddle::KERNELS,
            lapack::KERNELS,
            norms::KERNELS,
            optimizer::KERNELS,
            random::KERNELS,
            scatter::KERNELS,
            sort::KERNELS,
            mlir::KERNELS,
            mlir::TENSORS,
        ];
        let families = families.into_iter().chain(mlir::INTEGERS).chain(mlir::FLOATS);
        let mut kernels = Kernels {
            table: FxHashMap::default(),
        };
        for &(name, prepare) in families.flatten() {
            kernels.insert(name.into(), KernelKind::Kernel(prepare), None);
        }
        for &(name, prepare) in unary::FUNCTIONS.iter().chain(activation::FUNCTIONS) {
            kernels.insert(name.into(), KernelKind::Function(prepare), None);
        }
        for &(name, prepare, _) in binary::COMPARISONS {
            kernels.insert(name.into(), KernelKind::Kernel(prepare), None);
        }
        for &name in complex::SAME {
            if let Some(entry) = kernels.table.get_mut(name) {
                entry.complex = Some(entry.prepare);
            }
        }
        for &(name, prepare) in complex::KERNELS.iter().chain(fft::KERNELS).chain(eigen::KERNELS) {
            match kernels.table.get_mut(name) {
                Some(entry) => entry.complex = Some(KernelKind::Kernel(prepare)),
                None => {
                    kernels.add(name, prepare);
                }
            }
        }
        for &(name, in_place) in binary::IN_PLACE {
            if let Some(entry) = kernels.table.get_mut(name) {
                entry.in_place = Some(in_place);
            }
        }
        let comparisons = binary::COMPARISONS.iter().map(|&(name, _, direct)| (name, direct));
        let others = [binary::COUNTING, reduce::WHOLE, unary::TESTS].into_iter().flatten();
        for (name, direct) in comparisons.chain(others.copied()) {
            if let Some(entry) = kernels.table.get_mut(name) {
                entry.direct = Some(direct);
            }
        }
        for &(name, step) in steps::STEPS {
            if let Some(entry) = kernels.table.get_mut(name) {
                entry.step = Some(step);
            }
        }
        kernels
    }

    /// The kernels that a context was built with, or the standard ones.
    pub fn of(ctx: &Context) -> &Self {
        ctx.extension().unwrap_or(&STANDARD)
    }

    /// Adds the kernel of the operation `name`, replacing an existing one.
    pub fn add(&mut self, name: impl Into<Text>, prepare: Prepare) -> &mut Self {
        self.insert(
            name.into(),
            KernelKind::Kernel(prepare),
            Some(KernelKind::Kernel(prepare)),
        );
        self
    }

    fn insert(&mut self, name: Text, prepare: KernelKind, complex: Option<KernelKind>) {
        let entry = Entry {
            prepare,
            complex,
            in_place: None,
            direct: None,
            step: None,
        };
        self.table.insert(name, entry);
    }

    /// The kernel of an operation; `None` if there is none of its name.
    ///
    /// # Errors
    /// If the attributes are not those of the operation.
    pub fn prepare(&self, view: OpView<'_>) -> Option<Result<Kernel, String>> {
        self.prepare_for(view, false, false)
            .map(|kernel| kernel.map(|(kernel, _)| kernel))
    }

    /// The same of a run where subnormal results become zeros if `flush` is true, and whether the kernel leaves that to
    /// the caller. With `precise`, its operands in single precision are given in double precision.
    pub(crate) fn prepare_for(
        &self,
        view: OpView<'_>,
        flush: bool,
        precise: bool,
    ) -> Option<Result<(Kernel, bool), String>> {
        let entry = self.table.get(view.name())?;
        let mut prepare = entry.prepare;
        if view.complex_type().is_some() {
            match entry.complex {
                Some(complex) => prepare = complex,
                None => return Some(Err(format!("`{}` of complex numbers is not supported", view.name()))),
            }
        }
        let spec = Spec { view, flush, precise };
        let kernel = match prepare {
            KernelKind::Kernel(prepare) => prepare(&spec),
            KernelKind::Function(prepare) => Ok(vector::kernel(prepare(&spec))),
        };
        Some(kernel.map(|kernel| (kernel, flush && !flushes(view.name()))))
    }

    /// The operation as a step of a chain, if it can be one.
    pub(crate) fn step(&self, view: OpView<'_>) -> Option<Step> {
        let entry = self.table.get(view.name())?;
        let spec = Spec {
            view,
            flush: false,
            precise: false,
        };
        match entry.prepare {
            KernelKind::Function(prepare) => Some(Step::Mapped(prepare(&spec))),
            KernelKind::Kernel(_) => entry.step?(&spec),
        }
    }

    /// The operation if its result is one element.
    pub(crate) fn single(&self, view: OpView<'_>) -> Option<Single> {
        Single::of(self, view, self.table.get(view.name())?.direct)
    }

    /// The names of the operations with kernels, unordered.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.table.keys().map(|name| &**name)
    }

    /// Whether there is a kernel for the operation `name`.
    pub fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// The in-place kernel, if any.
    pub(crate) fn in_place(&self, name: &str) -> Option<InPlace> {
        self.table.get(name)?.in_place
    }
}

impl Default for Kernels {
    fn default() -> Self {
        Self::standard()
    }
}

/// Whether the kernel of an operation flushes subnormal results.
fn flushes(name: &str) -> bool {
    [
        matmul::FLUSHING,
        scatter::FLUSHING,
        norm::FLUSHING,
        channel_norm::FLUSHING,
        nn::FLUSHING,
    ]
    .into_iter()
    .any(|names| names.contains(&name))
}

/// Concatenates tensors along an axis.
pub(crate) fn join(parts: &[Tensor], axis: usize) -> Result<Tensor, String> {
    shape::concat(parts, i64::try_from(axis).unwrap_or(i64::MAX))
}
