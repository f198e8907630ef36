"""What else the interface promises, as functions that raise where it does not hold."""

import numpy as np
import paddle
import pir_opt
from train_cases import constant, loop

CHECKS = {}


def check(function):
    CHECKS[function.__name__] = function
    return function


def close(got, want, tolerance=1e-5):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"has the shape {got.shape}, not {want.shape}"
    error = np.abs(got - want).max(initial=0) / max(1.0, np.abs(want).max(initial=0))
    assert error <= tolerance, f"is off by {error:.2e}"


def refuses(kinds, call):
    try:
        call()
    except kinds:
        return
    raise AssertionError("nothing was refused")


def data(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, "float32")


class Static:
    """A program with an input of any number of rows, a hidden value and a loss."""

    def __enter__(self):
        paddle.enable_static()
        self.program, self.startup, self.executor = paddle.static.Program(), paddle.static.Program(), paddle.static.Executor()
        with paddle.static.program_guard(self.program, self.startup):
            self.x = paddle.static.data("x", [-1, 3])
            self.x.stop_gradient = False
            self.layer = paddle.nn.Linear(3, 4)
            self.hidden = paddle.tanh(self.layer(self.x))
            self.loss = (self.hidden * self.hidden * self.x.sum()).mean()
        self.executor.run(self.startup)
        return self

    def __exit__(self, *_):
        paddle.disable_static()


@check
def gradients_of_any_value():
    with Static() as case:
        wrt = [case.hidden, case.x, case.layer.weight, case.loss]
        ours = pir_opt.backward(case.program, case.loss, wrt, fetch=[case.hidden])
        assert not pir_opt.fetches(ours.program), "something is fetched that was not asked for"
        with paddle.static.program_guard(case.program, case.startup):
            theirs = paddle.static.gradients([case.loss], wrt)
        feed = {"x": data(5, 3)}
        got = case.executor.run(ours.program, feed=feed, fetch_list=[*ours.grads, *ours.kept, ours.loss])
        want = case.executor.run(case.program, feed=feed, fetch_list=[*theirs, case.hidden, case.loss])
        for one, other in zip(got, want):
            close(one, other)
        assert sorted(ours.params) == sorted([case.layer.weight.name, case.layer.bias.name])


@check
def wrong_use_is_an_error():
    errors = (pir_opt.Error, TypeError)
    with Static() as case, Static() as other:
        inner = []

        def body(i, x):
            inner.append(x)
            return [i + 1, x * 2.0]

        with paddle.static.program_guard(case.program, case.startup):
            total = case.x.sum()
            whole = total.astype("int64")
            loop(lambda i, x: i < 3, body, [constant(0), case.x])
        sgd = paddle.optimizer.SGD(0.1)
        for call in [
            lambda: pir_opt.backward(case.program, 3, [case.x]),
            lambda: pir_opt.backward(case.program, case.loss, case.x),
            lambda: pir_opt.backward(case.program, case.loss, ["x"]),
            lambda: pir_opt.backward(case.program, case.loss, [other.x]),
            lambda: pir_opt.backward(case.program, case.loss, [inner[0]]),
            lambda: pir_opt.backward(case.program, whole, [case.x]),
            lambda: pir_opt.backward(case.program, case.loss, [whole]),
            lambda: pir_opt.backward("program", case.loss, [case.x]),
            lambda: pir_opt.backward(case.program, case.loss, [case.x], passes=["nothing"]),
            lambda: pir_opt.minimize(case.hidden, sgd),
            lambda: pir_opt.minimize(case.loss, 0.1),
            lambda: pir_opt.minimize(case.loss, sgd, parameters=["w"]),
            lambda: pir_opt.minimize(total, sgd),
        ]:
            refuses(errors, call)


def newton(x, y):
    """Two outputs of a loop that depend on both arguments."""
    _, z = loop(lambda i, z: i < 4, lambda i, z: [i + 1, paddle.sin(z) * y + z * z * 0.1], [constant(0), x * 1.0])
    return z, (z * x).sum()


def straight(x, y):
    """Without a loop."""
    return paddle.tanh(x) * y


@check
def a_second_backward_is_an_error_where_paddle_has_freed_what_it_needs():
    for function in (newton, straight):
        x, y = tensors(data(2), data(2))
        outputs = pir_opt.to_static(function)(x, y)
        loss = sum(one.sum() for one in (outputs if isinstance(outputs, tuple) else [outputs]))
        # `paddle.grad` frees nothing.
        (first,) = paddle.grad(loss, x, retain_graph=True)
        (again,) = paddle.grad(loss, x, retain_graph=True)
        close(first, again)
        loss.backward(retain_graph=True)
        close(x.grad, first)
        refuses(RuntimeError, loss.backward)


def tensors(*arrays):
    found = [paddle.to_tensor(array) for array in arrays]
    for one in found:
        one.stop_gradient = False
    return found


def compared(function, use, *arrays):
    """What `use` makes of a function is the same of ours and of dynamic mode's."""
    ours, theirs = ([np.asarray(one) for one in use(one, *tensors(*arrays))] for one in (pir_opt.to_static(function), function))
    for one, other in zip(ours, theirs):
        close(one, other)


@check
def first_and_second_derivatives_in_loops():
    def use(function, x, y):
        z, total = function(x, y)
        first = paddle.grad((z * z).sum() + total, [x, y], create_graph=True)
        second = paddle.grad((first[0] * first[1]).sum(), [x, y])
        return [*first, *second]

    compared(newton, use, data(2, 3), data(2, 3, seed=1))


@check
def second_derivatives_of_one_argument():
    def use(function, x, y):
        (first,) = paddle.grad(function(x, y)[1] * 2.0, x, create_graph=True)
        (first * first).sum().backward()
        return [first, x.grad, y.grad]

    compared(newton, use, data(2, 3), data(2, 3, seed=1))


@check
def calls_before_gradients():
    def use(function, x, y):
        one, two = function(x, y), function(y, x)
        (one[0].sum() * two[1]).backward()
        return [x.grad, y.grad]

    compared(newton, use, data(2, 3), data(2, 3, seed=1))
    compared(straight, lambda f, x, y: paddle.grad((f(x, y) * f(y, x)).sum(), [x, y]), data(4), data(4, seed=1))


@check
def random_numbers_are_those_of_the_call():
    @pir_opt.to_static
    def function(x):
        _, y = loop(lambda i, y: i < 3, lambda i, y: [i + 1, paddle.nn.functional.dropout(y, 0.3)], [constant(0), x * 1.0])
        return y, y * 2.0

    (x,) = tensors(data(40))
    y, _ = function(x)
    paddle.rand([3])
    y.sum().backward()
    # Linear in each element.
    close(x * x.grad, y)
    assert np.abs(y.numpy()).max() > 0 and (y.numpy() == 0).any()


@check
def a_program_for_each_kind_of_inputs():
    class Layer(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.norm = paddle.nn.BatchNorm1D(3)
            self.drop = paddle.nn.Dropout(0.5)

        @pir_opt.to_static
        def forward(self, x, times=2):
            for _ in range(times):
                x = self.drop(self.norm(x)) * x
            return {"x": x, "sum": x.sum(), "times": times}

    layer = Layer()
    for rows, times in [(4, 1), (6, 1), (4, 2)]:
        (x,) = tensors(data(rows, 3))
        found = layer(x, times)
        assert found["times"] == times and found["x"].shape == [rows, 3]
        found["sum"].backward()
        assert x.grad.shape == [rows, 3] and layer.norm.weight.grad is not None
    mean = layer.norm._mean.numpy()
    assert np.abs(mean).max() > 0, "running means do not change"
    layer.eval()
    with paddle.no_grad():
        one, two = layer(x)["x"], layer(x)["x"]
    close(one, two)
    close(layer.norm._mean, mean, 0)
    assert one.stop_gradient


@check
def tensors_of_any_memory():
    """Those that lie transposed, what a recurrent layer keeps without memory, and results that a kernel leaves out."""

    class Layer(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.rnn = paddle.nn.GRU(3, 2)

        def forward(self, x, lengths):
            y, h = self.rnn(x.reshape([2, 4, 3]), sequence_length=lengths)
            groups = paddle.geometric.segment_sum(y.flatten(0, 1), paddle.to_tensor([0, 0, 1, 1, 1, 2, 2, 2]))
            return (groups * groups).sum() + h.sum()

    layer, lengths, found = Layer(), paddle.to_tensor([4, 3]), []
    for call in (layer, pir_opt.to_static(layer)):
        (x,) = tensors(data(4, 6))
        value = call(x.transpose([1, 0]), lengths)
        value.backward()
        found.append((value, x.grad, layer.rnn.weight_ih_l0.grad.clone()))
        layer.clear_gradients()
    for got, want in zip(*found):
        close(got, want)


@check
def operations_without_gradients():
    """They are constants, as in dynamic mode, and so are what a traced layer returns of them."""

    def code(x, y):
        found = paddle.linalg.lstsq(x, y)[0]
        return found * x[0, 0], paddle.linalg.lstsq(x * 2, y)[0], (x * x).sum()

    results = []
    for call in (code, pir_opt.to_static(code)):
        x, y = tensors(data(4, 3), data(4, 2, seed=1))
        outputs = call(x, y)
        (outputs[0].sum() + outputs[2]).backward()
        results.append([*outputs, x.grad])
    for got, want in zip(*results):
        close(got, want)
