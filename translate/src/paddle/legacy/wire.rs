//! Where things stand in a protobuf message: the decoder does not tell.

use pir_ir::Span;

/// A field: its number, and where what it holds begins and ends.
struct Field {
    number: u64,
    start: usize,
    end: usize,
    /// Whether it may hold a message.
    delimited: bool,
}

/// A number of seven bits a byte, and where it ends.
fn varint(bytes: &[u8], start: usize, end: usize) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (at, &byte) in bytes.get(start..end)?.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte < 0x80 {
            return Some((value, start + at + 1));
        }
    }
    None
}

/// The field that begins at `start` in a message that ends at `end`.
fn field(bytes: &[u8], start: usize, end: usize) -> Option<Field> {
    let (key, at) = varint(bytes, start, end)?;
    let (delimited, start, stop) = match key & 7 {
        0 => (false, at, varint(bytes, at, end)?.1),
        1 => (false, at, at.checked_add(8)?),
        2 => {
            let (length, at) = varint(bytes, at, end)?;
            (true, at, at.checked_add(usize::try_from(length).ok()?)?)
        }
        5 => (false, at, at.checked_add(4)?),
        _ => return None,
    };
    let number = key >> 3;
    (number > 0 && stop <= end).then_some(Field {
        number,
        start,
        end: stop,
        delimited,
    })
}

/// The fields of a message, up to the first that is broken, and where that begins.
fn fields(bytes: &[u8], start: usize, end: usize) -> (Vec<Field>, Option<usize>) {
    let (mut found, mut at) = (Vec::new(), start);
    while at < end {
        let Some(next) = field(bytes, at, end) else {
            return (found, Some(at));
        };
        at = next.end;
        found.push(next);
    }
    (found, None)
}

/// The fields that hold messages: of a program its blocks, of those the variables and the operations.
const MESSAGES: &[&[u64]] = &[&[1], &[3, 4]];

/// The first byte at which a program is no message, as far as that is seen from how the fields follow each other.
pub(super) fn fault(bytes: &[u8]) -> Option<usize> {
    let mut pending = vec![(0, 0, bytes.len())];
    let mut first = None;
    while let Some((depth, start, end)) = pending.pop() {
        let (found, broken) = fields(bytes, start, end);
        first = [first, broken].into_iter().flatten().min();
        let inner = found
            .iter()
            .filter(|f| f.delimited && MESSAGES.get(depth).is_some_and(|numbers| numbers.contains(&f.number)));
        pending.extend(inner.map(|f| (depth + 1, f.start, f.end)));
    }
    first
}

/// Where the operations of each block stand.
pub(super) fn operations(bytes: &[u8]) -> Vec<Vec<Span>> {
    let (blocks, _) = fields(bytes, 0, bytes.len());
    let ops = |block: &Field| {
        let (found, _) = fields(bytes, block.start, block.end);
        let ops = found.into_iter().filter(|f| f.delimited && f.number == 4);
        ops.map(|f| Span::new(f.start, f.end)).collect()
    };
    blocks
        .iter()
        .filter(|f| f.delimited && f.number == 1)
        .map(ops)
        .collect()
}
