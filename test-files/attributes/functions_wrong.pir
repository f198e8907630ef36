// RUN: pir-opt --split-input-file --verify-diagnostics %s

// As in MLIR, attributes of arguments and results are those of a dialect.
// expected-error@+1 {{the attribute `noalias` of argument #1 belongs to no dialect}}
func.func private @f(f32, f32 {noalias}) -> f32

// -----

// expected-error@+1 {{expected 1 dictionaries in `res_attrs`, one for each result, found 2}}
"func.func"() ({}) {sym_name = "f", function_type = () -> f32, res_attrs = [{}, {a.b}]} : () -> ()

// -----

// expected-error@+1 {{`func.func` has no attribute `custom_vpj`}}
func.func private @f() attributes {custom_vpj = @g}

// -----

// As in MLIR, a function may have notes of any other name.
func.func private @f() attributes {note = 1}
