//! Normalization over all dimensions but that of the features, as the specification of StableHLO writes it out.

use super::{Cx, Results};
use crate::pd::Expr;

/// The parts of a normalization.
struct Norm<'c> {
    x: Expr<'c>,
    epsilon: f64,
    /// The dimensions that are reduced.
    axes: Vec<i64>,
    /// The shape of a vector of one number for each feature, beside `x`.
    along: Vec<i64>,
}

impl<'c> Norm<'c> {
    fn of(c: &Cx<'c>) -> Result<Self, String> {
        let x = c.x(0);
        let rank = x.dims().len();
        let at = usize::try_from(c.attrs.int("feature_index")?)
            .ok()
            .filter(|&at| at < rank);
        let at = at.ok_or("`feature_index` is out of range")?;
        let mut along = vec![1; rank];
        along[at] = x.dims()[at];
        let axes = (0..rank as i64).filter(|&axis| axis != at as i64).collect();
        let epsilon = c.attrs.get("epsilon").and_then(|attr| c.ctx().attr_f64(attr));
        let epsilon = epsilon.ok_or("`epsilon` must be a float")?;
        Ok(Norm {
            x,
            epsilon,
            axes,
            along,
        })
    }

    fn spread(&self, vector: Expr<'c>) -> Expr<'c> {
        vector.reshape(self.along.as_slice())
    }

    fn sum(&self, x: Expr<'c>) -> Expr<'c> {
        x.total(&self.axes)
    }

    /// The number of elements of a feature.
    fn count(&self) -> f64 {
        let dims = self.x.dims();
        self.axes.iter().map(|&axis| dims[axis as usize] as f64).product()
    }

    fn deviation(&self, variance: Expr<'c>) -> Expr<'c> {
        (variance + self.epsilon).sqrt()
    }
}

pub(super) fn inference<'c>(c: &Cx<'c>) -> Results<'c> {
    let norm = Norm::of(c)?;
    let [scale, offset, mean, variance] = [1, 2, 3, 4].map(|index| norm.spread(c.x(index)));
    Ok(vec![(norm.x - mean) / norm.deviation(variance) * scale + offset])
}

pub(super) fn training<'c>(c: &Cx<'c>) -> Results<'c> {
    let norm = Norm::of(c)?;
    let [scale, offset] = [1, 2].map(|index| norm.spread(c.x(index)));
    let mean = norm.sum(norm.x) * (1.0 / norm.count());
    let centered = norm.x - mean;
    let variance = norm.sum(centered * centered) * (1.0 / norm.count());
    let out = centered / norm.deviation(variance) * scale + offset;
    Ok(vec![out, mean.reshape(c.tensor(1).0), variance.reshape(c.tensor(2).0)])
}

pub(super) fn grad<'c>(c: &Cx<'c>) -> Results<'c> {
    let norm = Norm::of(c)?;
    let [scale, mean, variance] = [1, 2, 3].map(|index| norm.spread(c.x(index)));
    let (g, centered) = (c.x(4), norm.x - mean);
    let deviation = norm.deviation(variance);
    let (of_offset, along) = (norm.sum(g), norm.sum(g * centered));
    let pushed = g * norm.count() - of_offset - along * centered / (variance + norm.epsilon);
    let of_operand = scale / deviation * pushed * (1.0 / norm.count());
    let vectors = [along / deviation, of_offset].map(|sum| sum.reshape(c.tensor(1).0));
    Ok(vec![of_operand, vectors[0], vectors[1]])
}
