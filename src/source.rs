//! Sources: files and standard input, and positions in them.

use std::cell::{OnceCell, RefCell};
use std::io::Read;
use std::path::Path;

use pir_ir::budget::{self, Exhausted, Reservation};
use pir_ir::{Diagnostic, nearest};

/// The file of a SavedModel that holds its graph.
pub(crate) const SAVED_MODEL: &str = "saved_model.pb";

/// A position in a source; both numbers are one-based.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters; a tab counts as one.
    pub column: usize,
}

/// The memory that the program of a text takes approximately.
fn most_of_text(text: &[u8]) -> u64 {
    let weights = [(b'\n', 60), (b'<', 60), (b',', 40), (b'=', 80)];
    // Part by part, so that all but the first count of each find it in the cache.
    let of_part = |part: &[u8]| {
        let weighted = weights.map(|(byte, weight)| weight * memchr::memchr_iter(byte, part).count() as u64);
        weighted.into_iter().sum::<u64>()
    };
    text.chunks(1 << 14).map(of_part).sum()
}

/// A named text with a line index, which is built on demand.
#[derive(Debug)]
pub struct Source {
    name: String,
    bytes: Vec<u8>,
    first_line: usize,
    /// The memory of the source and of the program read from it.
    held: RefCell<Reservation>,
    line_starts: OnceCell<Vec<usize>>,
}

impl Source {
    /// A source with the given name and content.
    pub fn new(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Source {
            name: name.into(),
            bytes: bytes.into(),
            first_line: 1,
            held: RefCell::default(),
            line_starts: OnceCell::new(),
        }
    }

    /// Reads a file, or standard input for `-`.
    ///
    /// # Errors
    /// Why it cannot be read, for the user.
    pub fn read(path: &str) -> Result<Self, Diagnostic> {
        // One more byte than allowed shows that the source is too large; endless files like `/dev/zero` are not read
        // further.
        const MOST: u64 = u32::MAX as u64 + 1;
        let (name, (bytes, held)) = if path == "-" {
            let read = read_all(std::io::stdin().lock().take(MOST), 0);
            let read = read.map_err(|e| Diagnostic::error("io", format!("cannot read standard input: {e}")))?;
            ("<stdin>", read)
        } else {
            // A SavedModel is a folder.
            let inside = Path::new(path).join(SAVED_MODEL);
            match inside.is_file() {
                true => (path, read_start(&inside.to_string_lossy(), MOST)?),
                false => (path, read_start(path, MOST)?),
            }
        };
        // Spans are pairs of 32-bit offsets.
        if u32::try_from(bytes.len()).is_err() {
            return Err(Diagnostic::error("io", format!("`{name}` is larger than 4 GiB"))
                .help("split the program into several files"));
        }
        Ok(Source {
            held: RefCell::new(held),
            ..Self::new(name, bytes)
        })
    }

    /// The name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reserves approximately the memory of the program in the source, for the lifetime of the source. Lists of numbers
    /// need most: each number may be a digit and a comma.
    ///
    /// # Errors
    /// If that exceeds the limit.
    pub fn reserve_program(&self, is_text: bool) -> Result<(), Exhausted> {
        let length = self.bytes.len() as u64;
        let most = 81 * length;
        let bytes = match is_text {
            // As much as there can be, where that is little.
            true if budget::Budget::current().is_little(most) => most,
            // Typically each line holds an operation with types.
            true => length + most_of_text(&self.bytes),
            // The readers of other formats reserve their memory themselves.
            false => 2 * length,
        };
        self.held.borrow_mut().grow(bytes)
    }

    /// The parts between lines that begin with `// -----`. Positions in a part are relative to the whole.
    pub fn split(&self) -> Vec<Source> {
        let mut parts = Vec::new();
        let mut start = 0;
        let mut first_line = self.first_line;
        for (line, range) in self.lines().enumerate() {
            if self.bytes[range.clone()].starts_with(b"// -----") {
                parts.push(self.part(start..range.start, first_line));
                start = range.end;
                first_line = self.first_line + line + 1;
            }
        }
        parts.push(self.part(start..self.bytes.len(), first_line));
        parts
    }

    fn part(&self, range: std::ops::Range<usize>, first_line: usize) -> Source {
        Source {
            first_line,
            ..Source::new(self.name.clone(), &self.bytes[range])
        }
    }

    fn lines(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let starts = self.line_starts();
        let ends = starts.iter().skip(1).copied().chain([self.bytes.len()]);
        starts.iter().copied().zip(ends).map(|(start, end)| start..end)
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            // A carriage return ends a line as well, alone or in front of a line feed.
            let ends = memchr::memchr2_iter(b'\n', b'\r', &self.bytes);
            let is_end = |&at: &usize| self.bytes[at] == b'\n' || self.bytes.get(at + 1) != Some(&b'\n');
            std::iter::once(0).chain(ends.filter(is_end).map(|at| at + 1)).collect()
        })
    }

    /// The zero-based index of the line that contains an offset.
    pub(crate) fn line_index(&self, offset: usize) -> usize {
        self.line_starts()
            .partition_point(|&start| start <= offset)
            .saturating_sub(1)
    }

    /// The displayed number of the line with this index.
    pub(crate) fn line_number(&self, index: usize) -> usize {
        self.first_line + index
    }

    /// The number of lines; an empty one after a final line break counts.
    pub(crate) fn line_count(&self) -> usize {
        self.line_starts().len()
    }

    /// The range of a line in the content, without its line break.
    pub(crate) fn line_range(&self, index: usize) -> std::ops::Range<usize> {
        let starts = self.line_starts();
        let start = starts.get(index).copied().unwrap_or(self.bytes.len());
        let mut end = starts.get(index + 1).map_or(self.bytes.len(), |next| next - 1);
        if end > start && self.bytes.get(end - 1) == Some(&b'\r') && index + 1 < starts.len() {
            end -= 1;
        }
        start..end
    }

    /// The line and column of an offset; for an offset beyond the end, those of the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.bytes.len());
        let index = self.line_index(offset);
        let before = &self.bytes[self.line_range(index).start..offset];
        Position {
            line: self.line_number(index),
            column: 1 + before.iter().filter(|&&b| b & 0xC0 != 0x80).count(),
        }
    }
}

/// Reads a file, and reserves its memory.
pub(crate) fn read_file(path: &str) -> Result<(Vec<u8>, Reservation), Diagnostic> {
    read_start(path, u64::MAX)
}

/// Reads to the end; `expected` is the expected size.
fn read_all(mut from: impl Read, expected: usize) -> std::io::Result<(Vec<u8>, Reservation)> {
    let no_memory = |e: Exhausted| std::io::Error::new(std::io::ErrorKind::OutOfMemory, e);
    let mut bytes: Vec<u8> = Vec::new();
    // One more byte, to detect the end without growing the buffer.
    let first = expected.saturating_add(1).max(1 << 12);
    let mut held = budget::reserve(first).map_err(no_memory)?;
    bytes.try_reserve_exact(first)?;
    loop {
        let room = bytes.capacity() - bytes.len();
        let read = from.by_ref().take(room as u64).read_to_end(&mut bytes)?;
        if read < room {
            return Ok((bytes, held));
        }
        held.room_for_one(&mut bytes).map_err(no_memory)?;
    }
}

/// Reads at most `most` bytes of a file.
fn read_start(path: &str, most: u64) -> Result<(Vec<u8>, Reservation), Diagnostic> {
    // Reading a directory fails too, but with a message that differs between systems.
    if Path::new(path).is_dir() {
        return Err(
            Diagnostic::error("io", format!("cannot read `{path}`: it is a directory"))
                .help("give a file in it, or `-` for standard input"),
        );
    }
    let read = || {
        let file = std::fs::File::open(path)?;
        let size = file.metadata()?.len().min(most);
        read_all(file.take(most), usize::try_from(size).unwrap_or(usize::MAX))
    };
    read().map_err(|error: std::io::Error| {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        let diagnostic = Diagnostic::error("io", format!("cannot read `{path}`: {problem}"));
        match similar_file(path) {
            Some(near) if error.kind() == std::io::ErrorKind::NotFound => {
                diagnostic.help(format!("did you mean `{near}`?"))
            }
            _ => diagnostic,
        }
    })
}

/// A file in the same folder with a similar name.
fn similar_file(path: &str) -> Option<String> {
    let path = Path::new(path);
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .take(10_000)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    // The order of a folder is unspecified, but messages must be deterministic.
    names.sort();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    path.with_file_name(near).to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(source: &Source, offset: usize) -> (usize, usize) {
        let p = source.position(offset);
        (p.line, p.column)
    }

    #[test]
    fn positions_count_characters_from_one() {
        let s = Source::new("t", "a\n\tüb\r\n\nlast");
        assert_eq!(at(&s, 0), (1, 1));
        assert_eq!(at(&s, 1), (1, 2));
        assert_eq!(at(&s, 3), (2, 2));
        assert_eq!(at(&s, 5), (2, 3), "after a letter of two bytes");
        assert_eq!(at(&s, 8), (3, 1));
        assert_eq!(at(&s, 13), (4, 5), "the end");
        assert_eq!(at(&s, 1000), (4, 5), "beyond the end");
        assert_eq!(at(&Source::new("t", ""), 0), (1, 1));
    }

    #[test]
    fn line_ranges_leave_line_breaks_out() {
        let s = Source::new("t", "ab\r\nc\n");
        assert_eq!(s.line_range(0), 0..2);
        assert_eq!(s.line_range(1), 4..5);
        assert_eq!(s.line_range(2), 6..6);
        assert_eq!(s.line_range(9), 6..6);
    }

    #[test]
    fn parts_keep_their_lines() {
        let s = Source::new("t", "a\n// -----\nb\nc\n// ----- more\nd");
        let parts = s.split();
        let texts: Vec<_> = parts.iter().map(|p| String::from_utf8_lossy(p.bytes())).collect();
        assert_eq!(texts, ["a\n", "b\nc\n", "d"]);
        assert_eq!(at(&parts[1], 2), (4, 1));
        assert_eq!(at(&parts[2], 0), (6, 1));
    }
}
