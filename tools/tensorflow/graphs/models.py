"""SavedModels: modules with variables, and models of Keras."""

import numpy as np
import tensorflow as tf

from case import SEED, case, scalar

RECURRENT, MODELS, MODULES = "Keras recurrent", "Keras", "SavedModel"


class Module(tf.Module):
    """A module with the variables that a function reads."""

    def __init__(self, **variables):
        super().__init__()
        for name, value in variables.items():
            setattr(self, name, tf.Variable(value, name=name))


@case(MODULES)
def saved_dense(e):
    m = Module(w=e.values(3, 5), b=e.values(5))
    return e.saved(m, lambda x: (scalar(tf.nn.gelu(tf.matmul(x, m.w) + m.b)),), x=e.values(4, 3))


@case(MODULES)
def saved_loop(e):
    m = Module(w=e.values(3, 3))

    def run(x):
        _, h = tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, m.w))), [tf.constant(0), x])
        return scalar(h), h

    return e.saved(m, run, x=e.values(2, 3))


@case(MODULES)
def saved_branch(e):
    m = Module(w=e.values(3), b=e.values(3))
    return e.saved(m, lambda x: (scalar(tf.cond(tf.reduce_sum(x) > 0, lambda: x * m.w, lambda: tf.exp(x) + m.b)),), x=e.values(3))


@case(MODULES)
def saved_large(e):
    m = Module(w=e.values(128, 96), v=e.values(96, 3))
    return e.saved(m, lambda x: (scalar(tf.matmul(tf.nn.silu(tf.matmul(x, m.w)), m.v)),), x=e.values(2, 128))


def keras(e, build, *shape):
    """A model of Keras, with the sum of its outputs."""
    tf.keras.utils.set_random_seed(SEED)
    model = build(tf.keras.layers)
    if not isinstance(model, tf.keras.Model):
        model = tf.keras.Sequential([tf.keras.Input(shape[1:]), *model])
    feed = e.values(*shape)
    model(feed)

    def run(x):
        y = model(x, training=False)
        y = tf.ensure_shape(y, model(feed).shape)
        return scalar(y), y

    module = tf.Module()
    module.model = model
    return e.saved(module, run, x=feed)


@case(RECURRENT)
def keras_lstm(e):
    return keras(e, lambda k: [k.LSTM(4, unroll=False)], 2, 5, 3)


@case(RECURRENT)
def keras_gru(e):
    return keras(e, lambda k: [k.GRU(4, unroll=False)], 2, 5, 3)


@case(RECURRENT)
def keras_rnn_sequences(e):
    return keras(e, lambda k: [k.SimpleRNN(4, return_sequences=True), k.Dense(2)], 2, 5, 3)


@case(RECURRENT)
def keras_stacked(e):
    return keras(e, lambda k: [k.LSTM(4, return_sequences=True), k.LSTM(3), k.Dense(2)], 2, 5, 3)


@case(RECURRENT)
def keras_bidirectional(e):
    return keras(e, lambda k: [k.Bidirectional(k.GRU(3))], 2, 4, 3)


@case(MODELS)
def keras_mlp(e):
    return keras(e, lambda k: [k.Dense(8, "relu"), k.Dense(8, "gelu"), k.Dense(3, "softmax")], 4, 6)


@case(MODELS)
def keras_cnn(e):
    layers = lambda k: [
        k.Conv2D(4, 3, padding="same", activation="relu"),
        k.MaxPooling2D(2),
        k.Conv2D(6, 3, activation="relu"),
        k.GlobalAveragePooling2D(),
        k.Dense(3),
    ]
    return keras(e, layers, 2, 8, 8, 3)


@case(MODELS)
def keras_batch_norm(e):
    return keras(e, lambda k: [k.Conv2D(4, 3, strides=2), k.BatchNormalization(), k.ReLU(), k.AveragePooling2D(2), k.Flatten()], 2, 9, 9, 2)


@case(MODELS)
def keras_separable(e):
    return keras(e, lambda k: [k.DepthwiseConv2D(3, padding="same"), k.SeparableConv2D(4, 3), k.Flatten()], 2, 6, 6, 2)


@case(MODELS)
def keras_conv1d(e):
    return keras(e, lambda k: [k.Conv1D(4, 3, padding="causal"), k.MaxPooling1D(2), k.Flatten()], 2, 8, 3)


@case(MODELS)
def keras_transpose(e):
    return keras(e, lambda k: [k.Conv2DTranspose(3, 3, strides=2, padding="same"), k.UpSampling2D(2)], 1, 3, 3, 2)


@case(MODELS)
def keras_layer_norm(e):
    return keras(e, lambda k: [k.Dense(8), k.LayerNormalization(), k.Dropout(0.5), k.Dense(2)], 4, 6)


@case(MODELS)
def keras_transformer(e):
    def build(k):
        x = tf.keras.Input((5, 8))
        y = k.LayerNormalization()(x)
        y = x + k.MultiHeadAttention(2, 4)(y, y, use_causal_mask=True)
        z = k.LayerNormalization()(y)
        z = y + k.Dense(8)(k.Dense(16, "gelu")(z))
        return tf.keras.Model(x, k.Dense(3)(z))

    return keras(e, build, 2, 5, 8)


@case(MODELS)
def keras_residual(e):
    def build(k):
        x = tf.keras.Input((6, 6, 4))
        y = k.Conv2D(4, 3, padding="same", use_bias=False)(x)
        y = k.BatchNormalization()(y)
        y = k.Add()([x, k.Activation("swish")(y)])
        y = k.ZeroPadding2D(1)(y)
        return tf.keras.Model(x, k.GlobalMaxPooling2D()(y))

    return keras(e, build, 2, 6, 6, 4)
