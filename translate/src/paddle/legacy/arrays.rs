//! Arrays of tensors, translated to PaddlePaddle 3's arrays, which become tensors when the whole program has been read.

use rustc_hash::FxHashSet;

use pir_dialects::pd;
use pir_ir::{DYNAMIC, Span, Type, TypeParam};

use super::translate::{Done, Translator};
use super::{Op, error};

impl<'t> Translator<'t, '_, '_> {
    fn array_type(&self) -> Type {
        // The element type follows from the elements written to it.
        let params = [TypeParam::Shape([].into()), TypeParam::Type(Type::F32)];
        self.builder.ctx.parameterized_type::<pd::DenseTensorArray>(params)
    }

    /// Creates the arrays that are written somewhere: such programs have no operation that does.
    pub(super) fn make_arrays(&mut self) {
        let blocks = self.blocks;
        let writes = blocks
            .iter()
            .flat_map(|b| &b.ops)
            .filter(|op| op.kind == "write_to_array");
        let written: FxHashSet<&str> = writes.flat_map(|op| op.outputs("Out")).map(String::as_str).collect();
        for var in blocks.iter().take(1).flat_map(|b| &b.vars) {
            if written.contains(var.name.as_str()) {
                self.make_array(&var.name, var.span);
            }
        }
    }

    fn make_array(&mut self, name: &'t str, span: Span) {
        let ty = self.array_type();
        let ids = self.emit("pd.create_array", &[], &[ty], Vec::new(), span);
        self.bind(name, ids[0]);
    }

    pub(super) fn on_array(&mut self, op: &'t Op) -> Done {
        let ctx = self.builder.ctx;
        let missing = |what: &str| error(op.span, format!("`{}` has no `{what}`", op.kind));
        let x = op.input("X").ok_or_else(|| missing("X"))?;
        let out = op.outputs("Out").first().ok_or_else(|| missing("Out"))?;
        if op.kind == "write_to_array" {
            if !self.is_bound(out) {
                self.make_array(out, op.span);
            }
            let place = op.input("I").ok_or_else(|| missing("I"))?;
            let operands = [
                self.value(out, op.span)?,
                self.value(x, op.span)?,
                self.value(place, op.span)?,
            ];
            let ty = self.array_type();
            let ids = self.emit("pd.array_write", &operands, &[ty], Vec::new(), op.span);
            self.bind(out, ids[0]);
            return Ok(());
        }
        let declared = self.declared(out).map(|(shape, elem)| {
            let shape: Vec<i64> = shape.iter().map(|&d| if d < 0 { DYNAMIC } else { d }).collect();
            ctx.tensor(&shape, elem)
        });
        let mut operands = vec![self.value(x, op.span)?];
        let (name, ty, attrs) = match op.kind.as_str() {
            "read_from_array" => {
                let place = op.input("I").ok_or_else(|| missing("I"))?;
                operands.push(self.value(place, op.span)?);
                ("pd.array_read", declared, Vec::new())
            }
            "lod_array_length" => ("pd.array_length", Some(ctx.tensor(&[1], Type::I64)), Vec::new()),
            _ => {
                let attrs = vec![
                    (ctx.sym("axis"), ctx.int_attr(op.int("axis").unwrap_or(0))),
                    (ctx.sym("use_stack"), ctx.bool_attr(op.int("use_stack") == Some(1))),
                ];
                ("pd.array_to_tensor", declared, attrs)
            }
        };
        let ty = ty.ok_or_else(|| error(op.span, format!("`{out}` is not declared as a tensor")))?;
        let ids = self.emit(name, &operands, &[ty], attrs, op.span);
        self.bind(out, ids[0]);
        Ok(())
    }
}
