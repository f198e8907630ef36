"""Training over two processes: each has half of a batch, and `all_reduce_` joins what they compute."""
import multiprocessing
import os
import socket
import sys

STEPS, ROWS, FOLDS = 10, 8, 4


def train(rank, processes):
    """The losses, of the whole batch in each process."""
    import numpy as np
    import paddle
    import paddle.distributed as dist
    import pir_opt

    if processes > 1:
        dist.init_parallel_env()
    paddle.enable_static()
    paddle.seed(7)

    def joined(value):
        """The sum over all processes."""
        value = paddle.assign(value)
        if processes > 1:
            dist.all_reduce(value)
        return value

    program, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(program, startup):
        x = paddle.static.data("x", [ROWS // processes, 3])
        layer, step = paddle.nn.Linear(3, 4), paddle.nn.Linear(4, 4)
        h, i = layer(x), paddle.zeros([1], "int64")
        # A loop in which the rows of all processes are normalized together.
        i, h = paddle.static.nn.while_loop(
            lambda i, h: i < FOLDS,
            lambda i, h: [i + 1, paddle.tanh(step(h) - joined(h.sum(0)) / ROWS) + h],
            [i, h],
        )
        loss = joined(((h - 1) ** 2).sum()) / ROWS
        # Derivatives are those of the sum of the losses of all processes, which is this one.
        share = loss / processes

    weights = [*layer.parameters(), *step.parameters()]
    right = pir_opt.backward(program, share, weights, fetch=[loss])
    optimizer = paddle.optimizer.Adam(0.05)
    with paddle.static.program_guard(right.program, startup):
        grads = [joined(grad) for grad in right.grads]
        optimizer.apply_gradients([(right.params[w.name], g) for w, g in zip(weights, grads)])

    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    rows = np.random.default_rng(0).standard_normal((ROWS, 3), "float32")
    mine = rows[rank * ROWS // processes :][: ROWS // processes]
    return [float(executor.run(right.program, feed={"x": mine}, fetch_list=right.kept)[0]) for _ in range(STEPS)]


def process(rank, processes, port, answers):
    places = [f"127.0.0.1:{port + at}" for at in range(processes)]
    os.environ.update(
        PADDLE_TRAINER_ID=str(rank), PADDLE_TRAINERS_NUM=str(processes), PADDLE_TRAINER_ENDPOINTS=",".join(places),
        PADDLE_CURRENT_ENDPOINT=places[rank], PADDLE_MASTER=f"127.0.0.1:{port + processes}", PADDLE_DISTRI_BACKEND="gloo",
    )
    answers.put((rank, train(rank, processes)))


def trained(processes):
    """The losses that each process sees."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn = multiprocessing.get_context("spawn")
    answers = spawn.Queue()
    all_of_them = [spawn.Process(target=process, args=(rank, processes, port, answers)) for rank in range(processes)]
    for one in all_of_them:
        one.start()
    losses = dict(answers.get(timeout=300) for _ in all_of_them)
    for one in all_of_them:
        one.join(60)
        one.kill()
    return [losses[rank] for rank in range(processes)]


if __name__ == "__main__":
    (alone,), both = trained(1), trained(2)
    difference = max(abs(a - b) for losses in both for a, b in zip(alone, losses))
    print(f"one process    {alone[0]:.3f} … {alone[-1]:.3f}")
    print(f"two processes  {both[0][0]:.3f} … {both[0][-1]:.3f}")
    print(f"the losses of all {STEPS} steps are {'equal' if difference < 1e-5 else f'off by {difference:.2e}'}")
    sys.exit(difference >= 1e-5)
