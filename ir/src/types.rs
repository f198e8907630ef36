//! Types and attributes: interned, immutable data addressed by 32-bit ids.

use crate::elements::Elements;
use crate::entity::Sym;
use crate::float_kind::FloatKind;

/// The extent of a dimension that is only known when the program runs, `?` in the text.
pub const DYNAMIC: i64 = -1;

macro_rules! interned_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub(crate) u32);
    };
}

interned_id!(
    /// An interned type; [`Context::type_data`](crate::Context::type_data) returns its data.
    Type
);
interned_id!(
    /// An interned attribute; [`Context::attr_data`](crate::Context::attr_data) returns its data.
    Attr
);
interned_id!(
    /// An interned list of named attributes, in the order in which they were written.
    AttrDict
);
interned_id!(
    /// A type that a dialect declares, whatever its parameters.
    TypeName
);

/// How the bits of an integer type are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signedness {
    /// `i32`: the operation decides.
    Signless,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

/// A parameter of a type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeParam {
    /// A type.
    Type(Type),
    /// An integer.
    Int(i64),
    /// Dimensions; one that is [`DYNAMIC`](crate::DYNAMIC) is unknown.
    Shape(Box<[i64]>),
    /// An attribute.
    Attr(Attr),
}

/// The data of a [`Type`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeData {
    /// `i1`, `i32`, `ui8`, …
    Integer {
        /// The number of bits.
        width: u32,
        /// How they are read.
        sign: Signedness,
    },
    /// `f32`, …
    Float(FloatKind),
    /// `index`.
    Index,
    /// `none`.
    None,
    /// `tensor<4x?xf32>`; a dimension of [`DYNAMIC`] is unknown.
    Tensor {
        /// The extent of each dimension.
        shape: Box<[i64]>,
        /// The type of the elements.
        elem: Type,
    },
    /// `tensor<4xf32, #encoding>`. No tensor to what computes with tensors, which does not know the encoding.
    EncodedTensor {
        /// The extent of each dimension.
        shape: Box<[i64]>,
        /// The type of the elements.
        elem: Type,
        /// How the elements are stored.
        encoding: Attr,
    },
    /// `tensor<*xf32>`.
    UnrankedTensor(Type),
    /// `memref<4x?xf32, strided<[8, 1]>, 1>`.
    MemRef {
        /// The extent of each dimension; nothing if their number is not known.
        shape: Option<Box<[i64]>>,
        /// The type of the elements.
        elem: Type,
        /// Where the elements are, if not one after the other.
        layout: Option<Attr>,
        /// The memory space, if it is not the default.
        space: Option<Attr>,
    },
    /// `vector<[4]x2xf32>`.
    Vector {
        /// The extent of each dimension.
        shape: Box<[i64]>,
        /// Which dimensions are multiplied by a number that the machine has.
        scalable: Box<[bool]>,
        /// The type of the elements.
        elem: Type,
    },
    /// `complex<f32>`.
    Complex(Type),
    /// `tuple<T, …>`.
    Tuple(Box<[Type]>),
    /// `(T, …) -> (U, …)`.
    Function {
        /// The types of the arguments.
        inputs: Box<[Type]>,
        /// The types of the results.
        results: Box<[Type]>,
    },
    /// `vec<T, …>`: a list of values passed as one, as `builtin.combine` makes it.
    List(Box<[Type]>),
    /// A type that a registered dialect declares: `cf.stack`. [`Context::type_def`](crate::Context::type_def) gives its definition.
    Dialect {
        /// Which one.
        name: TypeName,
        /// Its parameters, which fit the definition.
        params: Box<[TypeParam]>,
    },
    /// A type of a dialect that is not registered, kept as its text without the `!`: `llvm.ptr<3>`.
    Unregistered(Box<str>),
}

/// The data of an [`Attr`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrData {
    /// `unit`: present or not.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `10`, `10 : i32`. A plain number has type `i64`.
    Int {
        /// The value.
        value: i128,
        /// The type after the colon.
        ty: Type,
    },
    /// `0.5`, `0.5 : f32`. A plain number has type `f64`.
    Float {
        /// The value as the bits of an `f64`, so that NaN payloads survive.
        bits: u64,
        /// The type after the colon.
        ty: Type,
    },
    /// `"text"`; bytes, since the text form can escape any.
    Str(Box<str>),
    /// `[1, 2]`: integers of type `i64` only, in place of an [`AttrData::Array`] of them.
    Ints(Box<[i64]>),
    /// `[a, b]`; never one that [`AttrData::Ints`] could hold.
    Array(Box<[Attr]>),
    /// `{a = 1}`.
    Dict(AttrDict),
    /// `f32`, `tensor<4xf32>`.
    Type(Type),
    /// `@f`, `@m::@f`.
    Symbol(Box<[Sym]>),
    /// `dense<[1, 2]> : tensor<2xi32>`, `array<i32: 1, 2>`.
    Elements(Elements),
    /// `^@name`-free text of anything else (`sparse<…>`, `#dialect<…>`, `affine_map<…>`, …), kept as written.
    Opaque(Box<str>),
}

/// The entries of an [`AttrDict`] and the id of the same entries sorted by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DictData(pub(crate) Box<[(Sym, Attr)]>);

impl std::borrow::Borrow<[(Sym, Attr)]> for DictData {
    fn borrow(&self) -> &[(Sym, Attr)] {
        &self.0
    }
}

/// Types that every context interns first, so that their ids are constants.
impl Type {
    /// `i1`, the type of truth values.
    pub const I1: Type = Type(0);
    /// `i8`.
    pub const I8: Type = Type(1);
    /// `i16`.
    pub const I16: Type = Type(2);
    /// `i32`.
    pub const I32: Type = Type(3);
    /// `i64`.
    pub const I64: Type = Type(4);
    /// `ui8`.
    pub const UI8: Type = Type(5);
    /// `f16`.
    pub const F16: Type = Type(6);
    /// `bf16`.
    pub const BF16: Type = Type(7);
    /// `f32`.
    pub const F32: Type = Type(8);
    /// `f64`.
    pub const F64: Type = Type(9);
    /// `index`.
    pub const INDEX: Type = Type(10);
    /// `none`; also the type of a value whose type is not known yet.
    pub const NONE: Type = Type(11);
    /// `ui16`.
    pub const UI16: Type = Type(12);
    /// `ui32`.
    pub const UI32: Type = Type(13);
    /// `ui64`.
    pub const UI64: Type = Type(14);

    /// The dense index of the type, for tables keyed by types.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl AttrDict {
    /// The dictionary without entries.
    pub const EMPTY: AttrDict = AttrDict(0);

    /// The dense index of the dictionary: equal exactly for equal ones of a context.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
