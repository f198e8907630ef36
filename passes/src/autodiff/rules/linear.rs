//! Rules of products and transposition.

use super::reduce::normalise;
use super::{Rule, RuleCx, rule};

pub(super) const RULES: &[Rule] = &[
    rule("pd.matmul", matmul),
    rule("pd.transpose", |cx| {
        let g = cx.grad()?;
        let rank = cx.rank(0);
        let perm = cx
            .int_list("perm")?
            .ok_or("`pd.transpose` without its permutation `perm`")?;
        let mut inverse = vec![0; perm.len()];
        for (to, &from) in perm.iter().enumerate() {
            inverse[normalise(from, rank)?] = to as i64;
        }
        let inverse = cx.ints(&inverse);
        let t = cx.emit("pd.transpose", &[g], &[("perm", inverse)])?;
        cx.add(0, t)
    }),
];

/// With `z = op(x) · op(y)`: each cotangent is a product again, in the order that the transpositions ask for.
fn matmul(cx: &mut RuleCx<'_, '_>) -> Result<(), String> {
    let g = cx.grad()?;
    let (rx, ry) = (cx.rank(0), cx.rank(1));
    if rx == 0 || ry == 0 {
        return Err("`pd.matmul` of a scalar".to_owned());
    }
    if rx == 1 || ry == 1 {
        return matmul_vector(cx, rx, ry);
    }
    let flag = |name: &str| cx.view().bool(name).unwrap_or(false);
    let (tx, ty) = (flag("transpose_x"), flag("transpose_y"));
    if cx.wants(0) {
        let y = cx.operand(1);
        let t = match tx {
            false => product(cx, g, y, false, !ty)?,
            true => product(cx, y, g, ty, true)?,
        };
        cx.add_reduced(0, t)?;
    }
    if cx.wants(1) {
        let x = cx.operand(0);
        let t = match ty {
            false => product(cx, x, g, !tx, false)?,
            true => product(cx, g, x, true, tx)?,
        };
        cx.add_reduced(1, t)?;
    }
    Ok(())
}

fn product(
    cx: &mut RuleCx<'_, '_>,
    x: pir_ir::ValueId,
    y: pir_ir::ValueId,
    tx: bool,
    ty: bool,
) -> Result<pir_ir::ValueId, String> {
    let (tx, ty) = (cx.ctx().bool_attr(tx), cx.ctx().bool_attr(ty));
    cx.emit("pd.matmul", &[x, y], &[("transpose_x", tx), ("transpose_y", ty)])
}

/// A vector takes part as a matrix with one row (on the left) or one column (on the right); transposing it does nothing.
fn matmul_vector(cx: &mut RuleCx<'_, '_>, rx: usize, ry: usize) -> Result<(), String> {
    let flag = |name: &str| cx.view().bool(name).unwrap_or(false);
    let (tx, ty) = (rx > 1 && flag("transpose_x"), ry > 1 && flag("transpose_y"));
    let (x, y) = (cx.operand(0), cx.operand(1));
    let row = cx.ints(&[0]);
    let column = cx.ints(&[-1]);
    let mut g = cx.grad()?;
    // The result lacks the dimensions of the vectors: put them back.
    if ry == 1 {
        g = cx.emit("pd.unsqueeze", &[g], &[("axis", column)])?;
    }
    if rx == 1 {
        let at = cx.ints(&[-2]);
        g = cx.emit("pd.unsqueeze", &[g], &[("axis", at)])?;
    }
    if cx.wants(0) {
        let y = if ry == 1 {
            cx.emit("pd.unsqueeze", &[y], &[("axis", column)])?
        } else {
            y
        };
        let t = match tx {
            false => product(cx, g, y, false, !ty)?,
            true => product(cx, y, g, ty, true)?,
        };
        let t = if rx == 1 {
            let at = cx.ints(&[-2]);
            cx.emit("pd.squeeze", &[t], &[("axis", at)])?
        } else {
            t
        };
        cx.add_reduced(0, t)?;
    }
    if cx.wants(1) {
        let x = if rx == 1 {
            cx.emit("pd.unsqueeze", &[x], &[("axis", row)])?
        } else {
            x
        };
        let t = match ty {
            false => product(cx, x, g, !tx, false)?,
            true => product(cx, g, x, true, tx)?,
        };
        let t = if ry == 1 {
            cx.emit("pd.squeeze", &[t], &[("axis", column)])?
        } else {
            t
        };
        cx.add_reduced(1, t)?;
    }
    Ok(())
}
