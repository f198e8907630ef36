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
round round X > Out |
sign sign X > Out |
erf erf X > Out |
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
