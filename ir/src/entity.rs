//! Typed 32-bit ids: of the entities of a [`Body`](crate::Body), and of names.
//!
//! The `Display` of an id is its spelling in logs and in diagnostics that have no better name for it.

use std::fmt;
use std::num::NonZeroU32;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $fmt:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The id of the entity at `index` of its arena.
            ///
            /// # Panics
            /// When `index` is `u32::MAX`: an arena of four thousand million entities does not fit in memory.
            #[inline]
            pub fn new(index: usize) -> Self {
                let raw = u32::try_from(index).ok().and_then(|i| NonZeroU32::new(i.wrapping_add(1)));
                match raw {
                    Some(raw) => Self(raw),
                    None => panic!("an arena is full"),
                }
            }

            #[allow(dead_code, reason = "not every kind of id is packed with others")]
            #[inline]
            pub(crate) fn raw(self) -> NonZeroU32 {
                self.0
            }

            #[allow(dead_code, reason = "not every kind of id is packed with others")]
            #[inline]
            pub(crate) const fn from_raw(raw: NonZeroU32) -> Self {
                Self(raw)
            }

            /// The place of the entity in its arena.
            #[inline]
            pub fn index(self) -> usize {
                (self.0.get() - 1) as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $fmt, self.index())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

entity!(
    /// An operation.
    OpId, "op{}"
);
entity!(
    /// A block of operations.
    BlockId, "^bb{}"
);
entity!(
    /// A region: a list of blocks.
    RegionId, "region{}"
);
entity!(
    /// A value: the result of an operation or the argument of a block.
    ValueId, "%v{}"
);
entity!(
    /// One use of a value as an operand.
    UseId, "use{}"
);

/// An interned string: the name of an attribute, a symbol or a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sym(pub(crate) u32);

impl Sym {
    /// The attribute that names the declared operands that an operation lacks, the first name of every context.
    pub(crate) const ABSENT_OPERANDS: Sym = Sym(0);

    /// The dense index of the string, for tables keyed by symbols.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An interned operation name, `dialect.op`. The default is the first that was registered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct OpName(pub(crate) u32);

impl OpName {
    /// The dense index of the name; registered operations come first, in the order of registration.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
