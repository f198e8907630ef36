//! Operations that move elements, and the engine's own two.

use super::super::data_movement::{PUT, TAKE};
use super::{NONE, Rule, data_movement, one};
use pir_dialects::pd;

pub(super) const RULES: &[Rule] = &[
    one(TAKE, NONE, |c| c.grad().put(&c.y(), &c.shape(0))),
    one(PUT, NONE, |c| c.grad().take(&c.y()).reshape(&c.shape(0))),
    one(pd::Reshape::NAME, NONE, |c| c.grad().reshape(&c.shape(0))),
    one(pd::Squeeze::NAME, NONE, |c| c.grad().reshape(&c.shape(0))),
    one(pd::Unsqueeze::NAME, NONE, |c| c.grad().reshape(&c.shape(0))),
    one(pd::Flatten::NAME, NONE, |c| c.grad().reshape(&c.shape(0))),
    one(pd::Expand::NAME, NONE, |c| c.grad().sum_to(&c.shape(0))),
    one(pd::ExpandAs::NAME, NONE, |c| {
        c.constant(1);
        c.grad().sum_to(&c.shape(0))
    }),
    data_movement(pd::Transpose::NAME),
    data_movement(pd::Tile::NAME),
    data_movement(pd::Concat::NAME),
    data_movement(pd::Stack::NAME),
    data_movement(pd::Split::NAME),
    data_movement(pd::SplitWithNum::NAME),
    data_movement(pd::Unstack::NAME),
    data_movement(pd::Tril::NAME),
    data_movement(pd::Triu::NAME),
    data_movement(pd::Flip::NAME),
    data_movement(pd::Roll::NAME),
    data_movement(pd::Pad::NAME),
    data_movement(pd::Slice::NAME),
    data_movement(pd::Gather::NAME),
    data_movement(pd::IndexSelect::NAME),
    data_movement(pd::GatherNd::NAME),
    data_movement(pd::TakeAlongAxis::NAME),
    // A trace contains no lists: combining and splitting forward the tensors themselves.
    data_movement("builtin.combine"),
    data_movement("builtin.split"),
];
