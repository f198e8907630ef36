//! Marks at operations.

use super::Context;
use crate::entity::Sym;
use crate::marks::{Mark, MarkedOps};
use crate::registry::OpDef;
use crate::types::{Attr, AttrData, AttrDict};

impl Mark {
    /// Whether it may sit on operations of a definition.
    pub fn may_sit_on(&self, def: &OpDef) -> bool {
        match &self.on {
            MarkedOps::Any => true,
            MarkedOps::Named(names) => names.contains(&def.name),
        }
    }

    /// The mark as an entry of attributes that are being collected.
    pub fn entry(&self, ctx: &Context, value: Attr) -> (Sym, Attr) {
        (ctx.sym(&self.name), value)
    }

    /// The attributes with the mark.
    pub fn set(&self, ctx: &Context, attrs: AttrDict, value: Attr) -> AttrDict {
        ctx.dict_with(attrs, &self.name, value)
    }

    /// The attributes without the mark.
    pub fn remove(&self, ctx: &Context, attrs: AttrDict) -> AttrDict {
        ctx.dict_without(attrs, &self.name)
    }

    /// The value of the mark in the attributes.
    #[inline]
    pub fn get(&self, ctx: &Context, attrs: AttrDict) -> Option<Attr> {
        ctx.dict_get(attrs, &self.name)
    }

    /// The name that the attributes have as the mark, if it is one in the same symbol table.
    #[inline]
    pub fn symbol(&self, ctx: &Context, attrs: AttrDict) -> Option<Sym> {
        match ctx.attr_data(self.get(ctx, attrs)?) {
            AttrData::Symbol(path) if path.len() == 1 => Some(path[0]),
            _ => None,
        }
    }
}
