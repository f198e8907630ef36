"""Layers with options, graphs, and functions of further kinds: losses, statistics, linear algebra, spectra, densities, layers, and detection."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, plain, positive, real, whole
from paddle import nn

x2, x3, x4, y2 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6), real(3, 4, seed=1)
D, L, S, V = paddle.distribution, paddle.linalg, paddle.signal, paddle.vision.ops


def zero():
    return paddle.zeros([], dtype="int64")


class Cells(nn.Layer):
    """Cells and wrappers: `RNN`, `BiRNN`, time first, a projected state."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.RNN(nn.GRUCell(4, 3), is_reverse=True), nn.BiRNN(nn.LSTMCell(4, 3), nn.LSTMCell(4, 3))
        self.three, self.four = nn.LSTM(4, 4, proj_size=2), nn.GRU(4, 3, time_major=True)

    def forward(self, x):
        return [self.one(x)[0], self.two(x)[0], self.three(x)[0], self.four(x)[0]]


class Multi(nn.Layer):
    """Attention with caches of several kinds and masks, and a decoder layer in front of it."""

    def __init__(self):
        super().__init__()
        self.own = nn.MultiHeadAttention(4, 2, kdim=6, vdim=6)
        self.decode = nn.TransformerDecoderLayer(4, 2, 8, 0.0, normalize_before=True, activation="gelu")

    def forward(self, x, memory):
        mask = paddle.triu(paddle.full([3, 3], -1e4), 1)
        y = self.decode(x, x * 0.5, tgt_mask=mask)
        return self.own(y, memory, memory)


class Norms(nn.Layer):
    """Weights by norm and direction, and norms by group of several ranks."""

    def __init__(self):
        super().__init__()
        self.line = paddle.nn.utils.weight_norm(nn.Linear(4, 4), dim=1)
        self.conv = paddle.nn.utils.weight_norm(nn.Conv1D(4, 4, 3, padding=1), dim=0)
        self.group, self.inst = nn.GroupNorm(2, 4), nn.InstanceNorm1D(4)

    def forward(self, x):
        return self.inst(self.group(self.conv(x))), self.line(x.mean(-1))


edges = whole(2, 8, below=5, seed=3)


class Gcn(nn.Layer):
    """Messages weighted by degrees, with a readout by attention."""

    def __init__(self):
        super().__init__()
        self.one, self.two, self.read = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x, e):
        degree = paddle.zeros([5]).scatter_nd_add(e[1].unsqueeze(-1), paddle.ones([8])) + 1
        weight = paddle.rsqrt(degree[e[0]] * degree[e[1]]).unsqueeze(-1)
        for line in (self.one, self.two):
            h = line(x)
            x = F.relu(paddle.index_add(h / degree.unsqueeze(-1), e[1], 0, h[e[0]] * weight))
        return (F.softmax(self.read(x), 0) * x).sum(0)


class Gin(nn.Layer):
    """Steps of messages in a loop, with gates."""

    def __init__(self):
        super().__init__()
        self.message, self.cell = nn.Linear(6, 3), nn.GRUCell(3, 3)

    def forward(self, x, e):
        t = zero()
        while t < 3:
            m = F.relu(self.message(paddle.concat([x[e[0]], x[e[1]]], -1)))
            x = self.cell(paddle.geometric.send_ue_recv(x * 0, m, e[0], e[1], "add", "mean", 5), x)[1]
            t = t + 1
        return x


def wave(x):
    """Spectrograms of power in bands, and a cepstrum of their logarithms."""
    spectrum = S.stft(x, 8, 4)
    power = paddle.real(spectrum) ** 2 + paddle.imag(spectrum) ** 2
    bands = paddle.to_tensor([[1.0, 0.5, 0, 0, 0], [0, 0.5, 1, 0.5, 0], [0, 0, 0, 0.5, 1]])
    return 10 * paddle.log10(bands @ power + 1e-3)


for group, name, make, *inputs in [
    ("sequences", "cells_and_wrappers", Cells, real(2, 5, 4)),
    ("sequences", "attention_of_other_widths", Multi, real(2, 3, 4), real(2, 5, 6)),
    ("layers", "norms_of_weights", Norms, x3),
    ("graphs", "gcn", Gcn, real(5, 3), edges),
    ("graphs", "gated_messages", Gin, real(5, 3), edges),
]:  # fmt: skip
    case(group, name, make, *inputs)

p2, s4 = real(3, 4, low=0.1, high=0.9), real(4, low=0.5, high=2.0)
label, spd, a3 = whole(3, below=4), positive(3), real(3, 3)
boxes = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [0, 2, 3, 5]], "float32")
# Functions.
for group, name, code, *inputs in [
    ("losses", "of_classes", lambda x, y: [F.multi_margin_loss(x, y), F.nll_loss(F.log_softmax(x), y, weight=paddle.to_tensor([0.5, 1.0, 2.0, 1.5])), F.cross_entropy(x, y, reduction="sum", ignore_index=1), F.softmax_with_cross_entropy(x, y.unsqueeze(-1))], x2, label),
    ("losses", "of_pairs", lambda x, y: [F.hinge_embedding_loss(x, paddle.sign(y).detach()), F.soft_margin_loss(x, paddle.sign(y).detach()), F.multi_label_soft_margin_loss(x, (y > 0).astype("float32")), F.npair_loss(x, y, paddle.to_tensor([0, 1, 0]))], x2, y2),
    ("tensors", "ranks_of_values", lambda x: [paddle.nanmedian(x, 0), paddle.median(x), paddle.median(x, 1, mode="min"), paddle.quantile(x, [0.2, 0.7], 0), paddle.kthvalue(x, 2, 0, True)[0], paddle.msort(x)], real(4, 5)),
    ("tensors", "traces", lambda x: [paddle.trace(x), paddle.einsum("ii->i", x), paddle.einsum("ii", x), paddle.einsum("bij,bjk->bik", x.unsqueeze(0), x.unsqueeze(0)), paddle.einsum("...i,i->...", x, x[0]), L.norm(x, p=1, axis=[0, 1]), L.norm(x, p="nuc")], a3),
    ("tensors", "put_means", lambda x, y: [paddle.put_along_axis(x, paddle.to_tensor([[0, 1], [1, 1], [2, 0]]), y[:, :2], 1, reduce=r) for r in ("mean", "add", "amax", "amin")], x2, y2),
    ("tensors", "unique_of_slices", lambda x: [*paddle.unique(paddle.floor(x * 1.4).detach(), return_index=True, return_inverse=True, return_counts=True, axis=0), paddle.unique_consecutive(paddle.floor(x).detach(), axis=0), x * 2], x2),
    ("tensors", "shortest_solutions", lambda x, y: [L.lstsq(x, y)[0], L.pinv(x), L.matrix_norm(x, 2), L.svdvals(x)], real(4, 3), real(4, 2)),
    ("tensors", "rotations", lambda x, y: [L.eigvalsh(x.t() @ x), L.cond(x.t() @ x + paddle.eye(3), 2), L.corrcoef(x), L.cov(x)], real(4, 3), real(3, low=0.5, high=1.0)),
    ("tensors", "gamma_functions", lambda x: [paddle.gammainc(x, x + 0.3), paddle.gammaincc(x + 0.5, x), paddle.multigammaln(x + 2, 2), paddle.polygamma(x, 1), paddle.i1(x)], p2),
    ("tensors", "histograms_of_all_kinds", lambda x: [paddle.histogram(x, 4), paddle.histogram(x, 3, -1, 1, weight=x.detach().abs()), paddle.histogram(x, 3, -1, 1, density=True), paddle.histogram(x, 5, density=True), x * 2], x2),
    ("tensors", "slices_and_steps", lambda x: [x[::2, 1:], x[..., -1], x[[0, 2]], x[:, [1, 3]], x[paddle.to_tensor([True, False, True])], paddle.strided_slice(x, [1], [3], [0], [-2]), x[None, 1], paddle.tensor_split(x, 2, 1)[0], paddle.vsplit(x, 3)[1], paddle.take(x, paddle.to_tensor([0, -1]), "wrap")], x2),
    ("tensors", "cumulative", lambda x: [paddle.cummin(x, 0)[0], paddle.cumprod(x, 0), paddle.diff(x, axis=1), paddle.logcumsumexp(x, 0), paddle.trapezoid(x, dx=0.5), paddle.cumsum(x), paddle.renorm(x, 2.0, 0, 1.0), paddle.nansum(x / (x > 0).astype("float32").detach().clip(1)), paddle.logaddexp(x, x * 2)], x2),
    ("tensors", "views", lambda x: [paddle.atleast_3d(x), paddle.flatten(x), paddle.swapaxes(x, 0, 1), paddle.chunk(x, 2, 1)[1]], x2),
    ("tensors", "comparisons_that_choose", lambda x, y: [paddle.where(x > y, x, y * 2), paddle.fmax(x, y), paddle.fmin(x, y), paddle.clip(x, y.min(), y.max()), paddle.bitwise_and((x > 0), (y > 0)), paddle.amax(x, 1), paddle.amin(y, [0, 1]), paddle.isin(x.detach(), y.detach())], x2, y2),
    ("tensors", "spectra_of_sizes", lambda x: [paddle.abs(paddle.fft.fft2(x)), paddle.real(paddle.fft.ifftshift(paddle.fft.ifft(x, n=8))), paddle.fft.irfftn(paddle.fft.rfftn(x)), paddle.angle(paddle.fft.rfft(x, n=4) + 3), paddle.abs(paddle.polar(x.abs() + 0.1, x))], x3),
    ("tensors", "of_frames", lambda x: [S.stft(x, 8, 4, onesided=True).abs(), paddle.nn.functional.fold(F.unfold(x.reshape([2, 1, 4, 6]), 2), [4, 6], 2)], real(2, 24)),
    ("tensors", "mel", wave, real(2, 24)),
    ("distributions", "students", lambda m, s, v: [D.Chi2(s + 1).log_prob(v.abs() + 0.1), D.Gumbel(m, s).entropy(), D.kl_divergence(D.Laplace(m, s), D.Laplace(m * 0.5, s + 1)), D.kl_divergence(D.Gamma(s, s + 1), D.Gamma(s + 0.5, s))], real(4), s4, real(4, seed=3)),
    ("distributions", "cholesky_and_multinomial", lambda x: [D.LKJCholesky(3, 1.5).log_prob(L.cholesky(x / paddle.sqrt(paddle.diag(x)).unsqueeze(0) / paddle.sqrt(paddle.diag(x)).unsqueeze(1))), D.Categorical(x[1]).kl_divergence(D.Categorical(x[0])), D.Uniform(x[0] - 9, x[0] + 9).log_prob(x[1])], spd),
    ("distributions", "transforms", lambda x: [t.forward_log_det_jacobian(x) for t in (D.SigmoidTransform(), D.ExpTransform(), D.PowerTransform(paddle.to_tensor(2.0)), D.ChainTransform([D.ExpTransform(), D.AffineTransform(paddle.to_tensor(0.5), paddle.to_tensor(2.0))]))] + [D.StickBreakingTransform().forward(x), D.SoftmaxTransform().forward(x)], p2),
    ("layers", "dropouts_off", lambda x: [F.dropout(x, 0.3, training=False), F.alpha_dropout(x, 0.3, training=False), F.dropout2d(x, 0.2, training=False, data_format="NCHW"), F.dropout(x, 0.5, training=False, mode="downscale_in_infer"), F.feature_alpha_dropout(x, 0.2, training=False)], x4),
    ("layers", "shifted_activations", lambda x: [F.hardtanh(x, -0.3, 0.4), F.hardshrink(x), F.softshrink(x, 0.2), F.thresholded_relu(x, 0.1, 0.5), F.softsign(x), F.log_sigmoid(x), F.rrelu(x, 0.1, 0.3, training=False), F.tanhshrink(x), F.mish(x), F.silu(x), F.hardswish(x), F.selu(x)], x2),
    ("layers", "places_of_maxima", lambda x: [F.max_pool1d(x, 2, return_mask=True)[0], F.max_unpool1d(*F.max_pool1d(x, 2, 2, return_mask=True), 2), F.adaptive_max_pool1d(x, 3, True)[0], F.avg_pool1d(x, 3, 1, 1), F.interpolate(x, [5], mode="linear", data_format="NCW", align_corners=True), F.zeropad2d(x.unsqueeze(0), [1, 0, 2, 1])], x3),
    ("layers", "fractional", lambda x: [F.fractional_max_pool2d(x, [3, 3], random_u=0.4), F.fractional_max_pool2d(x, [4, 2], kernel_size=2, random_u=0.7), F.conv2d_transpose(x, paddle.ones([4, 2, 3, 3]) * 0.1, stride=2, output_size=[13, 14]), F.conv2d(x, paddle.ones([8, 1, 3, 3]) * 0.1, groups=4)], x4),
    ("layers", "embeddings_and_masks", lambda i, w: [F.embedding(i, w, padding_idx=2), F.one_hot(i, 7), F.sequence_mask(i, 8).astype("float32"), F.diag_embed(w), F.gather_tree(i.reshape([3, 2, 1]), (i * 0).reshape([3, 2, 1]))], whole(3, 2, below=7), real(7, 3)),
    ("boxes", "aligned_at_borders", lambda x, b: [V.roi_align(x, b.detach(), paddle.to_tensor([2, 1], "int32"), (2, 3), 0.5, 2, False), V.roi_align(x, b.detach() - 1.5, paddle.to_tensor([1, 2], "int32"), 3, 1.0, -1, True)], x4, boxes),
    ("boxes", "pooled_in_boxes", lambda x, b: [V.roi_pool(x, b.detach(), paddle.to_tensor([2, 1], "int32"), (2, 3), 0.8), V.psroi_pool(paddle.concat([x, x], 1), b.detach(), paddle.to_tensor([1, 2], "int32"), 2, 0.9)], x4, boxes),
    ("boxes", "priors_and_codes", lambda x, b: [*V.prior_box(x.detach(), paddle.zeros([1, 3, 32, 32]), [2.0, 4.0], [5.0, 6.0], [1.0, 2.0], flip=True, clip=True), V.box_coder(b.detach(), [0.1, 0.1, 0.2, 0.2], b + 0.5, "encode_center_size"), V.box_coder(b.detach(), [0.1, 0.1, 0.2, 0.2], paddle.stack([b * 0.1, b * 0.2]), "decode_center_size", axis=0), x * 2], x4, boxes),
    ("boxes", "yolo_loss_and_boxes", lambda x, b: [V.yolo_loss(x, b.detach(), paddle.to_tensor([[0, 1, 0]], "int32"), [2, 3, 4, 5], [0, 1], 2, 0.7, 8, use_label_smooth=False), *V.yolo_box(x, paddle.to_tensor([[40, 50]], "int32"), [2, 3, 4, 5], 2, 0.005, 8, clip_bbox=False)], real(1, 14, 4, 4), np.array([[[0.3, 0.4, 0.2, 0.3], [0.6, 0.7, 0.4, 0.2], [0.1, 0.8, 0.1, 0.1]]], "float32")),
    ("boxes", "nms_by_class", lambda b, s: [V.nms(b.detach(), 0.3, s.detach(), paddle.to_tensor([0, 1, 0]), [0, 1], 2), V.nms(b.detach(), 0.1), s * 2], boxes, real(3)),
    ("tensors", "spread_and_repeated", lambda x: [paddle.std(x), paddle.std(x, 1, unbiased=False), paddle.var(x, 0), paddle.repeat_interleave(x, paddle.to_tensor([2, 0, 1]), 0), paddle.nansum(paddle.where(x > 0, x, paddle.full_like(x, float("nan"))), 1)], x2),
    ("boxes", "deformed", lambda x, o: [V.deform_conv2d(x, o * 0.7, paddle.arange(72, dtype="float32").reshape([2, 4, 3, 3]) * 0.01, paddle.ones([2]), 2, 1, 1)], x4, real(2, 18, 3, 3)),
]:  # fmt: skip
    plain(group, name, code, *inputs)
