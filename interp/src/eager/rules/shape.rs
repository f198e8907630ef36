//! Operations that move elements about, and the engine's own two.

use super::super::moves::{PUT, TAKE};
use super::{NONE, Rule, moves, one};
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
    moves(pd::Transpose::NAME),
    moves(pd::Tile::NAME),
    moves(pd::Concat::NAME),
    moves(pd::Stack::NAME),
    moves(pd::Split::NAME),
    moves(pd::SplitWithNum::NAME),
    moves(pd::Unstack::NAME),
    moves(pd::Tril::NAME),
    moves(pd::Triu::NAME),
    moves(pd::Flip::NAME),
    moves(pd::Roll::NAME),
    moves(pd::Pad::NAME),
    moves(pd::Slice::NAME),
    moves(pd::Gather::NAME),
    moves(pd::IndexSelect::NAME),
    moves(pd::GatherNd::NAME),
    moves(pd::TakeAlongAxis::NAME),
    // Lists are no operations of a trace: what a program combines and splits are the tensors themselves.
    moves("builtin.combine"),
    moves("builtin.split"),
];
