//! PaddlePaddle's operations that are compositions of others: each has a row that comes from PaddlePaddle's
//! declaration, and a function that builds its composition. Execution and differentiation use the composition; programs
//! for PaddlePaddle keep the operation. If the function refuses the attributes or shapes, the operation is treated like
//! the others that are only declared.

mod attention;
mod complex;
mod gradients;
mod image;
mod math;
pub(crate) mod matrix;
mod places;
mod shape;
mod special;
mod statistics;
mod window;

use std::sync::{Arc, LazyLock};

use pir_ir::verify::compatible;
use pir_ir::{
    Attr, AttrDict, Body, DYNAMIC, InferArgs, OpDef, OpId, OpSpec, OpView, Rewriter, Semantics, Speculatability, Type,
    TypeData, ValueId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::infer::broadcast;
use super::{Building, Expr, ExprScope};

pub use math::BERNOULLI;

/// Builds the results of an operation.
type Compose = for<'c> fn(&Call<'c>) -> Result<Vec<Expr<'c>>, String>;

/// The largest number that an attribute may be, so that products with extents do not overflow.
const MOST: i64 = 1 << 14;

/// Whether a shape is known, and no product of extents and attributes overflows.
fn is_small(shape: &[i64]) -> bool {
    let count = shape
        .iter()
        .try_fold(1i64, |count, &extent| count.checked_mul(extent.max(1)));
    shape.iter().all(|&extent| extent >= 0) && count.is_some_and(|count| count <= 1 << 32)
}

/// Whether a table is short enough to be written in the program: of indices, of weights, of what is in a mask.
fn fits_in_table(extents: &[i64]) -> Result<(), String> {
    let count = extents
        .iter()
        .try_fold(1i64, |count, &extent| count.checked_mul(extent.max(0)));
    match count {
        Some(count) if count <= 1 << 22 => Ok(()),
        _ => Err(format!("a table of {extents:?} is too large")),
    }
}

/// The functions by operation.
fn functions() -> impl Iterator<Item = &'static (&'static str, Compose)> {
    [
        math::OPS,
        shape::OPS,
        places::OPS,
        special::OPS,
        statistics::OPS,
        image::OPS,
        window::OPS,
        matrix::OPS,
        complex::OPS,
        gradients::OPS,
        attention::OPS,
    ]
    .into_iter()
    .flatten()
}

/// Gives an operation its composition, if it has one.
pub(super) fn attach(def: &mut OpDef) {
    /// By name without the dialect.
    static COMPOSITIONS: LazyLock<FxHashMap<&'static str, Compose>> = LazyLock::new(|| functions().copied().collect());
    let function = def.name.strip_prefix("pd.").and_then(|name| COMPOSITIONS.get(name));
    if let Some(&function) = function {
        def.semantics = Some(Arc::new(Composed(function)));
    }
}

/// Whether the composition of an operation contains operations that PaddlePaddle does not have.
pub(super) fn leaves_pd(op: &str) -> bool {
    op.strip_prefix("pd.")
        .is_some_and(|op| matrix::OPS.iter().chain(complex::OPS).any(|(name, _)| *name == op))
}

/// The operation that is built, with its operands as expressions.
pub(super) struct Call<'c> {
    pub(super) scope: ExprScope<'c>,
    def: &'c OpDef,
    attrs: AttrDict,
    operands: Vec<SmallVec<[ValueId; 2]>>,
    /// The types of the results as written.
    pub(super) results: SmallVec<[Type; 2]>,
}

impl<'c> Call<'c> {
    /// The values of an operand, by its name.
    pub(super) fn all(&self, name: &str) -> Vec<Expr<'c>> {
        let place = self.def.operands.iter().position(|spec| spec.name == name);
        let group = place.and_then(|place| self.operands.get(place));
        group
            .into_iter()
            .flatten()
            .map(|&value| self.scope.expr(value))
            .collect()
    }

    /// The elements of an operand that is a list in PaddlePaddle, be it one here or not.
    pub(super) fn members(&self, name: &str) -> Vec<Expr<'c>> {
        let all = self.all(name);
        let (&[list], ctx) = (&all[..], self.scope.context()) else {
            return all;
        };
        match (list.ty().map(|ty| ctx.type_data(ty)), list.id()) {
            (Some(TypeData::List(types)), Some(id)) => self.scope.build_all("builtin.split", &[id], &[], types),
            _ => all,
        }
    }

    /// An operand that may be absent.
    pub(super) fn some(&self, name: &str) -> Option<Expr<'c>> {
        self.all(name).first().copied()
    }

    /// An operand.
    pub(super) fn x(&self, name: &str) -> Result<Expr<'c>, String> {
        self.some(name)
            .ok_or_else(|| format!("the operand `{name}` is missing"))
    }

    /// The shape of an operand, which must be known.
    pub(super) fn shape(&self, name: &str) -> Result<Vec<i64>, String> {
        let shape = self.x(name)?.static_shape();
        shape
            .filter(|shape| is_small(shape))
            .ok_or_else(|| format!("the shape of `{name}` must be static"))
    }

    /// The shape of the only result as written, which must be known.
    pub(super) fn result_shape(&self) -> Result<Vec<i64>, String> {
        let tensor = self.results.first().and_then(|&ty| self.scope.context().as_tensor(ty));
        let shape = tensor.map(|(shape, _)| shape.to_vec()).filter(|shape| is_small(shape));
        shape.ok_or_else(|| "the shape of the result must be static".to_owned())
    }

    /// The same of images or volumes: what is left open of the first two dimensions, which are no places, is as in an operand of this shape.
    pub(super) fn result_like(&self, x: &[i64]) -> Result<Vec<i64>, String> {
        let tensor = self.results.first().and_then(|&ty| self.scope.context().as_tensor(ty));
        let shape = tensor
            .map(|(shape, _)| shape.to_vec())
            .filter(|shape| shape.len() == x.len());
        let shape = shape.map(|mut shape| {
            for (extent, &own) in shape.iter_mut().zip(x).take(2) {
                *extent = if *extent == DYNAMIC { own } else { *extent };
            }
            shape
        });
        let shape = shape.filter(|shape| is_small(shape));
        shape.ok_or_else(|| "the shape of the result must be static".to_owned())
    }

    /// Two operands, both of the shape that they have together.
    pub(super) fn spread(&self, names: [&str; 2]) -> Result<[Expr<'c>; 2], String> {
        let (a, b) = (self.shape(names[0])?, self.shape(names[1])?);
        let shape = broadcast(&a, &b)?;
        let [x, y] = [self.x(names[0])?, self.x(names[1])?];
        Ok([x, y].map(|x| if x.dims() == &*shape { x } else { x.expand(&*shape) }))
    }

    /// Composes with the channels of `input` before its spatial dimensions; if they are last, between transposes.
    pub(super) fn channels_first(&self, input: &str, compose: Compose) -> Result<Vec<Expr<'c>>, String> {
        let first = match &*self.text("data_format")? {
            "NHWC" => "NCHW",
            "NDHWC" => "NCDHW",
            "NWC" => "NCW",
            _ => return compose(self),
        };
        let (ctx, x) = (self.scope.context(), self.x(input)?);
        let rank = x.rank();
        if rank < 3 {
            return Err(format!("`{input}` must have at least three dimensions"));
        }
        let to_front: Vec<i64> = [0, rank as i64 - 1].into_iter().chain(1..rank as i64 - 1).collect();
        let to_back: Vec<i64> = [0].into_iter().chain(2..rank as i64).chain([1]).collect();
        let turned = |&ty: &Type| match ctx.as_tensor(ty) {
            Some((dims, elem)) if dims.len() == rank => {
                let dims: Vec<i64> = to_front.iter().map(|&axis| dims[axis as usize]).collect();
                ctx.tensor(&dims, elem)
            }
            _ => ty,
        };
        let place = self.def.operands.iter().position(|spec| spec.name == input);
        let mut operands = self.operands.clone();
        if let (Some(group), Some(id)) = (place.and_then(|at| operands.get_mut(at)), x.transpose(&to_front).id()) {
            *group = SmallVec::from_elem(id, 1);
        }
        let mut attrs = ctx.dict_entries(self.attrs).to_vec();
        attrs.retain(|&(name, _)| ctx.str(name) != "data_format");
        attrs.push((ctx.sym("data_format"), ctx.str_attr(first)));
        let made = compose(&Call {
            scope: self.scope,
            def: self.def,
            attrs: ctx.dict(&attrs),
            operands,
            results: self.results.iter().map(turned).collect(),
        })?;
        let back = |x: Expr<'c>| if x.rank() == rank { x.transpose(&to_back) } else { x };
        Ok(made.into_iter().map(back).collect())
    }

    /// The extents of an operand of four dimensions, the channels after the images.
    pub(super) fn images(&self, name: &str) -> Result<[i64; 4], String> {
        let four = self.shape(name)?.try_into();
        let channels_last = self.text("data_format").as_deref() == Ok("NHWC");
        match four {
            Ok(_) if channels_last => Err("only the layout NCHW is supported".to_owned()),
            Ok(extents) => Ok(extents),
            Err(_) => Err(format!("`{name}` must have four dimensions")),
        }
    }

    /// The element type that the attribute `dtype` names, if it names one.
    fn dtype(&self) -> Option<Type> {
        self.attr("dtype").and_then(|attr| self.scope.context().attr_type(attr))
    }

    /// The results that the operation has, of these.
    fn wanted(&self, results: &[(&str, Expr<'c>)]) -> Vec<Expr<'c>> {
        let absent = self.attr(&crate::marks::ABSENT_RESULTS.name);
        let absent = absent
            .and_then(|attr| self.scope.context().attr_ints(attr))
            .unwrap_or(&[]);
        let given = |name: &str| {
            let place = self.def.results.iter().position(|spec| spec.name == name);
            place.is_some_and(|place| !absent.contains(&(place as i64)))
        };
        results
            .iter()
            .filter(|(name, _)| given(name))
            .map(|(_, x)| *x)
            .collect()
    }

    fn attr(&self, name: &str) -> Option<Attr> {
        self.scope.context().dict_get(self.attrs, name)
    }

    fn default(&self, name: &str) -> Result<&'c str, String> {
        if !self.all(name).is_empty() {
            return Err(format!("a computed `{name}` is not supported"));
        }
        let spec = self.def.attrs.iter().find(|spec| spec.name == name);
        let default = spec.and_then(|spec| spec.default.as_deref());
        default.ok_or_else(|| format!("the attribute `{name}` is missing"))
    }

    /// A number.
    pub(super) fn float(&self, name: &str) -> Result<f64, String> {
        let wrong = || format!("`{name}` must be a number");
        let value: f64 = match self.attr(name) {
            Some(attr) => self.scope.context().attr_f64(attr).ok_or_else(wrong)?,
            None => self.default(name)?.parse().map_err(|_| wrong())?,
        };
        // Saved in single precision.
        let is_single = self
            .def
            .attrs
            .iter()
            .any(|spec| spec.name == name && spec.ty == "float");
        Ok(if is_single { f64::from(value as f32) } else { value })
    }

    /// A whole number.
    pub(super) fn int(&self, name: &str) -> Result<i64, String> {
        let value = self.float(name)?;
        (value.abs() <= MOST as f64)
            .then_some(value as i64)
            .ok_or_else(|| format!("`{name}` is too large"))
    }

    /// A truth value.
    pub(super) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.attr(name) {
            Some(attr) => self
                .scope
                .context()
                .attr_bool(attr)
                .ok_or_else(|| format!("`{name}` must be true or false")),
            None => Ok(self.default(name)? == "true"),
        }
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Result<String, String> {
        match self.attr(name) {
            Some(attr) => {
                let text = self.scope.context().attr_str(attr);
                text.map(str::to_owned)
                    .ok_or_else(|| format!("`{name}` must be a string"))
            }
            None => Ok(self.default(name)?.trim_matches('"').to_owned()),
        }
    }

    /// A list of whole numbers.
    pub(super) fn ints(&self, name: &str) -> Result<Vec<i64>, String> {
        let ctx = self.scope.context();
        let list: Vec<i64> = match self.attr(name) {
            Some(attr) => {
                let one = || ctx.attr_int(attr).map(|int| vec![int]);
                let list = ctx.attr_ints(attr).map(<[i64]>::to_vec).or_else(one);
                list.ok_or_else(|| format!("`{name}` must be a list of integers"))?
            }
            None => {
                let inside = self.default(name)?.trim_matches(['{', '}']);
                inside.split(',').filter_map(|n| n.trim().parse().ok()).collect()
            }
        };
        let fits = list.iter().all(|value| (-MOST..=MOST).contains(value));
        fits.then_some(list).ok_or_else(|| format!("`{name}` is too large"))
    }

    /// A list of numbers.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<f64>, String> {
        let ctx = self.scope.context();
        match self.attr(name).map(|attr| ctx.attr_data(attr)) {
            Some(pir_ir::AttrData::Array(items)) => items
                .iter()
                .map(|&item| {
                    ctx.attr_f64(item)
                        .ok_or_else(|| format!("`{name}` must be a list of numbers"))
                })
                .collect(),
            _ => Ok(self.ints(name)?.into_iter().map(|n| n as f64).collect()),
        }
    }

    /// An axis of an operand, counted from the front.
    pub(super) fn axis(&self, name: &str, of: Expr<'c>) -> Result<usize, String> {
        let (axis, rank) = (self.int(name)?, of.rank() as i64);
        let at = if axis < 0 { axis + rank } else { axis };
        usize::try_from(at)
            .ok()
            .filter(|_| at < rank)
            .ok_or_else(|| format!("axis {axis} is out of range for rank {rank}"))
    }

    /// Numbers as a tensor of the element type of an expression.
    pub(super) fn numbers(&self, values: &[f64], shape: &[i64], like: Expr<'c>) -> Expr<'c> {
        let ctx = self.scope.context();
        let items: Box<[Attr]> = values.iter().map(|&value| ctx.float_attr(value)).collect();
        let list = ctx.attr(pir_ir::AttrData::Array(items));
        match like.elem() {
            Some(elem) => self.scope.assign_value_with(shape, list, |o| o.dtype(elem)),
            None => self.scope.nothing(),
        }
    }
}

/// The composition of an operation.
struct Composed(Compose);

impl Semantics for Composed {
    fn has_expansion(&self) -> bool {
        true
    }

    fn is_pure(&self, _: OpView<'_>) -> Option<bool> {
        Some(true)
    }

    fn speculatability(&self, _: OpView<'_>) -> Speculatability {
        Speculatability::Never
    }

    fn has_regions(&self, _: OpView<'_>) -> bool {
        false
    }

    fn infer(&self, args: InferArgs<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let mut body = Body::new();
        let given = args.operands.iter().map(|&value| args.body.value_type(value));
        let operands: Vec<ValueId> = given.map(|ty| body.create_placeholder(ty)).collect();
        let op = body.create_op(OpSpec {
            operands: &operands,
            attrs: args.attrs,
            ..OpSpec::new(args.ctx.op_name(&args.def.name))
        });
        let absent = args.attr(&crate::marks::ABSENT_RESULTS.name);
        let absent = absent.and_then(|attr| args.ctx.attr_ints(attr)).map_or(0, <[i64]>::len);
        let unknown = vec![Type::NONE; args.def.results.len().saturating_sub(absent)];
        let built = self.build(&mut Rewriter::new(args.ctx, &mut body), op, &operands, &unknown)?;
        match built.len() == unknown.len() {
            true => Ok(built.into_iter().map(|value| body.value_type(value)).collect()),
            false => Err("a result is missing".to_owned()),
        }
    }

    fn expand(&self, r: &mut Rewriter<'_>, op: OpId, operands: &[ValueId]) -> Result<SmallVec<[ValueId; 2]>, String> {
        let wanted: Vec<Type> = r.body.results(op).map(|value| r.body.value_type(value)).collect();
        let ids = self.build(r, op, operands, &wanted)?;
        // PaddlePaddle's result types are not inferred here: it must be what is built, where it is used.
        let fits = |(&id, value): (&ValueId, ValueId)| {
            compatible(r.ctx, r.body.value_type(id), r.body.value_type(value)) || !r.body.has_uses(value)
        };
        match ids.len() == wanted.len() && ids.iter().zip(r.body.results(op)).all(fits) {
            true => Ok(ids.into_iter().collect()),
            false => Err("the written result types differ from those that follow from the operands".to_owned()),
        }
    }
}

impl Composed {
    /// Builds what an operation computes from these operands, whose results have the types `wanted` as far as they are known.
    fn build(
        &self,
        r: &mut Rewriter<'_>,
        op: OpId,
        operands: &[ValueId],
        wanted: &[Type],
    ) -> Result<Vec<ValueId>, String> {
        let def = r
            .ctx
            .op_def(r.body.op_name(op))
            .ok_or("the operation is not registered")?;
        let view = r.view(op);
        let mut groups = vec![SmallVec::new(); def.operands.len()];
        for (index, &operand) in operands.iter().enumerate() {
            let place = view
                .declared_operand(index)
                .ok_or("the operation has too many operands")?;
            groups[place].push(operand);
        }
        let attrs = r.body.attrs(op);
        let building = Building::new(r);
        let built = (self.0)(&Call {
            scope: building.scope(),
            def,
            attrs,
            operands: groups,
            results: wanted.into(),
        });
        let ids: Option<Vec<ValueId>> = built?.into_iter().map(Expr::id).collect();
        building.finish()?;
        ids.ok_or_else(|| "a result is missing".to_owned())
    }
}
