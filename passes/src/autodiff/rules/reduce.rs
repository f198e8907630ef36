//! Rules of reductions.

use pir_ir::ValueId;

use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.sum", |cx| {
        let g = cx.grad()?;
        let t = cx.spread(g)?;
        cx.add(0, t)
    }),
    rule("pd.mean", |cx| {
        let g = cx.grad()?;
        let g = match (cx.static_shape(0), cx.reduced_axes()?) {
            (Some(shape), axes) => {
                let count: i64 = axes.iter().map(|&a| shape[a]).product();
                cx.scaled(g, 1.0 / count as f64)?
            }
            (None, _) => {
                // The number of elements behind one mean is known when the program runs: numel(x) / numel(out).
                let (x, out) = (cx.operand(0), cx.result(0));
                let dtype = cx.ctx().type_attr(cx.ctx().elem_type(cx.operand_type(0)));
                let (n, m) = (cx.unary("pd.numel", x)?, cx.unary("pd.numel", out)?);
                let (n, m) = (
                    cx.emit("pd.cast", &[n], &[("dtype", dtype)])?,
                    cx.emit("pd.cast", &[m], &[("dtype", dtype)])?,
                );
                let ratio = cx.divide(m, n)?;
                cx.multiply(g, ratio)?
            }
        };
        let t = cx.spread(g)?;
        cx.add(0, t)
    }),
    rule("pd.max", |cx| extremum(cx, "pd.max_grad")),
    rule("pd.min", |cx| extremum(cx, "pd.min_grad")),
    rule("pd.amax", |cx| extremum(cx, "pd.max_grad")),
    rule("pd.amin", |cx| extremum(cx, "pd.min_grad")),
    rule("pd.prod", |cx| extremum(cx, "pd.prod_grad")),
    rule("pd.cumsum", |cx| {
        // The transpose of a running sum is the running sum from the other end.
        let g = cx.grad()?;
        let flat = cx.view().bool("flatten").unwrap_or(false);
        let axis = if flat { 0 } else { cx.single_axis("axis", -1)? };
        let mut attrs = vec![("axis", cx.ctx().int_attr(axis))];
        attrs.extend(cx.view().attr("exclusive").map(|value| ("exclusive", value)));
        let reverse = cx.view().bool("reverse").unwrap_or(false);
        attrs.push(("reverse", cx.ctx().bool_attr(!reverse)));
        let mut t = cx.emit("pd.cumsum", &[g], &attrs)?;
        if flat {
            t = super::shape::reshape_like(cx, t, 0)?;
        }
        cx.add(0, t)
    }),
];

/// A reduction whose `_grad` twin reads the operand, the result and its cotangent.
fn extremum(cx: &mut RuleCx<'_, '_>, twin: &str) -> Result<(), String> {
    let (g, x, out) = (cx.grad()?, cx.operand(0), cx.result(0));
    let axes: Vec<i64> = cx.reduced_axes()?.iter().map(|&a| a as i64).collect();
    let keepdim = cx.ctx().bool_attr(cx.view().bool("keepdim").unwrap_or(false));
    let axes = cx.ints(&axes);
    let t = cx.emit(twin, &[x, out, g], &[("axis", axes), ("keepdim", keepdim)])?;
    cx.add(0, t)
}

impl RuleCx<'_, '_> {
    /// The axes that a reduction sums over, counted from the front; all of them when none is given.
    pub(super) fn reduced_axes(&self) -> Result<Vec<usize>, String> {
        let rank = self.rank(0);
        let axes = self.int_list("axis")?.unwrap_or_default();
        if axes.is_empty() {
            return Ok((0..rank).collect());
        }
        let mut axes: Vec<usize> = axes.iter().map(|&a| normalise(a, rank)).collect::<Result<_, _>>()?;
        axes.sort_unstable();
        axes.dedup();
        Ok(axes)
    }

    /// The constant list of integers (or the single one) called `name`, if it is given.
    pub(super) fn int_list(&self, name: &str) -> Result<Option<Vec<i64>>, String> {
        let view = self.view();
        match view.attr(name) {
            Some(attr) => match (self.ctx().attr_ints(attr), self.ctx().attr_int(attr)) {
                (Some(list), _) => Ok(Some(list.to_vec())),
                (None, Some(one)) => Ok(Some(vec![one])),
                (None, None) => Err(format!("`{name}` is not a list of integers")),
            },
            None if self.is_computed(name) => {
                Err(format!("the derivative of `{}` needs a constant `{name}`", view.name()))
            }
            None => Ok(None),
        }
    }

    /// Whether an attribute that may be an operand is one.
    fn is_computed(&self, name: &str) -> bool {
        self.view().attr(name).is_none() && self.view().operand_called(name).is_some()
    }

    /// The constant integer called `name`.
    pub(super) fn single_axis(&self, name: &str, default: i64) -> Result<i64, String> {
        match self.int_list(name)?.as_deref() {
            None | Some([]) => Ok(default),
            Some([one]) => Ok(*one),
            Some(_) => Err(format!("`{name}` must be one axis")),
        }
    }

    /// Spreads the cotangent of a reduction over the reduced dimensions again.
    fn spread(&mut self, g: ValueId) -> Result<ValueId, String> {
        let axes = self.reduced_axes()?;
        let keepdim = self.view().bool("keepdim").unwrap_or(false);
        let g = if keepdim || axes.len() == self.rank(0) {
            // What is left has only dimensions of one where the sum went: broadcasting does the rest.
            g
        } else {
            let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
            let axes = self.ints(&axes);
            self.emit("pd.unsqueeze", &[g], &[("axis", axes)])?
        };
        let g = self.cast_to_operand(g)?;
        match self.static_shape(0) {
            Some(shape) => {
                if self.r.body.value_type(g) == self.operand_type(0) {
                    return Ok(g);
                }
                let shape = self.ints(&shape);
                self.emit("pd.expand", &[g], &[("shape", shape)])
            }
            None => {
                let x = self.operand(0);
                self.emit("pd.expand_as", &[g, x], &[])
            }
        }
    }

    /// Casts a cotangent to the element type of the first operand, for reductions that change it.
    fn cast_to_operand(&mut self, g: ValueId) -> Result<ValueId, String> {
        let elem = self.ctx().elem_type(self.operand_type(0));
        if self.ctx().elem_type(self.r.body.value_type(g)) == elem {
            return Ok(g);
        }
        let dtype = self.ctx().type_attr(elem);
        self.emit("pd.cast", &[g], &[("dtype", dtype)])
    }
}

/// An axis counted from the front.
pub(super) fn normalise(axis: i64, rank: usize) -> Result<usize, String> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(at)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("axis {axis} is out of range for rank {rank}"))
}
