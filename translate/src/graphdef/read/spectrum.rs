//! Complex numbers and Fourier transforms.

use pir_dialects::pd::{self, Expr};
use pir_dialects::stablehlo::from_pd::{array, dialect};
use pir_dialects::stablehlo::ops as hlo;
use pir_ir::{Attr, Type, TypeData, ValueId};

use super::reader::{Reader, Result};
use super::row::Row;

pub(super) const TABLE: &[Row] = &[
    ("Angle", "T", "Tout=DT_FLOAT", |r, at| {
        parts_of(r, at)?;
        r.build(at, 1, |x| {
            let part = |name| one(name, &[x[0]], &[]);
            Ok(vec![part(hlo::Imag::NAME).atan2(part(hlo::Real::NAME))])
        })
    }),
    ("Complex", "T T", "Tout=DT_COMPLEX64", |r, at| {
        let _ = r.elem(at, "Tout");
        r.build(at, 2, |x| {
            // Both are broadcast.
            let (re, im) = (x[0] + x[1].zeros(), x[1] + x[0].zeros());
            Ok(vec![complex(re, im)])
        })
    }),
    ("ComplexAbs", "T", "Tout=DT_FLOAT", |r, at| {
        let x = parts_of(r, at)?;
        r.op(at, pd::Abs::NAME, &[x], &[])
    }),
    ("Conj", "T", "", |r, at| {
        let x = r.operand(at, 0)?;
        let out = conjugate(r, at, x)?;
        r.op(at, pd::Assign::NAME, &[out], &[])
    }),
    ("FFT", "Tcomplex", "", |r, at| whole(r, at, 1, true)),
    ("FFT2D", "Tcomplex", "", |r, at| whole(r, at, 2, true)),
    ("FFT3D", "Tcomplex", "", |r, at| whole(r, at, 3, true)),
    ("IFFT", "Tcomplex", "", |r, at| whole(r, at, 1, false)),
    ("IFFT2D", "Tcomplex", "", |r, at| whole(r, at, 2, false)),
    ("IFFT3D", "Tcomplex", "", |r, at| whole(r, at, 3, false)),
    ("Imag", "T", "Tout=DT_FLOAT", |r, at| {
        let x = parts_of(r, at)?;
        r.op(at, hlo::Imag::NAME, &[x], &[])
    }),
    ("IRFFT", "Tcomplex i32", "Treal=DT_FLOAT", |r, at| to_real(r, at, 1)),
    ("IRFFT2D", "Tcomplex i32", "Treal=DT_FLOAT", |r, at| to_real(r, at, 2)),
    ("IRFFT3D", "Tcomplex i32", "Treal=DT_FLOAT", |r, at| to_real(r, at, 3)),
    ("Real", "T", "Tout=DT_FLOAT", |r, at| {
        let x = parts_of(r, at)?;
        r.op(at, hlo::Real::NAME, &[x], &[])
    }),
    ("RFFT", "Treal i32", "Tcomplex=DT_COMPLEX64", |r, at| of_real(r, at, 1)),
    ("RFFT2D", "Treal i32", "Tcomplex=DT_COMPLEX64", |r, at| {
        of_real(r, at, 2)
    }),
    ("RFFT3D", "Treal i32", "Tcomplex=DT_COMPLEX64", |r, at| {
        of_real(r, at, 3)
    }),
];

fn complex<'c>(re: Expr<'c>, im: Expr<'c>) -> Expr<'c> {
    one(hlo::Complex::NAME, &[re, im], &[])
}

/// The operation of one result on expressions of one scope.
fn one<'c>(name: &str, operands: &[Expr<'c>], attrs: &[(&str, Attr)]) -> Expr<'c> {
    let scope = operands[0].scope();
    let ids: Option<Vec<ValueId>> = operands.iter().map(|x| x.id()).collect();
    let built = ids.map(|ids| scope.build(name, &ids, attrs, None));
    built.and_then(|b| b.first().copied()).unwrap_or(scope.nothing())
}

/// The conjugates of complex numbers; others are as they are.
pub(super) fn conjugate(r: &mut Reader<'_>, at: usize, x: ValueId) -> Result<ValueId> {
    let values = r.express(at, &[x], |_, x| {
        let part = |name| one(name, &[x[0]], &[]);
        Ok(vec![match x[0].is_complex() {
            true => complex(part(hlo::Real::NAME), -part(hlo::Imag::NAME)),
            false => x[0],
        }])
    })?;
    values.first().copied().ok_or_else(|| "its value is missing".to_owned())
}

/// A border of zeros.
fn bordered<'c>(x: Expr<'c>, borders: &[i64]) -> Expr<'c> {
    let part = |name| one(name, &[x], &[]).pad_with(borders, |o| o.pad_value(0.0));
    match x.is_complex() {
        true => complex(part(hlo::Real::NAME), part(hlo::Imag::NAME)),
        false => x.pad_with(borders, |o| o.pad_value(0.0)),
    }
}

/// `PadV2` of complex numbers, or with a number that is computed.
pub(super) fn pad(r: &mut Reader<'_>, at: usize, x: ValueId, borders: &[i64]) -> Result<()> {
    let mut operands = vec![x];
    if r.num_inputs(at) == 3 {
        operands.push(r.operand(at, 2)?);
    }
    let values = r.express(at, &operands, |_, x| {
        let wide = bordered(x[0], borders);
        let Some(&number) = x.get(1) else { return Ok(vec![wide]) };
        // Where the tensor is.
        let ones = x[0].scope().full(x[0].dims(), 1.0);
        let is_inside = ones.pad_with(borders, |o| o.pad_value(0.0)).above(0.5);
        Ok(vec![is_inside.select(wide, number.expand(wide.dims().to_vec()))])
    })?;
    r.is_expressed(at, values, &operands);
    Ok(())
}

/// The complex operand of a node that gives real numbers, whose type follows from it.
fn parts_of(r: &mut Reader<'_>, at: usize) -> Result<ValueId> {
    let (x, elem) = (r.operand(at, 0)?, r.elem(at, "Tout").unwrap_or(Type::F32));
    match *r.ctx.type_data(r.dims(x)?.1) {
        TypeData::Complex(part) if part == elem => Ok(x),
        TypeData::Complex(_) => Err("its result must have the precision of its operand".to_owned()),
        _ => Err("its operand must be complex".to_owned()),
    }
}

/// `Cast` to or from complex numbers; the latter takes the real part.
pub(super) fn cast(r: &mut Reader<'_>, at: usize, x: ValueId, elem: Type) -> Result<()> {
    let to = r.ctx.complex_part(elem);
    let values = r.express(at, &[x], |_, x| {
        let part = |name| x[0].is_complex().then(|| one(name, &[x[0]], &[]));
        let re = part(hlo::Real::NAME).unwrap_or(x[0]);
        Ok(vec![match to {
            Some(_) => {
                let re = re.to(to);
                complex(re, part(hlo::Imag::NAME).map_or(re.zeros(), |im| im.to(to)))
            }
            None => re.to(Some(elem)),
        }])
    })?;
    r.is_expressed(at, values, &[x]);
    Ok(())
}

/// A transform of the last axes, of these lengths.
fn transform(r: &mut Reader<'_>, at: usize, x: ValueId, kind: &str, lengths: &[i64]) -> Result<()> {
    let attrs = [
        ("fft_type", dialect(r.ctx, &format!("<fft_type {kind}>"))),
        ("fft_length", array(r.ctx, lengths)),
    ];
    r.op(at, hlo::Fft::NAME, &[x], &attrs)
}

/// A transform of complex numbers to as many.
fn whole(r: &mut Reader<'_>, at: usize, count: usize, forward: bool) -> Result<()> {
    let x = r.operand(at, 0)?;
    let (dims, _) = r.dims(x)?;
    let first = dims
        .len()
        .checked_sub(count)
        .ok_or("its input has too few dimensions")?;
    if dims[first..].iter().any(|&d| d < 0) {
        return Err("its lengths are unknown".to_owned());
    }
    transform(r, at, x, if forward { "FFT" } else { "IFFT" }, &dims[first..])
}

/// The last axes cut or filled with zeros to these extents.
fn resized(r: &mut Reader<'_>, at: usize, x: ValueId, extents: &[i64]) -> Result<ValueId> {
    /// Longer lines are mistakes.
    const LONGEST: i64 = 1 << 28;
    let (dims, _) = r.dims(x)?;
    let first = dims
        .len()
        .checked_sub(extents.len())
        .ok_or("its input has too few dimensions")?;
    if dims.iter().any(|&d| d < 0) || extents.iter().any(|n| !(1..=LONGEST).contains(n)) {
        return Err("its lengths are unknown".to_owned());
    }
    let values = r.express(at, &[x], |_, x| {
        let mut x = x[0];
        let mut borders = vec![0; 2 * dims.len()];
        for (axis, &extent) in (first..).zip(extents) {
            if dims[axis] > extent {
                x = x.cut(axis, 0, extent);
            }
            borders[2 * axis + 1] = (extent - dims[axis]).max(0);
        }
        if borders.iter().any(|&b| b > 0) {
            x = bordered(x, &borders);
        }
        Ok(vec![x])
    })?;
    values.first().copied().ok_or_else(|| "its value is missing".to_owned())
}

/// The lengths of the transform, which are an operand.
fn lengths(r: &Reader<'_>, at: usize, count: usize) -> Result<Vec<i64>> {
    let lengths = r.list(at, 1, "lengths")?;
    match lengths.len() == count {
        true => Ok(lengths),
        false => Err(format!("it needs {count} lengths")),
    }
}

fn of_real(r: &mut Reader<'_>, at: usize, count: usize) -> Result<()> {
    let (x, sizes) = (r.operand(at, 0)?, lengths(r, at, count)?);
    let _ = r.elem(at, "Tcomplex");
    let x = resized(r, at, x, &sizes)?;
    transform(r, at, x, "RFFT", &sizes)
}

fn to_real(r: &mut Reader<'_>, at: usize, count: usize) -> Result<()> {
    let (x, mut sizes) = (r.operand(at, 0)?, lengths(r, at, count)?);
    let _ = r.elem(at, "Treal");
    let last = *sizes.last().ok_or("its input must have at least one dimension")?;
    if let Some(half) = sizes.last_mut() {
        *half = last / 2 + 1;
    }
    let x = resized(r, at, x, &sizes)?;
    if let Some(whole) = sizes.last_mut() {
        *whole = last;
    }
    transform(r, at, x, "IRFFT", &sizes)
}
