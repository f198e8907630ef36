//! The parser of pipelines.

use pir_ir::{Context, Diagnostic, OpDef, Span, Traits, nearest};

use crate::options::{OptionKind, OptionValue};
use crate::pass::{Invocation, Pass, Path, Scope, find_in};
use crate::values::{RawValue, ValueReader, is_word_char};

/// More anchors around each other than this are a mistake.
const MAX_DEPTH: usize = 64;

/// Whether an operation holds a nested program.
pub(crate) fn is_module(def: &OpDef) -> bool {
    def.has(Traits::ISOLATED | Traits::SYMBOL_TABLE | Traits::NO_TERMINATOR)
}

/// Reads a pipeline; see the module above.
pub(super) fn parse(
    text: &str,
    passes: &[&'static dyn Pass],
    ctx: Option<&Context>,
) -> Result<Vec<Invocation>, Vec<Diagnostic>> {
    let mut parser = ValueReader::new(text);
    let invocations = parser.pipeline(passes, ctx);
    if parser.errors.is_empty() {
        Ok(invocations)
    } else {
        Err(parser.errors)
    }
}

/// A pipeline is read with the reader of values: its methods here know passes and anchors.
impl<'a> ValueReader<'a> {
    fn pipeline(&mut self, passes: &[&'static dyn Pass], ctx: Option<&Context>) -> Vec<Invocation> {
        let mut out = Vec::new();
        // The anchors that are open, with the places of their parentheses.
        let mut open: Vec<usize> = Vec::new();
        let mut path = Path::default();
        self.blanks();
        if self.peek().is_none() {
            return out;
        }
        // Whether a name must follow, rather than the end of what is open.
        let mut wanted = true;
        loop {
            self.blanks();
            if !wanted || self.peek() == Some(')') && self.text[..self.at].trim_end().ends_with('(') {
                if self.peek().is_none() {
                    break;
                }
                if self.peek() == Some(')') && open.pop().is_some() {
                    self.bump();
                    path = path[..path.len() - 1].into();
                    wanted = false;
                    continue;
                }
                if !self.eat(',') {
                    self.syntax(
                        if open.is_empty() {
                            "`,` or the end"
                        } else {
                            "`,` or `)`"
                        },
                        "separate passes with commas, and write options in braces: `dce,licm`",
                    );
                    // The rest is parsed as the next pass if it may be one.
                    if self.peek().is_none_or(|c| !is_word_char(c) || matches!(c, '(' | ')')) {
                        return out;
                    }
                }
                wanted = true;
                continue;
            }
            wanted = false;
            let (name, span) = self.name();
            if name.is_empty() {
                self.syntax(
                    "the name of a pass",
                    "a pipeline is a list like `licm,dce,backward{of=loss}`",
                );
            }
            self.blanks();
            if !name.is_empty() && self.peek() == Some('(') {
                if path.len() >= MAX_DEPTH {
                    self.syntax("a pass", "anchors are nested too deeply");
                    return out;
                }
                self.anchor(name, span, passes, ctx);
                open.push(self.at);
                self.bump();
                path = path.iter().cloned().chain([name.into()]).collect();
                wanted = true;
                continue;
            }
            let pass = find_in(passes, name).or_else(|| crate::debug::find(name));
            if pass.is_none() && !name.is_empty() {
                self.unknown_pass(name, span, passes, ctx);
            }
            let mut invocation = pass.map(Invocation::new);
            if self.eat('{') && !self.options(name, invocation.as_mut()) {
                return out;
            }
            if let Some(mut invocation) = invocation {
                self.check_scope(&invocation, span, &path, ctx);
                invocation.path = path.clone();
                out.push(invocation);
            }
        }
        if let Some(&at) = open.last() {
            let help = "passes on an operation are written in parentheses: `func.func(cse,licm)`";
            self.unclosed("the parenthesis is not closed", "expected `)`", at, help);
        }
        out
    }

    /// The name of a pass or of an operation: a word that ends at a parenthesis.
    fn name(&mut self) -> (&'a str, Span) {
        let start = self.at;
        while self.peek().is_some_and(|c| is_word_char(c) && !matches!(c, '(' | ')')) {
            self.bump();
        }
        (&self.text[start..self.at], Span::new(start, self.at))
    }

    fn unknown_pass(&mut self, name: &str, span: Span, passes: &[&'static dyn Pass], ctx: Option<&Context>) {
        let is_op = ctx.is_some_and(|ctx| ctx.registered_op(name).is_some());
        let error = Diagnostic::error("unknown-pass", format!("there is no pass `{name}`")).label(span, "no such pass");
        self.errors.push(match nearest(name, passes.iter().map(|p| p.name())) {
            _ if is_op => {
                let help = format!("`{name}` is an operation; passes on it are written `{name}(cse,licm)`");
                error.help(help)
            }
            Some(near) => error.suggest("", near),
            None => error.help("`--list-passes` lists all passes"),
        });
    }

    fn anchor(&mut self, name: &str, span: Span, passes: &[&'static dyn Pass], ctx: Option<&Context>) {
        let Some(ctx) = ctx else { return };
        let ordered = |op: &OpDef| op.has(Traits::ISOLATED) && !op.has(Traits::GRAPH_REGION);
        let isolated = || {
            ctx.ops_with(Traits::ISOLATED)
                .filter(|op| ordered(op))
                .map(|op| &*op.name)
        };
        let error = match ctx.registered_op(name).and_then(|op| ctx.op_def(op)) {
            Some(def) if ordered(def) => return,
            Some(def) if def.has(Traits::ISOLATED) => {
                Diagnostic::error("bad-anchor", format!("passes cannot run on each `{name}` in isolation"))
                    .label(span, "a graph: the order of its operations has no meaning")
            }
            Some(_) => Diagnostic::error("bad-anchor", format!("passes cannot run on each `{name}` in isolation"))
                .label(span, "not isolated: operations in it can use outer values"),
            None if find_in(passes, name).is_some() => {
                Diagnostic::error("bad-anchor", format!("`{name}` is a pass, not an operation"))
                    .label(span, "options are written in braces")
            }
            None => Diagnostic::error("unknown-anchor", format!("there is no operation `{name}`"))
                .label(span, "no such operation"),
        };
        let names: Vec<String> = isolated().map(|name| format!("`{name}`")).collect();
        self.errors.push(error.help(match nearest(name, isolated()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("passes run on {}", names.join(", ")),
        }));
    }

    /// A pass that looks at the whole program cannot be shown a function of it.
    fn check_scope(&mut self, invocation: &Invocation, span: Span, path: &Path, ctx: Option<&Context>) {
        let pass = invocation.pass;
        let (Some(ctx), Scope::Module, Some(anchor)) = (ctx, pass.scope(), path.last()) else {
            return;
        };
        let def = ctx.registered_op(anchor).and_then(|op| ctx.op_def(op));
        // An invalid anchor was reported before.
        if def.is_some_and(|def| def.has(Traits::ISOLATED) && !is_module(def)) {
            let name = pass.name();
            self.errors.push(
                Diagnostic::error(
                    "bad-anchor",
                    format!("the pass `{name}` cannot run on each `{anchor}` in isolation"),
                )
                .label(span, "needs the whole program")
                .help(format!("write it outside of the parentheses: `{anchor}(…),{name}`")),
            );
        }
    }

    /// The text between the braces; `false` when they are not closed.
    fn options(&mut self, pass: &str, mut invocation: Option<&mut Invocation>) -> bool {
        let open = self.at - 1;
        self.blanks();
        loop {
            if self.eat('}') {
                return true;
            }
            if self.peek().is_none() {
                let help =
                    "options are written in braces: `backward{of=loss}`; a shell removes unquoted quotation marks";
                self.unclosed("the options are not closed", "expected `}`", open, help);
                return false;
            }
            let (name, span) = self.word();
            if name.is_empty() {
                self.syntax("the name of an option", "an option is written `name=value`");
                self.recover();
                continue;
            }
            self.blanks();
            let mut value_span = span;
            let value = if self.eat('=') {
                self.blanks();
                let start = self.at;
                let value = self.value();
                value_span = Span::new(start, self.at);
                match value {
                    Some(value) => Some(value),
                    None => {
                        self.recover();
                        continue;
                    }
                }
            } else {
                None
            };
            if let Some(invocation) = invocation.as_deref_mut() {
                self.set_option(pass, invocation, (name, span), (value, value_span));
            }
            self.separator();
        }
    }

    fn set_option(
        &mut self,
        pass: &str,
        invocation: &mut Invocation,
        (name, span): (&str, Span),
        (value, value_span): (Option<RawValue>, Span),
    ) {
        let specs = invocation.pass.options();
        let Some(spec) = invocation.options.spec(name) else {
            let names: Vec<&str> = specs.iter().map(|s| s.name).collect();
            let error = Diagnostic::error("unknown-option", format!("the pass `{pass}` has no option `{name}`"))
                .label(span, "no such option");
            self.errors.push(match nearest(name, names.iter().copied()) {
                Some(near) => error.suggest("", near),
                None if names.is_empty() => error.help(format!("`{pass}` takes no options")),
                None => error.help(format!("`{pass}` takes {}", names.join(", "))),
            });
            return;
        };
        if invocation.options.is_given(name) {
            self.errors.push(
                Diagnostic::error("duplicate-option", format!("the option `{name}` is given twice"))
                    .label(span, "given again here")
                    .help("give it once; several values are written as a list: `[a, b]`"),
            );
            return;
        }
        let read = match value {
            Some(raw) => spec.kind.read(raw),
            None if spec.kind == OptionKind::Bool => Ok(OptionValue::Bool(true)),
            None if spec.kind == OptionKind::Count => Ok(OptionValue::Int(0)),
            None => Err(format!("expected {} after `{name}=`", spec.kind)),
        };
        match read {
            Ok(value) => {
                invocation.options.set(name, value);
            }
            Err(expected) => {
                self.errors.push(
                    Diagnostic::error(
                        "bad-option",
                        format!("a wrong value for the option `{name}` of `{pass}`"),
                    )
                    .label(value_span, expected)
                    .help(format!("{name}: {}", spec.help)),
                );
            }
        }
    }

    /// Skips to the next place where an option may begin.
    fn recover(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '}' => return,
                '"' => {
                    self.string();
                }
                ',' => {
                    self.separator();
                    return;
                }
                _ => {
                    self.bump();
                }
            }
        }
    }
}
