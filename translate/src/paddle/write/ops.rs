//! Operations without regions.

use pir_dialects::pd;

use pir_dialects::formats;
use pir_dialects::marks;
use pir_ir::{Arity, OpId, OpView, Type, TypeData, ValueId};

use super::super::inplace::changed_places;
use super::super::notes;
use super::forms::EQUAL_SHAPES;
use super::overwritten::has_fixed_statistics;
use super::{Id, Writer, json};

impl Writer<'_> {
    /// A constant of one number.
    pub(super) fn full(&mut self, shape: &[i64], value: f64, elem: Type) -> Id {
        let ty = self.ctx.tensor(shape, elem);
        self.constant(shape, value, ty, "cpu")
    }

    /// The same as an operand that PaddlePaddle's operation does not change.
    pub(super) fn read_only(&mut self, shape: &[i64], value: f64, elem: Type) -> Id {
        self.outside(format!("{value} {shape:?} {elem:?}"), |w| w.full(shape, value, elem))
    }

    fn constant(&mut self, shape: &[i64], value: f64, ty: Type, place: &str) -> Id {
        let mut data = String::new();
        json::integers(shape.iter().copied(), &mut data);
        let mut attrs = String::new();
        json::entry("shape", &json::plain("1.a_intarray", &data), &mut attrs);
        json::entry("value", &json::float("0.a_f64", value), &mut attrs);
        let elem = self.ctx.elem_type(ty);
        match json::dtype_attr(self.ctx, Some(elem)) {
            Ok(text) => json::entry("dtype", &text, &mut attrs),
            Err(message) => self.type_error(message),
        }
        json::entry("place", &json::place(place), &mut attrs);
        self.raw("1.full", &attrs, &[], &[ty])
    }

    pub(super) fn integers(&mut self, values: &[i64]) -> Id {
        let ty = self.ctx.tensor(&[values.len() as i64], Type::I64);
        let mut attrs = String::new();
        json::entry("value", &json::list("0.a_i64", values), &mut attrs);
        json::entry("dtype", &json::plain("1.a_dtype", "\"int64\""), &mut attrs);
        json::entry("place", &json::place("cpu"), &mut attrs);
        self.raw("1.full_int_array", &attrs, &[], &[ty])
    }

    /// A number as an operand of an operation with results of this type. Paddle's numbers have single precision: used
    /// if that is exact, or if the operation computes in it.
    pub(super) fn number(&mut self, value: f64, ty: Option<&Type>) -> Id {
        let narrow = ty.is_some_and(|&ty| matches!(self.ctx.elem_type(ty), Type::F32 | Type::F16 | Type::BF16));
        self.read_only(&[1], value, if narrow || single(value) { Type::F32 } else { Type::F64 })
    }

    /// A value plus a number.
    pub(super) fn shifted(&mut self, value: Id, by: f64, ty: Type) -> Id {
        let one = self.read_only(&[1], 1.0, Type::F32);
        let mut attrs = String::new();
        json::entry("bias", &json::float("0.a_f32", by), &mut attrs);
        json::entry("bias_after_scale", &json::plain("0.a_bool", "true"), &mut attrs);
        self.raw("1.scale", &attrs, &[value, one], &[ty])
    }

    pub(super) fn ordinary(&mut self, op: OpId) {
        let written = self.copies_before(op).and_then(|copies| {
            let lists = self.combined_here(op, &self.body.operands_vec(op));
            let done = self.try_ordinary(op);
            lists.into_iter().for_each(|(list, id)| self.bind(list, id));
            done?;
            copies.into_iter().for_each(|(value, copy)| self.bind(value, copy));
            Ok(())
        });
        if let Err(message) = written {
            let name = self.ctx.op_str(self.body.op_name(op));
            let message = format!("`{name}` cannot be written for PaddlePaddle: {message}");
            self.error(op, "unwritable-op", message);
        }
    }

    fn try_ordinary(&mut self, op: OpId) -> Result<(), String> {
        let (ctx, body) = (self.ctx, self.body);
        let view = body.view(ctx, op);
        let operands: Vec<Id> = body.operands(op).map(|v| self.id(v)).collect();
        let types: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
        // PaddlePaddle's executor may have freed what is in a list that was combined outside of a loop.
        let list = view.operand(0).filter(|_| view.name() == "builtin.split");
        if let Some(list) = list.and_then(|list| body.defining_op(list))
            && body.view(ctx, list).name() == "builtin.combine"
        {
            let values: Vec<Id> = body.operands(list).map(|v| self.id(v)).collect();
            body.results(op)
                .zip(values)
                .for_each(|(result, id)| self.bind(result, id));
            return Ok(());
        }
        // An absent type would be read as an absent result.
        if body
            .results(op)
            .zip(&types)
            .any(|(v, &ty)| ty == Type::NONE && body.uses(v).next().is_some())
        {
            return Err("the type of its result is unknown".to_owned());
        }
        let name = view.name();
        let Some(short) = name.strip_prefix("pd.").filter(|_| view.def().is_some()) else {
            return self.opaque(view, &operands, &types);
        };
        match self.special(op, short, &operands, &types)? {
            true => Ok(()),
            false => self.by_form(op, short, types),
        }
    }

    /// Writes an operation whose form in PaddlePaddle is not declared by its row; `false` for others.
    fn special(&mut self, op: OpId, short: &str, operands: &[Id], types: &[Type]) -> Result<bool, String> {
        let (ctx, body) = (self.ctx, self.body);
        let view = body.view(ctx, op);
        let mut attrs = String::new();
        match short {
            "data" => {
                let ty = types.first().copied().unwrap_or(Type::NONE);
                let (shape, elem) = ctx.as_tensor(ty).ok_or("its type is unknown")?;
                json::entry("name", &json::text(view.str("name").unwrap_or("")), &mut attrs);
                let mut dims = String::new();
                json::integers(shape.iter().map(|&d| d.max(-1)), &mut dims);
                json::entry("shape", &json::plain("1.a_intarray", &dims), &mut attrs);
                json::entry("dtype", &json::dtype_attr(ctx, Some(elem))?, &mut attrs);
                json::entry("place", &json::place(""), &mut attrs);
                if view.bool("stop_gradient") == Some(true) {
                    self.stops.insert(self.next);
                }
                self.persistable = view.bool("persistable") == Some(true);
                self.finish(op, "1.data", &attrs, operands, types)?;
            }
            "parameter" => self.parameter(op)?,
            "detach" => {
                self.force = Some(true);
                let ty = types.first().copied().unwrap_or(Type::NONE);
                let id = self.assign(operands.first().copied().unwrap_or(0), ty);
                self.bind(body.result(op, 0), id);
            }
            "feed" => {
                json::entry("name", &json::text(view.str("name").unwrap_or("")), &mut attrs);
                json::entry(
                    "col",
                    &json::plain("0.a_i32", &view.int("col").unwrap_or(0).to_string()),
                    &mut attrs,
                );
                self.finish(op, "1.feed", &attrs, operands, types)?;
            }
            "fetch" => {
                json::entry("name", &json::text(view.str("name").unwrap_or("")), &mut attrs);
                // Two fetches of one column would be merged.
                json::entry("col", &json::plain("0.a_i32", &self.fetched.to_string()), &mut attrs);
                self.fetched += 1;
                let types: Vec<Type> = body.operands(op).take(1).map(|v| body.value_type(v)).collect();
                self.raw("1.fetch", &attrs, operands, &types);
            }
            "full" | "const" | "constant" => {
                let ty = types.first().copied().unwrap_or(Type::NONE);
                let value = view.attr("value").ok_or("it has no value")?;
                // The attribute is more specific than the type: an extent of 0 is static, a negative one dynamic.
                let shape = match view.ints("shape") {
                    Some(shape) => shape.to_vec(),
                    None => ctx.as_tensor(ty).ok_or("its type is unknown")?.0.to_vec(),
                };
                if let Some(extent) = shape.iter().find(|&&d| d < 0) {
                    return Err(format!("a constant cannot have a dimension of {extent}"));
                }
                if let Some(int) = ctx.attr_int(value)
                    && int.unsigned_abs() > 1 << 53
                {
                    return Err(format!(
                        "{int} cannot be represented as a double, in which constants are saved"
                    ));
                }
                let value = ctx
                    .attr_f64(value)
                    .or(ctx.attr_bool(value).map(|b| f64::from(u8::from(b))));
                self.force = view.bool("stop_gradient");
                let id = self.constant(&shape, value.ok_or("its value is not a number")?, ty, "");
                self.bind(body.result(op, 0), id);
            }
            "full_int_array" => {
                self.force = view.bool("stop_gradient");
                let id = self.integers(view.ints("value").ok_or("it has no value")?);
                self.bind(body.result(op, 0), id);
            }
            "neg" | "increment" | "scale" => self.scaled(op, view, operands, types)?,
            "pow" if view.attr("y").is_none() && operands.len() > 1 => {
                let ty = types.first().copied().unwrap_or(Type::NONE);
                let exponent = self.number_operand(view, 1, ty)?;
                let inputs = [operands.first().copied().unwrap_or(0), exponent];
                self.finish(op, "1.elementwise_pow", "", &inputs, types)?;
            }
            "pow" if view.f64("y").is_some_and(|y| !single(y)) => {
                let ty = types.first().copied().unwrap_or(Type::NONE);
                let elem = ctx.elem_type(ty);
                let exponent = self.read_only(&[1], view.f64("y").unwrap_or(1.0), elem);
                let inputs = [operands.first().copied().unwrap_or(0), exponent];
                self.finish(op, "1.elementwise_pow", "", &inputs, types)?;
            }
            // PaddlePaddle's operation has changed it already.
            "assign_out_" if self.is_statistic(view) => {
                let new = operands.first().copied().unwrap_or(0);
                self.bind(body.result(op, 0), new);
            }
            "inplace_add" => self.inplace_add(op, operands, types)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes an operation as its row declares.
    fn by_form(&mut self, op: OpId, short: &str, types: Vec<Type>) -> Result<(), String> {
        let (ctx, body) = (self.ctx, self.body);
        let view = body.view(ctx, op);
        let mut attrs = String::new();
        let form = formats::paddle(short).ok_or("PaddlePaddle has no such operation")?;
        if let Some(def) = view.def()
            && let Some(spec) = def
                .attrs
                .iter()
                .find(|s| view.attr(&s.name).is_some() && !form.has(&s.name))
        {
            return Err(format!("PaddlePaddle's operation has no `{}`", spec.name));
        }
        let inputs = self.inputs(view, form, &types)?;
        let inputs = match short {
            _ if EQUAL_SHAPES.contains(&short) => self.broadcast(view, inputs, &types),
            "put_along_axis" => {
                let inputs = self.spread_values(view, inputs);
                self.unaliased(view, inputs)
            }
            "batch_norm" => self.running_statistics(view, inputs),
            _ => self.unaliased(view, inputs),
        };
        let types = match short {
            "einsum" => self.with_caches(view, &types),
            // A result is absent if the operand that it replaces is.
            _ => match changed_places(short) {
                Some(places) => {
                    let mut given = types.iter().copied();
                    let is_given = |&place: &usize| inputs.get(place).is_some_and(|&id| id != 0);
                    let of = |place| is_given(&place).then(|| given.next()).flatten().unwrap_or(Type::NONE);
                    places.map(of).collect()
                }
                None => types,
            },
        };
        // PaddlePaddle does not compute what is absent.
        let is_product = matches!(short, "conv2d_grad" | "depthwise_conv2d_grad" | "matmul_grad");
        let unused = |(value, ty): (ValueId, Type)| if body.has_uses(value) { ty } else { Type::NONE };
        let types = match is_product && types.len() == body.num_results(op) {
            true => body.results(op).zip(types).map(unused).collect(),
            false => types,
        };
        let types = with_absent(view, types);
        for attribute in form.attributes {
            let text = self.attribute(view, attribute, &types)?;
            json::entry(attribute.name, &text, &mut attrs);
        }
        self.finish(op, &format!("1.{}", form.name), &attrs, &inputs, &types)
    }

    /// Copies running statistics, which PaddlePaddle changes in place and `pd` does not.
    fn running_statistics(&mut self, view: OpView<'_>, mut inputs: Vec<Id>) -> Vec<Id> {
        for at in [1, 2] {
            if has_fixed_statistics(view) || self.is_replaced(view, at) {
                continue;
            }
            let ty = view.operand_type(at).unwrap_or(Type::NONE);
            inputs[at] = self.assign(inputs[at], ty);
        }
        inputs
    }

    /// Writes an operation and binds its results. Paddle has a list for a variadic result.
    fn finish(&mut self, op: OpId, name: &str, attrs: &str, inputs: &[Id], types: &[Type]) -> Result<(), String> {
        let view = self.body.view(self.ctx, op);
        let variadic = view.def().is_some_and(|def| match &def.results[..] {
            [only] => only.arity == Arity::Variadic,
            _ => false,
        });
        self.force = view.bool("stop_gradient");
        let is_list = |ty: &Type| matches!(self.ctx.type_data(*ty), TypeData::List(_));
        let first = if variadic && !types.iter().any(is_list) {
            let list = self.ctx.intern_type(TypeData::List(types.into()));
            let whole = self.raw(name, attrs, inputs, &[list]);
            self.raw("0.split", "", &[whole], types)
        } else {
            self.raw(name, attrs, inputs, types)
        };
        let results = self.body.num_results(op);
        let places = (first..)
            .zip(types)
            .filter(|(_, ty)| types.len() <= results || **ty != Type::NONE);
        let places: Vec<Id> = match variadic {
            true => (first..).take(results).collect(),
            false => places.map(|(id, _)| id).collect(),
        };
        for (value, id) in self.body.results(op).zip(places) {
            self.bind(value, id);
        }
        Ok(())
    }

    /// A list of values.
    pub(super) fn combined(&mut self, values: &[ValueId]) -> Id {
        if let &[one] = values
            && matches!(self.ctx.type_data(self.body.value_type(one)), TypeData::List(_))
        {
            return self.id(one);
        }
        let types: Vec<Type> = values.iter().map(|&v| self.body.value_type(v)).collect();
        let ids: Vec<Id> = values.iter().map(|&v| self.id(v)).collect();
        let list = self.ctx.intern_type(TypeData::List(types.into()));
        self.raw("0.combine", "", &ids, &[list])
    }

    /// `scale * x + bias`. Paddle's bias is a single-precision attribute: a bias that is not exact, or that is
    /// computed, is added separately.
    fn scaled(&mut self, op: OpId, view: OpView<'_>, operands: &[Id], types: &[Type]) -> Result<(), String> {
        let ctx = self.ctx;
        let ty = types.first().copied().unwrap_or(Type::NONE);
        let x = operands.first().copied().unwrap_or(0);
        let elem = ctx.elem_type(ty);
        // The operands after the tensor are the missing attributes, in order.
        let mut computed = 1..operands.len();
        let mut part = |name: &str, default: f64| match view.attr(name) {
            Some(attr) => ctx
                .attr_f64(attr)
                .map(Ok)
                .ok_or_else(|| format!("`{name}` is not a number")),
            None => Ok(computed.next().map_or(Ok(default), Err)),
        };
        let (scale, bias) = match view.name() {
            pd::Neg::NAME => (Ok(-1.0), Ok(0.0)),
            pd::Increment::NAME => (Ok(1.0), part("value", 1.0)?),
            _ => (part("scale", 1.0)?, part("bias", 0.0)?),
        };
        if computed.next().is_some() {
            return Err("it has more operands than attributes".to_owned());
        }
        let after = view.bool("bias_after_scale").unwrap_or(true);
        // The bias that is added separately, and the one that the operation adds.
        let (apart, inside) = match bias {
            Ok(bias) if single(bias) || elem != Type::F64 => (None, bias),
            other => (Some(other), 0.0),
        };
        if apart.is_some() && !after {
            return Err("its bias is computed or not in single precision, and is added before scaling".to_owned());
        }
        let factor = match scale {
            Ok(scale) => self.number(scale, types.first()),
            Err(operand) => operands.get(operand).copied().unwrap_or(0),
        };
        let mut attrs = String::new();
        json::entry("bias", &json::float("0.a_f32", inside), &mut attrs);
        let after = json::plain("0.a_bool", if after { "true" } else { "false" });
        json::entry("bias_after_scale", &after, &mut attrs);
        self.force = view.bool("stop_gradient");
        let mut id = self.raw("1.scale", &attrs, &[x, factor], types);
        if let Some(bias) = apart {
            let bias = match bias {
                // PaddlePaddle would give a number a dimension.
                Ok(bias) => match ctx.as_tensor(ty) {
                    Some(([], _)) => self.read_only(&[], bias, elem),
                    _ => self.read_only(&[1], bias, elem),
                },
                Err(operand) => self.number_operand(view, operand, ty)?,
            };
            self.force = view.bool("stop_gradient");
            id = self.raw("1.add", "", &[id, bias], types);
        }
        self.bind(self.body.result(op, 0), id);
        Ok(())
    }

    /// `pd.add_`, which redefines its first operand: within one block that needs no change in place.
    fn inplace_add(&mut self, op: OpId, operands: &[Id], types: &[Type]) -> Result<(), String> {
        let body = self.body;
        let target = body.operand(op, 0);
        if body.value_block(target) != body.op_block(op) {
            // Its executor does not order a loop before reads of what the loop changes.
            return Err("it changes a value of the surrounding region; omit `inplace-accumulate`".to_owned());
        }
        let ty = body.value_type(target);
        let id = self.raw("1.add", "", operands, &[ty]);
        self.bind(target, id);
        if types.len() == 1 {
            self.bind(body.result(op, 0), id);
        }
        Ok(())
    }

    fn parameter(&mut self, op: OpId) -> Result<(), String> {
        let (ctx, body) = (self.ctx, self.body);
        let view = body.view(ctx, op);
        let mut name = String::new();
        json::string(view.str("name").unwrap_or(""), &mut name);
        let mut ty = String::new();
        json::type_of(ctx, body.value_type(body.result(op, 0)), &mut ty)?;
        let stop = view.bool("stop_gradient").unwrap_or(false);
        let flag = |name: &str, usual: bool| u8::from(view.bool(name).unwrap_or(usual));
        let a = [
            flag("is_distributed", false),
            flag("is_parameter", true),
            flag("need_clip", true),
        ];
        let (persistable, trainable) = (flag("persistable", true), flag("trainable", !stop));
        let id = self.next;
        self.next += 1;
        if stop {
            self.stops.insert(id);
        }
        let stop = u8::from(stop);
        if !self.out.ends_with('[') {
            self.out.push(',');
        }
        self.out.push_str(&format!(
            r##"{{"#":"p","A":[{},{},{},{name}],"DA":[],"QA":[],"O":{{"%":{id},"TT":{ty}}},"OA":[{persistable},{stop},{trainable}]}}"##,
            a[0], a[1], a[2]
        ));
        self.bind(body.result(op, 0), id);
        Ok(())
    }

    /// An unknown operation: written as it was read.
    fn opaque(&mut self, view: OpView<'_>, operands: &[Id], types: &[Type]) -> Result<(), String> {
        let (ctx, body, op) = (self.ctx, self.body, view.op);
        let (dialect, name) = view.name().split_once('.').ok_or("it belongs to no dialect")?;
        let number = match dialect {
            "builtin" => "0",
            "pd" => "1",
            "cf" => "2",
            "custom_op" => "3",
            "dist" => "4",
            other => return Err(format!("PaddlePaddle does not load the dialect `{other}`")),
        };
        let mut attrs = String::new();
        for &(key, value) in ctx.dict_entries(body.attrs(op)) {
            let key = ctx.str(key);
            let key = key.strip_prefix(notes::PREFIX).unwrap_or(key);
            if !marks::is_mark(ctx, key) {
                json::entry(key, &json::untyped(ctx, key, value)?, &mut attrs);
            }
        }
        // Absent operands and results keep their positions.
        let mut inputs = operands.to_vec();
        for &at in view.ints("absent_operands").unwrap_or(&[]) {
            let at = usize::try_from(at).unwrap_or(0).min(inputs.len());
            inputs.insert(at, 0);
        }
        let mut results = types.to_vec();
        let mut values: Vec<Option<ValueId>> = body.results(op).map(Some).collect();
        for &at in view.ints("absent_results").unwrap_or(&[]) {
            let at = usize::try_from(at).unwrap_or(0).min(results.len());
            results.insert(at, Type::NONE);
            values.insert(at, None);
        }
        self.force = view.bool("stop_gradient");
        let first = self.raw(&format!("{number}.{name}"), &attrs, &inputs, &results);
        for (at, value) in values.into_iter().enumerate() {
            if let Some(value) = value {
                self.bind(value, first + at as Id);
            }
        }
        Ok(())
    }
}

/// The types of the results at PaddlePaddle's positions: none for those that are absent.
fn with_absent(view: OpView<'_>, mut types: Vec<Type>) -> Vec<Type> {
    for &at in view.ints("absent_results").unwrap_or(&[]) {
        let at = usize::try_from(at).unwrap_or(0).min(types.len());
        types.insert(at, Type::NONE);
    }
    types
}

/// Whether the number is exact in single precision.
pub(super) fn single(value: f64) -> bool {
    value.is_nan() || f64::from(value as f32) == value
}
