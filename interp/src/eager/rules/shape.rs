//! Operations that move elements about, and the engine's own two.

use super::super::moves::{PUT, TAKE};
use super::{NONE, Rule, moves, one};

pub(super) const RULES: &[Rule] = &[
    one(TAKE, NONE, |c| c.grad().put(&c.y(), &c.shape(0))),
    one(PUT, NONE, |c| c.grad().take(&c.y()).reshape(&c.shape(0))),
    one("pd.reshape", NONE, |c| c.grad().reshape(&c.shape(0))),
    one("pd.squeeze", NONE, |c| c.grad().reshape(&c.shape(0))),
    one("pd.unsqueeze", NONE, |c| c.grad().reshape(&c.shape(0))),
    one("pd.flatten", NONE, |c| c.grad().reshape(&c.shape(0))),
    one("pd.expand", NONE, |c| c.grad().sum_to(&c.shape(0))),
    one("pd.expand_as", NONE, |c| {
        c.constant(1);
        c.grad().sum_to(&c.shape(0))
    }),
    moves("pd.transpose"),
    moves("pd.tile"),
    moves("pd.concat"),
    moves("pd.stack"),
    moves("pd.split"),
    moves("pd.split_with_num"),
    moves("pd.unstack"),
    moves("pd.tril"),
    moves("pd.triu"),
    moves("pd.flip"),
    moves("pd.roll"),
    moves("pd.pad"),
    moves("pd.slice"),
    moves("pd.gather"),
    moves("pd.index_select"),
    moves("pd.gather_nd"),
    moves("pd.take_along_axis"),
    // Lists are no operations of a trace: what a program combines and splits are the tensors themselves.
    moves("builtin.combine"),
    moves("builtin.split"),
];
