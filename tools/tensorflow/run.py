#!/usr/bin/env python3
"""Runs a graph with TensorFlow, in a session of its own, or a signature of a SavedModel.

    run.py [--devices N] [--variables FOLDER] GRAPH.pb INPUTS.npz OUTPUTS.npz
    run.py [--signature NAME] FOLDER INPUTS.npz OUTPUTS.npz

The inputs hold a value for each placeholder by name; the outputs hold what the graph gives out: the nodes that are
marked as outputs, by the names that the program has for them, or in a graph without marks those that no node reads.
The variables of a SavedModel, in this folder, are inputs too.
With several devices, TensorFlow has as many processors, partitions the graph, and sends values between them.
"""

import argparse
import os
import subprocess

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

TIMEOUT = 60


class Refused(SystemExit):
    """What a tool says when it refuses something, which ends a program that does not expect it."""


def tool(*command, timeout=TIMEOUT):
    """Runs a program, and raises the first error that it reports."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Refused(f"no answer after {timeout:g} s") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        errors = [line for line in said if "rror" in line]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise Refused((errors[0].split("error: ")[-1] if errors else said[-1]) + more)


def load(path):
    """The graph in a file, binary or text."""
    with open(path, "rb") as file:
        content = file.read()
    graph = tf.compat.v1.GraphDef()
    if str(path).endswith(".pbtxt"):
        from google.protobuf import text_format

        return text_format.Parse(content.decode(), graph)
    graph.ParseFromString(content)
    return graph


def outputs(graph):
    """The tensors that are given out, with their names."""
    marked = [(n.attr["_output"].s.decode(), n.name) for n in graph.node if "_output" in n.attr]
    if marked:
        return marked
    read = {name.lstrip("^").split(":")[0] for node in graph.node for name in node.input}
    return [(n.name, n.name) for n in graph.node if n.name not in read and n.op != "NoOp"]


def variables(folder):
    """The variables of a SavedModel, by the names that pir-opt gives them."""
    suffix = "/.ATTRIBUTES/VARIABLE_VALUE"
    reader = tf.train.load_checkpoint(os.path.join(folder, "variables", "variables"))
    names = [name for name in reader.get_variable_to_shape_map() if name.endswith(suffix)]
    return {name[: -len(suffix)]: reader.get_tensor(name) for name in names}


def run(graph, inputs, devices=1, timeout=TIMEOUT):
    """What a graph gives for these inputs, by name."""
    feed = {}
    for node in graph.node:
        if node.op == "Placeholder":
            name = node.attr["_input"].s.decode() or node.name
            if name not in inputs:
                raise SystemExit(f"run.py: there is no value for `{name}`")
            feed[f"{node.name}:0"] = inputs[name]
    fetched = outputs(graph)
    config = tf.compat.v1.ConfigProto(
        device_count={"CPU": devices},
        operation_timeout_in_ms=int(timeout * 1000),
        intra_op_parallelism_threads=1,
        inter_op_parallelism_threads=2,
        isolate_session_state=True,
    )
    # What rewrites graphs before they run loses values of conditionals whose predicate it can fold.
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as fresh:
        tf.import_graph_def(graph, name="")
        with tf.compat.v1.Session(graph=fresh, config=config) as session:
            values = session.run([f"{node}:0" for _, node in fetched], feed_dict=feed)
    return {name: np.asarray(value) for (name, _), value in zip(fetched, values)}


def call(folder, inputs, signature):
    """What a signature of a SavedModel gives, by name."""
    function = tf.saved_model.load(str(folder)).signatures[signature]
    wanted = function.structured_input_signature[1]
    missing = sorted(set(wanted) - set(inputs))
    if missing:
        raise SystemExit(f"run.py: there is no value for `{missing[0]}`")
    given = {name: tf.constant(inputs[name], spec.dtype) for name, spec in wanted.items()}
    return {name: value.numpy() for name, value in function(**given).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=1, help="how many processors TensorFlow is to have")
    parser.add_argument("--variables", help="the folder of a SavedModel whose variables are inputs")
    parser.add_argument("--signature", default="gradients", help="which one of a SavedModel")
    parser.add_argument("graph", help="a GraphDef, or the folder of a SavedModel")
    parser.add_argument("inputs")
    parser.add_argument("outputs")
    args = parser.parse_args()
    with np.load(args.inputs) as arrays:
        inputs = dict(arrays)
    if args.variables:
        inputs = {**variables(args.variables), **inputs}
    if os.path.isdir(args.graph):
        return np.savez(args.outputs, **call(args.graph, inputs, args.signature))
    np.savez(args.outputs, **run(load(args.graph), inputs, args.devices))


if __name__ == "__main__":
    main()
