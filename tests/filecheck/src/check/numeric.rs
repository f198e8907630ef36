//! `[[#…]]`: numbers that are matched, remembered and computed with.

use super::variables::Variables;

/// How deep parentheses and calls may nest.
const MAX_DEPTH: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Radix {
    Unsigned,
    Signed,
    LowerHex,
    UpperHex,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) radix: Radix,
    /// At least this many digits.
    precision: usize,
    /// With `0x`.
    alternate: bool,
}

impl Format {
    pub(crate) const UNSIGNED: Format = Format {
        radix: Radix::Unsigned,
        precision: 0,
        alternate: false,
    };

    /// Any number of this format, as an expression of fancy-regex.
    pub(crate) fn any(self) -> String {
        let (sign, first, digit) = match self.radix {
            Radix::Unsigned => ("", "[1-9]", "[0-9]"),
            Radix::Signed => ("-?", "[1-9]", "[0-9]"),
            Radix::LowerHex => ("", "[1-9a-f]", "[0-9a-f]"),
            Radix::UpperHex => ("", "[1-9A-F]", "[0-9A-F]"),
        };
        let base = if self.alternate { "0x" } else { "" };
        match self.precision {
            0 => format!("{sign}{base}{digit}+"),
            n => format!("{sign}{base}(?:{first}{digit}*)?{digit}{{{n}}}"),
        }
    }

    /// The number in this format.
    pub(crate) fn write(self, value: i128) -> Result<String, String> {
        if value < 0 && self.radix != Radix::Signed {
            return Err(format!("{value} is negative and the format is not `%d`"));
        }
        let magnitude = value.unsigned_abs();
        let width = self.precision;
        let digits = match self.radix {
            Radix::Unsigned | Radix::Signed => format!("{magnitude:0width$}"),
            Radix::LowerHex => format!("{magnitude:0width$x}"),
            Radix::UpperHex => format!("{magnitude:0width$X}"),
        };
        let sign = if value < 0 { "-" } else { "" };
        let base = if self.alternate { "0x" } else { "" };
        Ok(format!("{sign}{base}{digits}"))
    }

    /// The value of a text that `any` has matched.
    pub(crate) fn read(self, text: &str) -> Result<i128, String> {
        let radix = match self.radix {
            Radix::Unsigned | Radix::Signed => 10,
            Radix::LowerHex | Radix::UpperHex => 16,
        };
        let text = if self.alternate {
            text.trim_start_matches("0x")
        } else {
            text
        };
        i128::from_str_radix(text, radix).map_err(|_| format!("the number {text} is too large"))
    }

    fn name(self) -> &'static str {
        match self.radix {
            Radix::Unsigned => "%u",
            Radix::Signed => "%d",
            Radix::LowerHex => "%x",
            Radix::UpperHex => "%X",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i128),
    Variable(String),
    Call(Function, Box<(Expr, Expr)>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
}

impl Expr {
    pub(crate) fn value(&self, variables: &Variables) -> Result<i128, String> {
        match self {
            Expr::Number(n) => Ok(*n),
            Expr::Variable(name) => variables
                .number(name)
                .ok_or_else(|| format!("the numeric variable `{name}` is not defined")),
            Expr::Call(function, operands) => {
                let (a, b) = (operands.0.value(variables)?, operands.1.value(variables)?);
                match function {
                    Function::Add => a.checked_add(b),
                    Function::Sub => a.checked_sub(b),
                    Function::Mul => a.checked_mul(b),
                    Function::Div => a.checked_div(b),
                    Function::Max => Some(a.max(b)),
                    Function::Min => Some(a.min(b)),
                }
                .ok_or_else(|| "the number cannot be computed".to_owned())
            }
        }
    }

    pub(crate) fn for_each_variable(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Expr::Number(_) => {}
            Expr::Variable(name) => visit(name),
            Expr::Call(_, operands) => {
                operands.0.for_each_variable(visit);
                operands.1.for_each_variable(visit);
            }
        }
    }
}

/// A numeric block.
#[derive(Clone, Debug)]
pub(crate) struct Numeric {
    pub(crate) define: Option<String>,
    pub(crate) format: Format,
    /// The number that must be here; any, when there is none.
    pub(crate) expr: Option<Expr>,
}

/// Reads the text between `[[#` and `]]`. `format_of` gives the formats of the variables defined so far.
pub(crate) fn parse(text: &str, line: usize, format_of: &dyn Fn(&str) -> Option<Format>) -> Result<Numeric, String> {
    let mut rest = text.trim_start();
    let mut format = None;
    if let Some(after) = rest.strip_prefix('%') {
        let (read, after) = parse_format(after)?;
        format = Some(read);
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None => return Err("a `,` must stand behind the format, as in `[[#%x,]]`".to_owned()),
        };
    }
    let mut define = None;
    if let Some((name, after)) = rest.split_once(':') {
        let name = name.trim_end();
        if name.starts_with('@') {
            return Err("`@LINE` cannot be defined".to_owned());
        }
        if !is_name(name) {
            return Err(format!("`{name}` is not the name of a variable"));
        }
        define = Some(name.to_owned());
        rest = after.trim_start();
    }
    let constrained = rest.strip_prefix("==");
    rest = constrained.unwrap_or(rest);
    let expr = if rest.trim().is_empty() {
        if constrained.is_some() {
            return Err("an expression must stand behind `==`".to_owned());
        }
        None
    } else {
        Some(ExprParser { rest, line, depth: 0 }.whole()?)
    };
    let format = match (format, &expr) {
        (Some(format), _) => format,
        (None, Some(expr)) => implicit_format(expr, format_of)?,
        (None, None) => Format::UNSIGNED,
    };
    Ok(Numeric { define, format, expr })
}

fn implicit_format(expr: &Expr, format_of: &dyn Fn(&str) -> Option<Format>) -> Result<Format, String> {
    let mut found: Option<(String, Format)> = None;
    let mut conflict = None;
    expr.for_each_variable(&mut |name| {
        let Some(format) = format_of(name) else { return };
        match &found {
            Some((other, before)) if before.radix != format.radix => {
                conflict.get_or_insert_with(|| {
                    format!(
                        "`{other}` ({}) and `{name}` ({}) differ in format: give one explicitly",
                        before.name(),
                        format.name()
                    )
                });
            }
            Some(_) => {}
            None => found = Some((name.to_owned(), format)),
        }
    });
    match conflict {
        Some(message) => Err(message),
        None => Ok(found.map_or(Format::UNSIGNED, |(_, format)| format)),
    }
}

fn parse_format(text: &str) -> Result<(Format, &str), String> {
    let (alternate, text) = match text.strip_prefix('#') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (precision, text) = match text.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, rest) = rest.split_at(end);
            let precision = digits
                .parse::<u8>()
                .map_err(|_| "the precision must be from 0 to 255".to_owned())?;
            (usize::from(precision), rest)
        }
        None => (0, text),
    };
    let radix = match text.chars().next() {
        Some('u') => Radix::Unsigned,
        Some('d') => Radix::Signed,
        Some('x') => Radix::LowerHex,
        Some('X') => Radix::UpperHex,
        _ => return Err("the format must be `%u`, `%d`, `%x` or `%X`".to_owned()),
    };
    if alternate && matches!(radix, Radix::Unsigned | Radix::Signed) {
        return Err("`#` is only for `%x` and `%X`".to_owned());
    }
    let format = Format {
        radix,
        precision,
        alternate,
    };
    Ok((format, &text[1..]))
}

pub(crate) fn is_name(text: &str) -> bool {
    let text = text.strip_prefix('$').unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `@LINE`, `@LINE+1` and `@LINE-1`, as `[[@LINE+1]]` has them.
pub(crate) fn parse_line_reference(text: &str, line: usize) -> Result<Expr, String> {
    let mut parser = ExprParser {
        rest: text,
        line,
        depth: 0,
    };
    if text.contains([' ', '\t', '(']) {
        return Err("only `@LINE`, `@LINE+n` and `@LINE-n` can stand here, without blanks".to_owned());
    }
    parser.whole()
}

struct ExprParser<'a> {
    rest: &'a str,
    line: usize,
    depth: usize,
}

impl<'a> ExprParser<'a> {
    fn whole(&mut self) -> Result<Expr, String> {
        let expr = self.sum()?;
        if self.rest.is_empty() {
            return Ok(expr);
        }
        Err(format!("unexpected `{}` in a numeric expression", self.rest))
    }

    fn eat(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        let Some(after) = self.rest.strip_prefix(c) else {
            return false;
        };
        self.rest = after;
        true
    }

    fn sum(&mut self) -> Result<Expr, String> {
        let mut left = self.operand()?;
        loop {
            let function = if self.eat('+') {
                Function::Add
            } else if self.eat('-') {
                Function::Sub
            } else {
                return Ok(left);
            };
            left = Expr::Call(function, Box::new((left, self.operand()?)));
        }
    }

    fn operand(&mut self) -> Result<Expr, String> {
        if self.depth >= MAX_DEPTH {
            return Err("the expression is nested too deeply".to_owned());
        }
        if self.eat('(') {
            self.depth += 1;
            let inner = self.sum()?;
            self.depth -= 1;
            return if self.eat(')') {
                Ok(inner)
            } else {
                Err("a `(` has no `)`".to_owned())
            };
        }
        let word = self.word();
        match word {
            "" => Err("an operand is missing in a numeric expression".to_owned()),
            "@LINE" => i128::try_from(self.line).map(Expr::Number).map_err(|e| e.to_string()),
            _ if word.starts_with('@') => Err(format!("`{word}` is not known; there is `@LINE`")),
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => {
                let number = match word.strip_prefix("0x") {
                    Some(hex) => i128::from_str_radix(hex, 16),
                    None => word.parse(),
                };
                number
                    .map(Expr::Number)
                    .map_err(|_| format!("`{word}` is not a number"))
            }
            _ if self.rest.starts_with('(') => self.call(word),
            _ if is_name(word) => Ok(Expr::Variable(word.to_owned())),
            _ => Err(format!("`{word}` is not the name of a variable")),
        }
    }

    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '@');
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn call(&mut self, name: &str) -> Result<Expr, String> {
        let function = match name {
            "add" => Function::Add,
            "sub" => Function::Sub,
            "mul" => Function::Mul,
            "div" => Function::Div,
            "max" => Function::Max,
            "min" => Function::Min,
            _ => {
                return Err(format!(
                    "there is no function `{name}`: add, sub, mul, div, max and min are known"
                ));
            }
        };
        self.depth += 1;
        self.eat('(');
        let first = self.sum()?;
        if !self.eat(',') {
            return Err(format!("`{name}` takes two operands"));
        }
        let second = self.sum()?;
        if !self.eat(')') {
            return Err(format!("`{name}` takes two operands, then a `)`"));
        }
        self.depth -= 1;
        Ok(Expr::Call(function, Box::new((first, second))))
    }
}
