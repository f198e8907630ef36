//! Shared helpers of the readers' tests.

use pir_ir::Module;
use pir_ir::text::print;
use pir_ir::verify::verify;

/// The module as text, after verification.
pub fn text(module: &Module) -> String {
    let text = print(module, &Default::default());
    let errors = verify(module);
    assert!(errors.is_empty(), "{errors:?} in\n{:.2000}", text);
    text
}
