"""What PaddlePaddle's wheel says of its operations, and what our op tables say of them."""

import json
import os
import pathlib
import re
import warnings

os.environ["GLOG_minloglevel"] = "4"
warnings.filterwarnings("ignore")

import paddle  # noqa: E402
from paddle.base import core  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = pathlib.Path(paddle.__file__).parent / "include" / "paddle"

TYPES = {
    "bool": "bool",
    "int": "int",
    "int64_t": "int64_t",
    "float": "float",
    "double": "double",
    "std::string": "str",
    "std::vector<int>": "int[]",
    "std::vector<int64_t>": "int64_t[]",
    "std::vector<float>": "float[]",
    "std::vector<std::string>": "str[]",
    "std::vector<phi::Scalar>": "double[]",
    "std::vector<double>": "double[]",
    "phi::DataType": "DataType",
    "phi::Place": "Place",
}
# What an attribute is called that may be an operand instead.
DYNAMIC = {
    "int": "Scalar(int)",
    "int64_t": "Scalar(int64_t)",
    "float": "Scalar",
    "double": "Scalar(double)",
    "int64_t[]": "IntArray",
}


def split(text):
    """Splits at commas that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "({[<") - (c in ")}]>")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


def argument(text):
    """The type, name and default of an argument of a row."""
    spec, equals, default = text.partition("=")
    ty, name = spec.strip().rsplit(" ", 1)
    return ty.strip(), name, default.strip() if equals else None


class Row:
    """An entry of an op table, as far as it is about other formats."""

    def __init__(self, fields):
        self.op = fields["op"]
        self.args = [argument(a) for a in split(fields["args"].strip()[1:-1])]
        self.results = [o.split("(")[1].rstrip(")") for o in split(fields["output"].strip('"'))]
        self.name = self.op
        self.inplace = fields.get("inplace")
        self.program_desc = fields.get("program_desc", [])
        # What a row computes is written as that, unless it says what PaddlePaddle has.
        paddle_field = fields.get("paddle", "none" if "computes" in fields else None)
        self.known = paddle_field not in ("none", "computed")
        self.paddle = self.args
        if self.known and paddle_field:
            name, _, inside = paddle_field.partition("(")
            self.name = name.strip() or self.op
            own = {a[1]: a for a in self.args}
            inside = inside.strip()[:-1]
            self.paddle = [own[a] if a in own else argument(a) for a in split(inside)]

    def operands(self):
        """The operands in PaddlePaddle's order: tensors, then what may be computed."""
        tensors = [a for a in self.paddle if a[0].startswith("Tensor")]
        return tensors + [a for a in self.paddle if a[0] == "IntArray" or a[0].startswith("Scalar")]

    def attributes(self):
        return [a for a in self.paddle if not (a[0].startswith(("Tensor", "Scalar")) or a[0] == "IntArray")]

    def pairs(self):
        """Places of the operands and results that the twin in place changes; see dialects/build/names.rs."""
        order = [a[1] for a in self.operands() if a[0].startswith("Tensor")]
        results = self.results
        if self.inplace:
            pairs = [p.strip("() ").split("->") for p in split(self.inplace)]
            return [(order.index(a.strip()), results.index(b.strip())) for a, b in pairs]
        named = [(order.index(r[:-4]), at) for at, r in enumerate(results) if r.endswith("_out") and r[:-4] in order]
        one = order and self.args[0][0] != "Tensor[]"
        first = one and self.results and not self.op.endswith("_grad")
        return named or ([(0, 0)] if first else [])


def rows():
    """The rows of all op tables by name."""
    found = {}
    for file in sorted((ROOT / "dialects/src/pd/ops").glob("*.yaml")):
        fields = None
        for line in file.read_text().splitlines():
            if match := re.match(r"- op: (\S+)", line):
                if fields:
                    found[fields["op"]] = Row(fields)
                fields = {"op": match[1]}
            elif match := re.match(r"  (\w+):(?: (.*))?$", line):
                key, value = match[1], match[2]
                fields[key] = [value] if key == "program_desc" and value else value or []
            elif (match := re.match(r"    - (.*)", line)) and isinstance(fields.get(key), list):
                fields[key].append(match[1])
        if fields:
            found[fields["op"]] = Row(fields)
    return found


def explained(table=None):
    """The names whose changes in place follow from a row, with their pairs."""
    pairs = {}
    for row in (table or rows()).values():
        if row.known and row.pairs():
            pairs[row.op if row.op.endswith("_") else f"{row.op}_"] = row.pairs()
    return pairs


def headers():
    """The declarations of all operations: the body of the class by the name of the operation."""
    bodies = {}
    for name in ("pd_op.h", "manual_op.h"):
        text = (INCLUDE / "fluid/pir/dialect/operator/ir" / name).read_text()
        for part in re.split(r"\nclass ", text)[1:]:
            if match := re.search(r'return "pd_op\.(\w+)"; }', part):
                bodies[match[1]] = part
    return bodies


def signatures():
    """What the C++ interface tells of arguments: whether a tensor may be absent or is a list, and defaults."""
    text = (INCLUDE / "phi/api/include/api.h").read_text()
    found = {}
    for results, name, args in re.findall(r"PADDLE_API (.*?) (\w+)\((.*)\);", text):
        found.setdefault(name, (results, split(args)))
    return found


def parameter(text):
    """The C++ type, the name and the default of a parameter."""
    spec, equals, default = text.replace("// NOLINT", "").partition("=")
    ty, name = spec.replace("const ", "").replace("&", "").strip().rsplit(" ", 1)
    return ty.replace("> ", ">").strip(), name, literal(default.strip()) if equals else None


def literal(text):
    """A default in the words of the op tables."""
    text = re.sub(r"(?:phi::)?DataType::(\w+)", lambda m: dtype(m[1]), text)
    text = re.sub(r"(?<=[\d.])f$", "", text)
    return "{}" if "Place" in text else text


def dtype(name):
    name = name.lower()
    return re.sub(r"int(?=\d)", "i", re.sub(r"float(?=\d)", "f", name))


class Facts:
    """What the wheel says of an operation."""

    def __init__(self, name, body, signature):
        self.name = name
        self.operands = [n for n, _ in sorted(access(body, "operand_source"), key=lambda x: int(x[1]))]
        self.results = [n for n, _ in sorted(access(body, "result"), key=lambda x: int(x[1]))]
        builds = re.findall(r"static void Build\(([^;]*)\);", body, re.S)
        builds = [[parameter(" ".join(p.split())) for p in split(b)[2:]] for b in builds]
        builds = [b for b in builds if all(p[0] != "pir::AttributeMap" for p in b)] or [[]]
        results, args = signature or ("", [])
        shown = {p[1]: p for p in map(parameter, args)}
        # The types of the C++ interface, by the names of the arguments.
        self.shown = {name: told[0] for name, told in shown.items()}
        self.args = []
        for ty, name, default in builds[0]:
            plain = name[:-1] if ty == "pir::Value" else name
            told = shown.get(plain)
            if ty == "pir::Value":
                told = told[0] if told else ""
                kind = "Tensor?" if "optional" in told else "Tensor[]" if "vector" in told else "Tensor"
                # Of cotangents of cotangents those are absent that nothing reads; the interface of C++ does not show it.
                if kind == "Tensor" and re.search("double_?grad|triple_?grad", self.name, re.I) and re.fullmatch(r"grad_\w+_grad", plain):
                    kind = "Tensor?"
                self.args.append((kind, plain, None))
                continue
            kind = TYPES.get(ty, ty)
            if plain in self.operands:
                kind = DYNAMIC.get(kind, kind)
            if default is None and told:
                default = told[2]
            self.args.append((kind, plain, default))
        lists = [t.strip() for t in split(results.removeprefix("std::tuple<").removesuffix(">"))]
        self.lists = [at for at, t in enumerate(lists) if "vector" in t]
        self.traits = re.findall(r"\w+::(\w+(?:Trait|Interface))", body.partition("{")[0])

    def row(self, twin):
        """A row for review."""
        args = ", ".join(f"{t} {n}" + (f"={d}" if d is not None else "") for t, n, d in self.args)
        outputs = (f"Tensor{'[]' if at in self.lists else ''}({n})" for at, n in enumerate(self.results))
        lines = [f"- op: {self.name}", f"  args: ({args})", f"  output: {', '.join(outputs)}"]
        if twin:
            of = [r.removesuffix("_grad") for r in twin.results if r.endswith("_grad")]
            lines.append(f"  derivative: {', '.join(of)}")
            lines.append(f"  # {twin.name} reads {', '.join(twin.operands)}")
        else:
            lines.append("  derivative: none  # there is no gradient operation: say what is so")
        return lines


def access(body, source):
    return re.findall(r"(\w+)\(\) (?:const )?\{ return (?:this->)?%s\((\d+)\)" % source, body)


def facts(name, bodies, shown):
    """What the wheel says of an operation; nothing if it has none of this name."""
    return Facts(name, bodies[name], shown.get(name) or shown.get(name.rstrip("_"))) if name in bodies else None


def program(name, inputs, outputs):
    """A program of one operation with so many inputs and outputs, as PaddlePaddle saves it."""
    tensor = {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [2], "NCHW", [], 0]}
    attributes = {
        "name": {"#": "0.a_str", "D": "x"},
        "shape": {"#": "1.a_intarray", "D": [2]},
        "dtype": {"#": "1.a_dtype", "D": "float32"},
        "place": {"#": "1.a_place", "D": [0, 0, ""]},
    }

    def op(kind, attributes, inputs, outputs):
        attributes = [{"AT": value, "N": key} for key, value in attributes.items()]
        stops = {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": True}] * len(outputs)}
        return {
            "#": f"1.{kind}",
            "A": attributes,
            "I": [{"%": value} for value in inputs],
            "O": [{"%": value, "TT": tensor} for value in outputs],
            "OA": [{"AT": stops, "N": "stop_gradient"}],
        }

    ops = [op("data", attributes, [], [value]) for value in range(1, inputs + 1)]
    ops.append(op(name, {}, range(1, inputs + 1), range(inputs + 1, inputs + 1 + outputs)))
    block = {"#": "block_0", "args": [], "ops": ops}
    regions = [{"#": "region_0", "blocks": [block]}]
    return {"base_code": {"magic": "pir", "trainable": True, "version": 4}, "program": {"regions": regions}}


def changes(name, file):
    """What an operation changes in place, or nothing if the library has none of this name."""

    def read(inputs, outputs):
        file.write_text(json.dumps(program(name, inputs, outputs)))
        result = paddle.static.Program()
        core.deserialize_pir_program(str(file), result)
        return result

    try:
        one = read(1, 1)
        op = one.global_block().ops[-1]
        if op.name() != f"pd_op.{name}":
            return None
        # Pairs are told only as far as there are operands and results.
        whole = read(len(op.get_input_names()), len(op.get_output_names()))
        found = core.pir.get_op_inplace_info(whole.global_block().ops[-1])
        return sorted((int(operand), int(result)) for result, operand in found.items())
    except Exception:
        return None


def in_a_process(f):
    """The result of `f`, which may end the process that runs it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(f()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None
