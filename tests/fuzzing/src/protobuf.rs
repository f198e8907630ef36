//! Changes to messages of protobuf: fields come, go and change, and the lengths around them stay right.

use crate::random::Random;

/// How deep messages are looked into. What looks like a message may be a text.
const DEEPEST: usize = 10;

/// Numbers at which something may break.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    22,
    63,
    127,
    128,
    255,
    65_536,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

#[derive(Clone)]
enum Value {
    Number(u64),
    Fixed(Vec<u8>),
    Bytes(Vec<u8>),
    Message(Vec<Field>),
}

#[derive(Clone)]
struct Field {
    number: u64,
    value: Value,
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..10 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << (7 * at).min(63);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take(bytes: &mut &[u8], count: usize) -> Option<Vec<u8>> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken.to_vec())
}

fn message(mut bytes: &[u8], depth: usize) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = number(&mut bytes)?;
        let value = match tag & 7 {
            0 => Value::Number(number(&mut bytes)?),
            1 => Value::Fixed(take(&mut bytes, 8)?),
            5 => Value::Fixed(take(&mut bytes, 4)?),
            2 => {
                let length = usize::try_from(number(&mut bytes)?).ok()?;
                let inside = take(&mut bytes, length)?;
                let fields = (depth > 0 && !inside.is_empty())
                    .then(|| message(&inside, depth - 1))
                    .flatten();
                fields.map_or(Value::Bytes(inside), Value::Message)
            }
            _ => return None,
        };
        let number = tag >> 3;
        if number == 0 {
            return None;
        }
        fields.push(Field { number, value });
    }
    Some(fields)
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn write(fields: &[Field], out: &mut Vec<u8>) {
    for field in fields {
        let tag = |kind| field.number << 3 | kind;
        match &field.value {
            Value::Number(value) => {
                put(out, tag(0));
                put(out, *value);
            }
            Value::Fixed(bytes) => {
                put(out, tag(if bytes.len() == 8 { 1 } else { 5 }));
                out.extend_from_slice(bytes);
            }
            Value::Bytes(bytes) => {
                put(out, tag(2));
                put(out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
            Value::Message(fields) => {
                let mut inside = Vec::new();
                write(fields, &mut inside);
                put(out, tag(2));
                put(out, inside.len() as u64);
                out.extend_from_slice(&inside);
            }
        }
    }
}

/// One of the fields, at any depth.
fn somewhere(random: &mut Random, fields: &[Field]) -> Option<Field> {
    let field = random.pick(fields)?;
    match &field.value {
        Value::Message(inside) if random.below(5) > 0 => somewhere(random, inside).or_else(|| Some(field.clone())),
        _ => Some(field.clone()),
    }
}

/// The bytes of the fields with this number, at any depth.
fn texts(fields: &[Field], wanted: u64, out: &mut Vec<Vec<u8>>) {
    for field in fields {
        match &field.value {
            Value::Bytes(bytes) if field.number == wanted => out.push(bytes.clone()),
            Value::Message(inside) => texts(inside, wanted, out),
            _ => (),
        }
    }
}

fn change_value(random: &mut Random, all: &[Field], field: &mut Field) {
    match &mut field.value {
        Value::Number(value) => {
            *value = match random.below(3) {
                0 => random.pick(NUMBERS).copied().unwrap_or_default(),
                1 => value.wrapping_add(1),
                _ => value.wrapping_sub(1),
            }
        }
        Value::Fixed(bytes) => {
            let at = random.below(bytes.len());
            bytes[at] = random.number() as u8;
        }
        Value::Bytes(bytes) => {
            let mut alike = Vec::new();
            texts(all, field.number, &mut alike);
            match random.below(4) {
                0 if !bytes.is_empty() => {
                    let at = random.below(bytes.len());
                    bytes[at] = random.number() as u8;
                }
                1 => bytes.truncate(random.below(bytes.len() + 1)),
                2 => bytes.extend_from_within(..),
                _ => *bytes = random.pick(&alike).cloned().unwrap_or_default(),
            }
        }
        Value::Message(inside) => inside.reverse(),
    }
}

fn change(random: &mut Random, all: &[Field], other: &[Field], fields: &mut Vec<Field>) {
    if fields.is_empty() {
        fields.extend(somewhere(random, other));
        return;
    }
    let at = random.below(fields.len());
    if let Value::Message(inside) = &mut fields[at].value
        && random.below(5) > 0
    {
        return change(random, all, other, inside);
    }
    match random.below(12) {
        0 | 1 => drop(fields.remove(at)),
        2 | 3 => fields.insert(at, fields[at].clone()),
        4 => {
            let with = random.below(fields.len());
            fields.swap(at, with);
        }
        5 => {
            let from = if random.below(2) == 0 { all } else { other };
            if let Some(field) = somewhere(random, from) {
                fields[at].value = field.value;
            }
        }
        6 => fields.extend(somewhere(random, other)),
        7 => fields[at].number = 1 + random.below(20) as u64,
        _ => change_value(random, all, &mut fields[at]),
    }
}

/// Changes a message in one to four places; `None` if it is none.
pub(crate) fn mutate(random: &mut Random, input: &[u8], other: &[u8], longest: usize) -> Option<Vec<u8>> {
    let mut fields = message(input, DEEPEST)?;
    let other = message(other, DEEPEST).unwrap_or_default();
    for _ in 0..1 + random.below(4) {
        let all = fields.clone();
        change(random, &all, &other, &mut fields);
    }
    let mut out = Vec::new();
    write(&fields, &mut out);
    (out.len() <= longest).then_some(out)
}
