//! Optimizer operations that update several parameters: split into one step for each.

use pir_ir::{Attr, AttrData, Type, TypeData};
use smallvec::SmallVec;

use super::build::{Builder, SourceId, SourceOp};
use super::inplace::changed_places;

impl Builder<'_> {
    /// Appends one operation per parameter; false if the operation is another one, or its lists differ in length.
    pub(super) fn merged_step(&mut self, source: &SourceOp) -> bool {
        let name = source.name.strip_prefix("pd.merged_");
        let Some(name) = name.filter(|name| matches!(*name, "adam_" | "momentum_")) else {
            return false;
        };
        let Some(places) = changed_places(name) else {
            return false;
        };
        let places: SmallVec<[usize; 8]> = places.collect();
        let lists: Vec<SmallVec<[SourceId; 4]>> = source
            .operands
            .iter()
            .map(|id| {
                self.lists
                    .get(id)
                    .cloned()
                    .unwrap_or_else(|| SmallVec::from_slice(&[*id]))
            })
            .collect();
        let count = lists.first().map_or(0, |params| params.len());
        let fits = |list: &SmallVec<[SourceId; 4]>| list.len() == count || list.len() == 1;
        let own = |attr: &Attr| match self.ctx.attr_data(*attr) {
            AttrData::Array(items) => items.len() == count,
            _ => true,
        };
        let attrs_fit = source.attrs.iter().all(|(_, attr)| own(attr));
        if !lists.iter().all(fits) || !attrs_fit || source.results.len() != places.len() {
            return false;
        }
        let mut results: Vec<Vec<SourceId>> = vec![Vec::with_capacity(count); places.len()];
        for at in 0..count {
            let mut operands: SmallVec<[SourceId; 4]> = SmallVec::new();
            operands.extend(lists.iter().map(|list| list[at.min(list.len() - 1)]));
            // Individual parameters may be skipped.
            if name == "adam_" && operands.len() > 9 {
                operands.insert(9, 0);
            }
            let attr = |attr: Attr| match self.ctx.attr_data(attr) {
                AttrData::Array(items) => items[at],
                _ => attr,
            };
            let attrs = source.attrs.iter().map(|&(key, value)| (key, attr(value))).collect();
            let mut made = SmallVec::new();
            for (ids, &place) in results.iter_mut().zip(&places) {
                let operand = operands.get(place).copied().unwrap_or(0);
                let id = self.fresh();
                made.push((id, self.value_type(operand)));
                ids.push(id);
            }
            self.op(SourceOp {
                name: format!("pd.{name}"),
                operands,
                results: made,
                attrs,
                regions: 0,
                stops: SmallVec::new(),
                span: source.span,
            });
        }
        for (ids, &(list, ty)) in results.into_iter().zip(&source.results) {
            if ty.is_none() {
                continue;
            }
            let types: Vec<Type> = ids
                .iter()
                .map(|&id| self.value_type(id).unwrap_or(Type::NONE))
                .collect();
            self.op(SourceOp {
                name: "builtin.combine".to_owned(),
                operands: ids.into(),
                results: SmallVec::from_slice(&[(list, Some(self.ctx.intern_type(TypeData::List(types.into()))))]),
                attrs: Vec::new(),
                regions: 0,
                stops: SmallVec::new(),
                span: source.span,
            });
        }
        true
    }
}
