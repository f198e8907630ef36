//! The keys of the objects in a saved program. Any other key is not understood and is an error.

use pir_ir::Diagnostic;
use rustc_hash::FxHashSet;

use crate::json::{Json, JsonKind, Value};

/// Stop after this many errors.
const MOST: usize = 50;

/// The role of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    File,
    Head,
    Program,
    Region,
    Block,
    Argument,
    Operation,
    Operand,
    Result,
    Entry,
    /// A type, or the value of an attribute: both hold others under `D`.
    Data,
}

/// The key of an object, whether it is required, and the role of the objects under it.
type Key = (&'static str, bool, Option<Role>);

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::File => "a saved program",
            Role::Head => "`base_code`",
            Role::Program => "`program`",
            Role::Region => "a region",
            Role::Block => "a block",
            Role::Argument => "an argument",
            Role::Operation => "an operation",
            Role::Operand => "an operand",
            Role::Result => "a result",
            Role::Entry => "an attribute",
            Role::Data => "a type or the value of an attribute",
        }
    }

    fn keys(self) -> &'static [Key] {
        match self {
            Role::File => &[
                ("base_code", true, Some(Role::Head)),
                ("program", true, Some(Role::Program)),
            ],
            Role::Head => &[
                ("magic", true, None),
                ("trainable", false, None),
                ("version", true, None),
            ],
            Role::Program => &[("regions", true, Some(Role::Region))],
            Role::Region => &[("#", false, None), ("blocks", true, Some(Role::Block))],
            Role::Block => &[
                ("#", false, None),
                ("args", false, Some(Role::Argument)),
                ("kwargs", false, Some(Role::Argument)),
                ("ops", true, Some(Role::Operation)),
            ],
            Role::Argument => &[("#", true, None), ("TT", true, Some(Role::Data)), ("key", false, None)],
            Role::Operation => &[
                ("#", true, None),
                ("A", false, Some(Role::Entry)),
                ("DA", false, Some(Role::Entry)),
                ("QA", false, Some(Role::Entry)),
                ("I", false, Some(Role::Operand)),
                ("O", true, Some(Role::Result)),
                ("OA", false, Some(Role::Entry)),
                ("regions", false, Some(Role::Region)),
            ],
            Role::Operand => &[("%", true, None)],
            Role::Result => &[("%", true, None), ("TT", false, Some(Role::Data))],
            Role::Entry => &[("N", true, None), ("AT", true, Some(Role::Data))],
            Role::Data => &[("#", true, None), ("D", false, Some(Role::Data)), ("VD", false, None)],
        }
    }
}

/// Everything in a saved program that is unexpected, missing, or duplicate.
pub(super) fn check(json: &Json<'_>) -> Vec<Diagnostic> {
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut pending = vec![(json.root(), Role::File)];
    while let Some((value, role)) = pending.pop() {
        if errors.len() >= MOST {
            break;
        }
        if value.kind() == JsonKind::Array {
            // Lists of lists hold numbers; lists of objects hold the role of the key.
            pending.extend(value.items().map(|item| (item, role)));
            continue;
        }
        if value.kind() == JsonKind::Object {
            object(value, role, &mut errors, &mut pending);
        }
    }
    errors.sort_by_key(|e| e.labels.first().map_or(0, |l| l.span.start));
    errors
}

fn object<'j>(value: Value<'j>, role: Role, errors: &mut Vec<Diagnostic>, pending: &mut Vec<(Value<'j>, Role)>) {
    // The name of an operation, for the message.
    let name = value.get("#").and_then(Value::str).filter(|_| role == Role::Operation);
    let what = match &name {
        Some(name) => format!("the operation `{}`", name.escape_debug()),
        None => role.name().to_owned(),
    };
    let mut error = |at: Value<'_>, message: String| {
        errors.push(
            Diagnostic::error("paddle-json", message)
                .label(at.span(), "")
                .help(super::SAVED),
        );
    };
    let mut seen: FxHashSet<String> = FxHashSet::default();
    for (key, inner) in value.entries() {
        let text = key.str().map(|k| k.into_owned()).unwrap_or_default();
        let shown = text.escape_debug().to_string();
        match role.keys().iter().find(|(name, ..)| *name == text) {
            Some(&(.., Some(inner_role))) => pending.push((inner, inner_role)),
            Some(_) => {}
            None => error(key, format!("unknown key `{shown}` in {what}")),
        }
        if !seen.insert(text) {
            error(key, format!("`{shown}` is given twice in {what}"));
        }
    }
    for (key, ..) in role
        .keys()
        .iter()
        .filter(|(name, required, _)| *required && !seen.contains(*name))
    {
        error(value, format!("`{key}` is missing in {what}"));
    }
}
