//! The dimension numbers of products, gathers and scatters.

use pir_ir::DYNAMIC;

use super::attrs::{Attrs, List};
use super::infer::are_dims;

/// The dimensions of a general product.
pub(super) struct Dot {
    pub(super) lhs_batch: List,
    pub(super) rhs_batch: List,
    pub(super) lhs_contract: List,
    pub(super) rhs_contract: List,
}

impl Dot {
    pub(super) fn read(attrs: Attrs<'_>, lhs: &[i64], rhs: &[i64]) -> Result<Self, String> {
        let fields = attrs.fields("dot_dimension_numbers")?;
        let dot = Dot {
            lhs_batch: fields.list("lhs_batching_dimensions")?,
            rhs_batch: fields.list("rhs_batching_dimensions")?,
            lhs_contract: fields.list("lhs_contracting_dimensions")?,
            rhs_contract: fields.list("rhs_contracting_dimensions")?,
        };
        let both = |a: &List, b: &List| -> List { a.iter().chain(b).copied().collect() };
        if !are_dims(&both(&dot.lhs_batch, &dot.lhs_contract), lhs.len())
            || !are_dims(&both(&dot.rhs_batch, &dot.rhs_contract), rhs.len())
        {
            return Err("`dot_dimension_numbers` must name distinct dimensions of the operands".into());
        }
        let size = |list: &List, dims: &[i64]| -> List { list.iter().map(|&at| dims[at as usize]).collect() };
        if size(&dot.lhs_batch, lhs) != size(&dot.rhs_batch, rhs)
            || size(&dot.lhs_contract, lhs) != size(&dot.rhs_contract, rhs)
        {
            return Err("batching and contracting dimensions must have the same sizes in both operands".into());
        }
        Ok(dot)
    }

    /// The dimensions that are neither.
    pub(super) fn free(batch: &List, contract: &List, rank: usize) -> List {
        let taken = |at: &i64| batch.contains(at) || contract.contains(at);
        (0..rank as i64).filter(|at| !taken(at)).collect()
    }

    pub(super) fn result(&self, lhs: &[i64], rhs: &[i64]) -> List {
        let left = Self::free(&self.lhs_batch, &self.lhs_contract, lhs.len());
        let right = Self::free(&self.rhs_batch, &self.rhs_contract, rhs.len());
        let left = self.lhs_batch.iter().chain(&left).map(|&at| lhs[at as usize]);
        left.chain(right.iter().map(|&at| rhs[at as usize])).collect()
    }
}

/// Whether shapes may be the same: dimensions may be open.
pub(super) fn agree(one: &[i64], other: &[i64]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(&a, &b)| a == b || a == DYNAMIC || b == DYNAMIC)
}

/// The dimensions of a gather; a scatter has the same under other names.
pub(super) struct Gather {
    /// Dimensions of the result that a window has.
    pub(super) offset: List,
    /// Dimensions of the operand that a window has not.
    pub(super) collapsed: List,
    pub(super) operand_batch: List,
    pub(super) indices_batch: List,
    /// Which dimension of the operand each component of an index is for.
    pub(super) map: List,
    pub(super) vector: i64,
    pub(super) slice_sizes: List,
}

impl Gather {
    pub(super) fn read(attrs: Attrs<'_>, operand: &[i64], starts: &[i64]) -> Result<Self, String> {
        let fields = attrs.fields("dimension_numbers")?;
        let gather = Gather {
            offset: fields.list("offset_dims")?,
            collapsed: fields.list("collapsed_slice_dims")?,
            operand_batch: fields.list("operand_batching_dims")?,
            indices_batch: fields.list("start_indices_batching_dims")?,
            map: fields.list("start_index_map")?,
            vector: fields.number("index_vector_dim")?,
            slice_sizes: attrs.list("slice_sizes")?,
        };
        gather.check(operand, starts)
    }

    /// The dimensions of a scatter into an operand.
    pub(super) fn of_scatter(
        attrs: Attrs<'_>,
        operand: &[i64],
        starts: &[i64],
        updates: &[i64],
    ) -> Result<Self, String> {
        let fields = attrs.fields("scatter_dimension_numbers")?;
        let (offset, collapsed) = (fields.list("update_window_dims")?, fields.list("inserted_window_dims")?);
        let operand_batch = fields.list("input_batching_dims")?;
        let mut window = offset.iter().map(|&at| updates.get(at as usize).copied().unwrap_or(-1));
        let is_single = |at: i64| collapsed.contains(&at) || operand_batch.contains(&at);
        let slice_sizes = (0..operand.len() as i64)
            .map(|at| if is_single(at) { Some(1) } else { window.next() })
            .collect::<Option<List>>()
            .ok_or("`update_window_dims` must name one dimension for each window dimension of the operand")?;
        let gather = Gather {
            indices_batch: fields.list("scatter_indices_batching_dims")?,
            map: fields.list("scatter_dims_to_operand_dims")?,
            vector: fields.number("index_vector_dim")?,
            offset,
            collapsed,
            operand_batch,
            slice_sizes,
        };
        let gather = gather.check(operand, starts)?;
        let others = (0..updates.len()).filter(|&at| !gather.offset.contains(&(at as i64)));
        let others: List = others.map(|at| updates[at]).collect();
        match agree(&others, &gather.batch(starts)) {
            true => Ok(gather),
            false => Err("the updates must have the dimensions of the indices besides those of windows".into()),
        }
    }

    fn check(self, operand: &[i64], starts: &[i64]) -> Result<Self, String> {
        let rank = operand.len();
        let both = |a: &List, b: &List| -> List { a.iter().chain(b).copied().collect() };
        let components = usize::try_from(self.vector).ok().and_then(|at| starts.get(at).copied());
        let size = |dims: &[i64], list: &List| -> List {
            let at = |at: &i64| usize::try_from(*at).ok().and_then(|at| dims.get(at).copied());
            list.iter().filter_map(at).collect()
        };
        let window = rank.checked_sub(self.collapsed.len() + self.operand_batch.len());
        let fits = self.slice_sizes.len() == rank
            && window == Some(self.offset.len())
            && are_dims(&both(&self.map, &self.operand_batch), rank)
            && are_dims(&both(&self.collapsed, &self.operand_batch), rank)
            && are_dims(&self.indices_batch, starts.len())
            && self.indices_batch.len() == self.operand_batch.len()
            && (0..=starts.len() as i64).contains(&self.vector)
            && !self.indices_batch.contains(&self.vector)
            && self.offset.is_sorted()
            && are_dims(&self.offset, self.offset.len() + self.batch(starts).len());
        let single = |at: &i64| self.slice_sizes.get(*at as usize).is_none_or(|&size| size <= 1);
        if !fits {
            Err("the dimension numbers do not match the ranks of the operands".into())
        } else if components.unwrap_or(1) != DYNAMIC && components.unwrap_or(1) != self.map.len() as i64 {
            let found = components.unwrap_or(1);
            Err(format!(
                "an index has {found} components for {} dimensions",
                self.map.len()
            ))
        } else if !self.collapsed.iter().chain(&self.operand_batch).all(single) {
            Err("`slice_sizes` must be 1 in the dimensions that are collapsed or batching".into())
        } else if !agree(&size(operand, &self.operand_batch), &size(starts, &self.indices_batch)) {
            Err("batching dimensions must have the same sizes in the operand and the indices".into())
        } else {
            Ok(self)
        }
    }

    /// The dimensions of the windows: those of an index that are not its vector.
    pub(super) fn batch(&self, starts: &[i64]) -> List {
        let others = (0..starts.len()).filter(|&at| at as i64 != self.vector);
        others.map(|at| starts[at]).collect()
    }

    /// The dimensions of the operand that a window has, in order.
    pub(super) fn window(&self) -> List {
        let is_single = |at: &i64| self.collapsed.contains(at) || self.operand_batch.contains(at);
        (0..self.slice_sizes.len() as i64).filter(|at| !is_single(at)).collect()
    }

    pub(super) fn result(&self, starts: &[i64]) -> List {
        let (batch, window) = (self.batch(starts), self.window());
        let (mut batch, mut window) = (batch.iter(), window.iter().map(|&at| &self.slice_sizes[at as usize]));
        let rank = self.offset.len() + batch.len();
        let next = (0..rank as i64).map(|at| match self.offset.contains(&at) {
            true => window.next(),
            false => batch.next(),
        });
        next.flatten().copied().collect()
    }
}

/// The places of dimensions in `[b, 0, 1, f]`: those of two letters, then those of space.
fn places(list: &str, letters: [&str; 2]) -> Option<Vec<i64>> {
    let words: Vec<&str> = list.trim_matches(['[', ']']).split(',').map(str::trim).collect();
    let place = |word: &str| words.iter().position(|&w| w == word).map(|at| at as i64);
    let spatial = (0..words.len().checked_sub(2)?).map(|at| place(&at.to_string()));
    letters.into_iter().map(place).chain(spatial).collect()
}

/// Where the operands and the result of a convolution have the batch (a filter its outputs), the features (its inputs), and the dimensions
/// of space.
pub(super) fn convolution_places(attrs: Attrs<'_>) -> Result<[Vec<i64>; 3], String> {
    let text = attrs.text("dimension_numbers").ok_or("it needs `dimension_numbers`")?;
    let parts: Option<[Vec<i64>; 3]> = text.split_once('<').and_then(|(_, inside)| {
        let (operands, result) = inside.trim_end_matches('>').split_once("->")?;
        let (lhs, rhs) = operands.split_once(']')?;
        let rhs = rhs.trim_start_matches('x');
        Some([
            places(lhs, ["b", "f"])?,
            places(rhs, ["o", "i"])?,
            places(result, ["b", "f"])?,
        ])
    });
    parts.ok_or_else(|| {
        "`dimension_numbers` must be `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`".to_owned()
    })
}

/// How many places a window has in each dimension, from its attributes: `paddings` are those of `padding`, two for each.
pub(super) fn window_places(
    attrs: Attrs<'_>,
    dims: &[i64],
    window: &[i64],
    [base, dilations]: [&str; 2],
) -> Result<List, String> {
    let rank = dims.len();
    if window.len() != rank {
        return Err("the window must have the dimensions of the operand".to_owned());
    }
    let list = |name| attrs.list_or(name, 1, rank);
    let (strides, base, dilations) = (list("window_strides")?, list(base)?, list(dilations)?);
    let paddings = attrs.list_or("padding", 0, 2 * rank)?;
    let spread = |size: i64, by: i64| Some((size - 1).max(-1).checked_mul(by)?.checked_add(1)?.max(0));
    let places = |at: usize| {
        if dims[at] == DYNAMIC || window[at] == DYNAMIC {
            return Some(DYNAMIC);
        }
        let size = spread(dims[at], base[at])?
            .checked_add(paddings[2 * at])?
            .checked_add(paddings[2 * at + 1])?;
        let room = size.checked_sub(spread(window[at], dilations[at])?)?;
        let stride = strides.get(at).copied().filter(|&by| by > 0)?;
        Some(if room < 0 || size <= 0 { 0 } else { room / stride + 1 })
    };
    let places: Option<List> = (0..rank).map(places).collect();
    places.ok_or_else(|| "the window is out of range".to_owned())
}
