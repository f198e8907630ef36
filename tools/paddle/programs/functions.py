"""Layers, losses and tensor operations with the options that models set less often."""

import numpy as np
import paddle
import paddle.nn.functional as F
from cases import case, plain, positive, real, whole
from paddle import nn

x2, x3, x4, x5 = real(3, 4), real(2, 4, 6), real(2, 4, 6, 6), real(1, 4, 4, 4, 4)
y2 = real(3, 4, seed=1)
L, S, D = paddle.linalg, paddle.signal, paddle.distribution


class All(nn.Layer):
    """Several layers of the same input."""

    def __init__(self, make):
        super().__init__()
        self.parts = nn.LayerList(make())

    def forward(self, x):
        return [part(x) for part in self.parts]


def side_by_side(*parts):
    return lambda: All(lambda: [part() for part in parts])


for name, make, *inputs in [
    ("convolution_kinds", side_by_side(lambda: nn.Conv2D(4, 6, 3, dilation=2, groups=2), lambda: nn.Conv2D(4, 3, (3, 2), stride=(2, 1), padding=[1, 0, 2, 1]), lambda: nn.Conv2D(4, 3, 3, padding="SAME", stride=2), lambda: nn.Conv2D(4, 3, 3, padding=1, padding_mode="circular"), lambda: nn.Conv2D(4, 3, 3, padding=1, padding_mode="reflect"), lambda: nn.Conv2D(4, 3, 2, padding="VALID")), x4),
    ("channels_last", side_by_side(lambda: nn.Sequential(nn.Conv2D(6, 4, 3, data_format="NHWC"), nn.BatchNorm2D(4, data_format="NHWC"), nn.MaxPool2D(2, data_format="NHWC"), nn.AvgPool2D(2, 1, 1, data_format="NHWC"), nn.GroupNorm(2, 4, data_format="NHWC"), nn.AdaptiveAvgPool2D(1, data_format="NHWC"))), real(2, 8, 6, 6)),
    ("transposed_kinds", side_by_side(lambda: nn.Conv2DTranspose(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2), lambda: nn.Conv2DTranspose(4, 3, 3, stride=2, dilation=2), lambda: nn.Conv2DTranspose(4, 3, (2, 3), stride=(2, 1), padding=[1, 0])), x4),
    ("lines_and_volumes", side_by_side(lambda: nn.Conv1D(4, 4, 3, groups=2, dilation=2, padding="SAME"), lambda: nn.Conv1D(4, 4, 3, padding=2, padding_mode="replicate"), lambda: nn.Conv1DTranspose(4, 2, 3, stride=2, output_padding=1, padding=1), lambda: nn.InstanceNorm1D(4), lambda: nn.BatchNorm1D(4, momentum=0.7)), x3),
    ("volume_kinds", side_by_side(lambda: nn.Conv3D(4, 4, (2, 3, 3), stride=2, groups=2, padding=1), lambda: nn.Conv3DTranspose(4, 2, 2, stride=2, bias_attr=False), lambda: nn.InstanceNorm3D(4), lambda: nn.AvgPool3D(3, 2, 1, exclusive=False), lambda: nn.MaxPool3D(3, 2, 1, ceil_mode=True), lambda: nn.AdaptiveMaxPool3D(2)), x5),
    ("pool_kinds", side_by_side(lambda: nn.MaxPool2D(3, 2, 1, ceil_mode=True), lambda: nn.AvgPool2D(3, 2, 1, ceil_mode=True), lambda: nn.AvgPool2D(3, 2, 1, exclusive=False), lambda: nn.AvgPool2D(2, divisor_override=3), lambda: nn.AdaptiveAvgPool2D((4, None)), lambda: nn.AdaptiveMaxPool2D((5, 2)), lambda: nn.LPPool2D(2, 2)), x4),
    ("pool_kinds_1d", side_by_side(lambda: nn.MaxPool1D(3, 2, 1, ceil_mode=True), lambda: nn.AvgPool1D(2, 1, exclusive=False), lambda: nn.AdaptiveAvgPool1D(4), lambda: nn.LPPool1D(2, 2)), x3),
    ("activation_kinds", side_by_side(nn.ReLU6, nn.Hardsigmoid, nn.LogSoftmax, nn.Swish, nn.Tanh, nn.GLU, lambda: nn.Softplus(2, 1.0), lambda: nn.ELU(0.5), lambda: nn.LeakyReLU(0.3), lambda: nn.Softmax(0), lambda: nn.GELU(True), lambda: nn.CELU(0.7), nn.Sigmoid), x2),
    ("activations_of_images", side_by_side(nn.Softmax2D, lambda: nn.PReLU(4, 0.1), lambda: nn.Maxout(2), lambda: nn.Dropout2D(0.0), lambda: nn.PixelUnshuffle(3), lambda: nn.ChannelShuffle(4), lambda: nn.Flatten(1, 2), lambda: nn.Unflatten(1, [2, 2])), x4),
    ("normalization_kinds", side_by_side(lambda: nn.LayerNorm([6, 6]), lambda: nn.LayerNorm([4, 6, 6], weight_attr=False, bias_attr=False), lambda: nn.InstanceNorm2D(4, weight_attr=False, bias_attr=False), lambda: nn.BatchNorm2D(4, weight_attr=False, bias_attr=False), lambda: nn.LocalResponseNorm(2, 0.1, 0.5, 2.0)), x4),
    ("upsampling_kinds", side_by_side(lambda: nn.Upsample(scale_factor=[1.5, 2], mode="bilinear"), lambda: nn.Upsample(scale_factor=1.5, mode="nearest"), lambda: nn.Upsample(size=[4, 9], mode="bicubic", align_corners=True), lambda: nn.Upsample(size=[3, 4], mode="area"), lambda: nn.Upsample(size=[9, 9], mode="bilinear", align_mode=1), lambda: nn.UpsamplingNearest2D(size=[7, 5])), x4),
    ("padding_modes", side_by_side(lambda: nn.Pad2D([1, 2, 0, 3], "constant", 0.5), lambda: nn.Pad2D([1, 2, 2, 1], "reflect"), lambda: nn.Pad2D([3, 0, 1, 1], "replicate"), lambda: nn.Pad2D([2, 1, 1, 2], "circular")), x4),
    ("padding_of_lines", side_by_side(lambda: nn.Pad1D(2, "reflect"), lambda: nn.Pad1D([1, 3], "replicate"), lambda: nn.Pad1D([1, 2], "circular"), lambda: nn.ZeroPad1D(1), lambda: nn.Pad1D(1, "constant", -1.0)), x3),
    ("padding_of_volumes", side_by_side(lambda: nn.Pad3D([1, 0, 2, 1, 0, 1], "reflect"), lambda: nn.Pad3D(1, "replicate"), lambda: nn.Pad3D(1, "circular"), lambda: nn.ZeroPad3D([1, 0, 0, 1, 0, 2])), x5),
    ("spectral_weights", lambda: nn.utils.spectral_norm(nn.Conv2D(4, 3, 3)), x4),
    ("unfold_kinds", lambda: lambda x: [F.unfold(x, [2, 3], 2, [1, 0, 2, 1], [1, 2]), F.fold(F.unfold(x, 3, 1, 1), [6, 6], 3, 1, 1), F.temporal_shift(x, 2, 0.3), F.pad(x, [1, 1, 2, 0]), F.pad(x, [0, 0, 0, 0, 1, 2, 0, 1])], x4),
    ("sampling_kinds", lambda: lambda x, g: [F.grid_sample(x, g, "bilinear", "reflection", True), F.grid_sample(x, g, "bilinear", "zeros", False), F.grid_sample(x, g, "nearest", "border", True)], x4, real(2, 3, 4, 2, low=-1.2, high=1.2)),
    ("embeddings", lambda: lambda x, w: [F.embedding(x, w, padding_idx=1), F.one_hot(x, 5) @ w, F.embedding(x, w, padding_idx=-1)], whole(2, 3, below=5), real(5, 4)),
    ("unpool_1d_3d", lambda: lambda x, y: [F.max_unpool1d(*F.max_pool1d(x, 2, return_mask=True), 2), F.max_unpool3d(*F.max_pool3d(y, 2, return_mask=True), 2)], x3, x5),
    ("attention_functions", lambda: lambda q, k: [F.scaled_dot_product_attention(q, k, k, paddle.triu(paddle.full([2, 2, 5, 5], -3.0), 1)), F.scaled_dot_product_attention(q, k, k * 0.5)], real(2, 5, 2, 4), real(2, 5, 2, 4, seed=2)),
    ("simple_losses_of_pairs", lambda: lambda x, y: [F.pairwise_distance(x, y, 3.0, keepdim=True), F.cosine_similarity(x, y, 0), paddle.dist(x, y, 1), paddle.cdist(x, y, 1.0), paddle.pdist(x)], x2, y2),
]:  # fmt: skip
    case("options", name, make, *inputs)

def put(x, places, value=0.5):
    y = x * 1.0
    y[places] = value
    return y


def listed(x):
    """Places by a list, which is the same in all iterations."""
    out, t = paddle.zeros([3, 4]), paddle.zeros([], dtype="int64")
    while t < 3:
        out[t, paddle.to_tensor([0, 2])] = paddle.sin(x[t, 0] * paddle.ones([2]))
        t = t + 1
    return out


plain("control", "listed_places", listed, x2)

# Places by tensors beside constants, axes from the end, numbers, and windows of infinite order.
for name, code, *inputs in [
    ("places_by_tensors", lambda x, t: [x[t, :2], x[t, 1:], x[None, t, 1:3], x[t + 1], x[:, t]], x2, whole(below=2)),
    ("axes_from_the_end", lambda x: [f(x, paddle.to_tensor([2, 1, 0, 0]), axis=-1) for f in (paddle.gather, paddle.index_select)], real(4, 4)),
    ("functions_of_numbers", lambda x: [f(x.sum()) for f in (paddle.lgamma, paddle.digamma, paddle.log1p)], real(3, low=0.2).astype("float64")),
    ("numbers_put", lambda x: [put(x, (slice(None), -1)), put(x, (1, slice(1, 3)))], x2),
    ("one_number_put", lambda x: [put(x, (1, 2), (x[0, 0] * 2).reshape([1])), put(x, 1, x[:1, :1])], x2),
    ("volumes_of_channels_last", lambda x: [F.conv3d(x, x[:1, :2, :2, :2].transpose([4, 0, 1, 2, 3]).expand([4, 4, 2, 2, 2]), None, 1, p, data_format="NDHWC") for p in (0, 1, "SAME")] + [f(x, 2, s, p, data_format="NDHWC") for f in (F.max_pool3d, F.avg_pool3d) for s, p in ((2, 0), (1, "SAME"), (2, "VALID"))] + [F.interpolate(x, size=[3, 5, 2], mode=m, data_format="NDHWC") for m in ("trilinear", "nearest")], x5.transpose(0, 2, 3, 4, 1)),
    ("images_of_channels_last", lambda x: [F.interpolate(x, size=[3, 7], mode=m, data_format="NHWC") for m in ("bilinear", "nearest", "bicubic")], x4.transpose(0, 2, 3, 1)),
    ("rows_of_messages", lambda x, e: [f for k in ("sum", "mean", "max", "min") for f in (paddle.geometric.send_u_recv(x, e[0], e[1], k, 6), paddle.geometric.send_ue_recv(x, x[e[0]] * 2, e[0], e[1], "mul", k, 7)[:5])], real(5, 3), whole(2, 8, below=5, seed=3)),
    ("largest_of_windows", lambda x: F.lp_pool2d(x, float("inf"), 2), x4),
]:  # fmt: skip
    plain("options", name, code, *inputs)


class Remembered(nn.Layer):
    """What a normalisation remembers, read behind it: it has no gradient."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2D(4)

    def forward(self, x):
        y = self.norm(x)
        return y, self.norm._mean.reshape([4, 1, 1]) * x + self.norm._variance.reshape([4, 1, 1])


case("options", "remembered", Remembered, x4)

# What PaddlePaddle differentiates wrongly.
for name, make, inputs, wrong in [
    ("groups_without_scale", lambda: nn.GroupNorm(4, 4, weight_attr=False), [x4], "`group_norm_grad` without a scale"),
    ("largest_difference", lambda: lambda x, y: paddle.dist(x, y, float("inf")), [x2, real(3, 4, seed=2)], "`dist_grad` of the largest difference is zero"),
]:
    case("options", name, make, *inputs, wrong=wrong)

# Losses.
label, p2 = whole(3, below=4), real(3, 4, low=0.1, high=0.9)
for name, code, *inputs in [
    ("weighted_entropies", lambda x, y: [F.cross_entropy(x, y, paddle.to_tensor([1.0, 2.0, 0.5, 1.5])), F.cross_entropy(x, y, ignore_index=2, reduction="sum"), F.nll_loss(F.log_softmax(x), y, paddle.to_tensor([1.0, 2.0, 0.5, 1.5])), F.cross_entropy(x, y, label_smoothing=0.1), F.nll_loss(F.log_softmax(x), y, ignore_index=1, reduction="none")], x2, label),
    ("entropies_of_images", lambda x, y: [F.cross_entropy(x, y, axis=1), F.nll_loss(F.log_softmax(x, 1), y, reduction="sum"), F.softmax_with_cross_entropy(x, y.unsqueeze(1), axis=1), F.cross_entropy(x, F.softmax(x.detach() * 2, 1), soft_label=True, axis=1)], x4, whole(2, 6, 6, below=4)),
    ("binary_losses", lambda x, y: [F.binary_cross_entropy(x, y.detach(), weight=y.detach()), F.binary_cross_entropy_with_logits(x, y.detach(), pos_weight=paddle.to_tensor([1.0, 2.0, 3.0, 0.5]), reduction="sum"), F.sigmoid_focal_loss(x, y.detach().round(), paddle.to_tensor([3.0]), gamma=1.5), F.multi_label_soft_margin_loss(x, y.detach().round(), paddle.to_tensor([1.0, 2.0, 3.0, 0.5]))], p2, real(3, 4, low=0.1, high=0.9, seed=2)),
    ("regression_losses", lambda x, y: [F.smooth_l1_loss(x, y, delta=0.3), F.kl_div(x, F.softmax(y.detach()), "batchmean"), F.kl_div(x, y.detach(), log_target=True), F.poisson_nll_loss(x, y.detach().abs() * 3, False, True, reduction="sum"), F.gaussian_nll_loss(x, y.detach(), x.abs() + 0.1, full=True), F.log_loss(F.sigmoid(x).reshape([-1, 1]), F.sigmoid(y.detach()).reshape([-1, 1]))], real(3, 4, low=0.2), y2),
    ("metric_losses", lambda x, y: [F.triplet_margin_loss(x, y, x * y, 0.5, 3.0, 1e-6, True), F.margin_ranking_loss(x, y, paddle.sign(y.detach()), 0.1, "none"), F.cosine_embedding_loss(x, y, paddle.to_tensor([1, -1, -1]), 0.2, "sum"), F.hinge_embedding_loss(x, paddle.sign(y.detach()), 0.5), F.soft_margin_loss(x, paddle.sign(y.detach())), F.square_error_cost(x, y)], x2, y2),
    ("multi_margins", lambda x, y: [F.multi_margin_loss(x, y, 2, 0.5, paddle.to_tensor([1.0, 2.0, 0.5, 1.5])), F.multi_margin_loss(x, y, reduction="none")], x2, label),
    ("class_trees", lambda x, y, w: [F.hsigmoid_loss(x, y, 5, w, paddle.ones([4, 1]) * 0.1), F.dice_loss(F.softmax(x), y), F.npair_loss(x, w, y.flatten(), 0.01)], real(4, 4), whole(4, 1, below=4), real(4, 4, seed=1)),
]:  # fmt: skip
    plain("options", name, code, *inputs)

# Tensor operations.
spd, a3, b33 = positive(3), real(3, 3), np.stack([positive(3), positive(3, seed=1)])
for name, code, *inputs in [
    ("lu", lambda x, y: [(f := L.lu(x))[0], *L.lu_unpack(*f), L.lu_solve(y, *f)], spd, a3),
    ("batched_systems", lambda x, y: [L.solve(x, y), L.cholesky(x, upper=True), L.triangular_solve(L.cholesky(x), y, upper=False, transpose=True), L.inv(x), L.det(x), L.matrix_power(x, -2), L.triangular_solve(x, y, unitriangular=True)], b33, real(2, 3, 2)),
    ("reflections", lambda x: [*(abs(v) for v in L.qr(x))], real(4, 3)),
    ("spectra_of_matrices", lambda x: [L.eigvalsh(x), abs(L.eigh(x)[1]), L.svdvals(x), L.matrix_rank(x), L.cond(x), L.pinv(x, hermitian=True)], spd),
    ("matrix_norms", lambda x: [L.matrix_norm(x, "nuc"), L.matrix_norm(x, 1), L.matrix_norm(x, float("inf")), L.matrix_norm(x, 2), L.vector_norm(x, 3.0), L.vector_norm(x, float("inf"), 1), L.vector_norm(x, 0), L.norm(x, 1.5, 0), L.norm(x, float("-inf"))], real(3, 4)),
    ("products", lambda x, y: [L.multi_dot([x, y, x]), L.vecdot(x, y), paddle.mv(x, y[0]), paddle.dot(x, y), paddle.inner(x, y), paddle.tensordot(x, y, [[0], [1]]), paddle.einsum("ij,kj->ik", x, y), paddle.einsum("ii->i", x), paddle.einsum("ij->", x), paddle.kron(x, y[:2]), paddle.trace(x, 1)], a3, real(3, 3, seed=1)),
    ("least_squares_solution", lambda x, y: [L.lstsq(x, y)[0], x * 2], real(4, 3), real(4, 2, seed=1)),
    ("bessel", lambda x: [paddle.i0(x), paddle.i0e(x), paddle.i1(x), paddle.i1e(x), paddle.lgamma(x + 2), paddle.digamma(x + 2), paddle.polygamma(x + 2, 3), paddle.erf(x), paddle.erfinv(x * 0.3), paddle.expm1(x)], real(3, 4, low=-3, high=3)),
    ("incomplete_gammas", lambda x, y: [paddle.gammainc(x.detach(), y), paddle.gammaincc(x.detach(), y), paddle.logit(x / 4), paddle.sinc(x), paddle.hypot(x, y), paddle.nextafter(x.detach(), y.detach())], real(3, 4, low=0.5, high=3), real(3, 4, low=0.5, high=3, seed=1)),
    ("angles", lambda x: [paddle.acos(x), paddle.asin(x), paddle.atan(x), paddle.asinh(x), paddle.cosh(x), paddle.sinh(x), paddle.tan(x), paddle.deg2rad(x), paddle.rad2deg(x), paddle.reciprocal(x), paddle.rsqrt(x + 2), paddle.log2(x + 2), paddle.log10(x + 2), paddle.exp2(x) if hasattr(paddle, "exp2") else x], x2),
    ("bits_of_floats", lambda x, y: [*paddle.frexp(x), paddle.ldexp(x, paddle.to_tensor([1, 2, 3, 4])), paddle.signbit(x), paddle.copysign(x, y), paddle.sgn(x), paddle.heaviside(x, y), paddle.fmax(x, y), paddle.fmin(x, y), paddle.floor_mod(x, y), paddle.floor_divide(x, y), paddle.positive(x), paddle.neg(x)], x2, y2),
    ("whole_numbers", lambda x, y, z: [paddle.gcd(x, y), paddle.lcm(x, y), paddle.bitwise_and(x, y), paddle.bitwise_xor(x, y), paddle.bitwise_not(x), paddle.bitwise_left_shift(x, y % 3), paddle.bitwise_right_shift(x, y % 3), paddle.isin(x, paddle.to_tensor([1, 4])), paddle.shard_index(x.reshape([-1, 1]), 12, 3, 1), x // (y + 1), x % (y + 1), paddle.divide(x, y + 1), z * 2], whole(6, below=12), whole(6, below=12, seed=1), x2),
    ("logic", lambda x, y: [paddle.logical_xor(x > 0, y > 0), paddle.isclose(x, x + 1e-9), paddle.equal_all(x, y), paddle.allclose(x, x), paddle.any(x > 0, 1), paddle.all(x > -2), paddle.isfinite(x / (x * 0)), paddle.isneginf(x / (x * 0)), paddle.isreal(x), paddle.where(x > y, x, y), paddle.less_equal(x, y), x * 2], x2, y2),
    ("unique_kinds", lambda x, z: [*paddle.unique(x, return_index=True, return_inverse=True, return_counts=True), *paddle.unique_consecutive(x, return_inverse=True, return_counts=True), z * 2], whole(8, below=4), x2),
    ("unique_rows", lambda x, z: [paddle.unique(x, axis=0), z * 2], whole(5, 2, below=2), x2),
    ("histograms", lambda x, z: [paddle.bincount(x), paddle.bincount(x, z.detach().flatten()[:8], 9), paddle.histogram(z, 5, -1, 1), paddle.histogram(z, 4), paddle.histogramdd(z[:, :2].detach(), [2, 3])[0], z * 2], whole(8, below=6), x2),
    ("puts", lambda x, y: [paddle.index_put(x, [paddle.to_tensor([0, 2, 0])], y, True), paddle.index_put(x, [paddle.to_tensor([1, 2]), paddle.to_tensor([3, 0])], y[0, :2]), paddle.index_put(x, [x.detach() > 0.2], paddle.full([], 0.5)), paddle.index_add(x, paddle.to_tensor([1, 1]), 1, y[:, :2]), paddle.index_fill(x, paddle.to_tensor([1]), 1, -1.0)], x2, y2),
    ("put_reductions", lambda x, y: [paddle.put_along_axis(x, at(), y[:, :1], 1, r, include_self=s, broadcast=False) for r, s in (("mul", True), ("amax", True), ("amin", True), ("mean", True), ("add", False), ("assign", True))], x2, y2),
    ("scatters", lambda x, y: [paddle.scatter(x, paddle.to_tensor([1, 1, 0]), y, overwrite=False), paddle.scatter_nd(paddle.to_tensor([[1], [3], [1]]), y, [5, 4]), paddle.scatter_nd_add(x, paddle.to_tensor([[0, 1], [2, 3], [0, 1]]), y[:, 0]), paddle.masked_scatter(x, x > 0, y), paddle.take(x, paddle.to_tensor([[-1, 5], [13, 2]]), "wrap"), paddle.multiplex([x, y], paddle.to_tensor([[0], [1], [0]], "int32"))], x2, y2),
    ("slices", lambda x: [x[::2, 1::2], x[::-1], x[..., None, 1], x[[0, 2], 1:3], x[:, paddle.to_tensor([3, 0])], x[paddle.to_tensor([True, False, True])], x[-1, -3:-1], paddle.strided_slice(x, [0, 1], [2, 3], [0, 0], [-1, -2]), paddle.crop(x, [2, -1], [0, 2]), x[1], x[:, None].squeeze(1)], x2),
    ("splits", lambda x: [*paddle.tensor_split(x, 3, 1), *paddle.split(x, [1, -1], 1), *paddle.hsplit(x, 2), *paddle.vsplit(x, 3), *paddle.unbind(x), *paddle.unstack(x, 1), *paddle.chunk(x, 3)], x2),
    ("strided_views", lambda x: [paddle.unflatten(x, 1, [2, -1]), paddle.atleast_3d(x), paddle.expand(x.unsqueeze(1), [3, 2, 4]), paddle.broadcast_to(x[:1], [3, 4]), paddle.moveaxis(x, 0, 1), paddle.swapaxes(x, 0, 1), x.T, paddle.t(x)], x2),
    ("triangles", lambda x: [paddle.tril(x, 1), paddle.triu(x, -1), paddle.diag(x[0], 1, 0.5), paddle.diag(x[:, :3], -1), paddle.diagflat(x[0]), paddle.diagonal(x, 1), paddle.diag_embed(x, -1, 0, 2), x[paddle.tril_indices(3, 4)[0], paddle.tril_indices(3, 4)[1]], paddle.diagonal_scatter(x[:, :3], x[0, :3]), paddle.rot90(x, 3), paddle.flip(x, [0, 1]), paddle.roll(x, [1, -2], [0, 1])], x2),
    ("order_statistics", lambda x: [paddle.quantile(x, [0.1, 0.7], 1), paddle.quantile(x, 0.4, 1, interpolation="lower"), paddle.nanquantile(x, 0.3), paddle.nanmedian(x), paddle.median(x), paddle.median(x, 1, mode="min"), *paddle.mode(paddle.round(x * 2), 1), *paddle.kthvalue(x, 2, 0, True), *paddle.topk(x, 2, 1, False), paddle.argsort(x, 0, True), paddle.argmax(x, 1, True), paddle.argmin(x)], real(3, 5)),
    ("running_extremes", lambda x: [*paddle.cummax(x, 1), *paddle.cummin(x, 0), paddle.logcumsumexp(x, 0), paddle.cumsum(x), paddle.cumprod(x, 0), paddle.diff(x, 2), paddle.diff(x, prepend=x[:, :1]), paddle.trapezoid(x, dx=0.5), paddle.cumulative_trapezoid(x, x * x), paddle.trapezoid(x, x.detach().cumsum(1), axis=1)], x2),
    ("reductions", lambda x: [paddle.amax(x, 1), paddle.amin(x), paddle.prod(x, 0), paddle.nansum(x, 1), paddle.logsumexp(x, [0, 1]), paddle.var(x, 0, False), paddle.std(x, [0, 1]), paddle.count_nonzero(x, 1), paddle.mean(x, [0], True), paddle.nanmean(x, 0), paddle.reduce_as(x, x[0]), paddle.max(x, [0, 1]), paddle.sum(x, -1, keepdim=True), paddle.increment(x.sum(), 2.0)], x2),
    ("made_tensors", lambda x: [paddle.arange(0.5, 3, 0.5) * x.mean(), paddle.linspace(0, 1, 4) * x, paddle.logspace(0, 1, 4) * x, paddle.eye(3, 4) * x, paddle.full_like(x, 2) * x, paddle.vander(x[0], 3, True), paddle.tril_indices(3, 3), paddle.complex(x, x).real(), paddle.to_tensor([[1.0], [2.0], [3.0]]) + x, paddle.combinations(x[0], 2, True)], x2),
    ("stacks_of_tensors", lambda x, y: [paddle.vstack([x, y]), paddle.dstack([x, y]), paddle.row_stack([x[0], y[0]]), paddle.block_diag([x, y[:1]]), paddle.add_n([x, y, x]), paddle.concat([x, y], -1), paddle.stack([x, y], -1), paddle.select_scatter(x, y[0], 0, 2), paddle.slice_scatter(x, y[:, :2], [1], [0], [4], [2]), paddle.diagonal_scatter(x, y[0, :3], 0), paddle.repeat_interleave(x, paddle.to_tensor([1, 0, 2]), 0), paddle.tile(x, [2, 1, 2])], x2, y2),
    ("complex_functions", lambda x, y: [paddle.as_real(f(paddle.complex(x, y))) for f in (paddle.exp, paddle.log, paddle.sin, paddle.tanh, paddle.sqrt, paddle.square, paddle.conj, paddle.reciprocal, lambda z: z * z / (z + 3), lambda z: z**2, lambda z: paddle.cumsum(z, 1), lambda z: paddle.polar(paddle.abs(z), paddle.angle(z)))], real(3, 4, low=0.2), real(3, 4, low=0.1, seed=1)),
    ("complex_matrices", lambda x, y: [paddle.as_real(paddle.matmul(z := paddle.complex(x, y), z)), paddle.real(L.inv(z)), paddle.abs(L.det(z)), paddle.as_real(z.T.conj()), paddle.abs(z).sum(), paddle.as_real(paddle.concat([z, z], 1)[:, 1:4]), paddle.real(paddle.where(x > 0, z, z * 2))], spd, a3),
    ("transform_kinds", lambda x: [paddle.abs(paddle.fft.fft(x, 4, norm="ortho")), paddle.as_real(paddle.fft.ifft(x, norm="forward")), paddle.as_real(paddle.fft.rfftn(x, axes=[0, 2])), paddle.fft.irfftn(paddle.fft.rfftn(x)), paddle.as_real(paddle.fft.ihfft(x)), paddle.fft.hfft(paddle.fft.rfft(x), 5), paddle.as_real(paddle.fft.ifftshift(paddle.fft.fft2(x, [3, 8]))), paddle.fft.fftfreq(6, 0.5), paddle.fft.rfftfreq(6), paddle.as_real(paddle.fft.ifftn(x)), paddle.abs(paddle.fft.hfft2(paddle.fft.ihfft2(x)))], x3),
    ("frames", lambda x: [S.stft(x, 8, 4, pad_mode="constant").abs(), S.stft(x, 8, onesided=False).abs(), S.istft(S.stft(x, 8, 2), 8, 2, length=20), paddle.audio.functional.power_to_db(S.stft(x, 8).abs() ** 2 + 0.1, top_db=None)], real(2, 24)),
    ("divergences", lambda m, s: [D.kl_divergence(D.Beta(s, s + 1), D.Beta(s + 1, s)), D.kl_divergence(D.Dirichlet(s), D.Dirichlet(s * 2)), D.kl_divergence(D.Gamma(s, s), D.Gamma(s + 1, s)), D.kl_divergence(D.Laplace(m, s), D.Laplace(m * 2, s)), D.kl_divergence(D.Bernoulli(F.sigmoid(m)), D.Bernoulli(F.sigmoid(m * 2))), D.kl_divergence(D.Cauchy(m, s), D.Cauchy(m * 2, s)), D.kl_divergence(D.Categorical(s), D.Categorical(s.flip(0))), D.Gumbel(m, s).entropy(), D.Normal(m, s).cdf(m + 0.3) if hasattr(D.Normal, "cdf") else m, D.Cauchy(m, s).cdf(m + 0.3)], real(4), real(4, low=0.5, high=2.0)),
]:  # fmt: skip
    plain("options", name, code, *inputs)


def at():
    return paddle.to_tensor([[0], [3], [1]])


# Boxes.
V = paddle.vision.ops
boxes = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [0, 2, 3, 5]], "float32")
for name, code, *inputs in [
    ("prior_boxes", lambda x, y: [*V.prior_box(x, y, [2.0], [4.0], [1.0, 2.0], flip=True, clip=True), x * 2], x4, real(2, 3, 12, 12)),
    ("coded_boxes", lambda x, y: [x * 2, V.box_coder(y.detach(), [0.1, 0.1, 0.2, 0.2], x), V.box_coder(y.detach(), [0.1, 0.1, 0.2, 0.2], x.unsqueeze(1).tile([1, 3, 1]) * 0.1, "decode_center_size")], boxes + real(3, 4) * 0.3, boxes),
    ("yolo_loss", lambda x: V.yolo_loss(x, paddle.to_tensor([[[0.3, 0.4, 0.2, 0.3], [0.7, 0.6, 0.4, 0.2]]]), paddle.to_tensor([[0, 1]], "int32"), [10, 13, 16, 30], [0, 1], 2, 0.7, 8), real(1, 14, 4, 4)),
    ("modulated_deformation", lambda x, o, m: V.deform_conv2d(x, o * 0.5, paddle.ones([4, 2, 3, 3]) * 0.1, None, 1, 1, 1, 2, 2, m), x4, real(2, 36, 6, 6), real(2, 18, 6, 6)),
    ("roi_of_places", lambda x, b: V.psroi_pool(x, b.detach(), paddle.to_tensor([3], "int32"), 2), real(1, 8, 6, 6), boxes),
    ("levels_of_boxes", lambda x, b: [*V.distribute_fpn_proposals(b.detach() * 40, 2, 4, 3, 100, rois_num=paddle.to_tensor([3], "int32"))[0], x * 2], x2, boxes),
    ("soft_nms", lambda x, b: [V.matrix_nms(b.detach().unsqueeze(0), F.softmax(x.detach())[:, :3].unsqueeze(0), 0.1, 0.1, 10, 5, return_index=False)[0], x * 2], a3, boxes),
]:  # fmt: skip
    plain("boxes", name, code, *inputs)

# Graphs.
G = paddle.geometric
edges = whole(2, 8, below=5, seed=3)
for name, code, *inputs in [
    ("segments", lambda x: [getattr(G, f"segment_{kind}")(x, paddle.to_tensor([0, 0, 2, 2, 2])) for kind in ("sum", "mean", "min", "max")], real(5, 3)),
    ("messages", lambda x, e: [G.send_u_recv(x, e[0], e[1], "mean"), G.send_u_recv(x, e[0], e[1], "max", 5), G.send_ue_recv(x, x[e[0]] * 2, e[0], e[1], "mul", "sum", 5), G.send_uv(x, x * 0.5, e[0], e[1], "add")], real(5, 3), edges),
]:  # fmt: skip
    plain("graphs", name, code, *inputs)
