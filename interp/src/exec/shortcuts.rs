//! Instructions on stacks that are run together with the next ones, as every loop of a derivative has them.

use pir_ir::{Arith, Body, Context};

use super::compile::Compiler;
use super::program::{Block, Code, Instr};

/// What an instruction does with the ones behind it. Without a memory limit, for which each instruction is run by itself.
pub(crate) enum Shortcut {
    /// `cf.is_empty`, the result of which is only negated: the slot of the negation.
    More { to: u32 },
    /// A branch whose first region makes its stack and does nothing else: the instruction that makes it, by number, and the slot of the
    /// stack, for either branch.
    OwnStack { site: u32, to: u32 },
}

impl Shortcut {
    /// How many instructions behind it are run.
    pub(super) fn len(&self) -> usize {
        match self {
            Shortcut::More { .. } => 1,
            Shortcut::OwnStack { .. } => 2,
        }
    }
}

/// Finds the instructions that are run together.
pub(super) fn find(compiler: &Compiler<'_>, body: &Body, blocks: &mut [Block]) {
    for block in 0..blocks.len() {
        for at in 0..blocks[block].instrs.len() {
            let [instr, behind @ ..] = &blocks[block].instrs[at..] else {
                continue;
            };
            let found = match instr.code {
                Code::IsEmpty { .. } => negation(compiler.ctx, body, instr, behind),
                Code::If {
                    init: Some(init),
                    branches: [Some(then), Some(other)],
                    ..
                } => own_stack([init, then, other].map(|block| &blocks[block as usize])),
                _ => None,
            };
            blocks[block].instrs[at].shortcut = found;
        }
    }
}

fn negation(ctx: &Context, body: &Body, instr: &Instr, behind: &[Instr]) -> Option<Shortcut> {
    let next = behind.first()?;
    let value = body.result(instr.op, 0);
    let arith = ctx.arithmetic(body.value_type(value))?;
    let is_negation = body.only_use(value)?.op == next.op && arith.is(body.view(ctx, next.op), Arith::Not);
    is_negation.then_some(Shortcut::More { to: next.results.first })
}

fn own_stack([init, then, other]: [&Block; 3]) -> Option<Shortcut> {
    let [make, pass] = init.instrs.as_slice() else {
        return None;
    };
    let (Code::CreateStack { site }, Code::Yield(passed)) = (&make.code, &pass.code) else {
        return None;
    };
    let to = make.results.first;
    let is_passed = matches!(passed.as_slice(), [only] if only.slot == to);
    let is_own = is_passed && [then, other].iter().all(|branch| branch.args.as_slice() == [to]);
    is_own.then_some(Shortcut::OwnStack { site: *site, to })
}
