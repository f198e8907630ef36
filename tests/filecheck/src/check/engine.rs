//! Walking through a text with the directives.

use std::ops::Range;

use super::directive::{Check, Directive, Kind};
use super::options::Options;
use super::pattern::PatternError;
use super::variables::Variables;

/// An error of a directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// It matches nowhere; so often it did.
    NotFound { matched: usize },
    /// It matched on the wrong line.
    WrongLine { found: Range<usize>, lines_between: usize },
    /// It matched and should not have.
    Excluded { found: Range<usize> },
    /// It could not be tried.
    Unusable(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) directive: Directive,
    pub(crate) problem: Problem,
    /// The part of the input that was searched.
    pub(crate) region: Range<usize>,
    pub(crate) variables: Vec<String>,
}

/// Runs all checks and gives what failed: the first failure of each block between labels.
pub(crate) fn run(options: &Options, checks: &[Check], input: &str, variables: Variables) -> Vec<Failure> {
    let mut engine = Engine { input, variables };
    let mut failures = Vec::new();
    let mut from = 0;
    let mut first = 0;
    while first < checks.len() {
        let label = (first..checks.len()).find(|&at| checks[at].directive.kind == Kind::Label);
        // A label is found before what is above it is checked, and bounds that.
        let (end, region) = match label {
            Some(at) => match engine.place(&checks[at].directive, from..input.len()) {
                Ok(found) => (at + 1, from..found.end),
                Err(failure) => {
                    failures.push(*failure);
                    return failures;
                }
            },
            None => (checks.len(), from..input.len()),
        };
        from = region.end;
        if first > 0 && options.enable_var_scope {
            engine.variables.clear_locals();
        }
        let mut at = region.start;
        for check in &checks[first..end] {
            match engine.check(check, at..region.end) {
                Ok(matched) => at = matched,
                Err(failure) => {
                    failures.push(*failure);
                    break;
                }
            }
        }
        first = end;
    }
    failures
}

struct Engine<'a> {
    input: &'a str,
    variables: Variables,
}

type Checked<T> = Result<T, Box<Failure>>;

impl Engine<'_> {
    fn failure(&self, directive: &Directive, region: Range<usize>, problem: Problem) -> Box<Failure> {
        Box::new(Failure {
            directive: directive.clone(),
            problem,
            region,
            variables: directive.pattern.substitutions(&self.variables),
        })
    }

    fn find(&mut self, directive: &Directive, region: Range<usize>) -> Checked<Option<Range<usize>>> {
        let text = &self.input[region.clone()];
        match directive.pattern.find(text, &mut self.variables) {
            Ok(found) => Ok(found.map(|found| found.start + region.start..found.end + region.start)),
            Err(PatternError(message)) => Err(self.failure(directive, region, Problem::Unusable(message))),
        }
    }

    /// Matches a directive as often as it asks for, and gives the range from the first to the last match.
    fn place(&mut self, directive: &Directive, region: Range<usize>) -> Checked<Range<usize>> {
        let mut start = None;
        let mut at = region.start;
        for matched in 0..directive.count {
            let Some(found) = self.find(directive, at..region.end)? else {
                return Err(self.failure(directive, at..region.end, Problem::NotFound { matched }));
            };
            start.get_or_insert(found.start);
            at = found.end;
        }
        Ok(start.unwrap_or(at)..at)
    }

    /// Checks a directive with those before it, and gives the place where the next one begins.
    fn check(&mut self, check: &Check, region: Range<usize>) -> Checked<usize> {
        let mut nots = Vec::new();
        let start = self.unordered(&check.before, region.clone(), &mut nots)?;
        let directive = &check.directive;
        let found = self.place(directive, start..region.end)?;
        let lines_between = self.input[start..found.start].matches('\n').count();
        let right = match directive.kind {
            Kind::Next | Kind::Empty => lines_between == 1,
            Kind::Same => lines_between == 0,
            _ => true,
        };
        if !right {
            let problem = Problem::WrongLine {
                found: found.clone(),
                lines_between,
            };
            return Err(self.failure(directive, start..region.end, problem));
        }
        self.absent(&nots, start..found.start)?;
        Ok(found.end)
    }

    /// Fails if one of these directives matches in the region.
    fn absent(&mut self, nots: &[&Directive], region: Range<usize>) -> Checked<()> {
        for directive in nots {
            if let Some(found) = self.find(directive, region.clone())? {
                return Err(self.failure(directive, region, Problem::Excluded { found }));
            }
        }
        Ok(())
    }

    /// Matches groups of DAG directives, each group in any order after the one before, with the NOT directives between
    /// them; those after the last group are left over in `nots`. Gives the end of the last group.
    fn unordered<'d>(
        &mut self,
        directives: &'d [Directive],
        region: Range<usize>,
        nots: &mut Vec<&'d Directive>,
    ) -> Checked<usize> {
        let mut start = region.start;
        for group in directives.chunk_by(|a, b| a.kind == b.kind) {
            if group.first().is_some_and(|d| d.kind == Kind::Not) {
                nots.extend(group);
                continue;
            }
            // In order of place, without overlap.
            let mut taken: Vec<Range<usize>> = Vec::new();
            for directive in group {
                let at = self.free_place(directive, start..region.end, &taken)?;
                let index = taken.partition_point(|other| other.start < at.start);
                taken.insert(index, at);
            }
            let first = taken.first().map_or(start, |range| range.start);
            self.absent(nots, start..first)?;
            nots.clear();
            start = taken.last().map_or(start, |range| range.end);
        }
        Ok(start)
    }

    /// The first match that does not overlap with one that is taken.
    fn free_place(
        &mut self,
        directive: &Directive,
        region: Range<usize>,
        taken: &[Range<usize>],
    ) -> Checked<Range<usize>> {
        let mut from = region.start;
        loop {
            let Some(found) = self.find(directive, from..region.end)? else {
                return Err(self.failure(directive, region, Problem::NotFound { matched: 0 }));
            };
            match taken
                .iter()
                .find(|other| found.start < other.end && other.start < found.end)
            {
                Some(other) => from = other.end,
                None => return Ok(found),
            }
        }
    }
}
