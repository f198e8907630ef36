//! The dialects builtin, func, pd and cf.
