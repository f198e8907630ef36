//! Names of values when a body is printed: those that values have, made unique where scopes meet, and numbers.

use rustc_hash::{FxHashMap, FxHashSet};

use super::print_attr::push_int;
use crate::body::Body;
use crate::context::{Context, Sym};
use crate::entity::ValueId;

/// What a value is printed as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Printed {
    /// It has no name yet.
    #[default]
    Unset,
    Number(u32),
    Name(Sym),
    /// An element of a pack.
    Element(Sym, u32),
}

/// The names in use while one body is printed.
pub(super) struct Names {
    printed: Vec<Printed>,
    used: FxHashSet<Sym>,
    /// What was added, to be taken back where its region ends.
    log: Vec<Sym>,
    /// From which suffix on to look for a free one.
    hints: FxHashMap<Sym, u32>,
    next_number: u32,
    next_arg: u32,
}

impl Names {
    pub(super) fn new(ctx: &Context, body: &Body) -> Self {
        // Fresh numbers come behind those that are names already, so that nothing that has a number gets another.
        let mut next_number = 0;
        let mut next_arg = 0;
        for value in &body.values {
            if let Some(name) = value.name {
                let text = ctx.str(name.sym);
                if let Ok(number) = text.parse::<u32>() {
                    next_number = next_number.max(number.saturating_add(1));
                } else if let Some(Ok(number)) = text.strip_prefix("arg").map(str::parse::<u32>) {
                    next_arg = next_arg.max(number.saturating_add(1));
                }
            }
        }
        Names {
            printed: vec![Printed::Unset; body.num_value_slots()],
            used: FxHashSet::default(),
            log: Vec::new(),
            hints: FxHashMap::default(),
            next_number,
            next_arg,
        }
    }

    /// A mark to return to with [`Names::leave`].
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets the names given since the mark.
    pub(super) fn leave(&mut self, mark: usize) {
        for sym in self.log.drain(mark..) {
            self.used.remove(&sym);
        }
    }

    /// Takes back the names given since the mark, for as long as the regions of their operation last.
    pub(super) fn suspend(&mut self, mark: usize) -> Vec<Sym> {
        let taken: Vec<Sym> = self.log.drain(mark..).collect();
        for sym in &taken {
            self.used.remove(sym);
        }
        taken
    }

    /// Gives names that were taken back out again.
    pub(super) fn resume(&mut self, taken: Vec<Sym>) {
        for sym in taken {
            self.claim(sym);
        }
    }

    fn claim(&mut self, sym: Sym) -> bool {
        let free = self.used.insert(sym);
        if free {
            self.log.push(sym);
        }
        free
    }

    fn unique(&mut self, ctx: &Context, base: Sym) -> Sym {
        if self.claim(base) {
            return base;
        }
        let text = ctx.str(base);
        let mut suffix = self.hints.get(&base).copied().unwrap_or(1);
        loop {
            let sym = ctx.sym(&format!("{text}_{suffix}"));
            suffix += 1;
            if self.claim(sym) {
                self.hints.insert(base, suffix);
                return sym;
            }
        }
    }

    /// Names a block argument.
    pub(super) fn arg(&mut self, ctx: &Context, body: &Body, value: ValueId) {
        let sym = match body.value_name(value) {
            Some(name) => self.unique(ctx, name.sym),
            None => {
                let sym = ctx.sym(&format!("arg{}", self.next_arg));
                self.next_arg += 1;
                self.unique(ctx, sym)
            }
        };
        self.printed[value.index()] = Printed::Name(sym);
    }

    /// Names the results of an operation and tells which stand together: first value, number of values.
    pub(super) fn results(&mut self, ctx: &Context, body: &Body, results: &[ValueId]) -> Vec<(ValueId, u32)> {
        let mut groups = Vec::with_capacity(results.len());
        let mut at = 0;
        while let Some(&value) = results.get(at) {
            let name = body.value_name(value);
            let len = match name {
                Some(name) if name.pack => results[at..]
                    .iter()
                    .take_while(|&&v| body.value_name(v) == Some(name))
                    .count(),
                _ => 1,
            };
            match name {
                Some(name) => {
                    let sym = self.unique(ctx, name.sym);
                    for (index, &v) in results[at..at + len].iter().enumerate() {
                        self.printed[v.index()] = if len > 1 {
                            Printed::Element(sym, index as u32)
                        } else {
                            Printed::Name(sym)
                        };
                    }
                }
                None => {
                    self.printed[value.index()] = Printed::Number(self.next_number);
                    self.next_number += 1;
                }
            }
            groups.push((value, len as u32));
            at += len;
        }
        groups
    }

    /// Whether the value has a name.
    pub(super) fn has(&self, value: ValueId) -> bool {
        self.printed[value.index()] != Printed::Unset
    }

    /// Writes a use of a value.
    pub(super) fn write(&self, ctx: &Context, out: &mut String, value: ValueId) {
        match self.printed.get(value.index()).copied().unwrap_or_default() {
            Printed::Unset => {
                // Only in messages about operations outside of what is printed, and in broken programs.
                out.push_str("%<<");
                push_int(out, value.index() as i128);
                out.push_str(">>");
            }
            Printed::Number(number) => {
                out.push('%');
                push_int(out, i128::from(number));
            }
            Printed::Name(sym) => {
                out.push('%');
                out.push_str(ctx.str(sym));
            }
            Printed::Element(sym, index) => {
                out.push('%');
                out.push_str(ctx.str(sym));
                out.push('#');
                push_int(out, i128::from(index));
            }
        }
    }

    /// Writes the names of a group of results where they are defined.
    pub(super) fn write_group(&self, ctx: &Context, out: &mut String, first: ValueId, len: u32) {
        match self.printed[first.index()] {
            Printed::Element(sym, _) => {
                out.push('%');
                out.push_str(ctx.str(sym));
                out.push(':');
                push_int(out, i128::from(len));
            }
            _ => self.write(ctx, out, first),
        }
    }
}
