//! Adapts operands and results to PaddlePaddle's operations: equal shapes, extra results, lists of numbers.

use pir_ir::{Attr, AttrData, DYNAMIC, OpView, Type, TypeData};

use super::ops::single;
use super::{Id, Writer, json};

/// The operations that do not broadcast in PaddlePaddle: some are broadcast by its Python, and `atan2` reads what is behind the elements.
pub(super) const EQUAL_SHAPES: &[&str] = &["where", "atan2", "bce_loss", "huber_loss", "isclose"];

impl Writer<'_> {
    /// Broadcasts operands to the shape of the result: the kernel does not broadcast. If that shape is open, it is the one of an operand
    /// with the same open type, if there is one.
    pub(super) fn broadcast(&mut self, view: OpView<'_>, mut inputs: Vec<Id>, types: &[Type]) -> Vec<Id> {
        let ctx = self.ctx;
        let shape = types.first().and_then(|&ty| ctx.as_tensor(ty)).map(|(shape, _)| shape);
        let Some(shape) = shape else { return inputs };
        let own = |value| ctx.as_tensor(self.body.value_type(value)).map(|(own, _)| own);
        let whole = self.body.operands(view.op).position(|value| own(value) == Some(shape));
        let like = whole.map(|whole| inputs[whole]);
        if like.is_some() || !shape.contains(&DYNAMIC) {
            for place in 0..inputs.len() {
                self.spread(view, &mut inputs, place, shape, like);
            }
        }
        inputs
    }

    /// Broadcasts an operand to a shape; one that is open is that of the value `like`.
    fn spread(&mut self, view: OpView<'_>, inputs: &mut [Id], place: usize, shape: &[i64], like: Option<Id>) {
        let Some(ty) = view.operand_type(place) else { return };
        if self.ctx.as_tensor(ty).is_none_or(|(own, _)| own == shape) {
            return;
        }
        let wide = self.ctx.tensor(shape, self.ctx.elem_type(ty));
        inputs[place] = match like.filter(|_| shape.contains(&DYNAMIC)) {
            Some(like) => {
                let mut attrs = String::new();
                json::entry("target_shape", &json::list("0.a_i64", shape), &mut attrs);
                self.raw("1.expand_as", &attrs, &[inputs[place], like], &[wide])
            }
            None => {
                let target = self.outside(format!("{shape:?}"), |w| w.integers(shape));
                self.raw("1.expand", "", &[inputs[place], target], &[wide])
            }
        };
    }

    /// Broadcasts the values of `put_along_axis` to the shape of the indices.
    pub(super) fn spread_values(&mut self, view: OpView<'_>, mut inputs: Vec<Id>) -> Vec<Id> {
        let shape = view.operand_type(1).and_then(|ty| self.ctx.as_tensor(ty));
        if let (Some((shape, _)), Some(&like)) = (shape, inputs.get(1)) {
            self.spread(view, &mut inputs, 2, shape, Some(like));
        }
        inputs
    }

    /// The results of PaddlePaddle's `einsum`: after the declared one, caches for its gradient, one per operand.
    pub(super) fn with_caches(&self, view: OpView<'_>, types: &[Type]) -> Vec<Type> {
        let operands: Vec<Type> = match view.operand_type(0).map(|ty| self.ctx.type_data(ty)) {
            Some(TypeData::List(items)) => items.to_vec(),
            _ => self.body.operands(view.op).map(|v| self.body.value_type(v)).collect(),
        };
        let list = self.ctx.intern_type(TypeData::List(operands.into()));
        [types, &[list, list]].concat()
    }

    /// A list of numbers. They are doubles; integers that are not exact doubles are 64-bit integers.
    pub(super) fn numbers(&self, attr: Attr) -> Option<String> {
        let ctx = self.ctx;
        let items = match ctx.attr_data(attr) {
            AttrData::Elements(elements) => match elements.ints() {
                Some(ints) => {
                    let ints: Vec<i64> = ints.collect();
                    return self.numbers(ctx.ints_attr(&ints));
                }
                None => elements.floats()?.map(|v| json::float("0.a_f64", v)).collect(),
            },
            AttrData::Ints(values) if values.iter().any(|v| v.unsigned_abs() > 1 << 53) => {
                return Some(json::list("0.a_i64", values));
            }
            AttrData::Ints(values) => values.iter().map(|&v| json::float("0.a_f64", v as f64)).collect(),
            AttrData::Array(values) => {
                let number = |&value: &Attr| {
                    let truth = || ctx.attr_bool(value).map(|b| f64::from(u8::from(b)));
                    Some(json::float("0.a_f64", ctx.attr_f64(value).or_else(truth)?))
                };
                values.iter().map(number).collect::<Option<Vec<String>>>()?
            }
            _ => return None,
        };
        Some(json::plain("0.a_array", &format!("[{}]", items.join(","))))
    }

    /// A number that is saved with its type.
    pub(super) fn scalar(&self, attr: Option<Attr>, default: &str) -> Option<String> {
        let data = match attr.map(|a| self.ctx.attr_data(a)) {
            Some(AttrData::Int { value, .. }) => format!("[\"int64\",{value}]"),
            Some(AttrData::Bool(value)) => format!("[\"bool\",{value}]"),
            _ => {
                let value = attr.map_or(default.parse().ok(), |a| self.ctx.attr_f64(a));
                let value = value.filter(|value| value.is_finite())?;
                let name = if single(value) { "float32" } else { "float64" };
                format!("[\"{name}\",{value:?}]")
            }
        };
        Some(json::plain("1.a_scalar", &data))
    }

    /// A list of single numbers or of texts.
    pub(super) fn list(&self, attr: Option<Attr>, default: &str, single: bool) -> Option<String> {
        let ctx = self.ctx;
        let items = match attr.map(|a| ctx.attr_data(a)) {
            None if default.is_empty() => Vec::new(),
            Some(AttrData::Array(items)) => items.to_vec(),
            Some(AttrData::Ints(ints)) => ints.iter().map(|&n| ctx.int_attr(n)).collect(),
            _ => return None,
        };
        let item = |&item: &Attr| match single {
            true => ctx.attr_f64(item).map(|value| json::float("0.a_f32", value)),
            false => ctx.attr_str(item).map(json::text),
        };
        let items: Vec<String> = items.iter().map(item).collect::<Option<_>>()?;
        Some(json::plain("0.a_array", &format!("[{}]", items.join(","))))
    }
}
