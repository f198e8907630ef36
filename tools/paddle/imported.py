"""Rows of the operations that are known from PaddlePaddle's declarations alone: dialects/src/pd/ops/paddle.yaml."""

import re

import wheel

FILE = wheel.ROOT / "dialects/src/pd/ops/paddle.yaml"

HEAD = """\
# Operations known from PaddlePaddle's declarations alone, written by `tools/paddle/rows --import`: operands, attributes,
# results, what is changed in place, and the gradient operation. The types of results are as written, not inferred, and nothing
# here executes them. Give an operation a row in another file, and it disappears here.
"""

# What belongs to an execution engine, to communication, or to arrays of tensors and shared memory, which readers translate or
# keep as unknown operations; and optimizers, quantizers and layers that PaddlePaddle's own passes or one device alone use.
LEFT_OUT = re.compile(
    r"all_gather|all_reduce|all_to_all|barrier|broadcast|reduce|reduce_scatter|(partial_)?(recv|send)(_v2)?|partial_\w+|mp_allreduce_sum"
    r"|comm_init_all|sync_\w+|global_(gather|scatter)|c_\w+|dist_concat|distributed_\w+|array_\w+|\w+_array(_like|_dense)?|array_to_tensor|lod_\w+"
    r"|set_value|full_with_tensor|share_\w+|shadow_\w+|view_\w+|cuda_graph|nop|npu_identity|depend|memcpy\w*|copy_to|\w+_combine"
    r"|read_file|trans_layout|onednn_\w+|\w+_check_model_nan_inf|decayed_adagrad|dgc\w*|dpsgd|ftrl|embedding_grad_add_to|auc|faster_tokenizer"
    r"|\w*(fused|fusion|xpu|sparse|onednn|int8|fp8)\w*|\w+_(sp|sr)|ap_\w+|moe_\w+|multihead_matmul|skip_layernorm|fc|gemm_epilogue|\w+_bias"
    r"|add_group_norm_silu|squeeze_excitation_block|resnet_\w+|qkv_\w+|self_dp_attention|yolo_box_(head|post)|blha_\w+|\w*flash\w*"
    r"|(variable_length_)?memory_efficient_attention|cudnn_lstm|legacy_\w+|\w+_v2_legacy|calc_\w+|cal_\w+|build_src\w+|pyramid_hash|nce"
    r"|tdm_\w+|graph_\w+|weighted_sample\w+|prune_gate\w+|limit_by_capacity|number_count|assign_pos|expand_modality\w+|lookup_table\w*"
    r"|get_tensor_from_selected_rows|merge_selected_rows|apply_per_channel_scale|dequantize_log|sequence_\w+|rank_attention|match_matrix_tensor"
    r"|attention_lstm|batched_gemm|var|set|fast_\w+|matmul_with_flatten|\w+_downcast|hash|cvm|partial_concat|quant\w*_linear"
)

# What draws random numbers, or reports. It is neither moved nor merged nor removed. The declarations say so of some only.
EFFECTS = {
    "accuracy_check", "binomial", "check_numerics", "class_center_sample", "dirichlet", "empty", "empty_like", "fractional_max_pool2d",
    "fractional_max_pool3d", "gaussian_inplace", "generate_proposals", "gumbel_softmax", "margin_cross_entropy", "multinomial", "poisson",
    "random", "random_routing", "rrelu", "seed", "shuffle_batch", "standard_gamma", "top_p_sampling", "truncated_gaussian_random",
    "uniform_inplace", "uniform_random_batch_size_like", "assert",
}  # fmt: skip

# Gradient operations that passes/src/autodiff/rules/seconds.rs differentiates: they are linear in the cotangent that they take.
LINEAR = {"fractional_max_pool2d_grad", "fractional_max_pool3d_grad", "psroi_pool_grad", "roi_align_grad", "roi_pool_grad"}

# Measured with PaddlePaddle's executor; dialects/build/names.rs says what the fields mean.
MEASURED = {
    "baddbmm": {"overwritten": "input"},
    # The gradient of the largest difference is zero there.
    "dist": {"paddle_gradient": "wrong if infinite(p)"},
    # Of a batch, it is not the derivative.
    "eigh_grad": {"wrong_in_paddle": "rank(out_v) > 2"},
    "eigvalsh_grad": {"wrong_in_paddle": "rank(eigenvectors) > 2"},
    "fill_diagonal_tensor": {"overwritten": "x"},
    # What a place that is given twice was set to is added up, and places that are counted from the end are read as others.
    "index_put": {"overwritten": "x", "paddle_gradient": "repeated"},
    # Not the derivative even where the iterations have converged.
    "spectral_norm": {"paddle_gradient": "wrong"},
    "unpool": {"paddle_gradient": "repeated"},
    "unpool3d": {"paddle_gradient": "repeated"},
}

KINDS = re.compile(r"const \S+|Tensor\??|Tensor\[\]|bool|int|int64_t|float|double|str|(int|int64_t|float|double|str)\[\]|DataType|Place|IntArray|Scalar(\(\w+\))?")


def operands_of(twin, facts):
    """The operands whose gradients a gradient operation gives, or nothing if what it reads is not what there is."""
    there = {*facts.operands, *facts.results, *(f"{result}_grad" for result in facts.results)}
    tensors = [name for kind, name, _ in twin.args if kind.startswith("Tensor")]
    given = [result.removesuffix("_grad") for result in twin.results]
    fits = set(tensors) <= there and set(given) <= set(facts.operands) and all(r.endswith("_grad") for r in twin.results)
    # Its attributes are those of the operation.
    own = {name for _, name, _ in facts.args}
    needed = {name for kind, name, default in twin.args if not kind.startswith("Tensor") and default is None}
    return given if fits and needed <= own else []


def changes():
    """What is changed in place, by the name of the operation that does not."""
    lines = (wheel.ROOT / "translate/src/paddle/inplace.txt").read_text().splitlines()
    words = [line.split() for line in lines if not line.startswith("#")]
    return {name[:-1]: [tuple(map(int, pair.split(">"))) for pair in pairs] for name, *pairs in words}


def inherit(twin, facts):
    """What the declaration of a gradient operation does not say: which tensors may be absent or are lists."""
    kinds = {name: kind for kind, name, _ in facts.args}
    kinds |= {result: "Tensor[]" for at, result in enumerate(facts.results) if at in facts.lists}
    kinds |= {f"{name}_grad": kind for name, kind in kinds.items() if kind == "Tensor[]"}
    defaults = {name: default for _, name, default in facts.args}
    twin.args = [(t, n, defaults.get(n) if d is None else d) for t, n, d in twin.args]
    twin.args = [(kinds.get(n, t) if t == "Tensor" and kinds.get(n, t).startswith("Tensor") else t, n, d) for t, n, d in twin.args]
    shown = facts.shown
    twin.shown = {name: shown[name] for name in shown.keys() & {n for _, n, _ in twin.args}}
    twin.lists = [at for at, result in enumerate(twin.results) if kinds.get(result) == "Tensor[]"]
    return twin


def constant(kind, name, facts):
    """The type of an attribute: one that the C++ interface takes as an `IntArray` or a `Scalar` is saved as such, also where it
    may not be computed."""
    told = facts.shown.get(name, "")
    if name in facts.operands or kind.startswith("Tensor"):
        return kind
    return "const int64_t[]" if "IntArray" in told else "const scalar" if told.endswith("Scalar") else kind


def row(name, facts, twin, pairs):
    """A row on a line."""
    args = [(constant(kind, n, facts), n, default) for kind, n, default in facts.args]
    if not all(KINDS.fullmatch(kind) for kind, _, _ in args) or not (facts.results or name == "assert"):
        return None
    # A literal that is not one of the tables is no default.
    shown = re.compile(r'-?[\w.+-]*|"[^"]*"|\{[^{}]*\}')
    args = ", ".join(f"{t} {n}" + (f"={d}" if d is not None and shown.fullmatch(d) else "") for t, n, d in args)
    # PaddlePaddle leaves out gradients that nobody asked for, and results that only some attributes have.
    may_lack = (name.endswith("_grad") or len(facts.results) > 1) and not facts.lists
    outputs = (("[]" if at in facts.lists else "?" if may_lack and (at or name.endswith("_grad")) else "", n) for at, n in enumerate(facts.results))
    outputs = ", ".join(f"Tensor{more}({n})" for more, n in outputs)
    fields = {"op": name, "args": f"({args})", "output": outputs, "derivative": "refused", "types": "written", "speculatable": "Never"}
    if twin and (of := operands_of(twin, facts)):
        fields |= {"derivative": ", ".join(of), "backward": twin.name}
    first = [(0, 0)] if facts.args and facts.args[0][0].startswith("Tensor") and facts.args[0][0] != "Tensor[]" else []
    if name in LINEAR:
        fields["derivative"] = "out_grad"
    if pairs and pairs != first:
        fields["inplace"] = ", ".join(f"({facts.operands[a]} -> {facts.results[b]})" for a, b in pairs)
    if name in EFFECTS or "SideEffectTrait" in facts.traits:
        fields["effects"] = "World"
    return fields | MEASURED.get(name, {})


def quoted(text):
    return "'" + text.replace("'", "''") + "'" if re.search(r"[^\w ]", text) else text


def table(bodies, shown, table):
    """The text of the file."""
    known = {row.name for row in table.values()} | set(table)
    rows, pairs = {}, changes()
    for name in sorted(bodies):
        if name.endswith("_") or LEFT_OUT.fullmatch(name) or LEFT_OUT.fullmatch(re.sub(r"(_double|_triple)?_grad$", "", name)):
            continue
        facts = wheel.facts(name, bodies, shown)
        twin = None if name.endswith("_grad") else wheel.facts(f"{name}_grad", bodies, shown)
        if of := wheel.facts(name.removesuffix("_grad"), bodies, shown) if name.endswith("_grad") else None:
            facts = inherit(facts, of)
        if name not in known and (fields := row(name, facts, twin, pairs.get(name))):
            rows[name] = fields
    for fields in rows.values():
        # An operation has its gradient operation only if that has a row too.
        if fields.get("backward") not in rows.keys() | known | {None}:
            del fields["backward"]
            fields["derivative"] = "refused"
    lines = ("- {" + ", ".join(f"{key}: {quoted(value)}" for key, value in fields.items()) + "}\n" for fields in rows.values())
    return HEAD + "".join(lines)
