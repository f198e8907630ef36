//! Operations without blocks.

use pir_dialects::formats::{self, ProgramDescForm};
use pir_dialects::marks::ABSENT_OPERANDS;
use pir_dialects::pd;
use pir_ir::{Attr, DYNAMIC, Diagnostic, Sym, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::defaults::is_noise;
use super::translate::Translator;
use super::{Attribute, Op, dtype, error};
use crate::paddle::build::SourceId;

type Done = Result<(), Diagnostic>;
type Attrs = Vec<(Sym, Attr)>;

impl<'t> Translator<'t, '_, '_> {
    pub(super) fn ordinary(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        // PaddlePaddle itself writes some attributes twice, with the same value.
        let mut named = FxHashMap::default();
        for (name, value) in &op.attributes {
            if named.insert(name, value).is_some_and(|before| before != value) {
                let message = format!("the attribute `{name}` of `{}` has two values", op.kind);
                return Err(error(op.span, message));
            }
        }
        match op.kind.as_str() {
            // An alias of the same value.
            "assign" => self.alias(op, "X"),
            "dropout" if op.int("is_test") == Some(1) => self.dropout(op),
            "fill_constant" => self.fill_constant(op),
            "cast" => {
                // The element type of the operand.
                op.understand(&["in_dtype"]);
                let ty = op.int("out_dtype").and_then(|code| dtype(ctx, code));
                let ty = ty.ok_or_else(|| error(op.span, "the result type of `cast` is unknown"))?;
                let attrs = vec![(ctx.sym("dtype"), ctx.type_attr(ty))];
                self.plain(op, pd::Cast::NAME, &["X"], &["Out"], attrs)
            }
            "fetch" => {
                let name = op
                    .input("X")
                    .ok_or_else(|| error(op.span, "a `fetch` without an operand"))?;
                let value = self.value(name, op.span)?;
                let attrs = vec![
                    (ctx.sym("name"), ctx.str_attr(name)),
                    (ctx.sym("col"), ctx.int_attr(op.int("col").unwrap_or(0))),
                ];
                self.fetches = true;
                self.emit(pd::Fetch::NAME, &[value], &[], attrs, op.span);
                Ok(())
            }
            "matmul" if op.attribute("alpha").is_none_or(|a| *a == Attribute::Float(1.0)) => {
                let mut attrs = Attrs::new();
                for (theirs, ours) in [("transpose_X", "transpose_x"), ("transpose_Y", "transpose_y")] {
                    attrs.push((ctx.sym(ours), ctx.bool_attr(op.int(theirs) == Some(1))));
                }
                self.plain(op, pd::Matmul::NAME, &["X", "Y"], &["Out"], attrs)
            }
            "mul"
                if op.int("y_num_col_dims").unwrap_or(1) == 1 && self.is_matrix(op, "Y") && self.is_matrix(op, "X") =>
            {
                self.plain(op, pd::Matmul::NAME, &["X", "Y"], &["Out"], Attrs::new())
            }
            "tril_triu" => {
                let name = if op.int("lower") == Some(0) {
                    pd::Triu::NAME
                } else {
                    pd::Tril::NAME
                };
                let attrs = vec![(ctx.sym("diagonal"), ctx.int_attr(op.int("diagonal").unwrap_or(0)))];
                self.plain(op, name, &["X"], &["Out"], attrs)
            }
            "hard_swish" => self.hard_swish(op),
            "lookup_table" => self.lookup_table(op),
            "flatten2" | "flatten" => self.flatten(op),
            "split" if op.int("num").is_some_and(|n| n > 0) => {
                let number = |name, usual| ctx.int_attr(op.int(name).unwrap_or(usual));
                let attrs = vec![(ctx.sym("num"), number("num", 1)), (ctx.sym("axis"), number("axis", 0))];
                self.plain(op, pd::SplitWithNum::NAME, &["X"], &["Out*"], attrs)
            }
            "range" => {
                let ty = op.outputs("Out").first().and_then(|name| self.declared(name));
                let attrs = ty.map(|(_, elem)| (ctx.sym("dtype"), ctx.type_attr(elem)));
                self.plain(
                    op,
                    pd::Arange::NAME,
                    &["Start", "End", "Step"],
                    &["Out"],
                    attrs.into_iter().collect(),
                )
            }
            "fill_zeros_like" | "fill_zeros_like2" => self.plain(
                op,
                pd::FullLike::NAME,
                &["X"],
                &["Out"],
                vec![(ctx.sym("value"), ctx.float_attr(0.0))],
            ),
            "assign_value" => self.assign_value(op),
            "write_to_array" | "read_from_array" | "lod_array_length" | "tensor_array_to_tensor" => self.on_array(op),
            kind => match formats::program_desc(kind) {
                Some(form) => self.renamed(op, form),
                None => self.unknown(op),
            },
        }
    }

    /// `x * min(max(x + offset, 0), threshold) / scale`.
    fn hard_swish(&mut self, op: &'t Op) -> Done {
        for (name, usual) in [("threshold", 6.0), ("scale", 6.0), ("offset", 3.0)] {
            let said = match op.attribute(name) {
                Some(Attribute::Float(value)) => *value,
                Some(Attribute::Int(value)) => *value as f64,
                _ => usual,
            };
            if said != usual {
                return Err(error(op.span, format!("a `hard_swish` whose `{name}` is not {usual}")));
            }
        }
        self.plain(op, pd::Hardswish::NAME, &["X"], &["Out"], Attrs::new())
    }

    /// An embedding whose indices have a last dimension of 1.
    fn lookup_table(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        self.only(op, &["Ids", "W"])?;
        let (Some(ids), Some(table), Some(out)) = (op.input("Ids"), op.input("W"), op.outputs("Out").first()) else {
            return Err(error(op.span, "`lookup_table` without an operand or its result"));
        };
        let ids = self.value(ids, op.span)?;
        let table = self.value(table, op.span)?;
        let attrs = vec![(ctx.sym("axis"), ctx.ints_attr(&[-1]))];
        let ty = self.builder.value_type(ids).unwrap_or(Type::NONE);
        let flat = self.emit(pd::Squeeze::NAME, &[ids], &[ty], attrs, op.span)[0];
        let padding = op.int("padding_idx").unwrap_or(-1);
        let attrs = vec![(ctx.sym("padding_idx"), ctx.int_attr(padding))];
        let ty = self.declared_type(Some(out));
        let id = self.emit(pd::Embedding::NAME, &[flat, table], &[ty], attrs, op.span)[0];
        self.bind(out, id);
        Ok(())
    }

    /// Flattens to two dimensions, split at an axis.
    fn flatten(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        let axis = op.int("axis").unwrap_or(1);
        let declared = op
            .input("X")
            .and_then(|name| self.declared(name))
            .map(|(shape, _)| shape);
        let wrong = || error(op.span, format!("the operand of `{}` has a dynamic shape", op.kind));
        let (before, behind) = declared
            .zip(usize::try_from(axis).ok())
            .and_then(|(shape, axis)| shape.split_at_checked(axis))
            .ok_or_else(wrong)?;
        let count = |dims: &[i64]| dims.iter().all(|&d| d >= 0).then(|| dims.iter().product::<i64>());
        let shape = match (count(before), count(behind)) {
            (Some(n), _) => [n, -1],
            (None, Some(n)) => [-1, n],
            (None, None) => return Err(wrong()),
        };
        let attrs = vec![(ctx.sym("shape"), ctx.ints_attr(&shape))];
        self.plain(op, pd::Reshape::NAME, &["X"], &["Out"], attrs)
    }

    /// A constant tensor, whose elements are in the list of their type.
    fn assign_value(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        let elem = op.int("dtype").and_then(|code| dtype(ctx, code));
        let elem = elem.ok_or_else(|| error(op.span, "`assign_value` has no element type"))?;
        let lists = [
            "values",
            "fp32_values",
            "fp64_values",
            "int32_values",
            "int64_values",
            "bool_values",
            "int8_values",
        ];
        let full = |attribute: &&Attribute| match attribute {
            Attribute::Ints(values) => !values.is_empty(),
            Attribute::Floats(values) => !values.is_empty(),
            _ => false,
        };
        let values = lists.iter().filter_map(|name| op.attribute(name)).find(full);
        let (Some(values), Some(Attribute::Ints(shape))) = (values, op.attribute("shape")) else {
            return Err(error(op.span, "`assign_value` has no values, or no shape"));
        };
        let attrs = vec![
            (ctx.sym("shape"), ctx.ints_attr(shape)),
            (ctx.sym("dtype"), ctx.type_attr(elem)),
            (ctx.sym("values"), self.attribute(values)),
        ];
        self.plain(op, pd::AssignValue::NAME, &[], &["Out"], attrs)
    }

    fn is_matrix(&mut self, op: &'t Op, parameter: &str) -> bool {
        let shape = op.input(parameter).and_then(|name| self.declared(name));
        shape.is_some_and(|(shape, _)| shape.len() == 2)
    }

    fn alias(&mut self, op: &'t Op, parameter: &str) -> Done {
        let (Some(from), Some(to)) = (op.input(parameter), op.outputs("Out").first()) else {
            return Err(error(
                op.span,
                format!("`{}` without its operand or its result", op.kind),
            ));
        };
        let value = self.value(from, op.span)?;
        self.bind(to, value);
        Ok(())
    }

    /// Dropout in inference: the identity, or a scaling.
    fn dropout(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        // The operation is deterministic.
        op.understand(&["dropout_prob", "seed", "fix_seed"]);
        let upscale = Attribute::Str("upscale_in_train".to_owned());
        if op.attribute("dropout_implementation") == Some(&upscale) {
            return self.alias(op, "X");
        }
        let p = match op.attribute("dropout_prob") {
            Some(Attribute::Float(p)) => *p,
            Some(Attribute::Int(p)) => *p as f64,
            _ => 0.5,
        };
        let attrs = vec![(ctx.sym("scale"), ctx.float_attr(1.0 - p))];
        self.plain(op, pd::Scale::NAME, &["X"], &["Out"], attrs)
    }

    fn fill_constant(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        self.only(op, &[])?;
        let wrong = |what: &str| error(op.span, format!("`fill_constant` has no {what}"));
        let elem = op
            .int("dtype")
            .and_then(|code| dtype(ctx, code))
            .ok_or_else(|| wrong("element type"))?;
        let Some(Attribute::Ints(shape)) = op.attribute("shape") else {
            return Err(wrong("shape"));
        };
        // The string is exact; it is empty in older programs.
        let text = match op.attribute("str_value") {
            Some(Attribute::Str(text)) => text.parse::<f64>().ok().map(|f| ctx.float_attr(f)),
            Some(Attribute::Int(int)) => Some(ctx.int_attr(*int)),
            Some(Attribute::Float(float)) => Some(ctx.float_attr(*float)),
            _ => None,
        };
        let value = text.or(match op.attribute("value") {
            Some(Attribute::Int(int)) => Some(ctx.int_attr(*int)),
            Some(Attribute::Float(float)) => Some(ctx.float_attr(*float)),
            _ => None,
        });
        let attrs = vec![
            (ctx.sym("shape"), ctx.ints_attr(shape)),
            (ctx.sym("value"), value.ok_or_else(|| wrong("value"))?),
            (ctx.sym("dtype"), ctx.type_attr(elem)),
        ];
        self.plain(op, pd::Full::NAME, &[], &["Out"], attrs)
    }

    /// Checks that an operation has no operands for other parameters.
    fn only(&self, op: &Op, parameters: &[&str]) -> Done {
        let known = |name: &str| parameters.iter().any(|p| p.trim_end_matches(['*', '?']) == name);
        match op
            .inputs
            .iter()
            .find(|(name, values)| !values.is_empty() && !known(name))
        {
            None => Ok(()),
            Some((name, _)) => Err(error(
                op.span,
                format!("the operand `{name}` of `{}` is not supported", op.kind),
            )),
        }
    }

    fn renamed(&mut self, op: &'t Op, form: &ProgramDescForm) -> Done {
        let ctx = self.builder.ctx;
        let mut attrs = Attrs::new();
        let whole = op.kind.starts_with("reduce_") && op.int("reduce_all") == Some(1);
        for &(theirs, ours) in form.attributes {
            match op.attribute(theirs) {
                // -1 is the element type of the operand, or the declared one.
                Some(Attribute::Int(..0)) if ours == "dtype" => {}
                Some(Attribute::Int(code)) if ours == "dtype" => {
                    let ty = dtype(ctx, *code);
                    let ty =
                        ty.ok_or_else(|| error(op.span, format!("the type {code} of `{}` is unknown", op.kind)))?;
                    attrs.push((ctx.sym(ours), ctx.type_attr(ty)));
                }
                Some(value) if !(whole && theirs == "dim") => attrs.push((ctx.sym(ours), self.attribute(value))),
                _ => {}
            }
        }
        if op.kind == "reduce_sum"
            && let Some(ty) = op.int("out_dtype").and_then(|code| dtype(ctx, code))
        {
            attrs.push((ctx.sym("dtype"), ctx.type_attr(ty)));
        }
        // Running statistics that stay unchanged: the variables keep their values.
        let set = |name: &str| op.int(name) == Some(1);
        let fixed =
            op.kind == "batch_norm" && (set("use_global_stats") || (set("is_test") && !set("trainable_statistics")));
        let outputs: Vec<&str> = (form.outputs.iter().copied())
            .map(|name| {
                if fixed && matches!(name, "MeanOut" | "VarianceOut") {
                    ""
                } else {
                    name
                }
            })
            .collect();
        self.plain(op, form.op, form.inputs, &outputs, attrs)
    }

    /// An operation with these parameters.
    fn plain(&mut self, op: &'t Op, name: &str, inputs: &[&str], outputs: &[&str], mut attrs: Attrs) -> Done {
        self.only(op, inputs)?;
        let mut operands: Vec<SourceId> = Vec::new();
        // An absent operand in the middle is recorded by its index, as elsewhere in this crate.
        let mut absent: Vec<i64> = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            let names = op.inputs(input.trim_end_matches(['*', '?']));
            if names.is_empty() && !input.ends_with(['*', '?']) {
                return Err(error(op.span, format!("`{}` has no operand `{input}`", op.kind)));
            }
            if names.is_empty() && input.ends_with('?') {
                absent.push(at as i64);
            }
            for name in names {
                operands.push(self.value(name, op.span)?);
            }
        }
        let mut end = inputs.len() as i64;
        while absent.last().is_some_and(|&at| at + 1 == end) {
            absent.pop();
            end -= 1;
        }
        if !absent.is_empty() {
            let ctx = self.builder.ctx;
            attrs.push(ABSENT_OPERANDS.entry(ctx, ctx.ints_attr(&absent)));
        }
        if op.kind.starts_with("elementwise_")
            && let Some(axis) = op.int("axis")
        {
            self.align(op, axis, &mut operands)?;
        }
        let mut names: Vec<Option<&'t str>> = Vec::new();
        for output in outputs {
            if let Some(output) = output.strip_suffix('?') {
                names.extend(op.outputs(output).iter().take(1).map(|name| Some(name.as_str())));
                continue;
            }
            match output.strip_suffix('*') {
                Some(output) => names.extend(op.outputs(output).iter().map(|name| Some(name.as_str()))),
                None => names.push(op.outputs(output).first().map(String::as_str)),
            }
        }
        let types: Vec<Type> = names.iter().map(|name| self.declared_type(*name)).collect();
        let ids = self.emit(name, &operands, &types, attrs, op.span);
        for (name, id) in names.into_iter().zip(ids) {
            if let Some(name) = name {
                self.bind(name, id);
            }
        }
        Ok(())
    }

    fn declared_type(&self, name: Option<&str>) -> Type {
        let ctx = self.builder.ctx;
        let declared = name.and_then(|n| self.declared(n));
        declared.map_or(Type::NONE, |(shape, elem)| {
            let shape: Vec<i64> = shape.iter().map(|&d| if d < 0 { DYNAMIC } else { d }).collect();
            ctx.tensor(&shape, elem)
        })
    }

    /// Reshapes the second operand so that its first dimension is aligned with dimension `axis` of the first.
    fn align(&mut self, op: &Op, axis: i64, operands: &mut [SourceId]) -> Done {
        let ctx = self.builder.ctx;
        let &mut [x, ref mut y] = operands else { return Ok(()) };
        let shape = |id: SourceId| self.builder.value_type(id).and_then(|ty| ctx.as_tensor(ty));
        let (Some((xs, _)), Some((ys, elem))) = (shape(x), shape(*y)) else {
            return Ok(());
        };
        let axis = usize::try_from(axis).unwrap_or(xs.len().saturating_sub(ys.len()));
        let behind = xs.len().saturating_sub(axis + ys.len());
        if behind == 0 || ys.len() >= xs.len() {
            return Ok(());
        }
        let mut dims = ys.to_vec();
        dims.extend(std::iter::repeat_n(1, behind));
        if dims.iter().filter(|&&d| d == DYNAMIC).count() > 1 {
            return Err(error(op.span, "an operand of unknown shape with `axis`"));
        }
        let said: Vec<i64> = dims.iter().map(|&d| if d == DYNAMIC { -1 } else { d }).collect();
        let attrs = vec![(ctx.sym("shape"), ctx.ints_attr(&said))];
        *y = self.emit(pd::Reshape::NAME, &[*y], &[ctx.tensor(&dims, elem)], attrs, op.span)[0];
        Ok(())
    }

    fn attribute(&self, value: &Attribute) -> Attr {
        let ctx = self.builder.ctx;
        let list = |items: Vec<Attr>| ctx.attr(pir_ir::AttrData::Array(items.into()));
        match value {
            Attribute::Bool(value) => ctx.bool_attr(*value),
            Attribute::Int(value) => ctx.int_attr(*value),
            Attribute::Float(value) => ctx.float_attr(*value),
            Attribute::Str(value) => ctx.str_attr(value),
            Attribute::Ints(values) => ctx.ints_attr(values),
            Attribute::Floats(values) => list(values.iter().map(|&v| ctx.float_attr(v)).collect()),
            Attribute::Strs(values) => list(values.iter().map(|v| ctx.str_attr(v)).collect()),
            Attribute::Block(index) => ctx.int_attr(*index as i64),
        }
    }

    /// An unknown operation: reported, or kept with all attributes.
    fn unknown(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        // An operation here of the same name has other operands and attributes, and the mapping is not known.
        if ctx.registered_op(&format!("pd.{}", op.kind)).is_some() {
            return Err(error(op.span, format!("`{}` is not supported", op.kind)));
        }
        // The operation keeps all attributes.
        op.attributes.iter().for_each(|(name, _)| op.understand(&[name]));
        let mut operands = Vec::new();
        for name in op.inputs.iter().flat_map(|(_, names)| names) {
            operands.push(self.value(name, op.span)?);
        }
        let mut named = FxHashSet::default();
        let attrs: Attrs = op
            .attributes
            .iter()
            .filter(|(name, _)| !is_noise(name) && named.insert(name))
            .map(|(name, value)| (ctx.sym(name), self.attribute(value)))
            .collect();
        let names: Vec<&'t str> = op
            .outputs
            .iter()
            .flat_map(|(_, names)| names)
            .map(String::as_str)
            .collect();
        let types: Vec<Type> = names.iter().map(|&name| self.declared_type(Some(name))).collect();
        let ids = self.emit(&format!("pd.{}", op.kind), &operands, &types, attrs, op.span);
        for (name, id) in names.into_iter().zip(ids) {
            self.bind(name, id);
        }
        Ok(())
    }
}
