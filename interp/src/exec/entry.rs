//! The entry point of a module: a function, or the operations at top level.

use pir_dialects::df;
use pir_ir::{Body, Context, Module, OpId, OpView, Traits};

use super::error::ExecError;

/// The body to run, and whether it is that of a function.
pub(crate) struct Entry<'m> {
    /// The body in which called functions are looked up.
    pub(crate) scope: &'m Body,
    pub(crate) body: &'m Body,
    pub(crate) is_function: bool,
}

/// Whether an isolated operation is a module: neither a function nor a graph.
fn is_module(module: &Module, body: &Body, op: OpId) -> bool {
    let view = body.view(&module.ctx, op);
    !view.has(Traits::FUNCTION) && view.name() != df::GRAPH
}

/// Whether an operation at top level has no effect: passes may remove it.
fn does_nothing(module: &Module, body: &Body, op: OpId) -> bool {
    if let Some(inner) = body.isolated(op) {
        return body.view(&module.ctx, op).name() == df::GRAPH && inner.walk_all().next().is_none();
    }
    let inside = body.op_regions(op).iter().flat_map(|&region| body.walk(region));
    std::iter::once(op).chain(inside).all(|op| {
        let view = body.view(&module.ctx, op);
        view.def().is_some() && body.isolated(op).is_none() && view.own_effects().is_empty()
    })
}

/// Whether an operation takes and gives nothing, and has no expansion: it is an annotation for other tools.
fn is_remark(op: OpView<'_>) -> bool {
    let def = op.def().filter(|def| def.is_composite() && def.regions.is_empty());
    def.is_some_and(|def| def.operands.is_empty() && def.results.is_empty())
}

/// The body with the top-level operations: if a file consists of one module and operations without effects, the
/// module's.
pub(crate) fn top_level(module: &Module) -> &Body {
    let path = path_to_top(module).into_iter();
    path.fold(&module.body, |body, op| body.isolated(op).unwrap_or(body))
}

/// The modules that lead to that body.
pub(crate) fn path_to_top(module: &Module) -> Vec<OpId> {
    let (mut body, mut path) = (&module.body, Vec::new());
    loop {
        let Some(block) = body.single_block(body.root()) else {
            return path;
        };
        // Few files have a module: the operations beside it are checked only if there is one.
        let isolated = body.block_ops(block).filter_map(|op| Some((op, body.isolated(op)?)));
        let mut modules = isolated.filter(|&(op, _)| is_module(module, body, op));
        match (modules.next(), modules.next()) {
            (Some((only, inner)), None)
                if body
                    .block_ops(block)
                    .all(|op| op == only || does_nothing(module, body, op)) =>
            {
                path.push(only);
                body = inner;
            }
            _ => return path,
        }
    }
}

pub(crate) fn functions<'m>(ctx: &Context, scope: &'m Body) -> Vec<(String, &'m Body)> {
    let Some(block) = scope.single_block(scope.root()) else {
        return Vec::new();
    };
    scope
        .block_ops(block)
        .filter_map(|op| {
            let view = scope.view(ctx, op);
            let body = scope
                .isolated(op)
                .filter(|b| view.has(Traits::FUNCTION) && b.entry_block(b.root()).is_some())?;
            Some((view.str("sym_name")?.to_owned(), body))
        })
        .collect()
}

pub(crate) fn entry<'m>(module: &'m Module, function: Option<&str>) -> Result<Entry<'m>, ExecError> {
    let scope = top_level(module);
    let functions = functions(&module.ctx, scope);
    let names: Vec<&str> = functions.iter().map(|(name, _)| &**name).collect();
    if let Some(wanted) = function {
        let wanted = wanted.strip_prefix('@').unwrap_or(wanted);
        return match functions.iter().find(|(name, _)| name == wanted) {
            Some((_, body)) => Ok(Entry {
                scope,
                body,
                is_function: true,
            }),
            None => Err(
                ExecError::new(format!("there is no function @{wanted} with a body")).help(format!(
                    "functions are: {}",
                    if names.is_empty() {
                        "none".to_owned()
                    } else {
                        names.join(", ")
                    }
                )),
            ),
        };
    }
    let Some(block) = scope.single_block(scope.root()) else {
        return Err(ExecError::new("the program has no operations"));
    };
    let at_top = scope
        .block_ops(block)
        .any(|op| scope.isolated(op).is_none() && !is_remark(scope.view(&module.ctx, op)));
    if at_top || functions.is_empty() {
        return Ok(Entry {
            scope,
            body: scope,
            is_function: false,
        });
    }
    let main = functions
        .iter()
        .find(|(name, _)| name == "main")
        .or(if functions.len() == 1 { functions.first() } else { None });
    match main {
        Some((_, body)) => Ok(Entry {
            scope,
            body,
            is_function: true,
        }),
        None => Err(ExecError::new("the program has several functions")
            .help(format!("choose one with `--function`: {}", names.join(", ")))),
    }
}

/// The function that is run, if it is one and no program at top level.
pub fn entry_name(module: &Module, function: Option<&str>) -> Option<String> {
    let entry = entry(module, function).ok()?;
    let functions = functions(&module.ctx, entry.scope).into_iter();
    let mut found = functions.filter(|(_, body)| std::ptr::eq(*body, entry.body));
    found.next().map(|(name, _)| name)
}

/// The names of the functions with a body that can be run, in their order.
pub fn function_names(module: &Module) -> Vec<String> {
    let functions = functions(&module.ctx, top_level(module)).into_iter();
    functions.map(|(name, _)| name).collect()
}
