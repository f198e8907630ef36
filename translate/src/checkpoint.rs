//! TensorFlow's checkpoints: `variables.index`, a sorted table of keys, gives the position of each tensor in `variables.data-…`.
//!
//! The table is that of LevelDB: blocks of entries whose keys share prefixes, an index of the blocks, and a footer that gives
//! where the index is. Compressed blocks are refused.

use prost::Message;

use crate::graphdef::{SUFFIX, TensorShape};
use crate::wire::Cursor;

/// The last eight bytes of a table.
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;
const FOOTER: usize = 48;
/// The byte and the checksum after a block.
const TRAILER: usize = 5;

#[derive(Clone, PartialEq, Message)]
struct BundleEntry {
    #[prost(int32, tag = "1")]
    dtype: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<TensorShape>,
    #[prost(int32, tag = "3")]
    shard: i32,
    #[prost(int64, tag = "4")]
    offset: i64,
    #[prost(int64, tag = "5")]
    size: i64,
}

/// A tensor of a checkpoint.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The name of the variable.
    pub name: String,
    /// TensorFlow's number of the element type.
    pub dtype: i32,
    /// The dimensions.
    pub shape: Vec<usize>,
    /// The number of the file that holds it.
    pub shard: usize,
    /// Its offset there.
    pub offset: usize,
    /// How many bytes it has.
    pub size: usize,
}

/// Whether a file ends like a table.
pub fn is_table(bytes: &[u8]) -> bool {
    bytes.len() >= FOOTER && bytes.ends_with(&MAGIC.to_le_bytes())
}

/// Reads the index of a checkpoint: its variables, in the order of their keys.
///
/// # Errors
/// What is malformed or not supported.
pub fn read(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    if !is_table(bytes) {
        return Err("this is not the index of a checkpoint".to_owned());
    }
    let mut footer = Cursor(&bytes[bytes.len() - FOOTER..]);
    // The first block is about the table itself.
    let _ = (number(&mut footer)?, number(&mut footer)?);
    let index = block(bytes, number(&mut footer)?, number(&mut footer)?)?;
    let mut all = Vec::new();
    for (_, place) in entries(index)? {
        let mut place = Cursor(place);
        let data = block(bytes, number(&mut place)?, number(&mut place)?)?;
        for (key, value) in entries(data)? {
            let key = String::from_utf8_lossy(&key).into_owned();
            // Other keys are the header and descriptions of Python objects.
            let Some(name) = key.strip_suffix(SUFFIX) else { continue };
            all.push(entry(name, value).map_err(|why| format!("the variable `{name}` {why}"))?);
        }
    }
    Ok(all)
}

fn entry(name: &str, value: &[u8]) -> Result<Entry, String> {
    let entry = BundleEntry::decode(value).map_err(|e| format!("is broken: {e}"))?;
    let size = |n: i64| usize::try_from(n).map_err(|_| "has a negative size".to_owned());
    let dims = entry.shape.unwrap_or_default().dims;
    Ok(Entry {
        name: name.to_owned(),
        dtype: entry.dtype,
        shape: dims.iter().map(|d| size(d.size)).collect::<Result<_, _>>()?,
        shard: size(entry.shard.into())?,
        offset: size(entry.offset)?,
        size: size(entry.size)?,
    })
}

const CUT_OFF: &str = "the table is truncated";

fn number(cursor: &mut Cursor<'_>) -> Result<usize, String> {
    let value = cursor.varint().ok_or(CUT_OFF)?;
    usize::try_from(value).map_err(|_| "a number is too large".to_owned())
}

/// The content of a block.
fn block(bytes: &[u8], offset: usize, size: usize) -> Result<&[u8], String> {
    let end = offset
        .checked_add(size)
        .filter(|e| e.checked_add(TRAILER).is_some_and(|e| e <= bytes.len()));
    let end = end.ok_or("a block is outside of the file")?;
    match bytes[end] {
        0 => Ok(&bytes[offset..end]),
        _ => Err("a block is compressed, which is not supported".to_owned()),
    }
}

/// A key and its value.
type Pair<'a> = (Vec<u8>, &'a [u8]);

/// The keys and values of a block.
fn entries(block: &[u8]) -> Result<Vec<Pair<'_>>, String> {
    let short = || "a block is too short".to_owned();
    let (front, count) = block.split_at_checked(block.len().wrapping_sub(4)).ok_or_else(short)?;
    let restarts = u32::from_le_bytes(count.try_into().map_err(|_| short())?) as usize;
    let end = restarts
        .checked_mul(4)
        .and_then(|n| front.len().checked_sub(n))
        .ok_or_else(short)?;
    let mut rest = Cursor(&front[..end]);
    let mut key: Vec<u8> = Vec::new();
    let mut all = Vec::new();
    while !rest.0.is_empty() {
        let (shared, own, size) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
        if shared > key.len() {
            return Err("a key shares more bytes than its predecessor has".to_owned());
        }
        key.truncate(shared);
        key.extend_from_slice(rest.take(own).ok_or(CUT_OFF)?);
        all.push((key.clone(), rest.take(size).ok_or(CUT_OFF)?));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(read(b"").is_err());
        let mut broken = vec![0xff; FOOTER - 8];
        broken.extend(MAGIC.to_le_bytes());
        assert!(read(&broken).is_err());
    }
}
