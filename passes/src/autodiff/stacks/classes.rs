//! Alias classes of stacks.

use pir_ir::ValueId;
use rustc_hash::FxHashMap;

/// Alias classes of stacks, by union-find; each may have a class of the handles stored on it (Steensgaard, "Points-to
/// analysis in almost linear time", 1996).
#[derive(Default, Debug)]
pub(super) struct Classes {
    of: FxHashMap<ValueId, usize>,
    parent: Vec<usize>,
    element: Vec<Option<usize>>,
    mixed: Vec<bool>,
    strange: Vec<bool>,
}

impl Classes {
    pub(super) fn of(&mut self, root: ValueId) -> usize {
        let next = self.parent.len();
        let class = *self.of.entry(root).or_insert(next);
        if class == next {
            self.parent.push(next);
            self.element.push(None);
            self.mixed.push(false);
            self.strange.push(false);
        }
        self.find(class)
    }

    /// The class of a root that has been looked at.
    pub(super) fn get(&self, root: ValueId) -> Option<usize> {
        let mut class = *self.of.get(&root)?;
        while self.parent[class] != class {
            class = self.parent[class];
        }
        Some(class)
    }

    /// Whether what happens to the stacks of a class, as [`Classes::get`] gives it, is not known.
    pub(super) fn is_strange_now(&self, class: usize) -> bool {
        self.strange[class]
    }

    /// The class that another was merged into.
    pub(super) fn of_class(&mut self, class: usize) -> usize {
        self.find(class)
    }

    fn find(&mut self, mut class: usize) -> usize {
        while self.parent[class] != class {
            self.parent[class] = self.parent[self.parent[class]];
            class = self.parent[class];
        }
        class
    }

    pub(super) fn mark_mixed(&mut self, class: usize) {
        let class = self.find(class);
        self.mixed[class] = true;
    }

    pub(super) fn is_mixed(&mut self, class: usize) -> bool {
        let class = self.find(class);
        self.mixed[class]
    }

    /// Notes that what happens to the stacks of a class is not known.
    pub(super) fn mark_strange(&mut self, class: usize) {
        let class = self.find(class);
        self.mixed[class] = true;
        self.strange[class] = true;
    }

    /// Whether what happens to the stacks of a class is not known, nor to those on them.
    pub(super) fn is_strange(&mut self, class: usize) -> bool {
        let class = self.find(class);
        self.strange[class]
    }

    /// The class of the stacks on those of a class.
    pub(super) fn element(&mut self, class: usize) -> Option<usize> {
        let class = self.find(class);
        self.element[class]
    }

    /// Whether something changed.
    pub(super) fn unite(&mut self, a: usize, b: usize) -> bool {
        let mut pending = vec![(a, b)];
        let mut changed = false;
        while let Some((a, b)) = pending.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            changed = true;
            self.parent[b] = a;
            self.mixed[a] |= self.mixed[b];
            self.strange[a] |= self.strange[b];
            match (self.element[a], self.element[b]) {
                (Some(x), Some(y)) => pending.push((x, y)),
                (None, element) => self.element[a] = element,
                (Some(_), None) => {}
            }
        }
        changed
    }

    /// Makes `item` a handle that may be on a stack of `class`. Whether something changed.
    pub(super) fn unite_element(&mut self, class: usize, item: usize) -> bool {
        let class = self.find(class);
        match self.element[class] {
            Some(element) => self.unite(element, item),
            None => {
                self.element[class] = Some(item);
                false
            }
        }
    }
}
