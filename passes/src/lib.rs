//! Passes, pass manager and autodiff.
