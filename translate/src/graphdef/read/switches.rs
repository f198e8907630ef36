//! Switches with several outputs, which TensorFlow makes from `Case`: chains of binary switches, one for each number,
//! and merges of as many values.

use pir_dialects::{df, pd};
use pir_ir::{Type, ValueId};

use super::reader::{Reader, Result};
use super::select;

/// `_SwitchN`: the result of the number that is given is live; the last one also for numbers out of range.
pub(super) fn switch_n(r: &mut Reader<'_>, at: usize) -> Result<()> {
    let (mut data, index) = (r.operand(at, 0)?, r.operand(at, 1)?);
    let count = r.int(at, "num_outs").filter(|n| (1..=1 << 10).contains(n));
    let count = count.ok_or("its number of outputs is missing")?;
    let mut results = Vec::new();
    for way in 0..count - 1 {
        let chosen = predicate(r, at, index, way)?;
        let [other, own] = switch(r, at, data, chosen)?;
        results.push(own);
        data = other;
    }
    results.push(data);
    for &result in &results {
        r.same_list(data, result);
    }
    r.values[at] = results;
    Ok(())
}

/// Whether a number is `way`, where it is none of the numbers before. Switches by one number share what decides.
fn predicate(r: &mut Reader<'_>, at: usize, index: ValueId, way: i64) -> Result<ValueId> {
    if let Some(&(_, chosen)) = r.ways.get(&(index, way)) {
        return Ok(chosen);
    }
    let here = match way {
        0 => index,
        _ => {
            // The numbers before it were requested first.
            let &(here, before) = r.ways.get(&(index, way - 1)).ok_or("a number is missing")?;
            switch(r, at, here, before)?[0]
        }
    };
    let number = select::like(r, at, here, way as f64)?;
    let chosen = r.helper(at, pd::Equal::NAME, &[here, number], &[])?;
    r.ways.insert((index, way), (here, chosen));
    Ok(chosen)
}

fn switch(r: &mut Reader<'_>, at: usize, data: ValueId, chosen: ValueId) -> Result<[ValueId; 2]> {
    let op = r.append(at, df::SWITCH, &[data, chosen], &[Type::NONE; 2], &[])?;
    Ok([r.body.result(op, 0), r.body.result(op, 1)])
}

/// A merge of more than two values, in the order of the numbers.
pub(super) fn merge_n(r: &mut Reader<'_>, at: usize, operands: &[ValueId]) -> Result<()> {
    let [first, rest @ .., last] = operands else {
        return Err("its inputs are missing".to_owned());
    };
    let mut value = *last;
    for &operand in rest.iter().rev() {
        let op = r.append(at, df::MERGE, &[operand, value], &[Type::NONE; 2], &[])?;
        value = r.body.result(op, 0);
    }
    r.op_of(at, df::MERGE, &[*first, value], &[], 2)?;
    // The kind cannot be determined.
    r.values[at].truncate(1);
    Ok(())
}
