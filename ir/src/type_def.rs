//! Types that dialects declare: their names, their parameters and what is asked of these.
//!
//! The parameters give the syntax: those of `!d.t<2x?xf32, 3>` are a shape, a type and an integer.

use std::any::TypeId;

use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::declare::{List, Text};
use crate::types::{TypeName, TypeParam};

/// A type of a dialect as Rust code names it, so that a misspelled one does not compile.
pub trait DialectType: 'static {
    /// `dialect.type`.
    const NAME: &'static str;
}

/// The kind of a type's parameter, which determines its syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeParamKind {
    /// A type.
    Type,
    /// All other parameters, which are types.
    Types,
    /// An integer.
    Int,
    /// Dimensions, each with an `x` after it and no comma after the last: `2x?xf32` is a shape and a type.
    Shape,
    /// Any attribute.
    Attr,
}

/// A declared parameter of a type.
#[derive(Clone, Debug)]
pub struct TypeParamSpec {
    /// The name, for messages and for the reference.
    pub name: Text,
    /// Its kind.
    pub kind: TypeParamKind,
    /// Whether it may be omitted, with all that follow.
    pub optional: bool,
}

/// Verifies the parameters of a type; the error is a message. Their number and kinds were checked before.
pub type TypeVerifyFn = fn(&Context, &[TypeParam]) -> Result<(), String>;

/// The definition of a type of a dialect.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// `dialect.type`.
    pub name: Text,
    /// One line.
    pub summary: Text,
    /// The declared parameters.
    pub params: List<TypeParamSpec>,
    /// Rules beyond the declaration.
    pub verify: Option<TypeVerifyFn>,
    /// The Rust type that names it.
    pub(crate) key: Option<TypeId>,
}

impl TypeDef {
    /// A type called `dialect.type` without parameters.
    pub fn new(name: impl Into<Text>, summary: impl Into<Text>) -> Self {
        TypeDef {
            name: name.into(),
            summary: summary.into(),
            params: List::default(),
            verify: None,
            key: None,
        }
    }

    /// The type that `T` names, without parameters.
    pub fn of<T: DialectType>(summary: impl Into<Text>) -> Self {
        TypeDef {
            key: Some(TypeId::of::<T>()),
            ..TypeDef::new(T::NAME, summary)
        }
    }

    /// The same with one more parameter.
    #[must_use]
    pub fn with_param(mut self, name: impl Into<Text>, kind: TypeParamKind) -> Self {
        self.params.to_mut().push(TypeParamSpec {
            name: name.into(),
            kind,
            optional: false,
        });
        self
    }

    /// How the type is written: `pd.array<shape x element>`.
    pub fn syntax(&self) -> String {
        let mut text = self.name.to_string();
        for (at, param) in self.params.iter().enumerate() {
            let after_shape = at > 0 && self.params[at - 1].kind == TypeParamKind::Shape;
            text += match (at, after_shape) {
                (0, _) => "<",
                (_, true) => " x ",
                _ => ", ",
            };
            text += &param.name;
            text += match (param.kind, param.optional) {
                (TypeParamKind::Types, _) => "…",
                (_, true) => "?",
                _ => "",
            };
        }
        if !self.params.is_empty() {
            text.push('>');
        }
        text
    }

    /// Verifies parameters.
    ///
    /// # Errors
    /// A message that names the parameter.
    pub fn check(&self, ctx: &Context, params: &[TypeParam]) -> Result<(), String> {
        let mut rest = params.iter();
        for spec in self.params.iter() {
            if spec.kind == TypeParamKind::Types {
                if !rest.all(|param| matches!(param, TypeParam::Type(_))) {
                    return Err(format!("`{}` of `{}` are types", spec.name, self.name));
                }
                break;
            }
            let fits = match (rest.next(), spec.kind) {
                (None, _) => spec.optional,
                (Some(TypeParam::Type(_)), TypeParamKind::Type)
                | (Some(TypeParam::Int(_)), TypeParamKind::Int)
                | (Some(TypeParam::Shape(_)), TypeParamKind::Shape)
                | (Some(TypeParam::Attr(_)), TypeParamKind::Attr) => true,
                _ => false,
            };
            if !fits {
                return Err(format!("`{}` lacks its parameter `{}`", self.name, spec.name));
            }
        }
        if rest.next().is_some() {
            return Err(format!("`{}` has fewer parameters", self.name));
        }
        self.verify.map_or(Ok(()), |verify| verify(ctx, params))
    }
}

/// The types of all registered dialects.
pub(crate) struct DeclaredTypes {
    pub(crate) defs: Vec<TypeDef>,
    pub(crate) by_name: FxHashMap<Text, TypeName>,
    pub(crate) by_key: FxHashMap<TypeId, TypeName>,
}

impl DeclaredTypes {
    pub(crate) fn new(defs: Vec<TypeDef>) -> Self {
        let names = || (0..).map(TypeName);
        DeclaredTypes {
            by_name: defs.iter().map(|def| def.name.clone()).zip(names()).collect(),
            by_key: defs
                .iter()
                .zip(names())
                .filter_map(|(def, name)| Some((def.key?, name)))
                .collect(),
            defs,
        }
    }
}
