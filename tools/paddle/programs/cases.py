"""The programs: groups of models, layers, losses, tensor operations, distributions, and of control flow, detection and decoding."""

import math

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

CASES = []


class Case:
    """A program: `make()` gives a layer or a function, `inputs` its arguments. What is `random` has no values to compare. Where
    PaddlePaddle differentiates wrongly, for the reason `wrong`, gradients are compared with differences."""

    def __init__(self, group, name, make, inputs, random=False, train=True, few=False, wrong=None):
        self.group, self.name, self.make, self.inputs = group, name, make, inputs
        self.random, self.train, self.few, self.wrong = random, train, few, wrong


def case(group, name, make, *inputs, **more):
    CASES.append(Case(group, name, make, inputs, **more))


def plain(group, name, code, *inputs, **more):
    """The same for a function."""
    case(group, name, lambda: code, *inputs, **more)


def real(*shape, low=-1.0, high=1.0, seed=0):
    """Different numbers, in no order: neither ties nor kinks are compared."""
    count = math.prod(shape)
    order = np.random.RandomState(seed + count).permutation(count)
    return (low + (high - low) * (order + 0.37) / max(count, 1)).astype("float32").reshape(shape)


def whole(*shape, below, seed=0):
    return np.random.RandomState(seed).randint(0, below, shape).astype("int64")


def positive(n, seed=0):
    """A symmetric positive definite matrix whose eigenvalues differ."""
    a = np.random.RandomState(seed).randn(n, n)
    return (a @ a.T / n + np.diag(np.arange(1.0, n + 1))).astype("float32")


def image(side, channels=3):
    return real(1, channels, side, side)


# Vision models.
MODELS = {
    "LeNet": 28, "alexnet": 224, "densenet121": 32, "googlenet": 224, "inception_v3": 96, "mobilenet_v1": 32, "mobilenet_v2": 32,
    "mobilenet_v3_small": 32, "mobilenet_v3_large": 32, "resnet18": 32, "resnet34": 32, "resnet50": 32, "resnext50_32x4d": 32,
    "wide_resnet50_2": 32, "shufflenet_v2_x0_25": 32, "shufflenet_v2_x0_5": 32, "shufflenet_v2_x1_0": 32, "shufflenet_v2_swish": 32,
    "squeezenet1_0": 64, "squeezenet1_1": 64, "vgg11": 32, "vgg13": 32,
}  # fmt: skip


def model(name):
    make = getattr(paddle.vision.models, name)
    return make() if name == "LeNet" else make(num_classes=10)


for name, side in MODELS.items():
    channels = 1 if name == "LeNet" else 3
    case("models", name, lambda name=name: model(name), image(side, channels), train=False, few=True)

# Layers.
x2, x3, x4, x5 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6), real(1, 4, 4, 4, 4)
for name, make, *inputs in [
    ("linear", lambda: nn.Linear(4, 3), x2),
    ("embedding", lambda: nn.Embedding(7, 3), whole(2, 5, below=7)),
    ("conv1d", lambda: nn.Conv1D(4, 3, 3, padding=1), x3),
    ("conv2d", lambda: nn.Conv2D(4, 3, 3, stride=2, padding=1), x4),
    ("conv3d", lambda: nn.Conv3D(4, 3, 3, padding=1), x5),
    ("conv1d_transpose", lambda: nn.Conv1DTranspose(4, 3, 3, stride=2), x3),
    ("conv2d_transpose", lambda: nn.Conv2DTranspose(4, 3, 3, stride=2), x4),
    ("depthwise_conv2d_transpose", lambda: nn.Conv2DTranspose(4, 4, 3, stride=2, groups=4), x4),
    ("conv3d_transpose", lambda: nn.Conv3DTranspose(4, 3, 3, stride=2), x5),
    ("depthwise_conv2d", lambda: nn.Conv2D(4, 4, 3, groups=4), x4),
    ("batch_norm", lambda: nn.BatchNorm2D(4), x4),
    ("batch_norm_3d", lambda: nn.BatchNorm3D(4), x5),
    ("layer_norm", lambda: nn.LayerNorm(6), x3),
    ("group_norm", lambda: nn.GroupNorm(2, 4), x4),
    ("instance_norm", lambda: nn.InstanceNorm2D(4), x4),
    ("local_response_norm", lambda: nn.LocalResponseNorm(3), x4),
    ("spectral_norm", lambda: nn.SpectralNorm([4, 6], dim=0, power_iters=2), real(4, 6)),
    ("max_pool2d", lambda: nn.MaxPool2D(2), x4),
    ("avg_pool2d", lambda: nn.AvgPool2D(2), x4),
    ("max_pool3d", lambda: nn.MaxPool3D(2), x5),
    ("avg_pool3d", lambda: nn.AvgPool3D(2), x5),
    ("adaptive_pools", lambda: nn.Sequential(nn.AdaptiveAvgPool2D(3), nn.AdaptiveMaxPool2D(2)), x4),
    ("adaptive_avg_pool3d", lambda: nn.AdaptiveAvgPool3D(2), x5),
    ("upsample_nearest", lambda: nn.Upsample(scale_factor=2, mode="nearest"), x4),
    ("upsample_bilinear", lambda: nn.Upsample(size=[9, 5], mode="bilinear"), x4),
    ("upsample_bilinear_corners", lambda: nn.UpsamplingBilinear2D(size=[9, 9]), x4),
    ("upsample_bicubic", lambda: nn.Upsample(size=[9, 5], mode="bicubic"), x4),
    ("upsample_linear", lambda: nn.Upsample(size=[9], mode="linear", data_format="NCW"), x3),
    ("upsample_trilinear", lambda: nn.Upsample(size=[6, 6, 6], mode="trilinear", data_format="NCDHW"), x5),
    ("pixel_shuffle", lambda: nn.PixelShuffle(2), x4),
    ("pixel_unshuffle", lambda: nn.PixelUnshuffle(2), x4),
    ("channel_shuffle", lambda: nn.ChannelShuffle(2), x4),
    ("unfold", lambda: nn.Unfold(3, paddings=1), x4),
    ("fold", lambda: nn.Fold([4, 5], [2, 2]), real(2, 12, 12)),
    ("zero_pad", lambda: nn.ZeroPad2D([1, 2, 0, 1]), x4),
    ("maxout", lambda: nn.Maxout(2), x4),
    ("prelu", lambda: nn.PReLU(4), x4),
    ("rrelu", lambda: nn.RReLU(), x4),
    ("simple_activations", lambda: nn.Sequential(nn.GELU(), nn.Silu(), nn.ELU(), nn.Mish(), nn.Hardswish()), x2),
    ("more_activations", lambda: nn.Sequential(nn.SELU(), nn.CELU(), nn.Softplus(), nn.Tanhshrink(), nn.LogSigmoid()), x2),
    ("bilinear", lambda: nn.Bilinear(4, 5, 3), x2, real(3, 5)),
    ("cosine_similarity", lambda: nn.CosineSimilarity(axis=1), x2, real(3, 4, seed=1)),
    ("pairwise_distance", lambda: nn.PairwiseDistance(), x2, real(3, 4, seed=1)),
    ("multi_head_attention", lambda: nn.MultiHeadAttention(4, 2), real(2, 5, 4)),
    ("transformer_encoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0), 2), real(2, 5, 4)),
    ("simple_rnn", lambda: nn.SimpleRNN(4, 3), real(2, 5, 4)),
    ("lstm", lambda: nn.LSTM(4, 3, num_layers=2), real(2, 5, 4)),
    ("gru", lambda: nn.GRU(4, 3, direction="bidirect"), real(2, 5, 4)),
    ("lstm_lengths", lambda: Lengths(), real(2, 5, 4), np.array([5, 3])),
    ("max_unpool2d", lambda: Unpool(), x4),
    ("dropout_off", lambda: nn.Sequential(nn.Dropout(0.0), nn.Linear(4, 3)), x2),
    ("swiglu", lambda: lambda x: F.glu(x) + F.swish(x[:, :2]), x2),
]:  # fmt: skip
    wrong = "`spectral_norm_grad` is not the derivative" if name == "spectral_norm" else None
    case("layers", name, make, *inputs, random=name == "rrelu", wrong=wrong)


class Lengths(nn.Layer):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 3)

    def forward(self, x, lengths):
        return self.rnn(x, sequence_length=lengths)


class Unpool(nn.Layer):
    def forward(self, x):
        out, mask = F.max_pool2d(x, 2, return_mask=True)
        return F.max_unpool2d(out * 2, mask, 2)


# Losses.
y2, label = real(3, 4, seed=1), whole(3, below=4)
p2, q2 = real(3, 4, low=0.1, high=0.9), real(3, 4, low=0.1, high=0.9, seed=1)
for name, code, *inputs in [
    ("cross_entropy", lambda x, y: F.cross_entropy(x, y), x2, label),
    ("label_smooth", lambda x, y: F.cross_entropy(x, F.label_smooth(F.one_hot(y, 4), epsilon=0.1), soft_label=True), x2, label),
    ("binary_cross_entropy", lambda x, y: F.binary_cross_entropy(x, y.detach()) + F.binary_cross_entropy_with_logits(x, y.detach()), p2, q2),
    ("smooth_l1", lambda x, y: F.smooth_l1_loss(x, y) + F.l1_loss(x, y) + F.mse_loss(x, y), x2, y2),
    ("kl_div", lambda x, y: F.kl_div(F.log_softmax(x), y.detach()), x2, q2),
    ("ctc_loss", lambda x, y: F.ctc_loss(x, y, paddle.to_tensor([6, 6]), paddle.to_tensor([3, 2]), reduction="sum"), real(6, 2, 5), np.array([[1, 2, 3], [2, 4, 0]], "int32")),
    ("hsigmoid_loss", lambda x, y, w: F.hsigmoid_loss(x, y, 4, w), x2, label.reshape(3, 1), real(3, 4, seed=5)),
    ("margin_ranking", lambda x, y: F.margin_ranking_loss(x, y, paddle.sign(x.detach())), x2, y2),
    ("triplet_margin", lambda x, y: F.triplet_margin_loss(x, y, x * y + 1), x2, y2),
    ("cosine_embedding", lambda x, y: F.cosine_embedding_loss(x, y, paddle.to_tensor([1, -1, 1])), x2, y2),
    ("poisson_and_gaussian", lambda x, y: F.poisson_nll_loss(x, y.detach()) + F.gaussian_nll_loss(x, y.detach(), paddle.exp(x)), p2, q2),
]:  # fmt: skip
    plain("losses", name, code, *inputs)

# Groups of tensor operations.
a3, spd = real(3, 3), positive(3)
for name, code, *inputs in [
    ("elementwise", lambda x, y: paddle.atan2(x, y) + paddle.maximum(x, y) * paddle.pow(y.abs() + 1, 2.5), x2, y2),
    ("special_functions", lambda x: [paddle.lgamma(x), paddle.digamma(x), paddle.erfinv(x - 0.5), paddle.logit(x)], p2),
    ("interpolating", lambda x, y: [paddle.lerp(x, y, 0.3), paddle.lerp(x, y, x), paddle.dist(x, y, 2), paddle.dist(x, y, 3)], x2, y2),
    ("crossing", lambda x, y: [paddle.cross(x, y), paddle.cross(x, y, axis=0)], a3, real(3, 3, seed=4)),
    ("scans", lambda x: [paddle.logcumsumexp(x, 1), paddle.cumsum(x, 0), paddle.cumprod(x, 1), paddle.cummax(x, 1)[0]], x2),
    ("orders", lambda x: [paddle.median(x, 1), paddle.sort(x, 0), paddle.topk(x, 2)[0], paddle.kthvalue(x, 2)[0], paddle.quantile(x, 0.3, 1)], real(3, 5)),
    ("searching", lambda x: [paddle.searchsorted(paddle.sort(x, 1), x.detach()), paddle.histogram(x, 4, -1, 1), paddle.bucketize(x.detach(), paddle.to_tensor([0.0, 0.5])), x * 2], x2),
    ("factorizations", lambda x: [paddle.linalg.cholesky(x), paddle.linalg.eigvalsh(x)], spd),
    ("solving", lambda x, y: [paddle.linalg.solve(x, y), paddle.linalg.triangular_solve(x, y), paddle.linalg.inv(x), paddle.linalg.cholesky_solve(y, x)], spd, a3),
    ("determinants", lambda x: [paddle.linalg.det(x), paddle.linalg.slogdet(x)[1], paddle.linalg.matrix_power(x, 3)], spd),
    ("svd", lambda x: paddle.linalg.svd(x)[1], real(4, 3)),
    ("eigh", lambda x: paddle.linalg.eigh((x + x.t()) / 2)[0], spd),
    ("complex_numbers", lambda x, y: [paddle.real(z := paddle.complex(x, y) * paddle.complex(y, x)), paddle.imag(paddle.conj(z)), paddle.abs(z)], x2, y2),
    ("fft", lambda x: [paddle.abs(paddle.fft.rfft(x)), paddle.fft.irfft(paddle.fft.rfft(x))], x3),
    ("assigning", lambda x, y: set_rows(x, y), x2, real(4)),
    ("broadcasting", lambda x, y: [sum(paddle.broadcast_tensors([x, y])), *paddle.meshgrid(y, y), paddle.kron(x, x)], x2, real(4)),
    ("moving", lambda x: [paddle.roll(x, 1, 0), paddle.flip(x, [1]), paddle.tile(x, [2, 1]), paddle.rot90(x), paddle.diagonal(x), paddle.repeat_interleave(x, 2, 0), paddle.diag_embed(x)], x2),
    ("indexing", lambda x: [paddle.gather_nd(x, paddle.to_tensor([[0, 1], [2, 3]])), paddle.index_select(x, paddle.to_tensor([0, 2])), paddle.take_along_axis(x, paddle.to_tensor([[0], [1], [2]]), 1), paddle.masked_select(x, x > 0), paddle.index_add(x, paddle.to_tensor([0, 2]), 0, x[:2]), paddle.take(x, paddle.to_tensor([1, 5]))], x2),
]:  # fmt: skip
    plain("tensors", name, code, *inputs)


def set_rows(x, y):
    z = x * 1.0
    z[1] = y
    z[:, 0] = 2.0
    return z * z


# Distributions: densities, entropies and divergences.
D = paddle.distribution
s4, m4 = real(4, low=0.5, high=2.0), real(4)
for name, code, *inputs in [
    ("normal", lambda m, s, v: [(d := D.Normal(m, s)).log_prob(v), d.entropy(), D.kl_divergence(d, D.Normal(m * 0.5, s + 1))], m4, s4, real(4, seed=3)),
    ("beta", lambda a, b, v: [(d := D.Beta(a, b)).log_prob(v), d.entropy()], s4, real(4, low=0.5, high=2.0, seed=2), real(4, low=0.1, high=0.9)),
    ("dirichlet", lambda a, v: [(d := D.Dirichlet(a)).log_prob(v / v.sum()), d.entropy()], s4, real(4, low=0.1, high=0.9)),
    ("categorical", lambda l: [(d := D.Categorical(l)).entropy(), d.log_prob(paddle.to_tensor([1, 2]))], s4),
    ("gumbel_softmax", lambda x: F.gumbel_softmax(x), x2),
    ("laplace_and_gamma", lambda m, s, v: [D.Laplace(m, s).log_prob(v), D.Gamma(s, s + 1).log_prob(v.abs() + 0.1)], m4, s4, real(4, seed=3)),
]:  # fmt: skip
    plain("distributions", name, code, *inputs, random=name == "gumbel_softmax")


# Control flow, detection, decoding.
def loop(x):
    t = paddle.zeros([], dtype="int64")
    while t < 4:
        x = paddle.tanh(x) * 1.1
        t = t + 1
    return x


def nested(x):
    i = paddle.zeros([], dtype="int64")
    while i < 3:
        j = paddle.zeros([], dtype="int64")
        while j < i:
            x = x + paddle.sin(x)
            j = j + 1
        i = i + 1
    return x


def branch(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = paddle.exp(x)
    return y


def branch_in_loop(x):
    t = paddle.zeros([], dtype="int64")
    while t < 4:
        if x.mean() > 0:
            x = x * 0.5 - 0.4
        else:
            x = paddle.cos(x)
        t = t + 1
    return x


def newton(x):
    y, t = paddle.ones_like(x), paddle.zeros([], dtype="int64")
    while (y * y - x).abs().max() > 1e-4 and t < 20:
        y = 0.5 * (y + x / y)
        t = t + 1
    return y


def checked(x):
    paddle.static.nn.control_flow.Assert(x.max() < 100) if not paddle.in_dynamic_mode() else None
    return x * x


class Cache(nn.Layer):
    """A cache of keys and values that grows in a loop."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        keys, values = self.k(x), self.v(x)
        t = paddle.zeros([], dtype="int64")
        while t < 3:
            weights = F.softmax(paddle.matmul(self.q(x), keys, transpose_y=True))
            x = paddle.matmul(weights, values)
            keys, values = paddle.concat([keys, self.k(x)], 1), paddle.concat([values, self.v(x)], 1)
            t = t + 1
        return x


class Decoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell, self.out, self.embed = nn.GRUCell(3, 3), nn.Linear(3, 5), nn.Embedding(5, 3)

    def forward(self, h):
        word, t, score = paddle.zeros([2], dtype="int64"), paddle.zeros([], dtype="int64"), paddle.zeros([2])
        while t < 4:
            y, h = self.cell(self.embed(word), h)
            best, at = paddle.topk(F.log_softmax(self.out(y)), 1)
            word, score = at.squeeze(-1), score + best.squeeze(-1)
            t = t + 1
        return score, word


class Deformable(nn.Layer):
    def __init__(self):
        super().__init__()
        self.offset, self.conv = nn.Conv2D(4, 18, 3, padding=1), paddle.vision.ops.DeformConv2D(4, 3, 3, padding=1)

    def forward(self, x):
        return self.conv(x, self.offset(x))


class Listed(nn.Layer):
    """A list that a loop appends to."""

    def __init__(self):
        super().__init__()
        self.cell = nn.SimpleRNNCell(4, 3)

    def forward(self, x):
        h, t, out = paddle.zeros([2, 3]), paddle.zeros([], dtype="int64"), []
        while t < 4:
            y, h = self.cell(x, h)
            out.append(y)
            t = t + 1
        return paddle.stack(out)


def rows_in_loop(x):
    out, t = x * 0.0, paddle.zeros([], dtype="int64")
    while t < 3:
        out[t] = paddle.tanh(x[t]) * 2
        t = t + 1
    return out


boxes = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [0, 2, 3, 5]], "float32")
ops = paddle.vision.ops
for name, make, *inputs in [
    ("while", lambda: loop, x2),
    ("nested_while", lambda: nested, x2),
    ("if", lambda: branch, x2),
    ("if_in_while", lambda: branch_in_loop, x2),
    ("newton", lambda: newton, s4),
    ("assert", lambda: checked, x2),
    ("cache", Cache, real(1, 2, 4)),
    ("greedy_decoder", Decoder, real(2, 3)),
    ("list_in_loop", Listed, real(2, 4)),
    ("set_value_in_loop", lambda: rows_in_loop, x2),
    ("deformable_conv", Deformable, x4),
    ("grid_sample", lambda: lambda x, theta: F.grid_sample(x, F.affine_grid(theta, [2, 4, 5, 5])), x4, real(2, 2, 3)),
    ("temporal_shift", lambda: lambda x: F.temporal_shift(x, 2, 0.25), x4),
    ("nms", lambda: lambda b, s: [ops.nms(b, 0.3, s), s * 2], boxes, real(3)),
    ("roi_align", lambda: lambda x, b: ops.roi_align(x, b.detach(), paddle.to_tensor([3], "int32"), 2), real(1, 4, 6, 6), boxes),
    ("roi_pool", lambda: lambda x, b: ops.roi_pool(x, b.detach(), paddle.to_tensor([3], "int32"), 2), real(1, 4, 6, 6), boxes),
    ("yolo_box", lambda: lambda x: [*ops.yolo_box(x, paddle.to_tensor([[64, 64]], "int32"), [10, 13, 16, 30], 2, 0.01, 8), x * 2], real(1, 14, 4, 4)),
    ("gather_tree", lambda: lambda x: [F.gather_tree(paddle.to_tensor([[[2, 2]], [[3, 4]]]), paddle.to_tensor([[[0, 0]], [[1, 0]]])), x * 2], x2),
    ("viterbi", lambda: lambda x, t: [paddle.text.viterbi_decode(x.detach(), t.detach(), paddle.to_tensor([4, 3]), False)[1], x * 2, t * 3], real(2, 4, 3), a3),
]:  # fmt: skip
    case("control", name, make, *inputs)
