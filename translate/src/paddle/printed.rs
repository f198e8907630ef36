//! Programs as Paddle prints them: `print(program)`.
//!
//! ```text
//! program := `{` op* `}`
//! op      := `(` results `)` `=` name `(` operands `)` [`{` attributes `}`] [[`:` `(` types `)`] `->` types] [regions]
//! regions := `{` [`^` arguments] op* `}` [`else` `{` op* `}`]
//! ```
//!
//! The printed form has less information than the saved one: numbers have six digits and no types, and a loop does not
//! give the types of its carried values, which are those of the initial values.

use pir_dialects::pd;
use std::borrow::Cow;

use smallvec::SmallVec;

use pir_ir::{Attr, AttrData, DYNAMIC, Diagnostic, RegionId, Span, Type, TypeData};

use super::attributes::{dtype, other_type, stack_part};
use super::build::{Builder, SourceId, SourceOp};

/// The prefix of absent values, types and attributes.
const NULL: &str = "<<NULL";

/// The first number for stack handles, which are numbered separately, three for each stack.
const STACKS: SourceId = 1 << 60;

/// The names of a stack's handles, in the order of the results.
const STACK_ENDS: [&str; 3] = ["stack", "inlet", "outlet"];

/// Reads the program in `source`; errors go to the builder.
pub(super) fn read(builder: &mut Builder<'_>, source: &[u8]) {
    if u32::try_from(source.len()).is_err() {
        let error = Diagnostic::error("too-large", "a source of 4 GiB or more cannot be read");
        return builder.errors.push(error);
    }
    let text = match std::str::from_utf8(source) {
        Ok(text) => text,
        Err(e) => {
            let at = Span::new(e.valid_up_to(), e.valid_up_to() + 1);
            let error = Diagnostic::error("syntax", "this is not UTF-8").label(at, "");
            return builder.errors.push(error);
        }
    };
    builder.spelling = |id| match id {
        STACKS.. => {
            let end = id - STACKS;
            let word = usize::try_from(end % 3).ok().and_then(|at| STACK_ENDS.get(at));
            format!("%{}_{}", word.unwrap_or(&""), end / 3)
        }
        0.. => format!("%{}", id - 1),
        _ => format!("%arg_{}", -1 - id),
    };
    let mut reader = Reader { text, at: 0, builder };
    if let Err(error) = reader.program() {
        reader.builder.errors.push(error);
    }
}

struct Reader<'b, 'c, 's> {
    text: &'s str,
    at: usize,
    builder: &'b mut Builder<'c>,
}

/// A region being read, and what follows it.
struct Open {
    /// The `else` region.
    otherwise: Option<RegionId>,
}

type Read<T> = Result<T, Diagnostic>;

impl<'s> Reader<'_, '_, 's> {
    fn program(&mut self) -> Read<()> {
        self.expect("{")?;
        let mut open: Vec<Open> = vec![Open { otherwise: None }];
        while let Some(level) = open.last_mut() {
            if self.accept("}") {
                match level.otherwise.take() {
                    Some(region) if self.accept("else") => {
                        self.expect("{")?;
                        self.builder.leave();
                        self.builder.enter(region);
                    }
                    otherwise => {
                        open.pop();
                        if open.is_empty() {
                            break;
                        }
                        self.builder.leave();
                        // An empty branch is not printed.
                        if let Some(region) = otherwise {
                            self.builder.enter(region);
                            self.builder.leave();
                        }
                    }
                }
                continue;
            }
            open.extend(self.op()?);
        }
        self.blanks();
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(self.error("expected nothing more")),
        }
    }

    // ----- operations -----

    /// Reads an operation up to its first region, and enters that.
    fn op(&mut self) -> Read<Option<Open>> {
        let start = self.next_at();
        let ids = self.list("(", ")", Self::value)?;
        self.expect("=")?;
        let name = self.name()?;
        let mut operands: SmallVec<[SourceId; 4]> = SmallVec::new();
        self.expect("(")?;
        while !self.accept(")") {
            for label in ["cond=", "inputs="] {
                self.accept(label);
            }
            if !self.peek(")") {
                operands.push(self.value()?);
            }
            self.accept(",");
        }
        let is_loop = name == pd::While::NAME;
        let mut attrs = Vec::new();
        let mut stops: SmallVec<[bool; 2]> = SmallVec::new();
        let mut dialect_name = None;
        if !is_loop && self.accept("{") {
            while !self.accept("}") {
                let key = self.word()?;
                self.expect(":")?;
                let value = self.attribute()?;
                match (key, value) {
                    ("stop_gradient", Some(value)) => stops = self.bools(value),
                    ("persistable", Some(value))
                        if name == pd::Data::NAME && self.bools(value).first() == Some(&true) =>
                    {
                        attrs.push((self.builder.ctx.sym(key), self.builder.ctx.bool_attr(true)));
                    }
                    ("parameter_name", Some(value)) => dialect_name = Some(value),
                    ("struct_name" | "op_role" | "op_dist_attr" | "op_callstack", _) => {}
                    ("is_distributed" | "is_parameter" | "need_clip" | "persistable" | "trainable", _) => {}
                    (_, None) => {}
                    (key, Some(value)) => attrs.push((self.builder.ctx.sym(key), value)),
                }
                self.accept(",");
            }
        }
        let name = match name.as_str() {
            "builtin.parameter" => pd::Parameter::NAME.to_owned(),
            _ => name,
        };
        attrs.extend(dialect_name.map(|value| (self.builder.ctx.sym("name"), value)));
        if stops.first() == Some(&true)
            && matches!(name.as_str(), pd::Data::NAME | pd::Feed::NAME | pd::Parameter::NAME)
        {
            attrs.push((self.builder.ctx.sym("stop_gradient"), self.builder.ctx.bool_attr(true)));
        }
        let types = self.result_types(is_loop, &operands)?;
        if types.len() != ids.len() {
            let message = format!("`{name}` has {} results but {} result types", ids.len(), types.len());
            return Err(Diagnostic::error("syntax", message).label(Span::new(start, self.at), "in this operation"));
        }
        let has_region = self.peek("{");
        let source = SourceOp {
            regions: match (has_region, name.as_str()) {
                (false, _) => 0,
                (true, pd::If::NAME) => 2,
                (true, _) => 1,
            },
            name,
            results: ids.into_iter().zip(types).collect(),
            attrs,
            stops,
            span: Span::new(start, self.at),
            operands,
        };
        let carried = source.operands.iter().skip(1).copied().collect::<Vec<_>>();
        let regions = self.builder.op(source);
        let Some(&first) = regions.first() else { return Ok(None) };
        self.expect("{")?;
        // The types of the arguments come from outer values, looked up before the region shadows them.
        let types: Vec<Option<Type>> = carried.iter().map(|&id| self.builder.value_type(id)).collect();
        self.builder.enter(first);
        if self.accept("^") {
            self.arguments(&types)?;
        }
        Ok(Some(Open {
            otherwise: regions.get(1).copied(),
        }))
    }

    fn result_types(&mut self, is_loop: bool, operands: &[SourceId]) -> Read<Vec<Option<Type>>> {
        if is_loop && !self.peek("->") && !self.peek(":") {
            let types = operands.iter().skip(1).map(|&id| self.builder.value_type(id));
            return Ok(types.map(|ty| Some(ty.unwrap_or(Type::NONE))).collect());
        }
        if self.accept(":") {
            self.list("(", ")", Self::ty)?;
        }
        let mut types = Vec::new();
        if self.accept("->") {
            // An operation without results has no types after the arrow.
            while !(self.peek("(") || self.peek("}") || self.peek("{") || self.next_at() == self.text.len()) {
                types.push(self.ty()?);
                if !self.accept(",") {
                    break;
                }
            }
        }
        Ok(types)
    }

    /// `%arg_0 {stop_gradient:true}, %arg_1 {…}` after `^`.
    fn arguments(&mut self, types: &[Option<Type>]) -> Read<()> {
        if !self.peek("%") {
            return Ok(());
        }
        for index in 0.. {
            let at = self.next_at();
            let id = self.value()?;
            let ty = match types.get(index).copied().flatten() {
                _ if self.accept(":") => self.ty()?.unwrap_or(Type::NONE),
                Some(ty) => ty,
                None => {
                    return Err(Diagnostic::error("syntax", "an argument without an initial value")
                        .label(Span::new(at, self.at), ""));
                }
            };
            if self.accept("{") {
                let end = self.rest().find('}').ok_or_else(|| self.error("expected `}`"))?;
                self.at += end + 1;
            }
            self.builder.block_arg(id, ty);
            if !self.accept(",") {
                break;
            }
        }
        Ok(())
    }

    /// `"pd_op.add"` is `pd.add`.
    fn name(&mut self) -> Read<String> {
        let name = self.string()?;
        Ok(match name.split_once('.') {
            Some(("pd_op", op)) => format!("pd.{op}"),
            Some(("pd_dist", op)) => format!("dist.{op}"),
            _ => name.into_owned(),
        })
    }

    /// `%3` is 4, `%arg_3` is -4, `%inlet_0` is one of the [`STACKS`], and an absent value is 0.
    fn value(&mut self) -> Read<SourceId> {
        if self.null() {
            return Ok(0);
        }
        self.expect("%")?;
        let argument = self.accept("arg_");
        let mut ends = (0..).zip(STACK_ENDS);
        let end = ends.find_map(|(at, word)| (!argument && self.accept(word) && self.accept("_")).then_some(at));
        let digits = self.run(|c| c.is_ascii_digit());
        match (digits.parse::<SourceId>(), end) {
            (Ok(number @ ..0x1000_0000_0000), None) => Ok(if argument { -1 - number } else { number + 1 }),
            (Ok(number @ ..0x1000_0000_0000), Some(end)) => Ok(STACKS + 3 * number + end),
            _ => Err(self.error("expected the number of a value")),
        }
    }

    // ----- types -----

    fn ty(&mut self) -> Read<Option<Type>> {
        let ctx = self.builder.ctx;
        if self.null() {
            return Ok(None);
        }
        if self.accept("vec[") {
            let mut items = Vec::new();
            while !self.accept("]") {
                if self.peek("vec[") {
                    return Err(self.error("expected a type that is not a vector"));
                }
                items.push(self.ty()?.unwrap_or(Type::NONE));
                self.accept(",");
            }
            return Ok(Some(ctx.intern_type(TypeData::List(items.into()))));
        }
        if self.accept("tensor<") {
            let inside = self.until('>')?;
            let (shape, elem) = tensor(inside).ok_or_else(|| self.error("expected a tensor type before this"))?;
            let elem = self.element(elem)?;
            return Ok(Some(ctx.tensor(&shape, elem)));
        }
        self.accept("!");
        let word = self.word()?;
        if let Some(ty) = word.strip_prefix("cf.").and_then(|kind| stack_part(ctx, kind)) {
            return Ok(Some(ty));
        }
        if self.accept("<") {
            let inside = self.until('>')?;
            let (shape, elem) = tensor(inside).ok_or_else(|| self.error("expected a shape before this"))?;
            let elem = self.element(elem)?;
            let ty = other_type(ctx, word, &shape, elem);
            return ty
                .map(Some)
                .ok_or_else(|| self.error(&format!("expected a type before this: `{word}` is not a type")));
        }
        self.element(word).map(Some)
    }

    fn element(&self, word: &str) -> Read<Type> {
        let long = match word {
            "b" => "bool",
            "u8" | "ui8" => "uint8",
            "i8" => "int8",
            "i16" => "int16",
            "i32" => "int32",
            "i64" => "int64",
            "f16" => "float16",
            "bf16" => "bfloat16",
            "f32" => "float32",
            "f64" => "float64",
            "c64" => "complex64",
            "c128" => "complex128",
            "index" => return Ok(Type::INDEX),
            other => other,
        };
        dtype(self.builder.ctx, long).ok_or_else(|| self.error(&format!("expected an element type, found `{word}`")))
    }

    // ----- attributes -----

    /// A value after `key:`; `None` for an empty one.
    fn attribute(&mut self) -> Read<Option<Attr>> {
        let ctx = self.builder.ctx;
        let mut open: Vec<Vec<Attr>> = Vec::new();
        loop {
            if self.accept("[") {
                open.push(Vec::new());
                continue;
            }
            let value = if self.accept("]") {
                let items = open.pop().ok_or_else(|| self.error("expected a value before `]`"))?;
                Some(ctx.attr(AttrData::Array(items.into())))
            } else {
                self.leaf()?
            };
            let Some(list) = open.last_mut() else { return Ok(value) };
            list.extend(value);
            self.accept(",");
        }
    }

    fn leaf(&mut self) -> Read<Option<Attr>> {
        let ctx = self.builder.ctx;
        if self.null() {
            return Ok(None);
        }
        if self.peek("\"") {
            let text = self.string()?;
            return Ok(Some(ctx.str_attr(&text)));
        }
        if self.accept("Place(") {
            let inside = self.until(')')?;
            return Ok((!inside.starts_with("undefined")).then(|| ctx.str_attr(inside)));
        }
        // `(Float)0.5`: some versions print a type before a number.
        if self.accept("(") {
            self.until(')')?;
        }
        if self.peek("tensor<") || self.peek("vec[") {
            return Ok(self.ty()?.map(|ty| ctx.type_attr(ty)));
        }
        let at = self.next_at();
        let word = self.run(|c| !c.is_whitespace() && !matches!(c, ',' | '}' | ']' | ')' | '{' | '['));
        Ok(Some(match word {
            "true" => ctx.bool_attr(true),
            "false" => ctx.bool_attr(false),
            "inf" | "-inf" | "nan" | "-nan" => ctx.float_attr(word.parse().unwrap_or(f64::NAN)),
            "" => return Err(self.error("expected a value")),
            _ if word.starts_with("Undefined") => return Ok(None),
            _ => {
                if let Ok(int) = word.parse::<i64>() {
                    ctx.int_attr(int)
                } else if let Some(ty) = dtype(ctx, word) {
                    ctx.type_attr(ty)
                } else if let Some(float) = word.parse::<f64>().ok().filter(|f| f.is_finite()) {
                    ctx.float_attr(float)
                } else if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    ctx.str_attr(word)
                } else {
                    self.at = at;
                    return Err(self.error("expected a value"));
                }
            }
        }))
    }

    fn bools(&self, value: Attr) -> SmallVec<[bool; 2]> {
        let ctx = self.builder.ctx;
        match ctx.attr_data(value) {
            AttrData::Array(items) => items.iter().filter_map(|&a| ctx.attr_bool(a)).collect(),
            _ => ctx.attr_bool(value).into_iter().collect(),
        }
    }

    // ----- tokens -----

    fn rest(&self) -> &'s str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The offset of the next token.
    fn next_at(&mut self) -> usize {
        self.blanks();
        self.at
    }

    fn peek(&mut self, word: &str) -> bool {
        self.blanks();
        self.rest().starts_with(word)
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.peek(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Read<()> {
        match self.accept(word) {
            true => Ok(()),
            false => Err(self.error(&format!("expected `{word}`"))),
        }
    }

    /// An absent item, `<<NULL VALUE>>`.
    fn null(&mut self) -> bool {
        if !self.peek(NULL) {
            return false;
        }
        let end = self.rest().find(">>").map_or(NULL.len(), |end| end + 2);
        self.at += end;
        true
    }

    fn run(&mut self, take: impl Fn(char) -> bool) -> &'s str {
        self.blanks();
        let rest = self.rest();
        let end = rest.find(|c| !take(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or("")
    }

    fn word(&mut self) -> Read<&'s str> {
        match self.run(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
            "" => Err(self.error("expected a word")),
            word => Ok(word),
        }
    }

    /// The text up to the next `end`, which is consumed.
    fn until(&mut self, end: char) -> Read<&'s str> {
        let rest = self.rest();
        let Some(length) = rest.find(end) else {
            return Err(self.error(&format!("expected `{end}`")));
        };
        self.at += length + end.len_utf8();
        Ok(rest.get(..length).unwrap_or(""))
    }

    /// A quoted string. Paddle escapes quotes, and nothing else.
    fn string(&mut self) -> Read<Cow<'s, str>> {
        self.expect("\"")?;
        let text = self.until('"')?;
        if !text.ends_with('\\') {
            return Ok(Cow::Borrowed(text));
        }
        let mut whole = text.to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            whole.push('"');
            whole.push_str(self.until('"')?);
        }
        Ok(Cow::Owned(whole))
    }

    fn list<T>(&mut self, open: &str, close: &str, item: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        self.expect(open)?;
        while !self.accept(close) {
            items.push(item(self)?);
            if !self.accept(",") && !self.peek(close) {
                return Err(self.error(&format!("expected `,` or `{close}`")));
            }
        }
        Ok(items)
    }

    fn error(&self, what: &str) -> Diagnostic {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start().len();
        let found = match rest.trim_start().chars().next() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end of the file".to_owned(),
        };
        let at = self.at + blank;
        Diagnostic::error("syntax", format!("{what}, found {found}")).label(Span::new(at, at + 1), "")
    }
}

/// `2x?xf32` or `-1x4xf32`: the extents and the element type.
fn tensor(inside: &str) -> Option<(Vec<i64>, &str)> {
    let mut parts: Vec<&str> = inside.split('x').collect();
    let elem = parts.pop()?;
    let shape: Option<Vec<i64>> = parts
        .into_iter()
        .map(|dim| match dim.trim() {
            "?" | "-1" => Some(DYNAMIC),
            dim => dim.parse().ok().filter(|&d| d >= 0),
        })
        .collect();
    Some((shape?, elem.trim()))
}
