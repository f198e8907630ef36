//! The names of nodes: valid, unique, and those of the values where these have names.

use super::Writer;
use pir_dialects::{df, pd};

/// A valid name for TensorFlow: `[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*`.
fn valid(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_./>-".contains(c);
    let mut name: String = text.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.') {
        name.insert(0, 'v');
    }
    name
}

impl Writer<'_> {
    /// A unique name. It does not depend on the order of hash tables.
    pub(super) fn fresh(&mut self, text: &str) -> String {
        let base = valid(text);
        let mut name = base.clone();
        let mut number = self.numbers.get(&base).copied().unwrap_or(0);
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        if number > 0 {
            self.numbers.insert(base, number);
        }
        name
    }

    /// Names a switch so that the nodes of its sides have names of their own.
    fn name_sides(&mut self, at: usize, text: &str) {
        loop {
            let sides = [0, 1].map(|side| super::emit::side_name(&self.nodes[at].name, side));
            if !sides.iter().any(|side| self.taken.contains(side)) {
                self.taken.extend(sides);
                return;
            }
            self.nodes[at].name = self.fresh(text);
        }
    }

    /// Names all nodes. Inputs and outputs come first, so that they keep their names in the program.
    pub(super) fn name(&mut self) {
        let order = |name: &str| match name {
            pd::Data::NAME | pd::Feed::NAME | pd::Parameter::NAME => 0,
            pd::Fetch::NAME | pd::ShadowOutput::NAME => 1,
            _ => 2,
        };
        for turn in 0..3 {
            for at in 0..self.nodes.len() {
                let view = self.view(at);
                let kind = view.name();
                if order(kind) != turn {
                    continue;
                }
                let value = view.body.results(view.op).next();
                let given = value.and_then(|v| view.body.value_name(v));
                let short = kind.rsplit('.').next().unwrap_or(kind);
                let text = match given {
                    _ if turn < 2 => view.str("name").unwrap_or(short).to_owned(),
                    Some(name) => {
                        let text = self.ctx.name_text(name.name);
                        match text.bytes().all(|b| b.is_ascii_digit()) {
                            true => format!("{short}_{text}"),
                            false => text.into(),
                        }
                    }
                    None => short.to_owned(),
                };
                let text = if text.is_empty() { short.to_owned() } else { text };
                self.nodes[at].name = self.fresh(&text);
                if kind == df::SWITCH {
                    self.name_sides(at, &text);
                }
                // Results that have nodes of their own.
                for index in 1..view.body.num_results(view.op) {
                    if !super::ops::gives_all(kind) {
                        let name = format!("{}/{index}", self.nodes[at].name);
                        self.taken.insert(name);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::valid;

    #[test]
    fn names_are_made_valid() {
        assert_eq!(valid("x_grad.1/a"), "x_grad.1/a");
        assert_eq!(valid("out:0 ü"), "out_0__");
        assert_eq!(valid("_x"), "v_x");
        assert_eq!(valid(""), "v");
    }
}
