"""Losses, loops of training code and functions with their options, as they are written for a task."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, plain, positive, real, whole

x2, x3, x4, y2 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6), real(3, 4, seed=1)
L = paddle.linalg
NOISE = real(5, 3, 4, seed=3)


def zero():
    return paddle.zeros([], dtype="int64")


# ----- losses -----


def info_nce(x, y):
    """Queries, keys, a queue, and the temperature."""
    q, k = F.normalize(x), F.normalize(y)
    queue = F.normalize(paddle.flip(y, [1]).detach(), axis=1)
    positive, negative = (q * k).sum(-1, keepdim=True), q @ queue.t()
    return F.cross_entropy(paddle.concat([positive, negative], 1) / 0.1, paddle.zeros([3], "int64"))


def supervised_contrastive(x, y):
    z = F.normalize(x, axis=1)
    s = paddle.matmul(z, z, transpose_y=True) / 0.3
    same = (y.unsqueeze(0) == y.unsqueeze(1)).astype("float32") * (1 - paddle.eye(6))
    s = s - s.max(1, keepdim=True).detach()
    logp = s - paddle.log((paddle.exp(s) * (1 - paddle.eye(6))).sum(1, keepdim=True))
    return -((same * logp).sum(1) / same.sum(1).clip(min=1.0)).mean()


def arc_margin(x, w):
    cosine = F.normalize(x) @ F.normalize(w, axis=0)
    sine = paddle.sqrt((1 - cosine**2).clip(0, 1))
    phi = paddle.where(cosine > -0.8, cosine * 0.877 - sine * 0.479, cosine - 0.24)
    hot = F.one_hot(paddle.to_tensor([0, 2, 1]), 3)
    return F.cross_entropy((hot * phi + (1 - hot) * cosine) * 4, paddle.to_tensor([0, 2, 1]))


def lovasz(x, y):
    """Sorted errors, and the steps of the Jaccard index."""
    sign = y.astype("float32") * 2 - 1
    errors = 1 - x * sign
    order = paddle.argsort(errors.detach(), descending=True)
    gt = paddle.gather(y.astype("float32"), order)
    union = gt.sum() + (1 - gt).cumsum(0)
    jaccard = 1 - (gt.sum() - gt.cumsum(0)) / union
    steps = paddle.concat([jaccard[:1], jaccard[1:] - jaccard[:-1]])
    return (F.relu(paddle.gather(errors, order)) * steps).sum()


def mixed_losses(x, y):
    """Mixed images, smoothed labels, distillation, and the total variation."""
    lam = 0.3
    mixed = lam * x + (1 - lam) * paddle.flip(x, [0])
    labels = lam * F.one_hot(y, 4) + (1 - lam) * F.one_hot(y.flip(0), 4)
    logits = mixed.mean([2, 3])
    hard = -(labels * F.log_softmax(logits)).sum(-1).mean()
    soft = F.kl_div(F.log_softmax(logits / 2), F.softmax(x.detach().max([2, 3]) / 2), "batchmean") * 4
    variation = (x[:, :, 1:] - x[:, :, :-1]).abs().mean() + (x[..., 1:] - x[..., :-1]).pow(2).mean()
    return hard + soft + variation


def ssim(x, y):
    one = paddle.arange(3, dtype="float32") - 1
    g = paddle.exp(-(one**2) / 2)
    w = (g.unsqueeze(1) * g.unsqueeze(0) / g.sum() ** 2).reshape([1, 1, 3, 3]).tile([4, 1, 1, 1])
    blur = lambda v: F.conv2d(v, w, groups=4)  # noqa: E731
    mx, my = blur(x), blur(y)
    vx, vy, c = blur(x * x) - mx**2, blur(y * y) - my**2, blur(x * y) - mx * my
    return ((2 * mx * my + 0.01) * (2 * c + 0.03) / ((mx**2 + my**2 + 0.01) * (vx + vy + 0.03))).mean()


def ppo(logits, old, advantage):
    a = paddle.to_tensor([0, 3, 1])
    logp = paddle.take_along_axis(F.log_softmax(logits), a.unsqueeze(1), 1).squeeze(1)
    ratio = paddle.exp(logp - old.detach()[:, 0])
    entropy = -(F.softmax(logits) * F.log_softmax(logits)).sum(-1)
    return -paddle.minimum(ratio * advantage.detach(), ratio.clip(0.8, 1.2) * advantage.detach()).mean() - 0.01 * entropy.mean()


# ----- loops of training code -----


def clipped_steps(x, w):
    """Gradients by hand, clipped by their norm, with momentum, until they are small."""
    t, m = zero(), paddle.zeros_like(w)
    while t < 5:
        e = x @ w - x
        g = x.t() @ e / 3
        g = g * paddle.minimum(1.0 / (paddle.norm(g) + 1e-6), paddle.ones([]))
        m = 0.9 * m + g
        w = w - 0.1 * m
        t = t + 1
        if paddle.norm(g) < 0.1:
            break
    return w, t


def td_returns(rewards, values):
    """Generalized advantages, backward in time, with ends of episodes."""
    ends = paddle.to_tensor([0.0, 0.0, 1.0, 0.0])
    t, gain, out = paddle.full([], 2, "int64"), paddle.zeros([3]), paddle.zeros([3, 4])
    while t >= 0:
        r, v, n = (paddle.index_select(a, i.reshape([1]), 1).squeeze(1) for a, i in ((rewards, t), (values, t), (values, t + 1)))
        live = 1 - ends[t]
        gain = r + 0.9 * n * live - v + 0.85 * live * gain
        out = out + gain.unsqueeze(1) * F.one_hot(t, 4)
        t = t - 1
    return out


def kmeans(x, c):
    t, moved = zero(), paddle.ones([])
    while paddle.logical_and(t < 6, moved > 1e-3):
        d = ((x.unsqueeze(1) - c.unsqueeze(0)) ** 2).sum(-1)
        soft = F.softmax(-d * 3, 1)
        new = soft.t() @ x / soft.sum(0).unsqueeze(1)
        moved = (new - c).abs().max()
        c, t = new, t + 1
    return c, t


def newton_schulz(x):
    y = x / (paddle.norm(x) + 1e-7)
    for _ in range(3):
        a = y @ y.t()
        y = 3.4445 * y + (-4.775 * a + 2.0315 * a @ a) @ y
    return y


def beam(x, w):
    """Two hypotheses per row with their parents; a tensor array of words."""
    scores, word = paddle.topk(F.log_softmax(x), 2)
    words, t = [word], zero()
    while t < 3:
        step = F.log_softmax(paddle.gather(w, word.flatten()).reshape([3, 2, 4]))
        all_ = (scores.unsqueeze(-1) + step).reshape([3, 8])
        scores, at = paddle.topk(all_, 2)
        word = at % 4
        words.append(word)
        t = t + 1
    return scores, paddle.stack(words)


def power_deflation(a):
    """Two eigenvectors, one after the other, each by its own loop."""
    found = []
    for k in range(2):
        v, t = paddle.ones([3, 1]) + paddle.arange(3, dtype="float32").unsqueeze(1) * 0.3 * (k + 1), zero()
        delta = paddle.ones([])
        while paddle.logical_and(delta > 1e-4, t < 30):
            w = a @ v
            w = w / paddle.norm(w)
            delta, v, t = (w - v).abs().sum(), w, t + 1
        value = (v.t() @ a @ v).squeeze()
        a = a - value * v @ v.t()
        found.append(value)
    return found


def lists_of_rows(x):
    out, i = [], zero()
    while i < 3:
        row = x[i]
        if row.sum() > 0:
            out.append(row * 2)
        else:
            out.append(paddle.exp(row))
        i = i + 1
    return paddle.concat([o.unsqueeze(0) for o in out]) if paddle.in_dynamic_mode() else paddle.stack(out)


def nested_ranges(x):
    s = paddle.zeros([4])
    i = zero()
    while i < 3:
        j = zero()
        while j < 2:
            j = j + 1
            if i == j:
                continue
            s = s + x[i] * j.astype("float32")
        i = i + 1
    return s


def masks_in_loop(x):
    t, alive = zero(), paddle.ones([3], "bool")
    while paddle.logical_and(alive.any(), t < 5):
        x = paddle.where(alive.unsqueeze(1), x * 1.3 + 0.1, x)
        alive = paddle.logical_and(alive, x.abs().max(1) < 1.5)
        t = t + 1
    return x, t


def euler_maruyama(x, s):
    t, h = zero(), paddle.full([], 0.1)
    noise = paddle.to_tensor(NOISE)
    while t < 5:
        drift = -paddle.sin(x)
        x = x + drift * h + s * paddle.sqrt(h) * paddle.index_select(noise, t.reshape([1])).squeeze(0)
        h = h * 0.9
        t = t + 1
    return x


def early_return(x):
    t = zero()
    while t < 4:
        x = paddle.tanh(x) + 0.2
        if x.mean() > 0.5:
            break
        t = t + 1
    return x * 2


def ternaries(x):
    a = x * 2 if x.sum() > 0 else x - 1
    b = a if paddle.logical_and(a.max() > 0, a.min() < 0) else -a
    n = 0
    while n < 3 and b.sum() < 10:
        b = b * 1.5 + 0.1
        n += 1
    return b, (not (x.mean() > 5)) * x


def fft_convolution(x, k):
    n = 10
    return paddle.fft.irfft(paddle.fft.rfft(x, n) * paddle.fft.rfft(k, n), n)[..., :6]


def kalman_update(p, z):
    h = paddle.to_tensor([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    t, x = zero(), paddle.zeros([3, 1])
    while t < 2:
        s = h @ p @ h.t() + 0.5 * paddle.eye(2)
        k = L.solve(s, h @ p).t()
        x = x + k @ (paddle.index_select(z, t.reshape([1]), 0).t()[:2] - h @ x)
        p = (paddle.eye(3) - k @ h) @ p + 0.1 * paddle.eye(3)
        t = t + 1
    return x, L.slogdet(p)[1]


for group, name, make, *inputs in [
    ("objectives", "info_nce", lambda: info_nce, x2, y2),
    ("objectives", "supervised_contrastive", lambda: supervised_contrastive, real(6, 4), np.array([0, 1, 0, 2, 1, 0])),
    ("objectives", "arc_margin", lambda: arc_margin, x2, real(4, 3)),
    ("objectives", "lovasz_hinge", lambda: lovasz, real(7), whole(7, below=2)),
    ("objectives", "mixed_and_distilled", lambda: mixed_losses, x4, np.array([1, 3])),
    ("objectives", "structural_similarity", lambda: ssim, real(2, 4, 6, 6, low=0.0), real(2, 4, 6, 6, low=0.0, seed=1)),
    ("objectives", "clipped_policy", lambda: ppo, x2, y2, real(3)),
    ("training loops", "clipped_momentum", lambda: clipped_steps, real(3, 3), real(3, 3, seed=1)),
    ("training loops", "advantages", lambda: td_returns, x2, y2),
    ("training loops", "soft_kmeans", lambda: kmeans, real(6, 2), real(2, 2)),
    ("training loops", "newton_schulz", lambda: newton_schulz, x2),
    ("training loops", "beam_with_list", lambda: beam, x2, real(4, 4)),
    ("training loops", "deflation", lambda: power_deflation, positive(3)),
    ("training loops", "rows_of_two_kinds", lambda: lists_of_rows, x2),
    ("training loops", "nested_ranges", lambda: nested_ranges, x2),
    ("training loops", "rows_that_end", lambda: masks_in_loop, x2),
    ("training loops", "noisy_steps", lambda: euler_maruyama, x2, y2),
    ("training loops", "return_in_loop", lambda: early_return, x2),
    ("training loops", "ternaries", lambda: ternaries, x2),
    ("training loops", "kalman_solved", lambda: kalman_update, positive(3), real(2, 3)),
    ("training loops", "convolution_by_fft", lambda: fft_convolution, x2, real(3, 3)),
]:  # fmt: skip
    case(group, name, make, *inputs)

for name, code, *inputs in [
    ("pools_of_all_kinds", lambda x: [F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, exclusive=False), F.avg_pool2d(x, 3, 2, 1, divisor_override=5), F.lp_pool2d(x, 2.0, 2), F.adaptive_max_pool2d(x, [3, 2]), F.max_pool1d(x.flatten(2), 4, 3), F.adaptive_avg_pool1d(x.flatten(2), 5), F.avg_pool1d(x.flatten(2), 3, 2, 1), F.max_pool2d(x.transpose([0, 2, 3, 1]), 2, data_format="NHWC")], x4),
    ("pads_of_all_kinds", lambda x: [F.pad(x, [1, 2, 0, 1], m) for m in ("reflect", "replicate", "circular")] + [F.pad(x, [0, 0, 1, 1, 2, 0, 0, 1], value=0.5), F.pad(x.flatten(2), [2, 1], "reflect", data_format="NCL"), F.zeropad2d(x, [1, 0, 2, 1])], x4),
    ("convolutions_of_options", lambda x, w: [F.conv2d(x, w, None, [2, 1], "SAME"), F.conv2d(x, w, None, 1, [[0, 0], [0, 0], [1, 0], [0, 2]]), F.conv2d(x.transpose([0, 2, 3, 1]), w, padding="VALID", data_format="NHWC"), F.conv2d_transpose(x, w.transpose([1, 0, 2, 3]), None, 2, 1, 1), F.conv2d_transpose(x, w.transpose([1, 0, 2, 3]), stride=2, output_size=[14, 14]), F.conv1d(x.flatten(2), w.flatten(2), dilation=2), F.conv1d_transpose(x.flatten(2), w.transpose([1, 0, 2, 3]).flatten(2), stride=3)], x4, real(3, 4, 3, 3)),
    ("advanced_assignment", lambda x, y: assigned(x, y), x2, y2),
    ("einsum_kinds", lambda x, y: [paddle.einsum("bij,bkj->bik", x, y), paddle.einsum("bij,bij->b", x, y), paddle.einsum("bij->bj", x), paddle.einsum("b...j,j->b...", x, y[0, 0]), paddle.einsum("bij,bkl->ijkl", x, y), paddle.einsum("bii->b", x[:, :, :4])], x3, real(2, 4, 6, seed=1)),
    ("gathered_and_scattered", lambda x, y: [paddle.index_sample(x, paddle.to_tensor([[0, 2], [3, 3], [1, 0]])), paddle.gather(x, paddle.to_tensor([2, 0, 2]), axis=1), paddle.scatter(x, paddle.to_tensor([2, 0]), y[:2]), paddle.unique(paddle.to_tensor([3, 1, 3]))[0], paddle.nonzero(x > 0).shape[1] * x, paddle.where(x > 0, x, 0.0), paddle.clip(x, -0.5, y.max()), paddle.bucketize(x.detach(), paddle.to_tensor([-0.5, 0.0, 0.5])), x.gather_nd(paddle.to_tensor([[0], [2]]))], x2, y2),
    ("mixed_types", lambda x: [paddle.cast(paddle.cast(x, "float64") * 2, "float32"), x.detach().astype("bool").astype("float32") * x, (x.detach() * 3).astype("int32").astype("float32") + x, x > 0, x.astype("float64").sum(), (x > 0).sum(), paddle.arange(4, dtype="float32") * x], x2),
    ("normalizations", lambda x: [F.layer_norm(x, [6, 6]), F.normalize(x, 3.0, 1), F.instance_norm(x), F.local_response_norm(x, 3)], x4),
    ("attention_functions", lambda q, k: [F.scaled_dot_product_attention(q, k, k, is_causal=True), F.scaled_dot_product_attention(q, k, k, paddle.triu(paddle.full([4, 4], -1e4), 1))], real(2, 4, 2, 3), real(2, 4, 2, 3, seed=1)),
    ("activations_of_options", lambda x: [F.gelu(x, True), F.celu(x, 0.5), F.elu(x, 0.3), F.hardshrink(x, 0.3), F.hardtanh(x, -0.3, 0.4), F.hardsigmoid(x * 4), F.hardswish(x * 4), F.leaky_relu(x, 0.3), F.log_softmax(x, 0), F.relu6(x * 8), F.selu(x), F.softplus(x, 2, 1), F.softshrink(x, 0.2), F.softsign(x), F.swish(x), F.mish(x), F.tanhshrink(x), F.thresholded_relu(x, 0.1), F.prelu(x, paddle.to_tensor([0.2])), F.maxout(x.unsqueeze(-1).unsqueeze(-1), 2), F.glu(x, 1), F.log_sigmoid(x)], x2),
    ("weights_normalized", lambda x: normalized(x), x2),
]:  # fmt: skip
    plain("functions", name, code, *inputs)

# PaddlePaddle leaves a scale out of the gradient that has none itself.
plain("functions", "frozen_scales", lambda x: [F.layer_norm(x, 6, paddle.ones([6]) * 2), F.layer_norm(x, 6, paddle.arange(1.0, 7.0), paddle.ones([6]))], real(2, 2, 6), wrong="`layer_norm_grad` ignores a scale without gradient")


def assigned(x, y):
    z = x * 1.0
    z[1:, ::2] = y[1:, :2]
    z[0, [1, 3]] = y[0, 0]
    z[z > 0.5] = 0.1
    z[-1] += y[0]
    z[paddle.to_tensor([0, 1]), paddle.to_tensor([2, 2])] = y[:2, 0]
    return z * x


def normalized(x):
    paddle.seed(3)
    w = paddle.to_tensor(np.linspace(-1, 1, 12).astype("float32").reshape(4, 3))
    g = paddle.norm(w, axis=0, keepdim=True)
    return [x @ (w / g * 2), x @ (w / paddle.linalg.svdvals(w)[0]), F.normalize(x @ w, p=1, axis=-1)]
