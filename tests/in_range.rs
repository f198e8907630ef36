//! No index that we write is out of range, though StableHLO would move it into it: other compilers of it do not.

#![allow(clippy::unwrap_used, reason = "in tests a panic is a failure")]

mod common;

use std::sync::Arc;

use common::{inputs_for, passes, plain_loop_programs, read, run, text};
use pir_interp::Tensor;
use pir_interp::kernels::{Inputs, Kernels, Outputs, Spec};
use pir_ir::{Context, ContextBuilder};

/// A context in whose programs a window that is not inside of its operand is an error.
fn strict() -> Arc<Context> {
    let mut builder = ContextBuilder::new();
    pir_dialects::register_all(&mut builder);
    let kernels = builder.extension::<Kernels>();
    kernels.add("stablehlo.dynamic_slice", |spec: &Spec<'_>| {
        let ty = spec.view.result_type(0).unwrap();
        let sizes: Vec<usize> = spec
            .view
            .ctx
            .as_tensor(ty)
            .unwrap()
            .0
            .iter()
            .map(|&d| d as usize)
            .collect();
        Ok(Box::new(move |inputs| window(&inputs, None, &sizes, 1)))
    });
    kernels.add("stablehlo.dynamic_update_slice", |_| {
        Ok(Box::new(|inputs| {
            window(&inputs, Some(&inputs[1]), inputs[1].shape(), 2)
        }))
    });
    builder.build()
}

/// Reads a window of the first operand, or writes it.
fn window(inputs: &Inputs, update: Option<&Tensor>, sizes: &[usize], first: usize) -> Result<Outputs, String> {
    let shape = inputs[0].shape();
    let mut start = Vec::new();
    for (axis, index) in inputs[first..].iter().enumerate() {
        let at = index.to_i64()[0];
        if at < 0 || at as usize + sizes[axis] > shape[axis] {
            return Err(format!(
                "a window of {sizes:?} at {at} in {shape:?}, axis {axis}, is out of range"
            ));
        }
        start.push(at as usize);
    }
    let mut all = inputs[0].to_f64();
    let new = update.map(Tensor::to_f64);
    let mut read = Vec::new();
    for number in 0..sizes.iter().product() {
        let (mut rest, mut flat, mut stride) = (number, 0, 1);
        for axis in (0..shape.len()).rev() {
            flat += (start[axis] + rest % sizes[axis]) * stride;
            rest /= sizes[axis];
            stride *= shape[axis];
        }
        match &new {
            Some(new) => all[flat] = new[number],
            None => read.push(all[flat]),
        }
    }
    let result = match new {
        Some(_) => Tensor::new(shape, all)?,
        None => Tensor::new(sizes, read)?,
    };
    Ok([result.cast(inputs[0].dtype())?].into_iter().collect())
}

/// A loop with one of unknown length in it, which runs more often in later iterations.
const NESTED: &str = "%n = pd.data {name = \"n\", shape = [], dtype = i64}
%zero = pd.full {shape = [], value = 0, dtype = i64}
%one = pd.full {shape = [], value = 1, dtype = i64}
%x = pd.data {name = \"x\", shape = [3], dtype = f64}
%i_e, %h = pd.while (%zero, %x) cond (%i, %a) {
  %c = pd.less_than (%i, %n)
  cf.cond_yield (%c, %i, %a)
} body (%i, %a) {
  %j_e, %d = pd.while (%zero, %a) cond (%j, %e) {
    %c = pd.less_than (%j, %i)
    cf.cond_yield (%c, %j, %e)
  } body (%j, %e) {
    %s = pd.sin (%e)
    %q = pd.multiply (%s, %e)
    %k = pd.add (%j, %one)
    cf.yield (%k, %q)
  }
  %t = pd.tanh (%d)
  %k = pd.add (%i, %one)
  cf.yield (%k, %t)
}
pd.fetch (%h) {name = \"h\"}\n";

#[test]
fn windows_are_inside() {
    let mut programs = plain_loop_programs();
    programs.push(("nested".to_owned(), NESTED.to_owned()));
    let mut windows = 0;
    for (name, source) in programs {
        let plain = read(&strict(), &source);
        for pipeline in [
            "backward,lower-stacks{bound=4,overflow=unchecked}",
            "backward,remat{recompute=all},lower-stacks{bound=4,overflow=unchecked}",
            "backward,lower-stacks{bound=3,overflow=remat}",
            "backward,remat{slots=1,segment=2},lower-stacks{bound=4,overflow=unchecked}",
            "backward,remat{slots=3,segment=4},lower-stacks{bound=4,overflow=unchecked}",
            "backward,remat{slots=2},lower-stacks{bound=4,overflow=unchecked}",
        ] {
            println!("{name}: {pipeline}");
            // An integer that may be wrong is refused.
            if pipeline.contains("overflow=remat") && source.contains("%last = cf.pop_back") {
                continue;
            }
            let mut module = plain.clone();
            passes(&mut module, pipeline);
            windows += text(&module).matches("stablehlo.dynamic_").count();
            // More iterations than the bound too.
            for n in [0, 1, 2, 3, 4, 5, 7, 16] {
                run(&module, &inputs_for(&plain, n, 3).0);
            }
        }
    }
    assert!(windows > 100, "{windows}");
}
