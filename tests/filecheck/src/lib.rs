//! A FileCheck-compatible checker and RUN-line runner.
