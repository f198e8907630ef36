//! The source of a program: the line of a Python file that MLIR's locations name.
//!
//! Locations are read from the text, since errors refer to positions in it: `loc("f.py":3:7)`, or an alias, at the end
//! of the line.

/// How many locations are followed: one may name several, which name others.
const MAX_STEPS: usize = 256;

/// The file, line and column that the location of the line at a place names first.
pub(super) fn origin(text: &[u8], offset: usize) -> Option<String> {
    let start = memchr::memrchr2(b'\n', b'\r', text.get(..offset)?).map_or(0, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', &text[offset..]).map_or(text.len(), |at| offset + at);
    let location = location(&text[start..end]).or_else(|| behind_regions(&text[start..]))?;
    Search { text, steps: 0 }.resolve(location)
}

/// The location at the end of a line.
fn location(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    inside(&line[line.rfind(" loc(")? + " loc".len()..])
}

/// The location of an operation with regions: it comes after the last brace, which is indented as the operation is.
fn behind_regions(text: &[u8]) -> Option<&str> {
    let indent = |line: &[u8]| line.iter().take_while(|&&b| b == b' ').count();
    let mut lines = text.split(|&b| b == b'\n');
    let own = indent(lines.next()?);
    let after = lines.take_while(|line| indent(line) >= own);
    let mut ends = after.filter(|line| indent(line) == own && line.get(own) == Some(&b'}'));
    ends.find_map(location)
}

struct Search<'t> {
    text: &'t [u8],
    steps: usize,
}

impl<'t> Search<'t> {
    /// The place that a location names, the innermost of calls.
    fn resolve(&mut self, location: &'t str) -> Option<String> {
        let mut pending = vec![location];
        while let Some(location) = pending.pop() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return None;
            }
            let location = location.trim();
            if let Some(rest) = location.strip_prefix('"') {
                let (name, rest) = rest.split_once('"')?;
                match position(rest) {
                    Some((line, column)) => return Some(format!("{name}:{line}:{column}")),
                    None => pending.extend(inside(rest)),
                }
            } else if location.starts_with('#') {
                pending.extend(self.definition(location));
            } else if let Some(at) = location.find(['(', '[']) {
                // `callsite(a at b)`, `fused[a, b]`: the first one that has a place.
                let inside = inside(&location[at..])?;
                let mut parts = split(inside);
                parts.reverse();
                pending.extend(parts);
            }
        }
        None
    }

    /// The definition of an alias.
    fn definition(&self, alias: &str) -> Option<&'t str> {
        let head = format!("{alias} = loc");
        let starts_line = |&at: &usize| at == 0 || matches!(self.text[at - 1], b'\n' | b'\r');
        let at = memchr::memmem::find_iter(self.text, head.as_bytes()).find(starts_line)?;
        let rest = &self.text[at + head.len()..];
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        inside(std::str::from_utf8(&rest[..end]).ok()?)
    }
}

/// The numbers of `:3:7`.
fn position(text: &str) -> Option<(&str, &str)> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let rest = text.strip_prefix(':')?;
    let (line, rest) = rest.split_at(digits(rest));
    let rest = rest.strip_prefix(':')?;
    let column = &rest[..digits(rest)];
    (!line.is_empty() && !column.is_empty()).then_some((line, column))
}

/// The text in the leading brackets.
fn inside(text: &str) -> Option<&str> {
    let (mut depth, mut quoted) = (0usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(&text[1..at]);
                }
            }
            _ if at == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The parts between ` at ` or commas that are not in brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0i32, false);
    for (at, c) in text.char_indices() {
        let separator = match c {
            _ if depth != 0 || quoted => 0,
            ',' => 1,
            ' ' if text[at..].starts_with(" at ") => 4,
            _ => 0,
        };
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if separator > 0 && at >= start {
            parts.push(&text[start..at]);
            start = at + separator;
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_python() {
        let text = "#loc1 = loc(\"x\")\n\
            %0 = a.b %x : T loc(#loc5)\n\
            %1 = a.b %x : T loc(\"g.py\":3:4 to :9)\n\
            %2 = a.b %x : T loc(fused[unknown, \"h\"(#loc3)])\n\
            %3 = a.b %x : T loc(#loc1)\n\
            %4 = a.b %x : T loc(#loc6)\n\
            %6 = a.w(%i = %x) : T\n\
            cond {\n\
            \x20 a.r %x : T loc(#loc3)\n\
            } do {\n\
            \x20 a.r %x : T loc(#loc3)\n\
            } loc(#loc2)\n\
            \x20 %5 = a.b %x : T\n\
            #loc2 = loc(\"/m/f.py\":9:8 to :49)\n\
            #loc3 = loc(\"f.py\":20:8)\n\
            #loc4 = loc(callsite(\"step\"(#loc2) at #loc3))\n\
            #loc5 = loc(\"jit(f)/add\"(#loc4))\n\
            #loc6 = loc(fused[#loc6, #loc6])\n";
        let of = |name: &str| origin(text.as_bytes(), text.find(name).unwrap_or_default() + 5);
        assert_eq!(of("%0 ").as_deref(), Some("/m/f.py:9:8"));
        assert_eq!(of("%1 ").as_deref(), Some("g.py:3:4"));
        assert_eq!(of("%6 ").as_deref(), Some("/m/f.py:9:8"));
        assert_eq!(of("%2 ").as_deref(), Some("f.py:20:8"));
        for without in ["%3 ", "%4 ", "%5 "] {
            assert_eq!(of(without), None, "{without}");
        }
        for end in 0..text.len() {
            for offset in (0..=end).step_by(7) {
                origin(&text.as_bytes()[..end], offset);
            }
        }
    }
}
