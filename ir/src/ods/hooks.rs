//! The interfaces for parsing and printing `custom<NAME>` of a row.

use smallvec::SmallVec;

use crate::assembly::{TextReader, Unreadable};
use crate::body::Body;
use crate::context::Context;
use crate::entity::{OpId, ValueId};
use crate::names::Name;
use crate::types::{Attr, Type};

type Read<T> = Result<T, Unreadable>;

/// A `custom<NAME>` of a format: how it is read, and how it is printed.
pub struct OdsHook {
    /// The name.
    pub name: &'static str,
    /// Reads it.
    pub read: fn(&mut dyn OdsReader<'_>) -> Result<(), Unreadable>,
    /// Prints it.
    pub print: fn(&mut dyn OdsPrinter<'_>),
}

/// The name of an argument of a region, whose type comes later.
#[derive(Clone, Copy, Debug)]
pub struct ArgName {
    pub(crate) name: Name,
    pub(crate) start: u32,
}

/// The interface for parsing `custom<NAME>` of a row.
pub trait OdsReader<'r>: TextReader {
    /// The context.
    fn ctx(&self) -> &Context;

    /// The name of the argument of the `custom<NAME>` at this place.
    fn arg(&self, at: usize) -> &'r str;

    /// Whether the text goes on so.
    fn starts_with(&self, text: &str) -> bool;

    /// Reads a word, if one is next.
    fn word(&mut self) -> Option<String>;

    /// Reads a type.
    ///
    /// # Errors
    /// When none is next.
    fn ty(&mut self) -> Read<Type>;

    /// Reads an attribute.
    ///
    /// # Errors
    /// When none is next.
    fn value(&mut self) -> Read<Attr>;

    /// Reads an attribute in the form that formats have it in.
    ///
    /// # Errors
    /// When something else is next, or it is there already.
    fn attr(&mut self, name: &str) -> Read<()>;

    /// Reads `attributes {…}` or `{…}`, if it is next.
    ///
    /// # Errors
    /// When the attributes cannot be read.
    fn dict(&mut self) -> Read<()>;

    /// Gives the operation an attribute.
    ///
    /// # Errors
    /// When there is one of this name.
    fn set_attr(&mut self, name: &str, value: Attr) -> Read<()>;

    /// Gives the operation an attribute in place of one that it has.
    fn replace_attr(&mut self, name: &str, value: Attr);

    /// The attribute of this name, if it has been read.
    fn get_attr(&self, name: &str) -> Option<Attr>;

    /// Takes an attribute away that has been read.
    fn take_attr(&mut self, name: &str) -> Option<Attr>;

    /// The attribute of a text in MLIR's syntax.
    ///
    /// # Errors
    /// When the text is not an attribute.
    fn composed(&mut self, text: &str) -> Read<Attr>;

    /// Reads the values of an operand: one, or as many as come between commas.
    ///
    /// # Errors
    /// When no value is next, and there has to be one.
    fn operands(&mut self, name: &str) -> Read<()>;

    /// Reads one value of an operand.
    ///
    /// # Errors
    /// When no value is next.
    fn operand(&mut self, name: &str) -> Read<ValueId>;

    /// Gives an operand one more value.
    fn push_operand(&mut self, name: &str, value: ValueId);

    /// Gives the operation a region that the text does not show, with one block of arguments of these types; gives them.
    fn begin_region(&mut self, types: &[Type]) -> Vec<ValueId>;

    /// Puts an operation into the region that was begun last; gives its result, if it has one.
    fn op(&mut self, name: &str, operands: &[ValueId], result: Option<Type>, attrs: &[(&str, Attr)])
    -> Option<ValueId>;

    /// Adds the attributes that the row of an operation implies to those present.
    ///
    /// # Errors
    /// If one of them is not an attribute.
    fn with_defaults(&mut self, name: &str, attrs: Vec<(String, Attr)>) -> Read<Vec<(String, Attr)>>;

    /// The name of the operation.
    fn op_name(&self) -> &str;

    /// Whether the operation has an operand of this name.
    fn has_operand(&self, name: &str) -> bool;

    /// The name of the first operand.
    fn only_operand(&self) -> &'r str;

    /// Reads a dictionary whose entries become attributes of the operation.
    ///
    /// # Errors
    /// If there is no dictionary here.
    fn trait_dict(&mut self) -> Read<()>;

    /// Reads expressions in brackets, `[%i + 1, symbol(%n)]`, and returns their map; the values become operands. A
    /// value is a dimension or a symbol, as in its first use; with `apart`, in its first use in each expression.
    ///
    /// # Errors
    /// If there is something else here.
    fn expressions(&mut self, name: &str, open: char, apart: bool) -> Read<String>;

    /// The values that an operand has so far.
    fn values(&self, name: &str) -> Vec<ValueId>;

    /// The name of a value that is next, with its sigil and the number after it; nothing is read.
    fn peek_value(&self) -> Option<String>;

    /// Reads a value.
    ///
    /// # Errors
    /// When none is next.
    fn free_value(&mut self) -> Read<ValueId>;

    /// The type of a value; `none` where it is not defined yet.
    fn type_of(&mut self, value: ValueId) -> Type;

    /// Says which types an operand or a result has.
    fn set_types(&mut self, name: &str, types: &[Type]);

    /// Says which types all results have.
    fn set_results(&mut self, types: &[Type]);

    /// Reads `-> T`, `-> (T, U)`, if an arrow is next.
    ///
    /// # Errors
    /// When no types follow.
    fn arrow(&mut self) -> Read<Option<Vec<Type>>>;

    /// Reads `(T, U) -> V`.
    ///
    /// # Errors
    /// When something else is next.
    fn signature(&mut self) -> Read<(Vec<Type>, Vec<Type>)>;

    /// The types that were read of an operand or a result.
    fn read_types(&self, name: &str) -> Vec<Type>;

    /// Reads elements of a given type: `dense<…>`.
    ///
    /// # Errors
    /// When something else is next, or they do not fit the type.
    fn value_of_type(&mut self, ty: Type) -> Read<Attr>;

    /// Reads `T, U`.
    ///
    /// # Errors
    /// When no types are next.
    fn types(&mut self) -> Read<Vec<Type>> {
        let mut types = vec![self.ty()?];
        while self.eat(",") {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// Reads the name of an argument of a region.
    ///
    /// # Errors
    /// When none is next.
    fn arg_name(&mut self) -> Read<ArgName>;

    /// Gives the next region an argument.
    ///
    /// # Errors
    /// When its location cannot be read.
    fn argument(&mut self, name: ArgName, ty: Type) -> Read<()>;

    /// Gives the argument that was added last a location, if one is next.
    ///
    /// # Errors
    /// When the location cannot be read.
    fn argument_location(&mut self) -> Read<()>;

    /// Reads `^name`.
    ///
    /// # Errors
    /// When something else is next.
    fn successor(&mut self) -> Read<()>;

    /// Numbers that are kept until the format ends.
    fn ints(&mut self) -> &mut Vec<i64>;

    /// The kind of an attribute as text, if it is a type.
    fn attr_type(&self, attr: Attr) -> Option<Type>;
}

/// Where a `custom<NAME>` of a row prints to, and the operation that is being printed.
pub trait OdsPrinter<'a> {
    /// The context.
    fn ctx(&self) -> &'a Context;

    /// The body that the operation is in.
    fn body(&self) -> &'a Body;

    /// The operation.
    fn op(&self) -> OpId;

    /// The name of the argument of the `custom<NAME>` at this place.
    fn arg(&self, at: usize) -> &'a str;

    /// Writes a text.
    fn text(&mut self, text: &str);

    /// Writes a string in quotes.
    fn string(&mut self, text: &str);

    /// Writes an integer.
    fn int(&mut self, value: i64);

    /// Writes a use of a value.
    fn value(&mut self, value: ValueId);

    /// Writes uses of values, with commas.
    fn values_list(&mut self, values: &[ValueId]);

    /// Writes a type.
    fn ty(&mut self, ty: Type);

    /// Writes types, with commas.
    fn types(&mut self, types: &[Type]);

    /// Writes `T`, or `(T, U)`, as after an arrow.
    fn results(&mut self, types: &[Type]);

    /// The values of an operand or of a result.
    fn values(&self, name: &str) -> SmallVec<[ValueId; 4]>;

    /// The types of values.
    fn types_of(&self, values: &[ValueId]) -> SmallVec<[Type; 4]>;

    /// The types of all results.
    fn result_types(&self) -> SmallVec<[Type; 4]>;

    /// An attribute.
    fn get_attr(&self, name: &str) -> Option<Attr>;

    /// The integers of an attribute that is an array or a list.
    fn ints(&self, name: &str) -> Vec<i64>;

    /// One of these integers, if there are as many.
    fn int_at(&self, name: &str, at: usize) -> Option<i64>;

    /// The integers of an attribute that is a list of attributes.
    fn numbers(&self, name: &str) -> Vec<i64>;

    /// Writes the name of another operation, and its attributes that a function selects.
    fn head_of(&mut self, op: OpId, wanted: &dyn Fn(Attr) -> bool);

    /// Writes an attribute in the form that formats have it in.
    fn attr(&mut self, name: &str);

    /// Writes an attribute.
    fn any(&mut self, attr: Attr);

    /// How many regions of a list have been printed.
    fn repetition(&self) -> usize;

    /// Writes an attribute without the type after it.
    fn without_type(&mut self, attr: Attr);

    /// All operands.
    fn all_operands(&self) -> SmallVec<[ValueId; 4]>;

    /// Writes ` {…}`, with these of the attributes that the format has elsewhere.
    fn dict_with(&mut self, shown: &[&str]);

    /// How much has been written.
    fn mark(&self) -> usize;

    /// Inserts a text at `mark` if something has been written since.
    fn insert_if_longer(&mut self, mark: usize, text: &str);

    /// Writes ` {…}`, without the attributes that the format has elsewhere.
    fn dict(&mut self);

    /// Names the arguments of a region as those of its entry block.
    fn region_args(&mut self, region: usize) -> SmallVec<[ValueId; 4]>;

    /// Leaves out the region of the operation, where the format can do without.
    fn hide_regions(&mut self);

    /// Changes the indentation of the following lines.
    fn indent(&mut self, deeper: bool);

    /// Writes the label of a successor.
    fn successor(&mut self, at: usize);

    /// Begins a new line.
    fn new_line(&mut self, deeper: bool);
}
