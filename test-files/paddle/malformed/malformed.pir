// What is told of saved programs that are not what they should be, and of all that is wrong in them: the files are written by
// tools/fixtures/malformed.py.

// RUN: not pir-opt %S/attribute_kind.pdmodel 2>&1 | FileCheck --check-prefix=ATTRIBUTE_KIND_PDMODEL %s
// RUN: not pir-opt %S/attribute_twice.pdmodel 2>&1 | FileCheck --check-prefix=ATTRIBUTE_TWICE_PDMODEL %s
// RUN: not pir-opt %S/attribute_unread.pdmodel 2>&1 | FileCheck --check-prefix=ATTRIBUTE_UNREAD_PDMODEL %s
// RUN: not pir-opt %S/attribute_value.pdmodel 2>&1 | FileCheck --check-prefix=ATTRIBUTE_VALUE_PDMODEL %s
// RUN: not pir-opt %S/behind.pdmodel 2>&1 | FileCheck --check-prefix=BEHIND_PDMODEL %s
// RUN: not pir-opt %S/no_kind.pdmodel 2>&1 | FileCheck --check-prefix=NO_KIND_PDMODEL %s
// RUN: not pir-opt %S/no_operation.pdmodel 2>&1 | FileCheck --check-prefix=NO_OPERATION_PDMODEL %s
// RUN: not pir-opt %S/operand_missing.pdmodel 2>&1 | FileCheck --check-prefix=OPERAND_MISSING_PDMODEL %s
// RUN: not pir-opt %S/operand_unread.pdmodel 2>&1 | FileCheck --check-prefix=OPERAND_UNREAD_PDMODEL %s
// RUN: not pir-opt %S/operation_unknown.pdmodel 2>&1 | FileCheck --check-prefix=OPERATION_UNKNOWN_PDMODEL %s
// RUN: not pir-opt %S/truncated.pdmodel 2>&1 | FileCheck --check-prefix=TRUNCATED_PDMODEL %s
// RUN: not pir-opt %S/unknown_field.pdmodel 2>&1 | FileCheck --check-prefix=UNKNOWN_FIELD_PDMODEL %s
// RUN: not pir-opt %S/wrong_index.pdmodel 2>&1 | FileCheck --check-prefix=WRONG_INDEX_PDMODEL %s
// RUN: not pir-opt %S/attribute_twice.json 2>&1 | FileCheck --check-prefix=ATTRIBUTE_TWICE_JSON %s
// RUN: not pir-opt %S/attribute_unknown.json 2>&1 | FileCheck --check-prefix=ATTRIBUTE_UNKNOWN_JSON %s
// RUN: not pir-opt %S/behind.json 2>&1 | FileCheck --check-prefix=BEHIND_JSON %s
// RUN: not pir-opt %S/key_missing.json 2>&1 | FileCheck --check-prefix=KEY_MISSING_JSON %s
// RUN: not pir-opt %S/key_twice.json 2>&1 | FileCheck --check-prefix=KEY_TWICE_JSON %s
// RUN: not pir-opt %S/key_unknown.json 2>&1 | FileCheck --check-prefix=KEY_UNKNOWN_JSON %s
// RUN: not pir-opt %S/magic.json 2>&1 | FileCheck --check-prefix=MAGIC_JSON %s
// RUN: not pir-opt %S/operand_text.json 2>&1 | FileCheck --check-prefix=OPERAND_TEXT_JSON %s
// RUN: not pir-opt %S/operand_undefined.json 2>&1 | FileCheck --check-prefix=OPERAND_UNDEFINED_JSON %s
// RUN: not pir-opt %S/truncated.json 2>&1 | FileCheck --check-prefix=TRUNCATED_JSON %s
// RUN: not pir-opt %S/two_blocks.json 2>&1 | FileCheck --check-prefix=TWO_BLOCKS_JSON %s
// RUN: not pir-opt %S/type_unknown.json 2>&1 | FileCheck --check-prefix=TYPE_UNKNOWN_JSON %s
// RUN: not pir-opt %S/version_newer.json 2>&1 | FileCheck --check-prefix=VERSION_NEWER_JSON %s
// RUN: not pir-opt %S/version_zero.json 2>&1 | FileCheck --check-prefix=VERSION_ZERO_JSON %s

// ATTRIBUTE_KIND_PDMODEL: : error: the attribute `scale` of `scale` has type 42, which is unsupported or does not match its value, at byte 42 [paddle-program]
// ATTRIBUTE_TWICE_PDMODEL: : error: `scale` has the attribute `scale` twice, with two values, at byte 42 [paddle-program]
// ATTRIBUTE_UNREAD_PDMODEL: : error: the attribute `beta` of `swish` is not supported, at byte 42 [paddle-program]
// ATTRIBUTE_VALUE_PDMODEL: : error: the attribute `scale` of `scale` has type 1, which is unsupported or does not match its value, at byte 42 [paddle-program]
// BEHIND_PDMODEL: :1:1: error: this is not a program of PaddlePaddle 2: a field of `ProgramDesc` is malformed or truncated, at byte 66 [paddle-program]
// NO_KIND_PDMODEL: :1:1: error: this is not a program of PaddlePaddle 2: the field `type` (3) of `OpDesc` is missing, at byte 42 [paddle-program]
// NO_OPERATION_PDMODEL: :1:1: error: this is not a program of PaddlePaddle 2: there is no operation in it [paddle-program]
// OPERAND_MISSING_PDMODEL: : error: `tanh` has no operand `X`, at byte 42 [paddle-program]
// OPERAND_MISSING_PDMODEL: : error: the variable `nowhere` has no value here, at byte 60 [paddle-program]
// OPERAND_UNREAD_PDMODEL: : error: the operand `Mystery` of `tanh` is not supported, at byte 42 [paddle-program]
// OPERATION_UNKNOWN_PDMODEL: : error: unknown operation `pd.frobnicate`, at byte 42 [unknown-op]
// TRUNCATED_PDMODEL: :1:1: error: this is not a program of PaddlePaddle 2: a field of `ProgramDesc` is malformed or truncated, at byte 0 [paddle-program]
// UNKNOWN_FIELD_PDMODEL: :1:1: error: this is not a program of PaddlePaddle 2: `OpDesc` has no field 9, at byte 66 [paddle-program]
// WRONG_INDEX_PDMODEL: : error: the block 0 has the index 3, at byte 2 [paddle-program]
// ATTRIBUTE_TWICE_JSON: :1:596: error: attribute `axis` of `pd.softmax` is given twice: in this operation [duplicate-attribute]
// ATTRIBUTE_UNKNOWN_JSON: :1:596: error: PaddlePaddle 3.3 has no attribute `shiny` of `pd.tanh`: in this operation [paddle-attribute]
// BEHIND_JSON: :1:830: error: expected nothing more, found `}` [syntax]
// KEY_MISSING_JSON: :1:596: error: `pd.tanh` takes 1 operand (x), not 0: 0 operands here [operand-count]
// KEY_TWICE_JSON: :1:65: error: `version` is given twice in `base_code` [paddle-json]
// KEY_UNKNOWN_JSON: :1:824: error: unknown key `shiny` in the operation `1.tanh` [paddle-json]
// MAGIC_JSON: :1:15: error: this is not a saved program: `magic` is not "pir" [paddle-json]
// OPERAND_TEXT_JSON: :1:627: error: expected a value, `{"%": number}` [paddle-json]
// OPERAND_UNDEFINED_JSON: :1:596: error: operand 0 of `pd.tanh` is value 7, which is not defined here: in this operation [unknown-value]
// OPERAND_UNDEFINED_JSON: :1:825: error: operand 0 of `pd.relu` is value 8, which is not defined here: in this operation [unknown-value]
// TRUNCATED_JSON: :1:790: error: expected a key in quotes, found the end of the file [syntax]
// TWO_BLOCKS_JSON: :1:598: error: a program has one region with one block: this block would never run [paddle-json]
// TYPE_UNKNOWN_JSON: :1:659: error: the type `0.t_wonder` is unknown [paddle-json]
// VERSION_NEWER_JSON: :1:15: error: the saved program has version 5, but 4 is the newest supported version [paddle-json]
// VERSION_ZERO_JSON: :1:15: error: the version of the saved program is missing or not positive [paddle-json]
