//! The attributes that MLIR gives operations where none is written.

use super::schema::AttrPresence;
use crate::module::Module;
use crate::text::parse_attr;

/// Gives the operations of a module the attributes that MLIR gives them where none is written, in the order of MLIR's generic form: what
/// custom assembly is read as.
pub fn write_defaults(module: &mut Module) {
    let ctx = module.ctx.clone();
    let mut pending = vec![&mut module.body];
    while let Some(body) = pending.pop() {
        for op in body.walk_all().collect::<Vec<_>>() {
            let Some(row) = ctx.ods(body.op_name(op)).and_then(|ods| ods.row().ok()) else {
                continue;
            };
            let mut entries = ctx.dict_entries(body.attrs(op)).to_vec();
            for attr in &row.attrs {
                let name = ctx.sym(&attr.name);
                if let AttrPresence::Default(text) = &attr.presence
                    && entries.iter().all(|entry| entry.0 != name)
                    && let Ok(value) = parse_attr(&ctx, text)
                {
                    entries.push((name, value));
                }
            }
            entries.sort_by(|a, b| ctx.str(a.0).cmp(ctx.str(b.0)));
            let attrs = ctx.dict(&entries);
            body.set_attrs(op, attrs);
        }
        pending.extend(body.isolated_ops_mut().map(|(_, _, inner)| inner));
    }
}
