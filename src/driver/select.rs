//! Selects the passes that run, for bisection: a limit, and counters.

use pir_ir::{Diagnostic, Module, nearest};
use pir_passes::{Invocation, Observer, all_passes, find_pass};

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
        known_pass(pass)?;
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
                .map_err(|_| format!("`{}` is not a number of runs", number.trim()))?;
            match name.trim() {
                "skip" => counter.skip = number,
                "count" => counter.count = Some(number),
                other => return Err(format!("there is no `{other}`: `skip` and `count` can be given")),
            }
        }
        Ok(counter)
    }

    /// Counts a run, and returns whether it takes place.
    fn permits(&mut self) -> bool {
        let at = self.seen;
        self.seen += 1;
        at >= self.skip && self.count.is_none_or(|count| at - self.skip < count)
    }
}

/// Checks the name of a pass.
///
/// # Errors
/// If no pass has that name.
pub fn known_pass(name: &str) -> Result<(), String> {
    if find_pass(name).is_some() {
        return Ok(());
    }
    let help = match nearest(name, all_passes().iter().map(|p| p.name())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`--list-passes` shows all passes".to_owned(),
    };
    Err(format!("there is no pass `{name}`; {help}"))
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

/// The same check for the command line.
pub(crate) fn check_passes(names: &[String], option: &str) -> Result<(), Diagnostic> {
    names.iter().filter(|name| !name.is_empty()).try_for_each(|name| {
        known_pass(name).map_err(|error| Diagnostic::error("unknown-pass", format!("{option}: {error}")))
    })
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
            ("lcm:skip=1", "did you mean `licm`?"),
            ("licm:skip", "expected `skip=N`"),
            ("licm:skip=x", "`x` is not a number"),
            ("licm:skp=1", "there is no `skp`"),
        ] {
            assert!(Counter::parse(wrong).unwrap_err().contains(said), "{wrong}");
        }
    }
}
