//! Rules of operations with numbers that may be operands of one element: factors, bounds, exponents, fillings.
//!
//! Such an operand has a derivative like any other: what its uses ask for is summed up.

use pir_ir::{Attr, ValueId};
use smallvec::{SmallVec, smallvec};

use super::super::cotangent::{filled_like, zeros_like};
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.scale", scale),
    rule("pd.pow", |cx| {
        let g = cx.grad()?;
        if cx.wants(0) {
            let (x, (operands, attrs)) = (cx.operand(0), cx.numbers(&["y"]));
            let operands: Vec<ValueId> = [x, g].into_iter().chain(operands).collect();
            let t = cx.emit("pd.pow_grad", &operands, &attrs)?;
            cx.add(0, t)?;
        }
        let Some(at) = cx.wanted("y") else { return Ok(()) };
        let (x, out) = (cx.operand(0), cx.result(0));
        let y = cx.one_number(at, x)?;
        let t = logarithmic(cx, x, y, out, g)?;
        cx.add_sum(at, t)
    }),
    rule("pd.clip", |cx| {
        let g = cx.grad()?;
        let x = cx.operand(0);
        if cx.wants(0) {
            let (operands, attrs) = cx.numbers(&["min", "max"]);
            let operands: Vec<ValueId> = [x, g].into_iter().chain(operands).collect();
            let t = cx.emit("pd.clip_grad", &operands, &attrs)?;
            cx.add(0, t)?;
        }
        let wanted = ["min", "max"].map(|name| cx.wanted(name));
        if wanted == [None, None] {
            return Ok(());
        }
        let zeros = zeros_like(cx.r, g)?;
        let below = match cx.bound("min", x)? {
            Some(low) => Some(cx.emit("pd.less_than", &[x, low], &[])?),
            None => None,
        };
        if let (Some(at), Some(below)) = (wanted[0], below) {
            let t = cx.select(below, g, zeros)?;
            cx.add_sum(at, t)?;
        }
        if let (Some(at), Some(high)) = (wanted[1], cx.bound("max", x)?) {
            let above = cx.emit("pd.greater_than", &[x, high], &[])?;
            let mut t = cx.select(above, g, zeros)?;
            // The lower bound comes first, if they contradict each other.
            if let Some(below) = below {
                t = cx.select(below, zeros, t)?;
            }
            cx.add_sum(at, t)?;
        }
        Ok(())
    }),
    rule("pd.pad", |cx| {
        let g = cx.grad()?;
        let shape = cx
            .static_shape(0)
            .ok_or("the derivative of `pd.pad` needs a static shape")?;
        let paddings = cx.int_list("paddings")?.ok_or("`pd.pad` without `paddings`")?;
        if cx.wants(0) {
            let mut t = g;
            for (axis, &size) in shape.iter().enumerate() {
                let before = paddings.get(2 * axis).copied().unwrap_or(0);
                t = super::shape::cut(cx, t, axis, before, before + size)?;
            }
            cx.add(0, t)?;
        }
        let Some(at) = cx.wanted("pad_value") else {
            return Ok(());
        };
        let x = cx.operand(0);
        let inside = zeros_like(cx.r, x)?;
        let (paddings, one) = (cx.ints(&paddings), cx.ctx().float_attr(1.0));
        let border = cx.emit("pd.pad", &[inside], &[("paddings", paddings), ("pad_value", one)])?;
        let t = cx.multiply(g, border)?;
        cx.add_sum(at, t)
    }),
    rule("pd.full", filled),
    rule("pd.const", filled),
    rule("pd.constant", filled),
    rule("pd.full_like", filled),
    rule("pd.arange", |cx| {
        let g = cx.grad()?;
        if let Some(at) = cx.wanted("start") {
            cx.add_sum(at, g)?;
        }
        let Some(at) = cx.wanted("step") else { return Ok(()) };
        let out = cx.result(0);
        let start = cx.number_like("start", 0.0, out)?;
        let step = cx.one_number(at, out)?;
        let place = cx.subtract(out, start)?;
        let place = cx.divide(place, step)?;
        let t = cx.multiply(g, place)?;
        cx.add_sum(at, t)
    }),
    // min + (max - min) * u
    rule("pd.uniform", |cx| {
        let (g, out) = (cx.grad()?, cx.result(0));
        let (low, high) = (cx.number_like("min", -1.0, out)?, cx.number_like("max", 1.0, out)?);
        let (part, whole) = (cx.subtract(out, low)?, cx.subtract(high, low)?);
        let part = cx.divide(part, whole)?;
        if let Some(at) = cx.wanted("max") {
            let t = cx.multiply(g, part)?;
            cx.add_sum(at, t)?;
        }
        if let Some(at) = cx.wanted("min") {
            let rest = cx.affine(part, -1.0, 1.0)?;
            let t = cx.multiply(g, rest)?;
            cx.add_sum(at, t)?;
        }
        Ok(())
    }),
];

/// `scale * x + bias`, or `scale * (x + bias)`.
fn scale(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    let after = cx.view().bool("bias_after_scale").unwrap_or(true);
    let bias = cx.wanted("bias");
    if cx.wants(0) || bias.is_some() && !after {
        let t = match cx.given_as_operand("scale") {
            Some(at) => {
                let factor = cx.cast_like_operand(at, 0)?;
                cx.multiply(g, factor)?
            }
            None => match cx.view().f64("scale").unwrap_or(1.0) {
                1.0 => g,
                factor => cx.scaled(g, factor)?,
            },
        };
        if cx.wants(0) {
            cx.add_reduced(0, t)?;
        }
        if let (Some(at), false) = (bias, after) {
            cx.add_sum(at, t)?;
        }
    }
    if let (Some(at), true) = (bias, after) {
        cx.add_sum(at, g)?;
    }
    if let Some(at) = cx.wanted("scale") {
        let mut x = cx.operand(0);
        if !after {
            x = match cx.given_as_operand("bias") {
                Some(_) => {
                    let bias = cx.number_like("bias", 0.0, x)?;
                    cx.emit("pd.add", &[x, bias], &[])?
                }
                None => match cx.view().f64("bias").unwrap_or(0.0) {
                    0.0 => x,
                    bias => cx.affine(x, 1.0, bias)?,
                },
            };
        }
        let t = cx.multiply(g, x)?;
        cx.add_sum(at, t)?;
    }
    Ok(())
}

/// Every element is the value.
fn filled(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    match cx.wanted("value") {
        Some(at) => cx.add_sum(at, g),
        None => Ok(()),
    }
}

/// `g` times the derivative of `out`, the power of `x` with exponent `y`, in the exponent: `out * log(x)`. It is zero where
/// the base is zero, unless the exponent is negative, which is a pole.
pub(super) fn logarithmic(
    cx: &mut RuleCx<'_, '_>,
    x: ValueId,
    y: ValueId,
    out: ValueId,
    g: ValueId,
) -> Result<ValueId, String> {
    let (zeros, none) = (zeros_like(cx.r, x)?, zeros_like(cx.r, y)?);
    let at_zero = cx.emit("pd.equal", &[x, zeros], &[])?;
    let no_pole = cx.emit("pd.greater_equal", &[y, none], &[])?;
    let flat = cx.emit("pd.logical_and", &[at_zero, no_pole], &[])?;
    let ones = filled_like(cx.r, x, 1.0)?;
    let safe = cx.select(flat, ones, x)?;
    let log = cx.unary("pd.log", safe)?;
    let t = cx.multiply(out, log)?;
    cx.multiply(g, t)
}

/// `g` times the derivative of a power in its base: `y * x^(y-1)`. A power with exponent zero is constant, at zero as well.
pub(super) fn of_base(cx: &mut RuleCx<'_, '_>, x: ValueId, y: ValueId, g: ValueId) -> Result<ValueId, String> {
    let zeros = zeros_like(cx.r, y)?;
    let constant = cx.emit("pd.equal", &[y, zeros], &[])?;
    let less = cx.affine(y, 1.0, -1.0)?;
    let less = cx.select(constant, zeros, less)?;
    let power = cx.emit("pd.elementwise_pow", &[x, less], &[])?;
    let t = cx.multiply(y, power)?;
    cx.multiply(g, t)
}

/// The expansion of `pd.pow_grad` with an exponent that is an operand.
pub(super) fn power_grad(cx: &mut RuleCx<'_, '_>, at: usize) -> Result<SmallVec<[ValueId; 2]>, String> {
    let (x, g) = (cx.operand(0), cx.operand(1));
    let y = cx.one_number(at, x)?;
    Ok(smallvec![of_base(cx, x, y, g)?])
}

impl RuleCx<'_, '_> {
    /// The operand that stands for an attribute.
    pub(super) fn given_as_operand(&self, name: &str) -> Option<usize> {
        self.view().operand_called(name)
    }

    /// The operand that stands for an attribute, if its cotangent is asked for.
    pub(super) fn wanted(&self, name: &str) -> Option<usize> {
        self.given_as_operand(name).filter(|&at| self.wants(at))
    }

    /// Numbers as another operation takes them, in their order: operands, and attributes.
    fn numbers(&self, names: &[&'static str]) -> (Vec<ValueId>, Vec<(&'static str, Attr)>) {
        let operands = names.iter().filter_map(|name| self.given_as_operand(name));
        let operands = operands.map(|at| self.operand(at)).collect();
        (operands, self.given(names))
    }

    /// An operand of one element as a scalar of the element type of a value.
    pub(super) fn one_number(&mut self, at: usize, like: ValueId) -> Result<ValueId, String> {
        let value = self.operand(at);
        let value = match self.rank(at) {
            0 => value,
            _ => self.reshaped(value, &[])?,
        };
        self.cast_to(value, like)
    }

    /// A number that is an operand or an attribute, to compute with a value.
    fn number_like(&mut self, name: &str, default: f64, like: ValueId) -> Result<ValueId, String> {
        match self.given_as_operand(name) {
            Some(at) => self.one_number(at, like),
            None => {
                let number = self.number(name, default);
                filled_like(self.r, like, number)
            }
        }
    }

    /// A bound, if there is one.
    pub(super) fn bound(&mut self, name: &str, like: ValueId) -> Result<Option<ValueId>, String> {
        match (self.given_as_operand(name), self.view().f64(name)) {
            (Some(at), _) => self.one_number(at, like).map(Some),
            (None, Some(number)) => filled_like(self.r, like, number).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Adds the sum of a cotangent to that of an operand of one element.
    fn add_sum(&mut self, at: usize, g: ValueId) -> Result<(), String> {
        let value = self.operand(at);
        let sum = self.unary("pd.sum", g)?;
        let sum = self.cast_to(sum, value)?;
        let sum = super::shape::reshape_like(self, sum, at)?;
        self.add(at, sum)
    }

    /// A value in the element type of another.
    fn cast_to(&mut self, value: ValueId, like: ValueId) -> Result<ValueId, String> {
        let elem = |cx: &Self, v: ValueId| cx.ctx().elem_type(cx.r.body.value_type(v));
        let wanted = elem(self, like);
        if elem(self, value) == wanted {
            return Ok(value);
        }
        let dtype = self.ctx().type_attr(wanted);
        self.emit("pd.cast", &[value], &[("dtype", dtype)])
    }

    /// An operand in the element type of another.
    fn cast_like_operand(&mut self, at: usize, like: usize) -> Result<ValueId, String> {
        let (value, dtype) = (self.operand(at), self.ctx().elem_type(self.operand_type(like)));
        let dtype = self.ctx().type_attr(dtype);
        self.emit("pd.cast", &[value], &[("dtype", dtype)])
    }
}
