//! Checks protobuf messages against a schema. The decoder skips unknown fields, takes the last of two values, and does
//! not report where it stopped.

use pir_ir::Span;
use pir_ir::budget::{Exhausted, Reservation};

/// Stop after this many errors.
const MOST: usize = 20;

/// The type of a field.
#[derive(Clone, Copy)]
pub(crate) enum FieldType {
    /// An integer or a boolean; several may be packed.
    Varint,
    /// A single, or several packed.
    Fixed32,
    /// A double, or several packed.
    Fixed64,
    /// Text or bytes.
    Bytes,
    /// A message.
    Message(&'static Schema),
    /// An entry of a map with string keys: the key is field 1, the value, a message, is field 2.
    Entry(&'static Schema),
    /// Ignored, whatever its type.
    Skipped,
}

/// The cardinality of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// Once, or not at all.
    Optional,
    /// Once.
    Required,
    /// Any number of times.
    Repeated,
}

/// A field: its number, name, type and cardinality.
pub(crate) struct Field(
    pub(crate) u64,
    pub(crate) &'static str,
    pub(crate) FieldType,
    pub(crate) Count,
);

/// The schema of a message.
pub(crate) struct Schema {
    /// The name of the message.
    pub(crate) name: &'static str,
    /// Its fields.
    pub(crate) fields: &'static [Field],
}

/// An error, and its byte offset.
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// A field in a message: its number, its wire type, and the range of its payload.
pub(crate) struct Found {
    pub(crate) number: u64,
    wire: u64,
    /// The offset of the field's tag.
    pub(crate) at: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Found {
    /// Whether it may hold a message.
    pub(crate) fn is_delimited(&self) -> bool {
        self.wire == 2
    }
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next varint; nothing if it is cut off or too long.
    pub fn varint(&mut self) -> Option<u64> {
        let (value, end) = varint(self.0, 0, self.0.len())?;
        self.0 = &self.0[end..];
        Some(value)
    }

    /// The next bytes; `None` if fewer remain.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

/// A varint, and its end.
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

/// The field at offset `at` of a message that ends at `end`.
fn field(bytes: &[u8], at: usize, end: usize) -> Option<Found> {
    let (key, start) = varint(bytes, at, end)?;
    let (start, stop) = match key & 7 {
        0 => (start, varint(bytes, start, end)?.1),
        1 => (start, start.checked_add(8)?),
        2 => {
            let (length, start) = varint(bytes, start, end)?;
            (start, start.checked_add(usize::try_from(length).ok()?)?)
        }
        5 => (start, start.checked_add(4)?),
        _ => return None,
    };
    let number = key >> 3;
    (number > 0 && stop <= end).then_some(Found {
        number,
        wire: key & 7,
        at,
        start,
        end: stop,
    })
}

/// The fields of a message up to the first malformed one, and the offset of that.
pub(crate) fn fields(bytes: &[u8], start: usize, end: usize) -> (Vec<Found>, Option<usize>) {
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

/// The spans of the messages of a top-level field.
pub(crate) fn spans(bytes: &[u8], number: u64) -> Vec<Span> {
    spans_in(bytes, Span::new(0, bytes.len()), number)
}

/// The spans of the messages of a field of a message.
pub(crate) fn spans_in(bytes: &[u8], whole: Span, number: u64) -> Vec<Span> {
    let (found, _) = fields(bytes, whole.start as usize, whole.end as usize);
    let of_field = found.iter().filter(|f| f.number == number && f.is_delimited());
    of_field.map(|f| Span::new(f.start, f.end)).collect()
}

/// Reserves the memory for the fields of a message and for their decoded form.
fn reserve(held: &mut Reservation, bytes: &[u8], schema: &Schema, start: usize, end: usize) -> Result<(), Exhausted> {
    // The lists and maps of a message take memory even when they are empty.
    const DECODED: usize = 192 + 2 * size_of::<Found>();
    let (mut taken, mut at) = (0, start);
    while let Some(next) = field(bytes, at, end) {
        let length = next.end - next.start;
        let known = schema.fields.iter().find(|f| f.0 == next.number);
        taken += DECODED
            + match known.map(|f| f.2) {
                // An element may take one byte; a growing list doubles its capacity.
                Some(FieldType::Varint) if next.is_delimited() => 2 * size_of::<u64>() * length,
                Some(FieldType::Bytes | FieldType::Fixed32 | FieldType::Fixed64) => 2 * length,
                _ => 0,
            };
        at = next.end;
    }
    held.grow(taken as u64)
}

/// Every way in which the bytes violate the schema, in the order of the file. The memory for decoding is added to the
/// reservation.
pub(crate) fn check(bytes: &[u8], schema: &'static Schema, held: &mut Reservation) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    let mut pending = vec![(schema, 0, bytes.len())];
    while let Some((schema, start, end)) = pending.pop() {
        if faults.len() >= MOST {
            break;
        }
        if let Err(error) = reserve(held, bytes, schema, start, end) {
            let message = format!("{error}; `--max-memory` sets the limit");
            faults.push(Fault { at: start, message });
            break;
        }
        let (found, broken) = fields(bytes, start, end);
        let mut fault = |at, message| faults.push(Fault { at, message });
        if let Some(at) = broken {
            fault(at, format!("a field of `{}` is malformed or truncated", schema.name));
        }
        let mut seen = vec![false; schema.fields.len()];
        let mut keys: Vec<&[u8]> = Vec::new();
        for item in &found {
            let known = schema.fields.iter().position(|f| f.0 == item.number);
            let Some((at, &Field(number, name, kind, count))) = known.and_then(|at| Some((at, schema.fields.get(at)?)))
            else {
                fault(item.at, format!("`{}` has no field {}", schema.name, item.number));
                continue;
            };
            let packed = count == Count::Repeated && item.wire == 2;
            let fits = match kind {
                FieldType::Varint => item.wire == 0 || packed && is_packed(bytes, item),
                FieldType::Fixed32 => item.wire == 5 || packed && (item.end - item.start) % 4 == 0,
                FieldType::Fixed64 => item.wire == 1 || packed && (item.end - item.start) % 8 == 0,
                FieldType::Bytes | FieldType::Message(_) | FieldType::Entry(_) => item.wire == 2,
                FieldType::Skipped => true,
            };
            if !fits {
                fault(
                    item.at,
                    format!(
                        "the field `{name}` ({number}) of `{}` is written as another kind of value",
                        schema.name
                    ),
                );
                continue;
            }
            if std::mem::replace(&mut seen[at], true) && count != Count::Repeated {
                fault(
                    item.at,
                    format!("the field `{name}` ({number}) of `{}` is given twice", schema.name),
                );
            }
            match kind {
                FieldType::Message(inner) => pending.push((inner, item.start, item.end)),
                FieldType::Entry(inner) => {
                    let (parts, broken) = fields(bytes, item.start, item.end);
                    let key = parts.iter().find(|p| p.number == 1 && p.is_delimited());
                    let key = key.and_then(|p| bytes.get(p.start..p.end)).unwrap_or_default();
                    let text = String::from_utf8_lossy(key);
                    if broken.is_some() || parts.iter().any(|p| !matches!(p.number, 1 | 2) || !p.is_delimited()) {
                        fault(item.at, format!("an entry of `{name}` of `{}` is broken", schema.name));
                    } else if keys.contains(&key) {
                        fault(
                            item.at,
                            format!("`{text}` is given twice in `{name}` of `{}`", schema.name),
                        );
                    }
                    keys.push(key);
                    let values = parts.iter().filter(|p| p.number == 2 && p.is_delimited());
                    pending.extend(values.map(|p| (inner, p.start, p.end)));
                }
                _ => {}
            }
        }
        let missing = schema
            .fields
            .iter()
            .zip(&seen)
            .filter(|(f, seen)| f.3 == Count::Required && !**seen);
        for (Field(number, name, ..), _) in missing {
            fault(
                start,
                format!("the field `{name}` ({number}) of `{}` is missing", schema.name),
            );
        }
    }
    faults.sort_by_key(|f| f.at);
    faults.truncate(MOST);
    faults
}

/// Whether a field holds packed varints.
fn is_packed(bytes: &[u8], item: &Found) -> bool {
    let mut at = item.start;
    while at < item.end {
        match varint(bytes, at, item.end) {
            Some((_, next)) => at = next,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    static INNER: Schema = Schema {
        name: "Inner",
        fields: &[Field(1, "n", FieldType::Varint, Count::Repeated)],
    };
    static OUTER: Schema = Schema {
        name: "Outer",
        fields: &[
            Field(1, "name", FieldType::Bytes, Count::Required),
            Field(2, "inner", FieldType::Message(&INNER), Count::Repeated),
            Field(3, "map", FieldType::Entry(&INNER), Count::Repeated),
        ],
    };

    fn faults(bytes: &[u8]) -> Vec<(usize, String)> {
        check(bytes, &OUTER, &mut Reservation::default())
            .into_iter()
            .map(|f| (f.at, f.message))
            .collect()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert_eq!(faults(b"\x0a\x01x\x12\x02\x08\x01\x12\x04\x0a\x02\x01\x02"), []);
        let all = faults(b"\x12\x02\x10\x01\x0a\x01x\x0a\x01y\x22\x00\x12\x03\x0a\x01\x80\x12\x7f");
        let told: Vec<(usize, &str)> = all.iter().map(|(at, m)| (*at, m.as_str())).collect();
        assert_eq!(
            told,
            [
                (2, "`Inner` has no field 2"),
                (7, "the field `name` (1) of `Outer` is given twice"),
                (10, "`Outer` has no field 4"),
                (14, "the field `n` (1) of `Inner` is written as another kind of value"),
                (17, "a field of `Outer` is malformed or truncated"),
            ]
        );
        assert_eq!(faults(b"")[0].1, "the field `name` (1) of `Outer` is missing");
        let twice = b"\x0a\x01x\x1a\x05\x0a\x01k\x12\x00\x1a\x05\x0a\x01k\x12\x00";
        assert_eq!(
            faults(twice),
            [(10, "`k` is given twice in `map` of `Outer`".to_owned())]
        );
    }
}
