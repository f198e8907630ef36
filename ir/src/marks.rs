//! Marks: attributes that the tools themselves put on operations of others.
//!
//! The attributes of an operation are those that its definition declares, those whose names have a dot, which are free,
//! and the marks that are registered for it. A pass that notes something at an operation does so through its [`Mark`],
//! so that what it writes is declared, and is read back.

use crate::declare::{List, Text};

/// The operations that a mark may sit on.
#[derive(Clone, Debug)]
pub enum MarkedOps {
    /// All of them.
    Any,
    /// The operations of these names.
    Named(List<Text>),
}

/// An attribute of the tools.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its name.
    pub name: Text,
    /// Its type, in the words of [`AttrSpec::ty`](crate::AttrSpec::ty).
    pub ty: Text,
    /// The operations that it may sit on.
    pub on: MarkedOps,
    /// A description in one line.
    pub summary: Text,
}

impl Mark {
    /// A mark that may sit on all operations.
    pub const fn anywhere(name: &'static str, ty: &'static str, summary: &'static str) -> Self {
        Mark {
            name: Text::Borrowed(name),
            ty: Text::Borrowed(ty),
            on: MarkedOps::Any,
            summary: Text::Borrowed(summary),
        }
    }

    /// A mark for the operations of these names.
    pub const fn on(name: &'static str, ty: &'static str, ops: &'static [Text], summary: &'static str) -> Self {
        Mark {
            name: Text::Borrowed(name),
            ty: Text::Borrowed(ty),
            on: MarkedOps::Named(List::Borrowed(ops)),
            summary: Text::Borrowed(summary),
        }
    }
}
