//! POSIX extended regular expressions, as FileCheck reads them, in the syntax of fancy-regex.
//!
//! Both dialects share most of their syntax, and differ silently in the rest (`[\]`, `\<`, `\d`, `a*?`): nothing is
//! passed on that was not understood.

/// A translated expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ere {
    /// In the syntax of fancy-regex, without capturing groups.
    pub(crate) text: String,
    /// It has alternatives, so that the first match found may not be the longest.
    pub(crate) alternatives: bool,
}

/// Quotes a literal text.
pub(crate) fn quote(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii_punctuation() && c != '_' && c != '<' && c != '>' {
            out.push('\\');
        }
        out.push(c);
    }
}

/// What was before the current place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that could be repeated: the start, `(`, `|`.
    Nothing,
    Anchor,
    Atom,
    Repeated,
}

pub(crate) fn translate(ere: &str) -> Result<Ere, String> {
    let mut out = String::with_capacity(ere.len() + 8);
    let mut alternatives = false;
    let mut depth = 0_usize;
    let mut before = Before::Nothing;
    let mut rest = ere;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = after;
        match c {
            '(' => {
                depth += 1;
                before = Before::Nothing;
                out.push_str("(?:");
                // An empty group is the one place where POSIX lets an expression be empty.
                if let Some(after) = rest.strip_prefix(')') {
                    rest = after;
                    depth -= 1;
                    before = Before::Atom;
                    out.push(')');
                }
                continue;
            }
            ')' => {
                depth = depth.checked_sub(1).ok_or("a `)` has no `(`")?;
                if before == Before::Nothing {
                    return Err("an alternative is empty".to_owned());
                }
                out.push(')');
            }
            '|' => {
                if before == Before::Nothing {
                    return Err("an alternative is empty".to_owned());
                }
                alternatives = true;
                before = Before::Nothing;
                out.push('|');
                continue;
            }
            '^' | '$' => {
                before = Before::Anchor;
                out.push(c);
                continue;
            }
            '*' | '+' | '?' => {
                repeatable(before, c)?;
                before = Before::Repeated;
                out.push(c);
                continue;
            }
            '{' if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                repeatable(before, c)?;
                let (bounds, after) = rest.split_once('}').ok_or("a `{` has no `}`")?;
                check_bounds(bounds)?;
                rest = after;
                before = Before::Repeated;
                out.push('{');
                out.push_str(bounds);
                out.push('}');
                continue;
            }
            '[' => rest = bracket(rest, &mut out)?,
            '\\' => {
                let escaped = rest.chars().next().ok_or("a `\\` stands at the end")?;
                if escaped.is_ascii_alphanumeric() {
                    return Err(format!(
                        "`\\{escaped}` has no meaning in FileCheck's (POSIX) expressions; write a class like `[0-9]` \
                         or `[[:space:]]`"
                    ));
                }
                rest = &rest[escaped.len_utf8()..];
                quote(escaped.encode_utf8(&mut [0; 4]), &mut out);
            }
            '.' => out.push('.'),
            c => quote(c.encode_utf8(&mut [0; 4]), &mut out),
        }
        before = Before::Atom;
    }
    if depth > 0 {
        return Err("a `(` has no `)`".to_owned());
    }
    if before == Before::Nothing && alternatives {
        return Err("an alternative is empty".to_owned());
    }
    Ok(Ere {
        text: out,
        alternatives,
    })
}

fn repeatable(before: Before, operator: char) -> Result<(), String> {
    match before {
        Before::Atom => Ok(()),
        Before::Nothing | Before::Anchor => Err(format!("there is nothing before `{operator}` that could be repeated")),
        Before::Repeated => Err(format!(
            "`{operator}` stands after another repetition; POSIX expressions have no lazy or possessive forms"
        )),
    }
}

fn check_bounds(bounds: &str) -> Result<(), String> {
    let number = |text: &str| {
        text.parse::<u8>()
            .map_err(|_| format!("`{{{bounds}}}` is not a count from 0 to 255"))
    };
    let (low, high) = match bounds.split_once(',') {
        None => (number(bounds)?, None),
        Some((low, "")) => (number(low)?, None),
        Some((low, high)) => (number(low)?, Some(number(high)?)),
    };
    match high {
        Some(high) if high < low => Err(format!("`{{{bounds}}}` ends before it begins")),
        _ => Ok(()),
    }
}

/// A bracket expression after its `[`. A `\` in it is an ordinary character.
fn bracket<'a>(ere: &'a str, out: &mut String) -> Result<&'a str, String> {
    const OPEN: &str = "a `[` has no `]`";
    let mut rest = ere;
    out.push('[');
    let negated = rest.starts_with('^');
    if negated {
        rest = &rest[1..];
        // As in FileCheck's own expressions, no class crosses the end of a line by exclusion.
        out.push_str("^\\n");
    }
    let mut first = true;
    loop {
        let c = rest.chars().next().ok_or(OPEN)?;
        if c == ']' && !first {
            out.push(']');
            return Ok(&rest[1..]);
        }
        first = false;
        if let Some(named) = rest.strip_prefix("[:") {
            let (name, after) = named.split_once(":]").ok_or(OPEN)?;
            const NAMES: &[&str] = &[
                "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
                "xdigit",
            ];
            if !NAMES.contains(&name) {
                return Err(format!("`[:{name}:]` is not a class of characters"));
            }
            out.push_str(&format!("[:{name}:]"));
            rest = after;
            continue;
        }
        if rest.starts_with("[.") || rest.starts_with("[=") {
            return Err("collating elements are not supported".to_owned());
        }
        let after = &rest[c.len_utf8()..];
        set_member(c, out);
        rest = after;
        // A `-` that is last represents itself.
        if let Some(range) = after.strip_prefix('-')
            && let Some(end) = range.chars().next()
            && end != ']'
        {
            if end < c {
                return Err(format!("the range `{c}-{end}` ends before it begins"));
            }
            out.push('-');
            set_member(end, out);
            rest = &range[end.len_utf8()..];
        }
    }
}

fn set_member(c: char, out: &mut String) {
    if c.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(c);
}

#[cfg(test)]
mod tests {
    use fancy_regex::Regex;

    use super::*;

    fn matches(ere: &str, text: &str) -> bool {
        let ere = translate(ere).unwrap().text;
        Regex::new(&format!("(?m)\\A(?:{ere})\\z"))
            .unwrap()
            .is_match(text)
            .unwrap()
    }

    #[test]
    fn brackets_are_posix() {
        assert!(matches(r"[\]+", r"\\"));
        assert!(matches("[]a]+", "]a"));
        assert!(matches("[^]a]", "b"));
        assert!(!matches("[^]a]", "]"));
        assert!(!matches("[^a]", "\n"));
        assert!(matches("[a&&b~~-]+", "&~-ab"));
        assert!(matches("[[:alpha:][]+", "a["));
        assert!(matches("[+--]+", "+,-"));
        assert!(translate("[a").is_err());
        assert!(translate("[z-a]").is_err());
        assert!(translate("[[:word:]]").is_err());
    }

    #[test]
    fn escapes_are_literals_or_errors() {
        assert!(matches(r"\<a\>\.", "<a>."));
        assert!(!matches(r"\.", "a"));
        assert!(translate(r"\d").is_err());
        assert!(translate("\\").is_err());
    }

    #[test]
    fn repetition() {
        assert!(matches("a{2}", "aa"));
        assert!(!matches("a{2}", "a"));
        assert!(matches("a{1,}b{0,2}", "aaabb"));
        assert!(matches("a{x}", "a{x}"));
        assert!(matches("{", "{"));
        for wrong in ["a*?", "a**", "*a", "(?:a)", "a|*", "a{2,1}", "a{999}", "a{2"] {
            assert!(translate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn groups_and_alternatives() {
        assert!(matches("(a|b)c()", "bc"));
        assert!(translate("a|b").unwrap().alternatives);
        assert!(!translate("ab").unwrap().alternatives);
        for wrong in ["(a", "a)", "a|", "|a", "(|a)", "(a|)"] {
            assert!(translate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn quoting() {
        let mut quoted = String::new();
        let text = "a.b*[c]{d}(e)|^$\\<f>#&~-_ /\"'`=!@%,:;?+é\t";
        quote(text, &mut quoted);
        assert!(Regex::new(&format!("\\A{quoted}\\z")).unwrap().is_match(text).unwrap());
    }
}
