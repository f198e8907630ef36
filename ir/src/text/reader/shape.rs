//! Nested lists of elements: `[[1, 2], [3, 4]]`.

use crate::text::cursor;

/// The elements of a nested list while they are read.
#[derive(Default)]
pub(super) struct ElementLists {
    /// How many parts each open list has.
    open: Vec<usize>,
    /// How many parts lists of each depth have.
    dims: Vec<Option<usize>>,
    /// The nesting depth of elements.
    depth: Option<usize>,
}

impl ElementLists {
    /// The shape of the elements; nothing for one element or bytes, which are for all.
    pub(super) fn read(
        text: &[u8],
        mut check: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> Result<Option<Vec<usize>>, String> {
        let mut elements = ElementLists::default();
        let uneven = || "the lists are not equally long".to_owned();
        let (mut at, mut first) = (0, true);
        while at < text.len() {
            match text[at] {
                b' ' | b'\t' | b'\n' | b'\r' | b',' => at += 1,
                b'[' => {
                    elements.count();
                    elements.open.push(0);
                    at += 1;
                }
                b']' => {
                    let count = elements.open.pop().ok_or_else(uneven)?;
                    let depth = elements.open.len();
                    if elements.dims.len() <= depth {
                        elements.dims.resize(depth + 1, None);
                    }
                    if *elements.dims[depth].get_or_insert(count) != count {
                        return Err(uneven());
                    }
                    at += 1;
                }
                b => {
                    let end = match b {
                        b'"' => cursor::string_end(text, at).unwrap_or(text.len()),
                        b'(' => cursor::balanced_end(text, at).unwrap_or(text.len()),
                        b'/' if text.get(at + 1) == Some(&b'/') => {
                            at = cursor::line_end(text, at);
                            continue;
                        }
                        _ => {
                            let word = |b: &u8| !matches!(b, b',' | b'[' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                            at + text[at..].iter().take_while(|b| word(b)).count()
                        }
                    };
                    // Bytes in a string are all elements at once.
                    if b != b'"' || !elements.open.is_empty() || !first {
                        check(&text[at..end])?;
                    }
                    elements.count();
                    if *elements.depth.get_or_insert(elements.open.len()) != elements.open.len() {
                        return Err(uneven());
                    }
                    at = end;
                    first = false;
                }
            }
        }
        if elements.depth == Some(0) {
            return Ok(None);
        }
        // Nothing at all is what a tensor without elements has.
        if elements.dims.is_empty() {
            return Ok(None);
        }
        Ok(Some(elements.dims.into_iter().map(|dim| dim.unwrap_or(0)).collect()))
    }

    fn count(&mut self) {
        if let Some(last) = self.open.last_mut() {
            *last += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_elements() {
        let read = |text: &str| ElementLists::read(text.as_bytes(), |_| Ok(()));
        assert_eq!(read("1"), Ok(None));
        assert_eq!(read("[1, 2, 3]"), Ok(Some(vec![3])));
        assert_eq!(read("[[1, 2], [3, 4]]"), Ok(Some(vec![2, 2])));
        assert_eq!(read("[(1.0, 2.0), (3.0, 4.0)]"), Ok(Some(vec![2])));
        assert!(read("[[1], [2, 3]]").is_err() && read("[1, [2]]").is_err());
    }
}
