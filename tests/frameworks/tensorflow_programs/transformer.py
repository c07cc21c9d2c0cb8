"""Transformer encoder block for sequence tagging, as in the Keras examples, under tf.function."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(31)


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim // num_heads)
        self.ffn = keras.Sequential([layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)])
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = layers.Dropout(rate)
        self.dropout2 = layers.Dropout(rate)

    def call(self, inputs, training=False):
        attn_output = self.att(inputs, inputs, use_causal_mask=True)
        attn_output = self.dropout1(attn_output, training=training)
        out1 = self.layernorm1(inputs + attn_output)
        ffn_output = self.ffn(out1)
        ffn_output = self.dropout2(ffn_output, training=training)
        return self.layernorm2(out1 + ffn_output)


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(vocab_size, embed_dim)
        self.pos_emb = layers.Embedding(maxlen, embed_dim)

    def call(self, x):
        positions = tf.range(start=0, limit=tf.shape(x)[-1], delta=1)
        return self.token_emb(x) + self.pos_emb(positions)


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = TokenAndPositionEmbedding(6, 15, 8)
        self.block = TransformerBlock(8, 2, 16)
        self.classify = layers.Dense(4)

    def call(self, tokens, training=False):
        return self.classify(self.block(self.embedding(tokens), training=training))


model = Tagger()
optimizer = keras.optimizers.Adam(5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
tokens = np.random.randint(0, 15, (4, 6))
tags = tokens % 4


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    return loss, [tf.convert_to_tensor(g) for g in grads]


for step in range(3):
    loss, grads = train_step(tokens, tags)
    if step == 0:
        for v, g in zip(model.trainable_weights, grads):
            g = g.numpy().astype(np.float64)
            print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))
    print("step", step, "loss", float(loss))
