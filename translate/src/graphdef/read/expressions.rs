//! Definitions of nodes as expressions over their operands, which append operations.

use std::cell::RefCell;

use pir_dialects::pd::{Emitted, Emitter, Expr, ExprScope};
use pir_ir::{Attr, Context, Type, ValueId, ValueName};

use super::reader::{Reader, Result};
use crate::paddle::build::identifier;

/// Appends the operations of a node.
struct Appending<'e, 'c> {
    reader: RefCell<&'e mut Reader<'c>>,
    ctx: &'c Context,
    at: usize,
    error: RefCell<Option<String>>,
}

impl Emitter for Appending<'_, '_> {
    fn context(&self) -> &Context {
        self.ctx
    }

    fn type_of(&self, value: ValueId) -> Type {
        self.reader.borrow().body.value_type(value)
    }

    fn emit(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], result: Option<Type>) -> Emitted {
        let count = self
            .ctx
            .op_def(self.ctx.op_name(name))
            .map_or(1, |def| def.results.len());
        match result {
            Some(ty) => self.emit_all(name, operands, attrs, &[ty]),
            None => self.emit_all(name, operands, attrs, &vec![Type::NONE; count]),
        }
    }

    fn emit_all(&self, name: &str, operands: &[ValueId], attrs: &[(&str, Attr)], results: &[Type]) -> Emitted {
        if self.error.borrow().is_some() {
            return Emitted::new();
        }
        let r = &mut **self.reader.borrow_mut();
        match r.append(self.at, name, operands, results, attrs) {
            Ok(op) => {
                r.is_piece(self.at, op);
                r.body.results(op).collect()
            }
            Err(message) => {
                self.fail(message);
                Emitted::new()
            }
        }
    }

    fn fail(&self, why: String) {
        self.error.borrow_mut().get_or_insert(why);
    }
}

impl Reader<'_> {
    /// Reads a node whose results are expressions of its first operands.
    pub(super) fn build(
        &mut self,
        at: usize,
        count: usize,
        build: impl for<'x> FnOnce(&[Expr<'x>]) -> Result<Vec<Expr<'x>>>,
    ) -> Result<()> {
        let operands = self.operands(at, count)?;
        let values = self.express(at, &operands, |_, x| build(x))?;
        self.is_expressed(at, values, &operands);
        Ok(())
    }

    /// Makes values the results of a node, and names those that are not what it reads.
    pub(super) fn is_expressed(&mut self, at: usize, values: Vec<ValueId>, operands: &[ValueId]) {
        let name = identifier(&self.nodes[at].name);
        for &value in values.iter().filter(|value| !operands.contains(value)) {
            let name = ValueName {
                name: self.ctx.name(&name),
                pack: false,
            };
            self.body.set_value_name(value, Some(name));
        }
        self.values[at] = values;
    }

    /// Appends what expressions compute of operands.
    pub(super) fn express(
        &mut self,
        at: usize,
        operands: &[ValueId],
        build: impl for<'x> FnOnce(ExprScope<'x>, &[Expr<'x>]) -> Result<Vec<Expr<'x>>>,
    ) -> Result<Vec<ValueId>> {
        let emitter = Appending {
            ctx: self.ctx,
            reader: RefCell::new(self),
            at,
            error: RefCell::new(None),
        };
        let values = {
            let scope = ExprScope::new(&emitter);
            let operands: Vec<Expr<'_>> = operands.iter().map(|&value| scope.expr(value)).collect();
            let built = build(scope, &operands)?;
            built.into_iter().map(Expr::id).collect::<Option<Vec<ValueId>>>()
        };
        match emitter.error.into_inner() {
            Some(message) => Err(message),
            None => values.ok_or_else(|| "an expression has no value".to_owned()),
        }
    }
}
