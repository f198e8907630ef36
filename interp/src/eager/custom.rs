//! Functions that name their derivative: `custom_vjp`.
//!
//! A call of one is a node like an operation: what the function computes is not recorded, and the gradients are what the function
//! that it names returns. That is traced in turn, so that it can be differentiated.

use std::io;
use std::rc::Rc;

use pir_dialects::func;
use pir_dialects::marks::{STOPPED, VJP};
use pir_ir::{Mark, Module};
use rustc_hash::FxHashMap;

use super::node::{Node, Operation};
use super::run::Tracer;
use super::{Engine, Tensor};
use crate::exec::{ExecError, Options, entry, top_level};
use crate::tensor::Tensor as Dense;

/// The engine differentiates functions; it would ignore the derivative that a call names.
pub(super) fn no_marked_calls(module: &Module) -> Result<(), ExecError> {
    let ctx = &*module.ctx;
    let mut refused = Ok(());
    module.for_each_body(|body| {
        if refused.is_err() {
            return;
        }
        for op in body.walk_all() {
            let marked = |mark: &&&Mark| mark.get(ctx, body.attrs(op)).is_some();
            if let Some(mark) = [&VJP, &STOPPED].iter().find(marked) {
                let message = format!(
                    "it has the mark `{}`, which the eager engine does not support",
                    mark.name
                );
                refused = Err(ExecError::new(message).at(ctx, body, op));
                break;
            }
        }
    });
    refused
}

/// The functions of a program that name their derivatives.
pub(super) struct Customs {
    module: Module,
    options: Options,
    /// By name the names of the derivatives.
    by_name: FxHashMap<String, String>,
}

/// The derivative of one of them.
#[derive(Clone)]
pub(super) struct Custom {
    of: Rc<Customs>,
    vjp: String,
}

impl Customs {
    /// `None` if there is no such function.
    pub(super) fn of(module: &Module, options: &Options) -> Option<Rc<Self>> {
        let scope = top_level(module);
        let named = scope.walk_all().filter_map(|op| {
            let view = scope.view(&module.ctx, op);
            let vjp = module.ctx.str(func::custom_vjp(view)?).to_owned();
            Some((view.str("sym_name")?.to_owned(), vjp))
        });
        let by_name: FxHashMap<String, String> = named.collect();
        (!by_name.is_empty()).then(|| {
            Rc::new(Customs {
                module: module.clone(),
                options: Options {
                    max_steps: options.max_steps,
                    ..Options::default()
                },
                by_name,
            })
        })
    }

    /// The derivative of a function.
    pub(super) fn derivative(self: &Rc<Self>, function: &str) -> Option<Custom> {
        let (of, vjp) = (self.clone(), self.by_name.get(function)?.clone());
        Some(Custom { of, vjp })
    }
}

impl Custom {
    /// The gradients of the operands of a call: none of those that are not floats.
    pub(super) fn gradients(
        &self,
        engine: &Engine,
        node: &Node,
        call: &Operation,
        grads: Vec<Vec<Option<Tensor>>>,
    ) -> Result<Vec<Option<Tensor>>, String> {
        let (inputs, outputs) = (call.inputs.borrow(), call.outputs.borrow());
        let saved = inputs.iter().chain(outputs.iter()).map(|saved| saved.recover());
        let mut args = saved.collect::<Result<Vec<Tensor>, String>>()?;
        for (grad, meta) in grads.into_iter().flatten().zip(node.input_meta().iter().flatten()) {
            args.push(match grad {
                Some(grad) => grad,
                None => Tensor::new(Dense::full(&meta.shape, meta.dtype, 0.0)?),
            });
        }
        let run = || {
            let entry = entry(&self.of.module, Some(&self.vjp))?;
            let out = &mut io::sink();
            Tracer::with_arguments(engine, &entry, &self.of.options, out, Some(self.of.clone()), args)?.run()
        };
        let ran = run().map_err(|error| format!("in @{}: {}", self.vjp, error.into_diagnostic().message))?;
        let mut found = ran.results.into_iter();
        let metas = node.output_meta();
        let floats = metas.iter().flatten().map(|meta| meta.dtype.is_float());
        Ok(floats.map(|float| if float { found.next() } else { None }).collect())
    }
}
