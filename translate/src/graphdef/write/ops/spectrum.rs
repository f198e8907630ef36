//! Complex numbers, Fourier transforms, and random bits.

use pir_dialects::stablehlo::fft::{Fft, FftKind};
use pir_dialects::stablehlo::ops;

use super::super::super::proto::Value;
use super::super::super::types::{INT32, INT64, Number};
use super::super::emit::{Emit, Result};
use super::Write;

/// The generator Philox.
const PHILOX: i128 = 1;

pub(super) const TABLE: &[(&str, Write)] = &[
    (ops::Complex::NAME, |e| {
        let inputs = e.inputs()?;
        let attrs = [("T", e.dtype(e.elem()?)?), ("Tout", e.dtype(e.result_type(0)?.1)?)];
        e.node("Complex", &inputs, &attrs);
        Ok(())
    }),
    (ops::Fft::NAME, fourier),
    (ops::Imag::NAME, |e| to_part(e, "Imag")),
    (ops::Real::NAME, |e| to_part(e, "Real")),
    (ops::RngBitGenerator::NAME, |e| {
        let body = e.view.body;
        if body.results(e.view.op).next().is_some_and(|state| body.has_uses(state)) {
            return Err("the new state of the generator is used".to_owned());
        }
        // The key, and two numbers that count.
        let (state, (_, elem)) = (e.input(0)?, e.operand_type(0)?);
        let ((dims, kind), ty) = (e.result_type(1)?, e.dtype(elem)?);
        let word = e
            .view
            .attr("rng_algorithm")
            .map(|attr| format!("{:?}", e.w.ctx.attr_data(attr)));
        if e.operand_type(0)?.0 != [3] || word.is_some_and(|word| word.contains("THREE_FRY")) {
            return Err("TensorFlow has only the algorithm Philox".to_owned());
        }
        let sizes = e.vector(&[1, 2])?;
        let (axis, count) = (e.scalar(Number::Int(0), pir_ir::Type::I32)?, Value::Int(2));
        e.node("Identity", std::slice::from_ref(&state), &[("T", ty.clone())]);
        let attrs = [("T", ty), ("Tlen", Value::Type(INT64)), ("num_split", count)];
        let parts = e.op("SplitV", &[state, sizes, axis], &attrs);
        let shape = e.vector(&dims)?;
        let generator = e.scalar(Number::Int(PHILOX), pir_ir::Type::I32)?;
        let attrs = [("dtype", e.dtype(kind)?), ("Tshape", Value::Type(INT64))];
        let bits = e.op(
            "StatelessRandomUniformFullIntV2",
            &[shape, parts.clone(), format!("{parts}:1"), generator],
            &attrs,
        );
        e.result(1, bits)
    }),
];

fn narrow(e: &mut Emit<'_, '_>, values: &[i64]) -> Result<String> {
    let numbers: Vec<Number> = values.iter().map(|&v| Number::Int(v.into())).collect();
    e.constant(INT32, &[values.len() as i64], &numbers)
}

/// An operation from complex numbers to real ones.
pub(super) fn to_part(e: &mut Emit<'_, '_>, op: &str) -> Result<()> {
    let inputs = [e.input(0)?];
    let attrs = [("T", e.dtype(e.elem()?)?), ("Tout", e.dtype(e.result_type(0)?.1)?)];
    e.node(op, &inputs, &attrs);
    Ok(())
}

/// A transform of the last axes.
fn fourier(e: &mut Emit<'_, '_>) -> Result<()> {
    let fft = Fft::of(*e.view)?;
    e.view.sees("fft_type");
    e.view.sees("fft_length");
    let (x, count) = (e.input(0)?, fft.lengths.len());
    let axes = match count {
        1 => String::new(),
        _ => format!("{count}D"),
    };
    let (from, to) = (e.dtype(e.elem()?)?, e.dtype(e.result_type(0)?.1)?);
    let lengths: Vec<i64> = fft.lengths.iter().map(|&n| n as i64).collect();
    match fft.kind {
        FftKind::Fft => e.node(&format!("FFT{axes}"), &[x], &[("Tcomplex", from)]),
        FftKind::Ifft => e.node(&format!("IFFT{axes}"), &[x], &[("Tcomplex", from)]),
        FftKind::Rfft => {
            let lengths = narrow(e, &lengths)?;
            e.node(
                &format!("RFFT{axes}"),
                &[x, lengths],
                &[("Treal", from), ("Tcomplex", to)],
            );
        }
        FftKind::Irfft => {
            let lengths = narrow(e, &lengths)?;
            e.node(
                &format!("IRFFT{axes}"),
                &[x, lengths],
                &[("Tcomplex", from), ("Treal", to)],
            );
        }
    }
    Ok(())
}
