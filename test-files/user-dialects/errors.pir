// Errors in a dialect file are reported at their locations, with suggestions.
// RUN: not pir-opt --load-dialect %S/inputs/bad-rows.yaml %s 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: bad-rows.yaml:6:3: error: unknown field `sumary` [dialect-file]
// ROWS-NEXT: help: did you mean `summary`?
// ROWS-NEXT: bad-rows.yaml:8:3: error: unknown attribute type `Tenor`
// ROWS-NEXT: help: did you mean `Tensor`?
// ROWS-NEXT: bad-rows.yaml:13:3: error: the type of `out`: expected `like`, `broadcast` or `shape`, found `lik`; did you mean `like`?
// ROWS-NEXT: bad-rows.yaml:18:3: error: `derivative` names `z`, which is no operand
// ROWS-NEXT: bad-rows.yaml:23:3: error: unknown trait `elementwize`
// ROWS-NEXT: help: did you mean `elementwise`?

// RUN: not pir-opt --load-dialect %S/inputs/bad-programs.yaml %s 2>&1 | FileCheck %s --check-prefix=PROGRAMS
// PROGRAMS: bad-programs.yaml:8:10: error: there is no operation `pd.tahn` [unknown-op]
// PROGRAMS-NEXT: help: did you mean `pd.tanh`?
// PROGRAMS-NEXT: bad-programs.yaml:16:37: error: `$factr` is not an attribute of the operation
// PROGRAMS-NEXT: help: did you mean `$factor`?
// PROGRAMS-NEXT: bad-programs.yaml:23:19: error: there is no value `%y` here [undefined-value]
// PROGRAMS: bad-programs.yaml:30:5: error: `computes` returns 2 values, but `output` declares 1
// PROGRAMS-NEXT: bad-programs.yaml:37:22: error: expected `func.return (…)` at the end
// PROGRAMS-NEXT: bad-programs.yaml:45:5: error: expected `,` or `)`, found `func.return` [syntax]
// PROGRAMS: bad-programs.yaml:51:25: error: `pd.scale` has no attribute `scal` [unknown-attribute]
// PROGRAMS: bad-programs.yaml:62:5: error: `vjp` returns 2 values, but `derivative` names 1 operand

// PROGRAMS: bad-programs.yaml:68:5: error: `computes` returns `tensor<2x2xf32>` as `out`, which by its row has type `tensor<2x1xf32>`

// RUN: not pir-opt --diagnostics=fancy --load-dialect %S/inputs/bad-programs.yaml %s 2>&1 | FileCheck %s --check-prefix=FANCY
// FANCY: bad-programs.yaml:8:10]
// FANCY: 8 │     %t = pd.tahn (%x)
// FANCY-NEXT: ───┬───

// RUN: not pir-run --load-dialect %S/inputs/recursive.yaml %s 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RECURSIVE: recursive.yaml:10:3: error: `bad.b` is defined in terms of itself: `bad.b` -> `bad.c` -> `bad.b`

// RUN: not pir-translate --load-dialect %S/inputs/clash.yaml %s 2>&1 | FileCheck %s --check-prefix=CLASH
// CLASH: clash.yaml:1:1: error: the dialect `pd` is already registered

// RUN: not pir-opt --load-dialect %S/inputs/broken.yaml %s 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: broken.yaml:4:2: error: did not find expected key

// The same dialect twice.
// RUN: not pir-opt --load-dialect %S/inputs/my.yaml --load-dialect %S/inputs/my.yaml %s 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: my.yaml:2:1: error: the dialect `my` is already registered: Operations of my models
