"""CNN with batch normalisation and augmentation layers, trained by a loop that is not compiled."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

tf.keras.utils.set_random_seed(23)


def build(num_classes=3):
    inputs = layers.Input(shape=(10, 10, 3))
    x = layers.Rescaling(1.0 / 255)(inputs)
    x = layers.Conv2D(6, (3, 3), padding="same", use_bias=False, name="stem")(x)
    x = layers.BatchNormalization(name="bn")(x)
    x = layers.ReLU()(x)
    x = layers.MaxPooling2D((2, 2))(x)
    x = layers.SeparableConv2D(8, (3, 3), activation="relu", name="sep")(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.25)(x)
    outputs = layers.Dense(num_classes, name="classifier")(x)
    return models.Model(inputs, outputs)


model = build()
images = tf.random.uniform((8, 10, 10, 3), maxval=255.0)
images = tf.image.flip_left_right(images)
labels = tf.one_hot(tf.constant([0, 1, 2, 0, 1, 2, 0, 1]), 3)
cce = tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)
opt = tf.keras.optimizers.SGD(learning_rate=0.1, momentum=0.9, nesterov=True)

for epoch in range(2):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        loss = cce(labels, logits)
    grads = tape.gradient(loss, model.trainable_weights)
    if epoch == 0:
        for v, g in zip(model.trainable_weights, grads):
            g = g.numpy().astype("float64")
            print("grad", v.path, float(g.sum()), float(np.linalg.norm(g)))
    opt.apply_gradients(zip(grads, model.trainable_weights))
    print(f"epoch {epoch} loss {float(loss)!r}")
print("moving mean", float(tf.reduce_sum(model.get_layer("bn").moving_mean)))
print("accuracy", float(tf.reduce_mean(tf.keras.metrics.categorical_accuracy(labels, model(images)))))
