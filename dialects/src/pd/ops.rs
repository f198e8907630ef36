//! The operations of the tables.

use pir_ir::{Attr, Context, OpId, Rewriter, Type, ValueId};

use super::{Expr, ExprScope};
use crate::typed::*;

include!(concat!(env!("OUT_DIR"), "/pd_typed.rs"));

control! {
    While "pd.while", If "pd.if", WhileGrad "pd.while_grad", IfGrad "pd.if_grad",
    Branch "pd.branch", ConditionBranch "pd.condition_branch"
}
