//! Analysis results of a body, cached until the body changes.

use std::any::{Any, TypeId};
use std::sync::{Arc, PoisonError};

use crate::analysis_cache::Kept;
use crate::body::Body;
use crate::context::Context;

/// An analysis that passes request of a body: computed when it is first requested, and kept as long as the body is as it was.
///
/// ```
/// use pir_ir::{Analysis, Body, Context, ContextBuilder};
///
/// #[derive(PartialEq)]
/// struct Count(usize);
///
/// impl Analysis for Count {
///     fn compute(_: &Context, body: &Body) -> Self {
///         Count(body.walk_all().count())
///     }
/// }
///
/// let (ctx, body) = (ContextBuilder::new().build(), Body::new());
/// assert_eq!(body.analysis::<Count>(&ctx).0, 0);
/// ```
pub trait Analysis: Any + Send + Sync + PartialEq {
    /// Computes it. It may ask for others.
    fn compute(ctx: &Context, body: &Body) -> Self;
}

/// Analyses that hold after a change of the body as they did before.
#[derive(Clone, Default)]
pub struct Preserved(Vec<TypeId>);

impl Preserved {
    /// None.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same and another one.
    #[must_use]
    pub fn and<A: Analysis>(mut self) -> Self {
        self.0.push(TypeId::of::<A>());
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Body {
    /// An analysis of the body as it is now. In debug builds one that was kept is computed again and compared.
    pub fn analysis<A: Analysis>(&self, ctx: &Context) -> Arc<A> {
        if let Some(Kept { what, name, .. }) = self.kept::<A>()
            && let Ok(what) = what.downcast::<A>()
        {
            debug_assert!(
                *what == A::compute(ctx, self),
                "{name} is declared as preserved, but has changed"
            );
            return what;
        }
        let what = Arc::new(A::compute(ctx, self));
        self.keep(what.clone());
        what
    }

    /// Caches a result of a pass about the body as it is now, for a later pass; it replaces an older one of this type. Unlike an
    /// [`Analysis`], it may depend on more than the body: the later pass has to check the rest.
    pub fn remember<T: Any + Send + Sync>(&self, what: T) {
        self.keep::<T>(Arc::new(what));
    }

    /// The cached result of this type, unless the body has changed since.
    pub fn recall<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.kept::<T>()?.what.downcast().ok()
    }

    /// A number that grows with every change but to names, labels, comments and locations. Bodies inside have their own.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What is kept of this type and of the body as it is now.
    fn kept<T: Any>(&self) -> Option<Kept> {
        let all = self.analyses.0.lock().unwrap_or_else(PoisonError::into_inner);
        let current = |kept: &&Kept| kept.of == TypeId::of::<T>() && kept.version == self.version;
        all.iter().find(current).cloned()
    }

    fn keep<T: Any + Send + Sync>(&self, what: Arc<T>) {
        let of = TypeId::of::<T>();
        let mut all = self.analyses.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|kept| kept.of != of);
        all.push(Kept {
            of,
            version: self.version,
            what,
            name: std::any::type_name::<T>(),
        });
    }

    /// Drops all analyses.
    pub fn drop_analyses(&mut self) {
        *self.analyses.0.get_mut().unwrap_or_else(PoisonError::into_inner) = Vec::new();
    }

    /// Drops analyses that do not hold any more, before a pass that preserves some.
    pub fn drop_stale_analyses(&mut self) {
        let version = self.version;
        let all = self.analyses.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        all.retain(|kept| kept.version == version);
    }

    /// Keeps analyses through the changes since [`Body::drop_stale_analyses`], which they hold after as before.
    pub fn keep_analyses(&mut self, preserved: &Preserved) {
        let version = self.version;
        let all = self.analyses.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for kept in all.iter_mut().filter(|kept| preserved.0.contains(&kept.of)) {
            kept.version = version;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ContextBuilder;
    use crate::edit::OpSpec;

    #[derive(PartialEq)]
    struct Count(usize);

    impl Analysis for Count {
        fn compute(_: &Context, body: &Body) -> Self {
            Count(body.walk_all().count())
        }
    }

    #[derive(PartialEq)]
    struct Blocks(usize);

    impl Analysis for Blocks {
        fn compute(_: &Context, body: &Body) -> Self {
            Blocks(body.region_blocks(body.root()).len())
        }
    }

    fn append(ctx: &Context, body: &mut Body) {
        let block = body.region_blocks(body.root())[0];
        let op = body.create_op(OpSpec::new(ctx.op_name("t.op")));
        body.append_op(block, op);
    }

    fn body() -> (Arc<Context>, Body) {
        let mut body = Body::new();
        body.create_block(body.root());
        (ContextBuilder::new().build(), body)
    }

    #[test]
    fn analyses_are_kept_until_the_body_changes() {
        let (ctx, mut body) = body();
        let first = body.analysis::<Count>(&ctx);
        assert!(Arc::ptr_eq(&first, &body.analysis::<Count>(&ctx)));
        append(&ctx, &mut body);
        assert_eq!((first.0, body.analysis::<Count>(&ctx).0), (0, 1));
        // A copy has none.
        assert_eq!(body.clone().analysis::<Count>(&ctx).0, 1);
    }

    #[test]
    fn what_is_preserved_is_kept() {
        let (ctx, mut body) = body();
        let (blocks, count) = (body.analysis::<Blocks>(&ctx), body.analysis::<Count>(&ctx));
        body.drop_stale_analyses();
        append(&ctx, &mut body);
        body.keep_analyses(&Preserved::none().and::<Blocks>());
        assert!(Arc::ptr_eq(&blocks, &body.analysis::<Blocks>(&ctx)));
        assert!(!Arc::ptr_eq(&count, &body.analysis::<Count>(&ctx)));
    }

    #[test]
    fn what_was_stale_before_is_not_revived() {
        let (ctx, mut body) = body();
        assert_eq!(body.analysis::<Count>(&ctx).0, 0);
        append(&ctx, &mut body);
        body.drop_stale_analyses();
        body.keep_analyses(&Preserved::none().and::<Count>());
        assert_eq!(body.analysis::<Count>(&ctx).0, 1);
    }

    #[test]
    fn what_is_remembered_is_forgotten_with_a_change() {
        let (ctx, mut body) = body();
        body.remember("one");
        body.remember("two");
        assert_eq!(body.recall::<&str>().as_deref(), Some(&"two"));
        assert_eq!(body.clone().recall::<&str>(), None);
        append(&ctx, &mut body);
        assert_eq!(body.recall::<&str>(), None);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "is declared as preserved")]
    fn a_wrong_promise_is_found() {
        let (ctx, mut body) = body();
        body.analysis::<Count>(&ctx);
        append(&ctx, &mut body);
        body.keep_analyses(&Preserved::none().and::<Count>());
        body.analysis::<Count>(&ctx);
    }
}
