//! What is asked of the declared operands of an operation again and again, made when it is first needed.

use super::Context;
use crate::declare::{Arity, Derivative};
use crate::entity::{OpName, Sym};
use crate::registry::OpDef;
use crate::types::AttrDict;

/// The declared operands of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// How many of them, from the first on, are exactly one operand each.
    pub(crate) leading: usize,
    /// On which of the first 64 the results depend differentiably, a bit for each.
    differentiable: u64,
}

impl Places {
    fn new(def: &OpDef) -> Self {
        let leading = def.operands.iter().take_while(|spec| spec.arity == Arity::One);
        let mut differentiable = 0;
        if let Derivative::Operands(names) = &def.derivative {
            for (place, spec) in def.operands.iter().enumerate().take(64) {
                differentiable |= u64::from(names.contains(&spec.name)) << place;
            }
        }
        Places {
            leading: leading.count(),
            differentiable,
        }
    }

    /// Whether the results depend differentiably on the declared operand at a place.
    #[inline]
    pub(crate) fn is_differentiable(self, def: &OpDef, place: usize) -> bool {
        match (place < 64, &def.derivative) {
            (true, _) => self.differentiable >> place & 1 == 1,
            (false, Derivative::Operands(names)) => names.contains(&def.operands[place].name),
            (false, _) => false,
        }
    }
}

impl Context {
    /// The declared operands of an operation, `None` if it is not registered.
    #[inline]
    pub(crate) fn places(&self, name: OpName) -> Option<Places> {
        self.def_and_places(name).map(|(_, places)| places)
    }

    /// The same with the definition of the operation.
    #[inline]
    pub(crate) fn def_and_places(&self, name: OpName) -> Option<(&OpDef, Places)> {
        let slot = self.ops.get(name.index())?;
        Some((&slot.def, *slot.places.get_or_init(|| Places::new(&slot.def))))
    }

    /// Whether an attribute names operands that are absent.
    #[inline]
    pub(crate) fn may_lack_operands(&self, attrs: AttrDict) -> bool {
        attrs != AttrDict::EMPTY && self.dict_get_sym(attrs, Sym::ABSENT_OPERANDS).is_some()
    }
}
