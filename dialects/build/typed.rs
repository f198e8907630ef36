//! Typed views and builders of the operations of the tables: an operation, operand or attribute that is misspelled does not
//! compile. What is generated only names things; the work is done by the shared functions of `src/typed.rs`.

use std::fmt::Write as _;

use super::schema::{Arity, Attribute, Op};

/// How an attribute is passed and read.
#[derive(Clone, Copy, PartialEq)]
enum ParamKind {
    Float,
    Int,
    Bool,
    Str,
    Type,
    List,
    /// A number that may be an operand.
    Number,
    /// A list of integers that may be an operand.
    Ints,
    /// Anything else.
    Attr,
}

impl ParamKind {
    fn of(ty: &str) -> ParamKind {
        let is_list = ty.ends_with("[]");
        match ty {
            _ if ty.starts_with("IntArray") => ParamKind::Ints,
            _ if ty.starts_with("Scalar") && !is_list => ParamKind::Number,
            _ if is_list && ty.starts_with("int") => ParamKind::List,
            _ if is_list => ParamKind::Attr,
            "float" | "double" => ParamKind::Float,
            "bool" => ParamKind::Bool,
            "str" | "string" => ParamKind::Str,
            "DataType" => ParamKind::Type,
            _ if ty.starts_with("int") => ParamKind::Int,
            _ => ParamKind::Attr,
        }
    }

    /// The parameter type for such an attribute.
    fn param(self) -> &'static str {
        match self {
            ParamKind::Float => "f64",
            ParamKind::Int => "i64",
            ParamKind::Bool => "bool",
            ParamKind::Str => "&str",
            ParamKind::Type => "Type",
            ParamKind::List => "&[i64]",
            ParamKind::Number => "impl Into<Number>",
            ParamKind::Ints => "impl Into<Ints>",
            ParamKind::Attr => "Attr",
        }
    }
}

/// An operation with its generated names.
struct Typed<'o> {
    dialect: &'o str,
    op: &'o Op,
    /// The name of the type.
    ty: String,
    /// The name of the functions.
    function: String,
}

/// Avoids keywords.
fn identifier(name: &str) -> String {
    match name {
        "where" | "const" | "type" | "in" | "move" | "ref" | "match" | "loop" | "while" | "if" | "else" | "for"
        | "fn" | "let" | "mod" | "use" | "box" | "dyn" | "as" | "static" | "struct" | "enum" | "return" => {
            format!("{name}_")
        }
        _ => name.replace('.', "_").to_lowercase(),
    }
}

fn camel(name: &str) -> String {
    let mut out = String::new();
    for word in name.split(['_', '.']).filter(|word| !word.is_empty()) {
        let mut chars = word.chars();
        out.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    if name.ends_with('_') {
        out.push_str("Inplace");
    }
    out
}

/// Writes a type that only has the name of an operation.
pub fn named(out: &mut String, dialect: &str, op: &Op) {
    let (ty, name) = (camel(&op.op), format!("{dialect}.{}", op.op));
    let _ = writeln!(
        out,
        "#[doc = \"`{name}`, of which only the name is known here.\"]\npub enum {ty} {{}}"
    );
    let _ = writeln!(out, "typed!({ty}, {name:?}, false);");
}

/// Writes the view of an operation, and its builders if they are wanted.
pub fn typed(out: &mut String, dialect: &str, op: &Op, builders: bool) {
    let typed = Typed {
        dialect,
        op,
        ty: camel(&op.op),
        function: identifier(&op.op),
    };
    typed.declaration(out);
    typed.view(out);
    if builders {
        typed.options(out);
        typed.builders(out);
    }
}

impl Typed<'_> {
    /// The attribute that an operand may be replaced with, if any.
    fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.op.attrs.iter().find(|attr| attr.name == name)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.op.operands.iter().position(|operand| operand.name == name)
    }

    /// The name and the summary as rustdoc reads them: `x[1:3]` is not a link.
    fn described(&self) -> String {
        let escape = |(at, part): (usize, &str)| match at % 2 {
            0 => part.replace('[', "\\[").replace(']', "\\]"),
            _ => part.to_owned(),
        };
        let parts: Vec<String> = self.op.summary.split('`').enumerate().map(escape).collect();
        format!("`{}.{}`: {}", self.dialect, self.op.op, parts.join("`"))
    }

    fn declaration(&self, out: &mut String) {
        let (ty, op) = (&self.ty, self.op);
        let tensors = op.operands.iter().filter(|o| o.arity == Arity::One).count();
        let broadcasts = tensors > 1 && op.traits.iter().any(|t| t == "elementwise");
        let _ = writeln!(out, "#[doc = {:?}]\npub enum {ty} {{}}", self.described());
        let _ = writeln!(
            out,
            "typed!({ty}, {:?}, {broadcasts});",
            format!("{}.{}", self.dialect, op.op)
        );
        let _ = writeln!(out, "#[allow(non_upper_case_globals)]\nimpl {ty} {{");
        for (place, operand) in op.operands.iter().enumerate() {
            let make = match self.attribute(&operand.name) {
                Some(_) => "number",
                None => "tensor",
            };
            let name = identifier(&operand.name);
            let _ = writeln!(out, "pub const {name}: Operand = Operand::{make}({place});");
        }
        out.push_str("}\n");
        if let Some([only]) = op.derivative.as_deref() {
            let only = identifier(only);
            let _ = writeln!(out, "impl Unary for {ty} {{ const ONLY: Operand = {ty}::{only}; }}");
        }
    }

    fn view(&self, out: &mut String) {
        let op = self.op;
        let _ = writeln!(out, "impl<S: Source> View<S, {}> {{", self.ty);
        for (place, operand) in op.operands.iter().enumerate() {
            if self.attribute(&operand.name).is_some() {
                continue;
            }
            let name = identifier(&operand.name);
            let (ty, call) = match operand.arity {
                Arity::One => ("S::Value", "operand"),
                Arity::Optional => ("Option<S::Value>", "optional"),
                Arity::Variadic => ("Vec<S::Value>", "variadic"),
            };
            let _ = writeln!(out, "pub fn {name}(&self) -> {ty} {{ self.get_{call}({place}) }}");
        }
        for attr in &op.attrs {
            let name = identifier(&attr.name);
            let kind = ParamKind::of(&attr.ty);
            let place = self.place(&attr.name).unwrap_or(usize::MAX);
            let default = attr.default.as_deref().filter(|default| !default.is_empty());
            let (ty, call) = match (kind, default) {
                (ParamKind::Float, Some(default)) => ("f64", format!("float({:?}, {:?})", attr.name, number(default))),
                (ParamKind::Int, Some(default)) => ("i64", format!("int({:?}, {default})", attr.name)),
                (ParamKind::Bool, Some(default)) => ("bool", format!("flag({:?}, {default})", attr.name)),
                (ParamKind::Str, Some(default)) => (
                    "String",
                    format!("text({:?}, {:?})", attr.name, default.trim_matches('"')),
                ),
                (ParamKind::List, Some(default)) => ("Vec<i64>", format!("list({:?}, &{})", attr.name, list(default))),
                (ParamKind::Number, default) => {
                    let default = default
                        .map(number)
                        .map_or("None".to_owned(), |n| format!("Some({n:?})"));
                    ("Number", format!("number({:?}, {place}, {default})", attr.name))
                }
                (ParamKind::Ints, default) => {
                    let default = default.map_or("None".to_owned(), |d| format!("Some(&{})", list(d)));
                    ("Ints", format!("ints({:?}, {place}, {default})", attr.name))
                }
                (ParamKind::Float, None) => ("Option<f64>", format!("attr_as({:?}, Context::attr_f64)", attr.name)),
                (ParamKind::Int, None) => ("Option<i64>", format!("attr_as({:?}, Context::attr_int)", attr.name)),
                (ParamKind::Bool, None) => ("Option<bool>", format!("attr_as({:?}, Context::attr_bool)", attr.name)),
                (ParamKind::Type, _) => ("Option<Type>", format!("attr_as({:?}, Context::attr_type)", attr.name)),
                (ParamKind::List, None) => ("Option<Vec<i64>>", format!("some_list({:?})", attr.name)),
                (ParamKind::Str, None) => ("Option<String>", format!("some_text({:?})", attr.name)),
                (ParamKind::Attr, _) => ("Option<Attr>", format!("attr({:?})", attr.name)),
            };
            let _ = writeln!(out, "pub fn {name}(&self) -> {ty} {{ self.get_{call} }}");
        }
        if op.outputs.iter().all(|output| output.arity == Arity::One) {
            for (index, output) in op.outputs.iter().enumerate() {
                let taken = self.place(&output.name).is_some() || self.attribute(&output.name).is_some();
                let name = if taken {
                    format!("{}_result", output.name)
                } else {
                    identifier(&output.name)
                };
                let _ = writeln!(out, "pub fn {name}(&self) -> S::Value {{ self.get_result({index}) }}");
            }
        }
        out.push_str("}\n");
    }

    /// Optional parameters: optional operands, and attributes with a default.
    fn optional(&self) -> impl Iterator<Item = (&str, Option<ParamKind>)> {
        let operands = self.op.operands.iter().filter(|o| o.arity == Arity::Optional);
        let operands = operands.filter(|o| self.attribute(&o.name).is_none());
        let attrs = self.op.attrs.iter().filter(|a| a.default.is_some());
        operands
            .map(|o| (&*o.name, None))
            .chain(attrs.map(|a| (&*a.name, Some(ParamKind::of(&a.ty)))))
    }

    fn options(&self, out: &mut String) {
        if self.optional().next().is_none() {
            return;
        }
        let _ = writeln!(out, "impl Options<'_, {}> {{", self.ty);
        for (name, kind) in self.optional() {
            let place = self.place(name).unwrap_or(usize::MAX);
            let function = identifier(name);
            let _ = match kind {
                None => writeln!(
                    out,
                    "#[must_use] pub fn {function}(mut self, value: impl Into<Given>) -> Self {{ self.parts.give_operand({place}, value.into()); self }}"
                ),
                Some(kind) => writeln!(
                    out,
                    "#[must_use] pub fn {function}(mut self, value: {}) -> Self {{ self.parts.{}; self }}",
                    kind.param(),
                    put(kind, name, place, "value")
                ),
            };
        }
        out.push_str("}\n");
    }

    fn builders(&self, out: &mut String) {
        let (op, ty, function) = (self.op, &self.ty, &self.function);
        // Required parameters: operands first, in order, then attributes.
        let mut params = Vec::new();
        let mut puts = String::new();
        for (place, operand) in op.operands.iter().enumerate() {
            let name = identifier(&operand.name);
            match operand.arity {
                Arity::One => {
                    let _ = write!(puts, "parts.give_operand({place}, {name}.into()); ");
                    params.push((name, "VALUE"));
                }
                Arity::Variadic => {
                    let _ = write!(puts, "parts.give_operands({place}, {name}); ");
                    params.push((name, "&[VALUE]"));
                }
                Arity::Optional => {}
            }
        }
        for attr in op.attrs.iter().filter(|a| a.default.is_none()) {
            let (name, kind) = (identifier(&attr.name), ParamKind::of(&attr.ty));
            let place = self.place(&attr.name).unwrap_or(usize::MAX);
            let _ = write!(puts, "parts.{}; ", put(kind, &attr.name, place, &name));
            params.push((name, kind.param()));
        }
        let one = |arity: &Arity| *arity == Arity::One;
        let results: Vec<Arity> = op.outputs.iter().map(|output| output.arity).collect();
        let (expr, expr_end, plain, plain_end) = match results.len() {
            1 if one(&results[0]) => ("Expr<'c>".to_owned(), "build_one", "ValueId", "build_value"),
            n if results.iter().all(one) => (format!("[Expr<'c>; {n}]"), "build_fixed", "OpId", "build_op"),
            _ => ("Vec<Expr<'c>>".to_owned(), "build_all", "OpId", "build_op"),
        };
        let first_is_tensor = op.operands.first().is_some_and(|o| o.arity == Arity::One);
        let has_options = self.optional().next().is_some();
        for with in [false, true] {
            if with && !has_options {
                continue;
            }
            let name = match with {
                false => function.clone(),
                true => format!("{}_with", op.op.trim_end_matches('_')),
            };
            let declared = |value: &str, skip: usize, scope: &str| -> String {
                let params = params.iter().skip(skip);
                let mut list: String = params
                    .map(|(name, ty)| format!(", {name}: {}", ty.replace("VALUE", value)))
                    .collect();
                if with {
                    let options = format!("Options<'{scope}, {ty}>");
                    let _ = write!(list, ", options: impl FnOnce({options}) -> {options}");
                }
                list
            };
            let apply = if with { ".with(options)" } else { "" };
            let mutable = if puts.is_empty() { "" } else { "mut " };
            let doc = self.described();
            let _ = writeln!(
                out,
                "#[doc = {doc:?}]\n#[doc = \"# Errors\"]\n#[doc = \"When its types cannot be inferred.\"]\npub fn {name}<'a>(r: &mut Rewriter<'a>{}) -> Result<{plain}, String> {{ \
                 let {mutable}parts = Parts::begin(r.ctx, {ty}::NAME); {puts}parts{apply}.{plain_end}(r) }}",
                declared("ValueId", 0, "a"),
            );
            let (on, this, skip, scope) = match first_is_tensor {
                true => ("Expr<'c>", format!("let {} = self;", params[0].0), 1, "self.scope"),
                false => ("ExprScope<'c>", String::new(), 0, "self"),
            };
            let _ = writeln!(
                out,
                "impl<'c> {on} {{ #[doc = {doc:?}]\npub fn {name}(self{}) -> {expr} {{ {this} \
                 let {mutable}parts = Parts::begin({scope}.context(), {ty}::NAME); {puts}parts{apply}.{expr_end}({scope}) }} }}",
                declared("Expr<'c>", skip, "c"),
            );
        }
    }
}

/// The call that sets an attribute.
fn put(kind: ParamKind, name: &str, place: usize, value: &str) -> String {
    match kind {
        ParamKind::Number => format!("give_number({name:?}, {place}, {value}.into())"),
        ParamKind::Ints => format!("give_ints({name:?}, {place}, {value}.into())"),
        ParamKind::Float => format!("give_float({name:?}, {value})"),
        ParamKind::Int => format!("give_int({name:?}, {value})"),
        ParamKind::Bool => format!("give_flag({name:?}, {value})"),
        ParamKind::Str => format!("give_text({name:?}, {value})"),
        ParamKind::Type => format!("give_type({name:?}, {value})"),
        ParamKind::List => format!("give_list({name:?}, {value})"),
        ParamKind::Attr => format!("give_attr({name:?}, {value})"),
    }
}

/// Parses a number of the tables.
fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

/// `{1, 1}` as an array.
fn list(text: &str) -> String {
    let inside = text.trim().trim_start_matches('{').trim_end_matches('}');
    format!("[{inside}]")
}
