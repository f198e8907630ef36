//! The parts of a printed program for `--print-ir-scope`. Every operation starts a line, and nested ones are indented,
//! so parts are found by lines; printing the operations separately would lose the names of outer values.

use pir_ir::{Module, OpDef, Traits};
use rustc_hash::FxHashSet;

use super::show::PrintScope;

/// A part of a printed program.
#[derive(Debug)]
pub(super) struct Part<'a> {
    /// The enclosing function.
    pub(super) place: &'a str,
    /// Its lines.
    pub(super) text: &'a str,
}

/// The parts of the printed text for a scope.
pub(super) fn parts<'a>(module: &Module, text: &'a str, scope: PrintScope) -> Vec<Part<'a>> {
    let loops = if scope == PrintScope::Loop {
        loops(module)
    } else {
        FxHashSet::default()
    };
    let def = |name: &str| module.ctx.registered_op(name).and_then(|op| module.ctx.op_def(op));
    let is_function = |name: &str| def(name).is_some_and(|def: &OpDef| def.has(Traits::FUNCTION));
    let mut found = Vec::new();
    // The open part: its offset and its indentation.
    let mut open: Option<(usize, usize)> = None;
    let mut function: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let inner = line.trim_start_matches(' ');
        let indent = line.len() - inner.len();
        let content = inner.trim_end();
        let place = |function: Option<(&'a str, usize)>| function.map_or("", |(name, _)| name);
        if content.starts_with('}') {
            let ends = !content.ends_with('{');
            if let Some((from, _)) = open.filter(|&(_, level)| ends && level == indent) {
                let text = &text[from..end];
                open = None;
                let inside = function.filter(|_| scope != PrintScope::Function);
                found.push(Part {
                    place: place(inside),
                    text,
                });
            }
            if ends && function.is_some_and(|(_, level)| level == indent) {
                function = None;
            }
            continue;
        }
        let Some(name) = op_name(content) else { continue };
        let has_regions = content.ends_with('{');
        if scope == PrintScope::Op {
            found.push(Part {
                place: place(function),
                text: line,
            });
        } else if open.is_none() {
            let wanted = match scope {
                PrintScope::Function => is_function(name),
                _ => loops.contains(name),
            };
            if wanted && has_regions {
                open = Some((start, indent));
            } else if wanted {
                found.push(Part {
                    place: place(function),
                    text: line,
                });
            }
        }
        if has_regions && function.is_none() && is_function(name) {
            function = Some((symbol(content), indent));
        }
    }
    found
}

/// The first operation of a name in a printed program, without its indentation.
pub(crate) fn find_op(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| op_name(line.trim_start()) != Some(name));
    let first = lines.next()?;
    let indent = first.len() - first.trim_start().len();
    let mut found = first[indent..].to_owned();
    if first.ends_with('{') {
        for line in lines {
            let line = line.get(indent..).unwrap_or_default();
            found.push('\n');
            found.push_str(line);
            if line.starts_with('}') && !line.ends_with('{') {
                break;
            }
        }
    }
    Some(found)
}

/// The name of the operation on a line, if one starts there.
fn op_name(line: &str) -> Option<&str> {
    let line = match line.as_bytes().first()? {
        b'%' => line.split_once(" = ")?.1,
        b'^' | b'/' | b'}' => return None,
        _ => line,
    };
    match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').map(|(name, _)| name),
        None => line.split([' ', '(']).next().filter(|name| !name.is_empty()),
    }
}

/// The symbol in a line, `@f`.
fn symbol(line: &str) -> &str {
    let Some(at) = line.find('@') else { return "" };
    let end = line[at..].find(['(', ' ']).map_or(line.len(), |length| at + length);
    &line[at..end]
}

/// The names of operations with repeated regions.
fn loops(module: &Module) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    module.for_each_body(|body| {
        for op in body.walk_all() {
            let view = body.view(&module.ctx, op);
            let Some(flow) = view.def().and_then(|def| def.flow) else {
                continue;
            };
            if (0..body.op_regions(op).len()).any(|region| flow.is_repeated(view, region)) {
                found.insert(view.name().to_owned());
            }
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use pir_ir::text::{ParseOptions, PrintOptions, parse, print};

    const PROGRAM: &str = "func.func @f (%x: tensor<f32>) -> tensor<f32> {
  %y = pd.while (%x) cond (%a) {
    %c = pd.full {shape = [], value = false, dtype = bool} : tensor<i1>
    cf.cond_yield (%c, %a)
  } do (%b) {
    cf.yield (%b)
  }
  func.return (%y)
}
func.func @g () {
  func.return
}
";

    fn of(scope: PrintScope, generic: bool) -> Vec<(String, usize)> {
        let ctx = pir_dialects::context();
        let parsed = parse(&ctx, PROGRAM.as_bytes(), &ParseOptions::default());
        assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
        let options = PrintOptions {
            generic,
            ..PrintOptions::default()
        };
        let text = print(&parsed.module, &options);
        let found = parts(&parsed.module, &text, scope);
        found
            .iter()
            .map(|p| (p.place.to_owned(), p.text.lines().count()))
            .collect()
    }

    #[test]
    fn parts_are_found_by_their_lines() {
        let lines = |found: &[(String, usize)]| found.iter().map(|(_, lines)| *lines).collect::<Vec<_>>();
        for generic in [false, true] {
            let functions = of(PrintScope::Function, generic);
            assert_eq!(functions.len(), 2, "{functions:?}");
            assert_eq!(of(PrintScope::Loop, generic).len(), 1);
            assert_eq!(lines(&of(PrintScope::Op, generic)), [1; 8]);
        }
        assert_eq!(lines(&of(PrintScope::Function, false)), [9, 3]);
        assert_eq!(of(PrintScope::Loop, false), [("@f".to_owned(), 6)]);
    }
}
