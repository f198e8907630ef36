//! The variables of a SavedModel, or of another checkpoint of TensorFlow.

use std::path::{Path, PathBuf};

use pir_interp::Tensor;
use pir_interp::kernels::dtype_of;
use pir_ir::Diagnostic;
use pir_translate::{checkpoint, graphdef};

use super::bytes;
use crate::source::read_file;

/// The index of a checkpoint: a path to it, or to the folder of a SavedModel.
pub(super) fn index_of(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let inside = path.join("variables").join("variables.index");
    if path.is_dir() && inside.is_file() {
        return Some(inside);
    }
    path.extension().is_some_and(|e| e == "index").then(|| path.to_owned())
}

/// Reads all variables.
pub(super) fn read(index: &Path) -> Result<Vec<(String, Tensor)>, Diagnostic> {
    let shown = index.display();
    let wrong = |why: String| Diagnostic::error("input-file", format!("cannot read tensors from `{shown}`: {why}"));
    let (table, _held) = read_file(&index.to_string_lossy())?;
    let entries = checkpoint::read(&table).map_err(wrong)?;
    let ctx = pir_dialects::context();
    let mut shards: Vec<Option<Vec<u8>>> = Vec::new();
    let count = shard_count(index);
    let mut tensors = Vec::new();
    for entry in entries {
        let elem = graphdef::element_type(&ctx, entry.dtype).and_then(|ty| dtype_of(&ctx, ty));
        // Numbers of the optimizer may have other types; nothing reads them.
        let Some(dtype) = elem else { continue };
        if shards.len() <= entry.shard && entry.shard < count {
            shards.resize(entry.shard + 1, None);
        }
        let Some(shard) = shards.get_mut(entry.shard) else {
            return Err(wrong(format!("`{}` is in a file that is missing", entry.name)));
        };
        if shard.is_none() {
            *shard = Some(read_file(&shard_name(index, entry.shard, count).to_string_lossy())?.0);
        }
        let data = shard.as_deref().unwrap_or_default();
        let end = entry.offset.saturating_add(entry.size);
        let data = data.get(entry.offset..end);
        let data = data.ok_or_else(|| wrong(format!("`{}` is outside of its file", entry.name)))?;
        let tensor = bytes::read(dtype, &entry.shape, data).map_err(|why| wrong(format!("`{}`: {why}", entry.name)))?;
        tensors.push((entry.name, tensor));
    }
    Ok(tensors)
}

/// How many files the data is in.
fn shard_count(index: &Path) -> usize {
    const MOST: usize = 1024;
    (1..MOST).find(|&n| shard_name(index, 0, n).is_file()).unwrap_or(1)
}

fn shard_name(index: &Path, shard: usize, count: usize) -> PathBuf {
    index.with_extension(format!("data-{shard:05}-of-{count:05}"))
}
