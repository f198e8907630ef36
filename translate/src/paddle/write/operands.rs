//! Operands and attributes as PaddlePaddle's operations take them.

use pir_dialects::formats::{PaddleAttribute, PaddleForm, PaddleOperand};
use std::collections::VecDeque;

use pir_dialects::pd;
use pir_ir::{Arity, Attr, OpView, Type, TypeData, ValueId};

use super::super::notes;
use super::{Id, Writer, json};

impl Writer<'_> {
    /// The operands in Paddle's order.
    pub(super) fn inputs(&mut self, view: OpView<'_>, form: &PaddleForm, types: &[Type]) -> Result<Vec<Id>, String> {
        let (ctx, body) = (self.ctx, self.body);
        let def = view.def().ok_or("it is not defined")?;
        let absent = view.ints("absent_operands").unwrap_or(&[]);
        let mut tensors: VecDeque<ValueId> = body.operands(view.op).collect();
        // Each declared operand with its values; `None` if it is absent.
        let mut given: Vec<(&str, Option<Vec<ValueId>>)> = Vec::with_capacity(def.operands.len());
        let mut index = 0;
        for (at, spec) in def.operands.iter().enumerate() {
            // Attributes that may be operands are declared as operands too.
            if view.attr(&spec.name).is_some() {
                continue;
            }
            let behind = def
                .operands
                .iter()
                .skip(at + 1)
                .filter(|o| o.arity == Arity::One)
                .count();
            let group = match spec.arity {
                Arity::Variadic if tensors.front().is_some_and(|&v| is_list(self, v)) => {
                    tensors.pop_front().map(|v| vec![v])
                }
                Arity::Variadic => {
                    let count = tensors.len().saturating_sub(behind);
                    Some(tensors.drain(..count).collect())
                }
                _ if absent.contains(&index) => None,
                Arity::Optional if tensors.len() <= behind => None,
                _ => tensors.pop_front().map(|v| vec![v]),
            };
            index += 1;
            given.push((&spec.name, group));
        }
        if !tensors.is_empty() {
            return Err("it has more operands than its definition".to_owned());
        }
        // An operand without a position in Paddle's form must not be dropped.
        let has_place = |name: &str| {
            form.operands.iter().any(|input| match *input {
                PaddleOperand::Value(n)
                | PaddleOperand::Shaped(n, _)
                | PaddleOperand::Ints(n)
                | PaddleOperand::Number(n, _) => n == name,
            })
        };
        if let Some((name, _)) = given.iter().find(|(name, group)| group.is_some() && !has_place(name)) {
            return Err(match form.has(name) {
                true => format!("`{name}` is computed, but is an attribute in PaddlePaddle"),
                false => format!("PaddlePaddle's operation has no operand `{name}`"),
            });
        }
        let mut inputs = Vec::with_capacity(form.operands.len());
        for input in form.operands {
            let value = |name: &str| given.iter().find(|(n, _)| *n == name).and_then(|(_, g)| g.clone());
            let list = |name: &str| {
                def.operands
                    .iter()
                    .any(|o| o.name == name && o.arity == Arity::Variadic)
            };
            inputs.push(match *input {
                PaddleOperand::Value(name) => match value(name) {
                    Some(group) if list(name) => self.combined(&group),
                    Some(group) => group.first().map_or(0, |&v| self.id(v)),
                    None => 0,
                },
                PaddleOperand::Shaped(name, shape) => match value(name).and_then(|g| g.first().copied()) {
                    Some(v) => self.id(v),
                    None => {
                        let shape = view
                            .ints(shape)
                            .ok_or_else(|| format!("it has neither `{name}` nor `{shape}`"))?;
                        let elem = types.first().map_or(Type::F32, |&ty| ctx.elem_type(ty));
                        self.read_only(shape, 0.0, elem)
                    }
                },
                PaddleOperand::Ints(name) | PaddleOperand::Number(name, _) => match (view.attr(name), value(name)) {
                    (Some(attr), _) => {
                        let attr = if name == "axis" {
                            self.counted_from_front(view, attr)
                        } else {
                            attr
                        };
                        self.constant_input(*input, attr, name, types)?
                    }
                    (None, Some(group)) => group.first().map_or(0, |&v| self.id(v)),
                    (None, None) => {
                        let spec = def.attrs.iter().find(|s| s.name == name);
                        let default = spec.and_then(|s| s.default.as_deref());
                        let attr = self.default(default.ok_or_else(|| format!("it has no `{name}`"))?);
                        self.constant_input(*input, attr, name, types)?
                    }
                },
            });
        }
        Ok(inputs)
    }

    /// An axis as a non-negative number: some of Paddle's kernels leave the conversion to Python code.
    pub(super) fn counted_from_front(&self, view: OpView<'_>, axis: Attr) -> Attr {
        let ctx = self.ctx;
        let ty = match view.name() {
            // Their first operands are indices.
            pd::GatherGrad::NAME | pd::IndexSelectGrad::NAME => view.result_type(0),
            _ => view.operand_type(0),
        };
        let rank = ty.and_then(|ty| match ctx.type_data(ty) {
            TypeData::List(items) => items.first().and_then(|&ty| ctx.as_tensor(ty)),
            _ => ctx.as_tensor(ty),
        });
        match (ctx.attr_int(axis), rank) {
            (Some(at @ ..0), Some((shape, _))) => ctx.int_attr(at + shape.len() as i64),
            _ => axis,
        }
    }

    /// A constant that is an operand in PaddlePaddle's form, by the text of its kind, value and type. In a loop it would be an operation in
    /// each iteration: it is written in front of the outermost loop or branch, once.
    pub(super) fn outside(&mut self, key: String, write: impl FnOnce(&mut Self) -> Id) -> Id {
        if self.open == 0 || !self.hoist {
            return write(self);
        }
        if let Some(&id) = self.outside.get(&key) {
            return id;
        }
        let inside = self.out.split_off(self.top);
        let id = write(self);
        self.top = self.out.len();
        if inside.starts_with('{') {
            self.out.push(',');
        }
        self.out.push_str(&inside);
        self.outside.insert(key, id);
        id
    }

    pub(super) fn constant_input(
        &mut self,
        input: PaddleOperand,
        attr: Attr,
        name: &str,
        types: &[Type],
    ) -> Result<Id, String> {
        match input {
            PaddleOperand::Ints(_) => {
                let one = self.ctx.attr_int(attr).map(|i| vec![i]);
                let ints = self.ctx.attr_ints(attr).map(<[i64]>::to_vec).or(one);
                let ints = ints.ok_or_else(|| format!("`{name}` is not a list of integers"))?;
                Ok(self.outside(format!("{ints:?}"), |w| w.integers(&ints)))
            }
            _ => {
                let value = self.ctx.attr_f64(attr);
                let value = value.ok_or_else(|| format!("`{name}` is not a number"))?;
                Ok(match input {
                    PaddleOperand::Number(_, Some(ty)) => self.read_only(&[1], value, ty),
                    _ => self.number(value, types.first()),
                })
            }
        }
    }

    /// The default of an attribute, as spelled in the op table.
    pub(super) fn default(&self, text: &str) -> Attr {
        let ctx = self.ctx;
        if let Some(inside) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            let ints: Vec<i64> = inside.split(',').filter_map(|n| n.trim().parse().ok()).collect();
            return ctx.ints_attr(&ints);
        }
        match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(int), _) => ctx.int_attr(int),
            (_, Ok(float)) => ctx.float_attr(float),
            _ => ctx.str_attr(text.trim_matches('"')),
        }
    }

    /// An attribute in Paddle's form.
    pub(super) fn attribute(
        &self,
        view: OpView<'_>,
        attribute: &PaddleAttribute,
        types: &[Type],
    ) -> Result<String, String> {
        let ctx = self.ctx;
        let PaddleAttribute { name, kind, default } = *attribute;
        let attr = notes::get(view, name);
        let wrong = || format!("`{name}` does not have the attribute type of PaddlePaddle");
        Ok(match kind {
            "bool" => {
                let value = attr
                    .map_or(Some(default == "true"), |a| ctx.attr_bool(a))
                    .ok_or_else(wrong)?;
                json::plain("0.a_bool", if value { "true" } else { "false" })
            }
            "i32" | "i64" => {
                let value = attr
                    .map_or(default.parse().ok(), |a| ctx.attr_int(a))
                    .ok_or_else(wrong)?;
                if kind == "i32" && i32::try_from(value).is_err() {
                    return Err(format!("{value} does not fit in `{name}`"));
                }
                json::plain(&format!("0.a_{kind}"), &value.to_string())
            }
            "f32" | "f64" => {
                let value = attr
                    .map_or(default.parse().ok(), |a| ctx.attr_f64(a))
                    .ok_or_else(wrong)?;
                json::float(&format!("0.a_{kind}"), value)
            }
            "numbers" if attr.is_some() || !default.is_empty() => {
                self.numbers(attr.ok_or_else(wrong)?).ok_or_else(wrong)?
            }
            "numbers" => json::plain("0.a_array", "[]"),
            "scalar" => self.scalar(attr, default).ok_or_else(wrong)?,
            "f32s" | "strs" => self.list(attr, default, kind == "f32s").ok_or_else(wrong)?,
            "str" => json::text(attr.map_or(Some(default), |a| ctx.attr_str(a)).ok_or_else(wrong)?),
            "i32s" | "i64s" | "int_array" => {
                let of_result = || types.first().and_then(|&ty| ctx.as_tensor(ty)).map(|(s, _)| s.to_vec());
                let ones = || view.ints("axes").map(|axes| vec![1; axes.len()]);
                let values = match (attr, default) {
                    (Some(attr), _) => {
                        let one = ctx.attr_int(attr).map(|i| vec![i]);
                        ctx.attr_ints(attr).map(<[i64]>::to_vec).or(one)
                    }
                    (None, "shape(out)") => of_result(),
                    (None, "ones(axes)") => ones(),
                    (None, text) => Some(text.split(',').filter_map(|n| n.parse().ok()).collect()),
                };
                let mut values = values.ok_or_else(wrong)?;
                let rank = view
                    .operand_type(0)
                    .and_then(|ty| ctx.as_tensor(ty))
                    .map(|(s, _)| s.len());
                // Kernels do not know axes that are counted from the end.
                if let ("axes", Some(rank)) = (name, rank) {
                    values
                        .iter_mut()
                        .filter(|at| **at < 0)
                        .for_each(|at| *at += rank as i64);
                }
                if kind == "int_array" {
                    let mut data = String::new();
                    json::integers(values, &mut data);
                    return Ok(json::plain("1.a_intarray", &data));
                }
                json::list(&format!("0.a_{}", kind.trim_end_matches('s')), &values)
            }
            "dtype" => match attr {
                Some(attr) => json::dtype_attr(ctx, Some(ctx.attr_type(attr).ok_or_else(wrong)?))?,
                None if default.is_empty() => json::dtype_attr(ctx, None)?,
                None => json::plain("1.a_dtype", &format!("\"{default}\"")),
            },
            _ => json::place(attr.and_then(|a| ctx.attr_str(a)).unwrap_or("")),
        })
    }

    /// A computed number, as an operand of an elementwise operation: of the result type.
    pub(super) fn number_operand(&mut self, view: OpView<'_>, index: usize, result: Type) -> Result<Id, String> {
        let ctx = self.ctx;
        let value = self.body.operand(view.op, index);
        let (dims, from) = ctx
            .as_tensor(self.body.value_type(value))
            .ok_or("its operand is not a tensor")?;
        let rank = ctx.as_tensor(result).map_or(0, |(dims, _)| dims.len());
        if dims.iter().any(|&d| d != 1) {
            return Err("its operand may not be a single number".to_owned());
        }
        let (mut id, mut ty) = (self.id(value), self.body.value_type(value));
        let elem = ctx.elem_type(result);
        // An operand of higher rank would change the rank of the result.
        if dims.len() > rank {
            let shape: Vec<i64> = vec![1; rank];
            ty = ctx.tensor(&shape, from);
            let target = self.integers(&shape);
            id = self.raw("1.reshape", "", &[id, target], &[ty]);
        }
        if from != elem {
            let mut attrs = String::new();
            json::entry("dtype", &json::dtype_attr(ctx, Some(elem))?, &mut attrs);
            let shape = ctx.as_tensor(ty).map_or(&[][..], |(dims, _)| dims).to_vec();
            id = self.raw("1.cast", &attrs, &[id], &[ctx.tensor(&shape, elem)]);
        }
        Ok(id)
    }
}

fn is_list(writer: &Writer<'_>, value: ValueId) -> bool {
    matches!(writer.ctx.type_data(writer.body.value_type(value)), TypeData::List(_))
}
