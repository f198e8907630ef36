//! How operations are called here.

/// An operation that is the same under another name.
pub(super) struct Renamed {
    pub(super) name: &'static str,
    /// The parameters of its operands; `X*` takes any number, `X?` may be absent.
    pub(super) inputs: Vec<&'static str>,
    pub(super) outputs: Vec<&'static str>,
    /// The attributes that mean something, and their names here.
    pub(super) attributes: Vec<(&'static str, &'static str)>,
}

/// `old new inputs > outputs | attributes`; an attribute is `old=new` where the names differ.
const TABLE: &str = "\
scale scale X > Out | scale bias bias_after_scale
elementwise_add add X Y > Out |
elementwise_sub subtract X Y > Out |
elementwise_mul multiply X Y > Out |
elementwise_div divide X Y > Out |
elementwise_max maximum X Y > Out |
elementwise_min minimum X Y > Out |
elementwise_fmax fmax X Y > Out |
elementwise_fmin fmin X Y > Out |
elementwise_pow elementwise_pow X Y > Out |
elementwise_mod remainder X Y > Out |
elementwise_floordiv floor_divide X Y > Out |
less_than less_than X Y > Out |
less_equal less_equal X Y > Out |
greater_than greater_than X Y > Out |
greater_equal greater_equal X Y > Out |
equal equal X Y > Out |
not_equal not_equal X Y > Out |
logical_and logical_and X Y > Out |
logical_or logical_or X Y > Out |
logical_xor logical_xor X Y > Out |
logical_not logical_not X > Out |
bitwise_and bitwise_and X Y > Out |
bitwise_or bitwise_or X Y > Out |
bitwise_xor bitwise_xor X Y > Out |
bitwise_not bitwise_not X > Out |
where where Condition X Y > Out |
sum add_n X* > Out |
mean mean X > Out |
reduce_sum sum X > Out | dim=axis keep_dim=keepdim
reduce_mean mean X > Out | dim=axis keep_dim=keepdim
reduce_max max X > Out | dim=axis keep_dim=keepdim
reduce_min min X > Out | dim=axis keep_dim=keepdim
reduce_prod prod X > Out | dim=axis keep_dim=keepdim
reduce_any any X > Out | dim=axis keep_dim=keepdim
reduce_all all X > Out | dim=axis keep_dim=keepdim
matmul_v2 matmul X Y > Out | trans_x=transpose_x trans_y=transpose_y
reshape2 reshape X > Out | shape
transpose2 transpose X > Out | axis=perm
squeeze2 squeeze X > Out | axes=axis
unsqueeze2 unsqueeze X > Out | axes=axis
flatten_contiguous_range flatten X > Out | start_axis stop_axis
expand_v2 expand X > Out | shape
tile tile X > Out | repeat_times
concat concat X* > Out | axis
stack stack X* > Y | axis
gather gather X Index > Out | axis
gather_nd gather_nd X Index > Out |
index_select index_select X Index > Out | dim=axis
slice slice Input > Out | axes starts ends decrease_axis
cumsum cumsum X > Out | axis flatten exclusive reverse
flip flip X > Out | axis
roll roll X > Out | shifts axis
pow pow X > Out | factor=y
clip clip X > Out | min max
increment increment X > Out | step=value
softmax softmax X > Out | axis
log_softmax log_softmax X > Out | axis
conv2d conv2d Input Filter > Output | strides paddings padding_algorithm dilations groups data_format
depthwise_conv2d depthwise_conv2d Input Filter > Output | strides paddings padding_algorithm dilations groups data_format
pool2d pool2d X > Out | ksize=kernel_size strides paddings ceil_mode exclusive data_format pooling_type global_pooling \
adaptive padding_algorithm
layer_norm layer_norm X Scale? Bias? > Y Mean Variance | epsilon begin_norm_axis
batch_norm batch_norm X Mean Variance Scale? Bias? > Y MeanOut VarianceOut SavedMean SavedVariance ReserveSpace | \
is_test momentum epsilon data_layout=data_format use_global_stats trainable_statistics
exp exp X > Out |
expm1 expm1 X > Out |
log log X > Out |
log1p log1p X > Out |
square square X > Out |
sqrt sqrt X > Out |
rsqrt rsqrt X > Out |
reciprocal reciprocal X > Out |
abs abs X > Out |
sin sin X > Out |
cos cos X > Out |
tan tan X > Out |
tanh tanh X > Out |
sigmoid sigmoid X > Out |
relu relu X > Out |
floor floor X > Out |
ceil ceil X > Out |
round round X > Out | decimals
sign sign X > Out |
erf erf X > Out |
gelu gelu X > Out | approximate
silu silu X > Out |
swish swish X > Out |
leaky_relu leaky_relu X > Out | alpha=negative_slope
relu6 relu6 X > Out |
elu elu X > Out | alpha
celu celu X > Out | alpha
selu selu X > Out | scale alpha
hard_sigmoid hardsigmoid X > Out | slope offset
hard_shrink hardshrink X > Out | threshold
softshrink softshrink X > Out | lambda=threshold
brelu hardtanh X > Out | t_min t_max
softplus softplus X > Out | beta threshold
softsign softsign X > Out |
stanh stanh X > Out | scale_a scale_b
thresholded_relu thresholded_relu X > Out | threshold value
tanh_shrink tanh_shrink X > Out |
logsigmoid logsigmoid X > Out |
mish mish X > Out | threshold=lambda
acos acos X > Out |
asin asin X > Out |
atan atan X > Out |
sinh sinh X > Out |
cosh cosh X > Out |
acosh acosh X > Out |
asinh asinh X > Out |
atanh atanh X > Out |
log2 log2 X > Out |
log10 log10 X > Out |
trunc trunc X > Out |
atan2 atan2 X1 X2 > Out |
isnan_v2 isnan X > Out |
isinf_v2 isinf X > Out |
isfinite_v2 isfinite X > Out |
bmm bmm X Y > Out |
dot dot X Y > Out |
mv mv X Vec > Out |
kron kron X Y > Out |
addmm addmm Input X Y > Out | Alpha=alpha Beta=beta
reduce_amax amax X > Out | dim=axis keep_dim=keepdim
reduce_amin amin X > Out | dim=axis keep_dim=keepdim
logsumexp logsumexp X > Out | axis keepdim reduce_all
p_norm p_norm X > Out | porder axis epsilon keepdim asvector
frobenius_norm frobenius_norm X > Out | dim=axis keep_dim reduce_all
squared_l2_norm squared_l2_norm X > Out |
arg_max argmax X > Out | axis keepdims flatten dtype
arg_min argmin X > Out | axis keepdims flatten dtype
argsort argsort X > Out Indices | axis descending stable
top_k topk X > Out Indices | k
top_k_v2 topk X > Out Indices | k axis largest sorted
cumprod cumprod X > Out | dim exclusive reverse
lookup_table_v2 embedding Ids W > Out | padding_idx
one_hot_v2 one_hot X > Out | depth=num_classes
scatter scatter X Ids Updates > Out | overwrite
scatter_nd_add scatter_nd_add X Index Updates > Out |
take_along_axis take_along_axis Input Index > Result | Axis=axis
put_along_axis put_along_axis Input Index Value > Result | Axis=axis Reduce=reduce \
Include_self=include_self
index_sample index_sample X Index > Out |
masked_select masked_select X Mask > Y |
where_index nonzero Condition > Out |
reshape reshape X > Out | shape
transpose transpose X > Out | axis=perm
squeeze squeeze X > Out | axes=axis
unsqueeze unsqueeze X > Out | axes=axis
split split X > Out* | sections axis
unstack unstack X > Y* | axis num
unbind unbind X > Out* | axis
meshgrid meshgrid X* > Out* |
strided_slice strided_slice Input > Out | axes starts ends strides
expand_as_v2 expand_as X Y > Out |
fill_any_like full_like X > Out | value dtype
shape shape Input > Out |
size numel Input > Out |
diag_v2 diag X > Out | offset padding_value
diagonal diagonal Input > Out | offset axis1 axis2
trace trace Input > Out | offset axis1 axis2
eye eye > Out | num_rows num_columns dtype
uniform_random uniform > Out | shape min max seed dtype
gaussian_random gaussian > Out | shape mean std seed dtype
randint randint > Out | shape low high seed dtype
pad pad X > Out | paddings pad_value
pad3d pad3d X > Out | paddings mode value=pad_value data_format
conv2d_transpose conv2d_transpose Input Filter > Output | strides paddings output_padding output_size padding_algorithm \
groups dilations data_format
max_pool2d_with_index max_pool2d_with_index X > Out Mask | ksize=kernel_size strides paddings global_pooling adaptive \
ceil_mode
group_norm group_norm X Scale? Bias? > Y Mean Variance | epsilon groups data_layout=data_format
instance_norm instance_norm X Scale? Bias? > Y SavedMean SavedVariance | epsilon
dropout dropout X Seed? > Out Mask | dropout_prob=p is_test dropout_implementation=mode seed fix_seed
softmax_with_cross_entropy cross_entropy_with_softmax Logits Label > Softmax Loss | soft_label use_softmax numeric_stable_mode \
ignore_index axis
sigmoid_cross_entropy_with_logits sigmoid_cross_entropy_with_logits X Label > Out | normalize ignore_index
bce_loss bce_loss X Label > Out |
huber_loss huber_loss X Y > Out Residual | delta
kldiv_loss kldiv_loss X Target > Loss | reduction log_target
log_loss log_loss Predicted Labels > Loss | epsilon
sgd sgd_ Param LearningRate Grad MasterParam? > ParamOut MasterParamOut? | multi_precision
momentum momentum_ Param Grad Velocity LearningRate MasterParam? > ParamOut VelocityOut MasterParamOut? | mu use_nesterov \
regularization_method regularization_coeff multi_precision rescale_grad
adam adam_ Param Grad LearningRate Moment1 Moment2 Moment2Max? Beta1Pow Beta2Pow MasterParam? SkipUpdate? > ParamOut \
Moment1Out Moment2Out Moment2MaxOut? Beta1PowOut Beta2PowOut MasterParamOut? | beta1 beta2 epsilon lazy_mode \
min_row_size_to_use_multithread multi_precision use_global_beta_pow amsgrad
adamw adamw_ Param Grad LearningRate Moment1 Moment2 Moment2Max? Beta1Pow Beta2Pow MasterParam? SkipUpdate? > ParamOut \
Moment1Out Moment2Out Moment2MaxOut? Beta1PowOut Beta2PowOut MasterParamOut? | beta1 beta2 epsilon lr_ratio coeff \
with_decay lazy_mode min_row_size_to_use_multithread multi_precision use_global_beta_pow amsgrad
adagrad adagrad_ Param Grad Moment LearningRate MasterParam? > ParamOut MomentOut MasterParamOut? | epsilon multi_precision
rmsprop rmsprop_ Param MeanSquare Grad Moment LearningRate MeanGrad? MasterParam? > ParamOut MomentOut MeanSquareOut \
MeanGradOut? MasterParamOut? | epsilon decay momentum centered multi_precision
adadelta adadelta_ Param Grad AvgSquaredGrad AvgSquaredUpdate LearningRate MasterParam? > ParamOut AvgSquaredGradOut \
AvgSquaredUpdateOut MasterParamOut? | rho epsilon multi_precision
adamax adamax_ Param Grad LearningRate Moment InfNorm Beta1Pow MasterParam? > ParamOut MomentOut InfNormOut \
MasterParamOut? | beta1 beta2 epsilon multi_precision
lamb lamb_ Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow MasterParam? SkipUpdate? > ParamOut Moment1Out \
Moment2Out Beta1PowOut Beta2PowOut MasterParamOut? | weight_decay beta1 beta2 epsilon always_adapt multi_precision
";

/// What an operation is here.
pub(super) fn renamed(kind: &str) -> Option<Renamed> {
    let line = TABLE
        .lines()
        .find(|line| line.split_whitespace().next() == Some(kind))?;
    let (left, attributes) = line.split_once('|')?;
    let (inputs, outputs) = left.split_once('>')?;
    let mut words = inputs.split_whitespace().skip(1);
    Some(Renamed {
        name: words.next()?,
        inputs: words.collect(),
        outputs: outputs.split_whitespace().collect(),
        attributes: attributes
            .split_whitespace()
            .map(|w| w.split_once('=').unwrap_or((w, w)))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_op_tables() {
        let ctx = pir_dialects::context();
        for line in TABLE.lines() {
            let kind = line.split_whitespace().next().unwrap();
            let renamed = renamed(kind).unwrap();
            let name = ctx.registered_op(&format!("pd.{}", renamed.name));
            let def = name.and_then(|n| ctx.op_def(n)).unwrap_or_else(|| panic!("{kind}"));
            for (_, attribute) in renamed.attributes {
                assert!(def.attrs.iter().any(|a| a.name == attribute), "{kind}: {attribute}");
            }
        }
    }
}
