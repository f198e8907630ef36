"""A graph that TensorFlow writes, with what it is to give."""

import pathlib
import shutil

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

v1 = tf.compat.v1

# All cases, by name: the group and the function that makes it.
CASES = {}
SEED = 11


def case(group):
    """Declares a case. Its function gets an `Exporter`, and ends with one of its methods."""

    def declare(make):
        name = make.__name__.strip("_")
        if name in CASES:
            raise ValueError(f"two cases are called {name}")
        CASES[name] = (group, make)
        return make

    return declare


class Exported:
    """A file of TensorFlow's, its inputs, and the values and gradients that TensorFlow gives for them."""

    def __init__(self, path, feed, outputs, loss, values, gradients):
        self.path = path
        # By the name of the input, as the file has it.
        self.feed = feed
        # The names of the outputs in the file, the loss among them, and their values.
        self.outputs = outputs
        self.loss = loss
        self.values = values
        # By the name of the input.
        self.gradients = gradients


def plain(name):
    """The name of a result as it is in the file: without the index if that is 0."""
    return name[: -len(":0")] if name.endswith(":0") else name


def session(graph):
    """A session that runs the graph as it is."""
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return v1.Session(graph=graph, config=config)


class Exporter:
    """What a case is made with."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.random = np.random.default_rng(SEED)

    def values(self, *shape, low=-1.0, high=1.0):
        """Numbers in f32."""
        return self.random.uniform(low, high, shape).astype(np.float32)

    # ----- graphs of TensorFlow 1 -----

    def graph(self, build, text=False):
        """A graph of a session: `build` gets a function that makes inputs, and gives the outputs, a scalar first.

        The scalar is what is differentiated, unless it is of integers. `old` functions get loops of switches and merges.
        """
        if getattr(build, "old", False):
            v1.disable_control_flow_v2()
        try:
            return self.session_graph(build, text)
        finally:
            v1.enable_control_flow_v2()

    def session_graph(self, build, text):
        feed = {}
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(SEED)

            def given(name, value, shape=()):
                value = np.asarray(value)
                node = v1.placeholder(value.dtype, value.shape if shape == () else shape, name=name)
                feed[name] = value
                return node

            made = build(given)
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            made = [tf.identity(m, name=f"out{at}" if at else "loss") for at, m in enumerate(made)]
            loss, names = made[0], [plain(m.name) for m in made]
            message = graph.as_graph_def()
            floats = [n for n, v in feed.items() if v.dtype == np.float32] if loss.dtype == tf.float32 else []
            nodes = [graph.get_tensor_by_name(f"{n}:0") for n in floats]
            gradients = tf.gradients(loss, nodes) if nodes else []
            wanted = [tf.zeros_like(n) if g is None else tf.convert_to_tensor(g) for n, g in zip(nodes, gradients)]
            with session(graph) as run:
                run.run(v1.global_variables_initializer())
                values, slopes = run.run([made, wanted], {f"{n}:0": v for n, v in feed.items()})
        path = self.folder / f"{self.name}.{'pbtxt' if text else 'pb'}"
        path.write_bytes(str(message).encode() if text else message.SerializeToString())
        return Exported(path, feed, names, names[0] if floats else None, dict(zip(names, values)), dict(zip(floats, slopes)))

    # ----- functions of TensorFlow 2 -----

    def measured(self, function, feed):
        """What a function gives for the inputs, and the gradients of its first result."""
        inputs = {name: tf.constant(value) for name, value in feed.items()}
        floats = [name for name, value in feed.items() if value.dtype == np.float32]
        with tf.GradientTape() as tape:
            tape.watch([inputs[name] for name in floats])
            made = function(*inputs.values())
            made = list(made) if isinstance(made, (list, tuple)) else [made]
        slopes = tape.gradient(made[0], [inputs[name] for name in floats])
        zeros = [np.zeros_like(feed[n]) if g is None else tf.convert_to_tensor(g).numpy() for n, g in zip(floats, slopes)]
        return [m.numpy() for m in made], dict(zip(floats, zeros))

    def concrete(self, function, feed):
        """A function for inputs of these names and shapes."""
        specs = [tf.TensorSpec(v.shape, v.dtype, name=n) for n, v in feed.items()]
        return tf.function(function, autograph=True).get_concrete_function(*specs)

    def of(self, message, concrete, function, feed, text=False):
        values, slopes = self.measured(function, feed)
        path = self.folder / f"{self.name}.{'pbtxt' if text else 'pb'}"
        path.write_bytes(str(message).encode() if text else message.SerializeToString())
        names = [plain(t.name) for t in concrete.outputs]
        return Exported(path, feed, names, names[0], dict(zip(names, values)), slopes)

    def frozen(self, function, lowered=True, text=False, **feed):
        """A function with its variables as constants; its loops and branches as primitives or as functions."""
        concrete = self.concrete(function, feed)
        frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lowered)
        return self.of(frozen.graph.as_graph_def(), frozen, tf.function(function), feed, text)

    def kept(self, function, **feed):
        """The graph of a function as it was traced, with its library."""
        concrete = self.concrete(function, feed)
        return self.of(concrete.graph.as_graph_def(), concrete, tf.function(function), feed)

    def saved(self, module, function, **feed):
        """A folder with a SavedModel. Its results are called `loss`, `out1`, ….

        The gradients of the module's trainable variables belong to it, by their names in the checkpoint.
        """
        specs = [tf.TensorSpec(v.shape, v.dtype, name=n) for n, v in feed.items()]

        @tf.function(input_signature=specs)
        def serve(*inputs):
            made = function(*inputs)
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            return {"loss" if at == 0 else f"out{at}": value for at, value in enumerate(made)}

        values, slopes = self.measured(function, feed)
        path = self.folder / self.name
        shutil.rmtree(path, ignore_errors=True)
        if not hasattr(module, "export"):
            module.serve = serve
        tf.saved_model.save(module, str(path), signatures={"serving_default": serve})
        names = ["loss", *(f"out{at}" for at in range(1, len(values)))]
        return Exported(path, feed, names, "loss", dict(zip(names, values)), slopes)


def scalar(tensor):
    """A sum with weights that tell the elements apart."""
    tensor = tf.cast(tensor, tf.float32)
    count = int(np.prod(tensor.shape.as_list()))
    weights = np.linspace(0.5, 1.5, max(count, 1))[:count].astype(np.float32).reshape(tensor.shape.as_list())
    return tf.reduce_sum(tensor * tf.constant(weights))
