//! Selects the passes that run, for bisection: a limit, and counters.

use pir_ir::{Diagnostic, Module, nearest};
use pir_passes::{Invocation, Observer, PassRegistry};

use crate::cli;

/// Skips the first runs of a pass and limits the number of further ones: `licm:skip=3,count=2`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    pass: String,
    skip: u64,
    count: Option<u64>,
    seen: u64,
}

impl Counter {
    /// Parses `NAME:skip=N,count=N`, where either number is optional.
    ///
    /// # Errors
    /// The reason why the text is malformed.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (pass, limits) = text
            .split_once(':')
            .ok_or("expected PASS:skip=N,count=N, for example `licm:skip=3,count=2`")?;
        let mut counter = Counter {
            pass: pass.to_owned(),
            skip: 0,
            count: None,
            seen: 0,
        };
        for limit in limits.split(',') {
            let (name, number) = limit
                .split_once('=')
                .ok_or("expected `skip=N` or `count=N` after the colon")?;
            let number: u64 = number
                .trim()
                .parse()
                .map_err(|_| format!("`{}` is not a valid count", number.trim()))?;
            match name.trim() {
                "skip" => counter.skip = number,
                "count" => counter.count = Some(number),
                other => return Err(format!("unknown key `{other}`: expected `skip` or `count`")),
            }
        }
        Ok(counter)
    }

    /// The pass whose runs it counts.
    pub(crate) fn pass(&self) -> &str {
        &self.pass
    }

    /// Counts a run, and returns whether it takes place.
    fn permits(&mut self) -> bool {
        let at = self.seen;
        self.seen += 1;
        at >= self.skip && self.count.is_none_or(|count| at - self.skip < count)
    }
}

/// Selects the passes that run, and reports each on standard error.
#[derive(Debug)]
pub struct Select {
    limit: Option<i64>,
    counters: Vec<Counter>,
    at: i64,
}

impl Select {
    /// No pass runs after `limit` runs; a negative limit runs and reports all.
    pub fn new(limit: Option<i64>, counters: Vec<Counter>) -> Self {
        Select { limit, counters, at: 0 }
    }
}

impl Observer for Select {
    fn permits(&mut self, invocation: &Invocation, on: Option<&str>) -> bool {
        let place = on.map_or_else(String::new, |on| format!(" on {on}"));
        let mut permitted = true;
        for counter in self.counters.iter_mut().filter(|c| c.pass == invocation.pass.name()) {
            let number = counter.seen + 1;
            permitted &= counter.permits();
            let word = if permitted { "running" } else { "skipping" };
            cli::say(&format!("debug-counter: {word} {} {number}{place}\n", counter.pass));
        }
        if let (Some(limit), true) = (self.limit, permitted) {
            self.at += 1;
            permitted = limit < 0 || self.at <= limit;
            let word = if permitted { "running" } else { "not running" };
            cli::say(&format!("bisect: {word} pass {}: {invocation}{place}\n", self.at));
        }
        permitted
    }

    fn failed(&mut self, invocation: &Invocation, _: &Module) {
        if self.limit.is_some() {
            cli::say(&format!("bisect: pass {} failed: {invocation}\n", self.at));
        }
    }
}

/// Checks the names of passes that an option of the command line holds.
pub(crate) fn check_passes(passes: &PassRegistry, names: &[String], option: &str) -> Result<(), Diagnostic> {
    let unknown = |name: &&String| !name.is_empty() && passes.find(name).is_none();
    let Some(name) = names.iter().find(unknown) else {
        return Ok(());
    };
    let help = match nearest(name, passes.iter().map(|p| p.name())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`--list-passes` lists all passes".to_owned(),
    };
    let message = format!("{option}: there is no pass `{name}`; {help}");
    Err(Diagnostic::error("unknown-pass", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_skip_and_count() {
        let pattern = |text: &str| {
            let mut counter = Counter::parse(text).unwrap();
            (0..6)
                .map(|_| if counter.permits() { 'x' } else { '-' })
                .collect::<String>()
        };
        assert_eq!(pattern("licm:skip=3,count=2"), "---xx-");
        assert_eq!(pattern("licm:skip=1"), "-xxxxx");
        assert_eq!(pattern("licm:count=0"), "------");
        assert_eq!(pattern("licm:count=18446744073709551615"), "xxxxxx");
        for (wrong, said) in [
            ("licm", "expected PASS:"),
            ("licm:skip", "expected `skip=N`"),
            ("licm:skip=x", "`x` is not a valid count"),
            ("licm:skp=1", "unknown key `skp`"),
        ] {
            assert!(Counter::parse(wrong).unwrap_err().contains(said), "{wrong}");
        }
    }
}
