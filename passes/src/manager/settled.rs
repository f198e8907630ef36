//! Passes that need not run, since they left the same bodies as they were before.
//!
//! Pipelines repeat passes like `canonicalize`, for what the passes between may have left to do. Where these have changed nothing
//! since, a pure pass ([`Pass::is_pure`](crate::Pass::is_pure)) has nothing to do.

use pir_ir::{Body, Module};
use smallvec::SmallVec;

use crate::bodies::FEW_OPS;
use crate::pass::{Invocation, Services};

/// In a module of more bodies it takes longer to find out.
const MANY_BODIES: usize = 4;

/// The passes that left a body as it is now, as they are written in a pipeline, and whether they had an evaluator. Kept with the body
/// until it changes.
#[derive(Clone, Default)]
struct LeftAlone(Vec<(String, bool)>);

/// The bodies that a pure pass may have left alone; `None` for other passes, and if there are many bodies, or none that is worth it.
fn bodies<'m>(module: &'m Module, invocation: &Invocation) -> Option<SmallVec<[&'m Body; MANY_BODIES]>> {
    if !invocation.pass.is_pure() {
        return None;
    }
    let mut all: SmallVec<[&Body; MANY_BODIES]> = SmallVec::new();
    all.push(&module.body);
    let mut next = 0;
    while let Some(&body) = all.get(next) {
        next += 1;
        for inner in body.isolated_bodies() {
            if all.len() == MANY_BODIES {
                return None;
            }
            all.push(inner);
        }
    }
    all.iter().any(|body| body.num_op_slots() > FEW_OPS).then_some(all)
}

fn key(invocation: &Invocation, services: Services<'_>) -> (String, bool) {
    (invocation.to_string(), services.evaluator.is_some())
}

/// Whether the pass is pure, and left each body of the module as it is now.
pub(super) fn is_settled(module: &Module, invocation: &Invocation, services: Services<'_>) -> bool {
    let Some(bodies) = bodies(module, invocation) else {
        return false;
    };
    let key = key(invocation, services);
    let knows = |body: &&Body| body.recall::<LeftAlone>().is_some_and(|known| known.0.contains(&key));
    bodies.iter().all(knows)
}

/// Notes that a pass left the module as it is.
pub(super) fn settle(module: &Module, invocation: &Invocation, services: Services<'_>) {
    let Some(bodies) = bodies(module, invocation) else {
        return;
    };
    let key = key(invocation, services);
    for body in bodies {
        let mut known = body
            .recall::<LeftAlone>()
            .map_or_else(LeftAlone::default, |known| (*known).clone());
        if !known.0.contains(&key) {
            known.0.push(key.clone());
            body.remember(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use pir_ir::text;

    use super::*;
    use crate::{PassManager, Pipeline};

    fn is_known(module: &Module, pass: &str) -> bool {
        let pipeline = Pipeline::parse(pass).unwrap();
        is_settled(module, &pipeline.invocations[0], Services::default())
    }

    #[test]
    fn a_pass_is_settled_until_the_program_changes() {
        let ops: String = (0..FEW_OPS).map(|at| format!("%a{at} = pd.add (%x, %x)\n")).collect();
        let source =
            format!("%x = pd.data {{name = \"x\", shape = [2], dtype = f32}}\n{ops}pd.fetch (%a0) {{name = \"a\"}}\n");
        let parsed = text::parse(&pir_dialects::context(), source.as_bytes(), &Default::default());
        assert!(parsed.diagnostics.is_empty(), "{:#?}", parsed.diagnostics);
        let mut module = parsed.module;
        let run = |module: &mut Module, text: &str| {
            let pipeline = Pipeline::parse(text).unwrap();
            PassManager::new().run(module, &pipeline).unwrap()
        };
        run(&mut module, "licm,print-op-stats");
        assert!(is_known(&module, "licm") && !is_known(&module, "licm{branches=false}"));
        assert!(!is_known(&module, "cse") && !is_known(&module, "print-op-stats"));
        run(&mut module, "cse");
        assert!(!is_known(&module, "licm") && !is_known(&module, "cse"));
        run(&mut module, "cse,licm");
        assert!(is_known(&module, "licm") && is_known(&module, "cse"));
    }
}
