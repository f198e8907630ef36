//! The second half of an operation: regions, attributes, types, and its creation.

use super::parser::{Failure, Parser};
use super::pending::{Pending, ResultName, Types};
use crate::body::Body;
use crate::context::Context;
use crate::declare::{Presence, Traits};
use crate::diagnostics::Span;
use crate::edit::OpSpec;
use crate::entity::{BlockId, OpId, OpName, Sym, ValueId};
use crate::registry::{InferArgs, OpDef};
use crate::semantics::infer_by_semantics;
use crate::text::{cursor, segments};
use crate::types::{Attr, AttrData, AttrDict, Type, TypeData};
use crate::verify::does_not_fit;
use smallvec::SmallVec;

impl Parser<'_> {
    // ----- regions, attributes, types -----

    /// Goes on after the head or after a region: opens the next region or finishes the operation.
    pub(super) fn continue_operation(&mut self, mut pending: Box<Pending>) -> Result<(), Failure> {
        if pending.ods.is_some() {
            return self.in_ods(pending);
        }
        if pending.format.is_some() {
            return self.in_format(pending);
        }
        if pending.generic {
            self.skip();
            let first = pending.regions.is_empty() && pending.isolated.is_none();
            let isolated = pending.has(self.ctx, Traits::ISOLATED);
            if first && self.peek() == b'(' {
                self.pos += 1;
                self.skip();
                return self.open_region(pending, isolated);
            }
            if !first {
                if self.eat(b",") {
                    self.skip();
                    return self.open_region(pending, false);
                }
                self.expect(
                    b")",
                    "`,` or `)`",
                    "regions are written in parentheses, separated by commas",
                )?;
            }
            return self.tail(pending);
        }
        loop {
            let before = self.pos;
            self.skip();
            match self.peek() {
                b'{' if !self.starts_with(b"{-#") && self.is_dict(&pending) => {
                    self.attributes(&mut pending)?;
                }
                b'{' if !self.starts_with(b"{-#") && self.next_region(&pending, None).is_some() => {
                    return self.enter(pending, None);
                }
                b if b.is_ascii_alphabetic() => {
                    let word = cursor::name(&self.src[self.pos..]).map_or(&b""[..], |(_, w)| w);
                    if word == b"attributes" {
                        self.pos += word.len();
                        self.skip();
                        self.attributes(&mut pending)?;
                        continue;
                    }
                    if self.next_region(&pending, Some(word)).is_some() {
                        return self.enter(pending, Some(word));
                    }
                    self.pos = before;
                    return self.tail(pending);
                }
                _ => {
                    self.pos = before;
                    return self.tail(pending);
                }
            }
        }
    }

    /// Which declared region a keyword, or a brace without one, begins.
    fn next_region(&self, pending: &Pending, keyword: Option<&[u8]>) -> Option<usize> {
        let Some(def) = pending.def(self.ctx) else {
            // Operations that nothing is known of may have regions without keywords.
            return keyword.is_none().then_some(pending.regions.len());
        };
        for (index, spec) in def.regions.iter().enumerate().skip(pending.next_region) {
            let fits = match keyword {
                Some(word) => spec.keywords.iter().any(|k| k.as_bytes() == word),
                None => spec.bare || spec.keywords.is_empty(),
            };
            if fits {
                return Some(index);
            }
            if spec.presence == Presence::Required {
                return None;
            }
        }
        None
    }

    fn enter(&mut self, mut pending: Box<Pending>, keyword: Option<&[u8]>) -> Result<(), Failure> {
        if let Some(index) = self.next_region(&pending, keyword) {
            self.fill_regions(&mut pending, index);
            pending.next_region = index + 1;
        }
        self.pos += keyword.map_or(0, <[u8]>::len);
        self.skip();
        if self.peek() == b'(' {
            pending.header = Some(self.pos);
            self.pos = cursor::balanced_end(self.src, self.pos).ok_or_else(|| self.unclosed())?;
            self.skip();
            // The specification has `body(%arg)){`.
            if self.peek() == b')' {
                self.pos += 1;
                self.skip();
            }
        }
        let isolated = pending.has(self.ctx, Traits::ISOLATED);
        self.open_region(pending, isolated)
    }

    /// Adds empty regions for those before `until` that were omitted.
    fn fill_regions(&mut self, pending: &mut Pending, until: usize) {
        let empty = pending.def(self.ctx).map_or(0, |def| {
            def.regions
                .iter()
                .take(until)
                .skip(pending.next_region)
                .filter(|s| s.presence == Presence::MayBeEmpty)
                .count()
        });
        for _ in 0..empty {
            let region = self.body().create_region();
            pending.regions.push(region);
        }
    }

    /// Whether the brace that is next begins attributes rather than a region.
    fn is_dict(&self, pending: &Pending) -> bool {
        if self.next_region(pending, None).is_none() {
            return true;
        }
        // Attributes of a function come after the word `attributes`: `{ return }` is a body.
        if pending.has(self.ctx, Traits::FUNCTION) {
            return false;
        }
        let mut at = self.after(self.pos + 1);
        match self.src.get(at) {
            Some(b'}') => {
                // `{}`: attributes if what must be a region is still to come.
                let unknown = pending.def(self.ctx).is_none();
                let next = self.after(at + 1);
                unknown || self.src.get(next) == Some(&b'{') || self.region_keyword_at(pending, next)
            }
            Some(b'"') => match cursor::string_end(self.src, at) {
                Some(end) => matches!(self.src.get(self.after(end)), Some(b'=' | b',' | b'}')),
                None => false,
            },
            Some(b) if b.is_ascii_alphabetic() || *b == b'_' => {
                let word = cursor::name(&self.src[at..]).map_or(&b""[..], |(_, w)| w);
                at = self.after(at + word.len());
                match self.src.get(at) {
                    Some(b'=' | b',') => true,
                    // `{flag}`, but not `{ cf.yield }`.
                    Some(b'}') => !word.contains(&b'.'),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn region_keyword_at(&self, pending: &Pending, at: usize) -> bool {
        let word = cursor::name(&self.src[at..]).map_or(&b""[..], |(_, w)| w);
        let first = pending
            .def(self.ctx)
            .and_then(|d| d.regions.get(self.next_region(pending, None)?));
        first.is_some_and(|spec| spec.keywords.iter().any(|k| k.as_bytes() == word))
    }

    /// The next place that is neither blank nor comment.
    #[inline]
    pub(super) fn after(&self, at: usize) -> usize {
        // Nearly always a token or one blank is here, and no comment.
        let is_token = |at: usize| self.src.get(at).is_some_and(|&b| b > b' ' && b != b'/');
        if is_token(at) {
            return at;
        }
        if self.src.get(at) == Some(&b' ') && is_token(at + 1) {
            return at + 1;
        }
        self.after_blanks(at)
    }

    fn after_blanks(&self, mut at: usize) -> usize {
        loop {
            at = cursor::blanks(self.src, at);
            if self.src.get(at) != Some(&b'/') || self.src.get(at + 1) != Some(&b'/') {
                return at;
            }
            at = cursor::line_end(self.src, at);
        }
    }

    /// The text after the regions: attributes, types, a location. Then the operation is created.
    pub(super) fn tail(&mut self, mut pending: Box<Pending>) -> Result<(), Failure> {
        if let Some(def) = pending.def(self.ctx)
            && !pending.generic
            && pending.isolated.is_none()
        {
            let missing = def
                .regions
                .iter()
                .skip(pending.next_region)
                .find(|s| s.presence == Presence::Required);
            if let Some(spec) = missing.filter(|_| !def.has(Traits::FUNCTION)) {
                let word = spec.keywords.first().copied().unwrap_or("region");
                let help = format!("`{}` is written with the regions {}", def.name, region_words(def));
                return Err(self.expected(&format!("`{word}`"), &help));
            }
            let until = def.regions.len();
            if !def.has(Traits::ISOLATED) {
                self.fill_regions(&mut pending, until);
            }
        }
        let mut types = pending.format.take().and_then(|format| format.types);
        let mut loc = None;
        loop {
            let before = self.pos;
            self.skip();
            match self.peek() {
                b'{' if pending.generic && !self.starts_with(b"{-#") => {
                    self.attributes(&mut pending)?;
                }
                b':' if types.is_none() && !self.starts_with(b"::") => {
                    self.pos += 1;
                    let read = self.types()?;
                    types = Some(self.as_signature(&pending, read));
                }
                b'l' if self.starts_with(b"loc(") => loc = self.location()?,
                _ => {
                    self.pos = before;
                    return self.create_checked(pending, types, loc);
                }
            }
        }
    }

    /// The types of a call; a name may refer to a function type.
    fn as_signature(&self, pending: &Pending, types: Types) -> Types {
        let row = self.ctx.ods(pending.name).and_then(|ods| ods.row().ok());
        let Some(_) = row.filter(|row| row.own && types.operands.is_none()) else {
            return types;
        };
        match (&types.results[..], self.src.get(types.span.start as usize)) {
            (&[ty], Some(b'!')) => match self.ctx.type_data(ty) {
                TypeData::Function { inputs, results } => Types {
                    operands: Some(inputs.iter().copied().collect()),
                    results: results.iter().copied().collect(),
                    span: types.span,
                },
                _ => types,
            },
            _ => types,
        }
    }

    /// `loc(…)`, if it is next: kept as it is written.
    pub(super) fn location(&mut self) -> Result<Option<Attr>, Failure> {
        if !self.starts_with(b"loc(") {
            return Ok(None);
        }
        let start = self.pos;
        self.pos = cursor::balanced_end(self.src, self.pos + 3).ok_or_else(|| self.unclosed())?;
        self.check_location(Span::new(start + 4, self.pos - 1))?;
        Ok(Some(self.text_attr(start)))
    }

    // ----- creation -----

    fn create_checked(
        &mut self,
        mut pending: Box<Pending>,
        types: Option<Types>,
        loc: Option<Attr>,
    ) -> Result<(), Failure> {
        if let Some(written) = types.as_ref().and_then(|t| t.operands.as_ref()) {
            let span = types.as_ref().map_or(pending.span, |t| t.span);
            // Operands passed to successors have their types there.
            let passed: u32 = pending.successors.iter().map(|s| s.operands).sum();
            let own = pending.operands.len() - passed as usize;
            if written.len() != own {
                return Err(self
                    .error(
                        "operand-count",
                        format!("expected {own} operand type{}, found {}", plural(own), written.len()),
                        span,
                    )
                    .with_help("write one type for each operand, or only the types of the results"));
            }
            for (at, &ty) in written.iter().enumerate() {
                self.check_operand(&pending, at, ty);
            }
        }
        if pending.generic && pending.has(self.ctx, Traits::SEGMENTS) {
            self.segments(&mut pending)?;
        }
        if pending.has(self.ctx, Traits::FUNCTION) {
            self.drop_empty_lists(&mut pending.attrs);
        }
        let attrs = self.ctx.dict(&pending.attrs);
        self.check_attributes(&pending, attrs, types.as_ref().map_or(&[][..], |t| &t.results))?;
        let count = pending.num_named;
        // What is inferred may depend on more than the types of the operands.
        pending.keep = pending.keep.filter(|_| types.is_some());
        let results = match types {
            Some(types) if self.are_of_operands(&pending, &types, count) => {
                for (at, &ty) in types.results.iter().enumerate() {
                    self.check_operand(&pending, at, ty);
                }
                SmallVec::new()
            }
            Some(types) if count == 0 && types.operands.is_none() && !types.results.is_empty() => {
                if pending.def(self.ctx).is_none() {
                    return Err(self
                        .error(
                            "custom-assembly",
                            format!(
                                "these may be the types of the operands or of the results of `{}`",
                                self.ctx.op_str(pending.name)
                            ),
                            types.span,
                        )
                        .with_help("the operation is not registered: name its results, or write `(operand types) -> result types`"));
                }
                types.results
            }
            Some(types) => {
                self.check_count(&pending, types.results.len(), types.span, "the types of the results")?;
                types.results
            }
            None => self.infer(&pending, attrs, count)?.into_iter().collect(),
        };
        pending.results.extend_from_slice(&results);
        let isolated = pending.isolated.take();
        let isolated = isolated.or_else(|| pending.has(self.ctx, Traits::ISOLATED).then(Body::new));
        let op = self.create_pending(pending, attrs, loc);
        if let Some(inner) = isolated {
            self.body().set_isolated(op, inner);
        }
        Ok(())
    }

    /// Checks the number of results against the names.
    fn check_count(&self, pending: &Pending, results: usize, place: Span, text: &str) -> Result<(), Failure> {
        let count = pending.num_named;
        let Some(first) = pending.names.first().filter(|_| results != count) else {
            return Ok(());
        };
        let failure = self.error(
            "result-count",
            result_names(results, count),
            self.name_span(first.start),
        );
        Err(failure.with_label(place, text).with_help("name each result, or none"))
    }

    /// Creates an operation, puts it in its place, and gives its results their names.
    #[inline(always)]
    pub(super) fn create(&mut self, spec: OpSpec<'_>, names: &[ResultName]) -> OpId {
        let body = self.body();
        let op = body.create_op(spec);
        let mut results = body.results(op);
        self.append(op);
        for &ResultName { name, count, start } in names {
            let Some(first) = results.next() else { break };
            self.define(name, first, count, start);
            if count > 1 {
                results.nth(count as usize - 2);
            }
        }
        op
    }

    /// Creates an operation that was read in parts.
    pub(super) fn create_pending(&mut self, mut pending: Box<Pending>, attrs: AttrDict, loc: Option<Attr>) -> OpId {
        self.comment = std::mem::take(&mut pending.comment);
        if loc.is_none() {
            self.keep_whole(&mut pending, attrs);
        }
        let op = self.create(pending.spec(attrs), &pending.names);
        if let Some(loc) = loc {
            self.body().set_loc(op, loc);
        }
        // Large buffers are not pooled: they would be kept to the end.
        if self.spare.len() < 16 && pending.operands.len() < 1024 {
            pending.clear();
            self.spare.push(pending);
        }
        op
    }

    /// Assigns the successors their operands, which MLIR's generic form lists with those of the operation.
    pub(super) fn segments(&mut self, pending: &mut Pending) -> Result<(), Failure> {
        // As we print them in other forms, they are with the blocks.
        if pending.successors.is_empty() || pending.successors.iter().any(|s| s.operands > 0) {
            return Ok(());
        }
        let own = pending.def(self.ctx).map_or(0, |def| def.operands.len());
        let (operands, span) = (pending.operands.len(), pending.span);
        let sizes = segments::take(self.ctx, &mut pending.attrs, own, operands, &mut pending.successors);
        sizes.ok_or_else(|| {
            let message = "`operandSegmentSizes` does not match the operands and the blocks";
            self.error("successor-operands", message.to_owned(), span)
                .with_help("write how many operands the operation has and how many go to each block: `operandSegmentSizes = array<i32: 1, 0, 2>`")
        })
    }

    /// Removes the empty lists of argument and result attributes in MLIR's generic form.
    fn drop_empty_lists(&self, attrs: &mut Vec<(Sym, Attr)>) {
        let is_empty = |attr: &Attr| *self.ctx.attr_data(*attr) == AttrData::Dict(AttrDict::EMPTY);
        let is_of_values = |name: Sym| matches!(self.ctx.str(name), "arg_attrs" | "res_attrs");
        attrs.retain(|&(name, list)| match self.ctx.attr_data(list) {
            AttrData::Array(items) => !(is_of_values(name) && items.iter().all(is_empty)),
            AttrData::Ints(items) => !(is_of_values(name) && items.is_empty()),
            _ => true,
        });
    }

    /// Whether the types after the colon are those of the operands, as in `func.return %x : f32`: the operation has no results.
    fn are_of_operands(&self, pending: &Pending, types: &Types, names: usize) -> bool {
        let resultless = pending.def(self.ctx).is_some_and(|def| def.results.is_empty());
        resultless
            && !pending.generic
            && names == 0
            && types.operands.is_none()
            && types.results.len() == pending.operands.len()
            && pending.successors.is_empty()
    }

    fn infer(&mut self, pending: &Pending, attrs: AttrDict, count: usize) -> Result<SmallVec<[Type; 2]>, Failure> {
        let ctx = self.ctx;
        let def = pending.def(ctx);
        let untyped = |p: &Self, why: String| {
            p.error(
                "untyped-result",
                format!(
                    "the result types of `{}` cannot be inferred: {why}",
                    p.ctx.op_str(pending.name)
                ),
                pending.span,
            )
            .with_help("write them after a colon: `… : tensor<4xf32>`")
        };
        let Some(def) = def else {
            return if count == 0 && !pending.generic {
                Ok(SmallVec::new())
            } else {
                Err(untyped(self, "the operation is not registered".to_owned()))
            };
        };
        if def.results.is_empty() && count == 0 {
            return Ok(SmallVec::new());
        }
        // Errors in reading the operands have been reported: no more are reported for what depends on them.
        if pending.operands.iter().any(|&v| self.is_poison(v)) {
            return Ok(std::iter::repeat_n(Type::NONE, count).collect());
        }
        // A call of a function that gives nothing.
        let none = count == 0 && def.results.iter().all(|r| r.arity != crate::declare::Arity::One);
        if none && def.infer.is_none() {
            return Ok(SmallVec::new());
        }
        let body = &self.bodies[self.bodies.len() - 1];
        let args = InferArgs {
            ctx,
            body,
            def,
            operands: &pending.operands,
            attrs,
            regions: &pending.regions,
        };
        let types = match def.infer {
            Some(infer) => infer(args).map_err(|why| Failure::of(does_not_fit(args, infer, &why, pending.span)))?,
            None if def.semantics.is_none() => {
                return Err(untyped(
                    self,
                    "the result types do not follow from the operands".to_owned(),
                ));
            }
            None => infer_by_semantics(args).map_err(|why| untyped(self, why))?,
        };
        self.check_count(pending, types.len(), pending.span, "of this operation")?;
        Ok(types)
    }

    /// The types of the arguments of the entry block of the region that was opened last.
    pub(super) fn entry_arg_types(&mut self) -> Option<Vec<Type>> {
        let open = self.open.last()?;
        if open.isolated {
            return None;
        }
        let pending = open.owner.as_ref()?;
        let def = pending.def(self.ctx)?;
        let args = InferArgs {
            ctx: self.ctx,
            body: &self.bodies[self.bodies.len() - 1],
            def,
            operands: &pending.operands,
            attrs: self.ctx.dict(&pending.attrs),
            regions: &pending.regions,
        };
        def.region_args
            .and_then(|f| f(args, pending.regions.len()))
            .map(|t| t.to_vec())
    }

    pub(super) fn add_implicit_terminator(&mut self, block: BlockId, name: &str, forwards: bool, span: Span) {
        let ctx = self.ctx;
        // As MLIR has it.
        let only_known = || ctx.find_op_name(name).is_some_and(|name| ctx.ods(name).is_some());
        let body = self.body();
        let ended = body
            .last_op(block)
            .is_some_and(|op| is_terminator(ctx, body.op_name(op), only_known));
        if !ended {
            let name = ctx.op_name(name);
            let mut regions = SmallVec::<[_; 1]>::new();
            for _ in ctx
                .ods(name)
                .and_then(|ods| ods.row().ok())
                .iter()
                .flat_map(|row| &row.regions)
                .filter(|region| !region.variadic)
            {
                let region = body.create_region();
                body.create_block(region);
                regions.push(region);
            }
            let last = body.last_op(block).filter(|_| forwards);
            let operands: SmallVec<[ValueId; 2]> = last.into_iter().flat_map(|op| body.results(op)).collect();
            let op = body.create_op(OpSpec {
                operands: &operands,
                // A missing terminator is reported at the end of the region.
                span,
                regions: &regions,
                ..OpSpec::new(name)
            });
            body.append_op(block, op);
        }
    }
}

/// Whether an operation may end a block. One that nothing is known of may, unless it has to be known to end one.
fn is_terminator(ctx: &Context, name: OpName, only_known: impl FnOnce() -> bool) -> bool {
    match (ctx.op_def(name), ctx.ods(name)) {
        (Some(def), _) => def.has(Traits::TERMINATOR),
        (None, Some(ods)) => ods.row().is_ok_and(|row| row.is_terminator),
        (None, None) => !only_known(),
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

pub(super) fn result_names(wanted: usize, found: usize) -> String {
    format!("expected {wanted} result name{}, found {found}", plural(wanted))
}

fn region_words(def: &OpDef) -> String {
    let words: Vec<String> = def
        .regions
        .iter()
        .filter_map(|r| r.keywords.first())
        .map(|k| format!("`{k}`"))
        .collect();
    words.join(", ")
}
