//! Why a check failed.

use std::fmt;

/// Why a text was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// The check file or the options are wrong.
    Invalid(String),
    /// The text does not pass.
    Mismatch(String),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Invalid(message) | CheckError::Mismatch(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for CheckError {}
