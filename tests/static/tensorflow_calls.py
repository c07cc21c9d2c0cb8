"""Calls as programs of TensorFlow 1 write them, to be evaluated by TensorFlow and by graphscope.static alike."""

from __future__ import annotations

from typing import Final

GIVEN: Final = """
m = tf.constant([[1.0, -2.0, 3.0], [4.0, 5.0, -6.5]], name="m")
v = tf.constant([0.5, -1.0, 2.0])
w = tf.constant([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]])
p = tf.constant([[0.5, 2.0], [3.0, 0.25]])
q = tf.constant([[2.0, 3.0], [1.5, 4.0]])
i = tf.constant([[3, -4], [5, 7]])
j = tf.constant([[2, 3], [-2, 7]])
k = tf.constant([2, 0, 1])
b = tf.constant([[True, False], [False, True]])
c = tf.constant([[True, True], [False, False]])
d = tf.constant(np.array([[0.25, -1.5], [2.5, 3.5]]))
u = tf.constant(np.array([1, 200, 255], dtype=np.uint8))
t = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
img = tf.constant(np.sin(np.arange(2 * 5 * 6 * 3)).astype(np.float32).reshape(2, 5, 6, 3))
ker = tf.constant(np.cos(np.arange(3 * 3 * 3 * 2)).astype(np.float32).reshape(3, 3, 3, 2))
x = tf.placeholder(tf.float32, [None, 3], name="x")
n = tf.placeholder(tf.int32, [], name="n")
"""
"""Names that the calls use; `x` is fed an array of 4 rows, `n` is fed 3."""

CALLS: Final = {
    "making": """
tf.constant(3)
tf.constant(3.5)
tf.constant([1, 2, 3])
tf.constant([1, 2.5])
tf.constant([True, False])
tf.constant(0.5, tf.float64)
tf.constant(7, tf.float32, [2, 3])
tf.constant(7, shape=[2, 2])
tf.constant([1, 2, 3, 4], shape=[2, 2])
tf.constant([1, 2], shape=[4])
tf.constant(np.arange(3))
tf.constant(np.float64(2))
tf.constant(np.arange(3), dtype=tf.int32)
tf.constant([1.5, 2.5], dtype=tf.int32)
tf.constant(1, tf.bool)
tf.constant("word")
tf.zeros([2, 3])
tf.zeros((3,), tf.int32)
tf.zeros(4)
tf.zeros([])
tf.zeros([n, 2])
tf.zeros(tf.shape(x))
tf.zeros([2], dtype=tf.bool)
tf.ones([2, 2])
tf.ones(3, dtype=tf.int64)
tf.ones_like(m)
tf.ones_like(i)
tf.ones_like(i, tf.float32)
tf.zeros_like(m)
tf.zeros_like([1, 2])
tf.zeros_like(x, dtype=tf.int32)
tf.fill([2, 3], 9)
tf.fill([2], 0.5)
tf.fill([n], 1.0)
tf.range(5)
tf.range(2, 9)
tf.range(2, 9, 3)
tf.range(5.0)
tf.range(0, 1, 0.25)
tf.range(limit=4)
tf.range(10, 0, -3)
tf.range(n)
tf.range(3, dtype=tf.float32)
tf.linspace(0.0, 1.0, 5)
tf.linspace(0.0, 1.0, num=3)
tf.lin_space(10.0, 12.0, 3)
tf.eye(3)
tf.eye(2, 3)
tf.eye(2, batch_shape=[2])
tf.eye(2, dtype=tf.int32)
tf.diag([1.0, 2.0])
tf.convert_to_tensor([1.0, 2.0])
tf.convert_to_tensor(5, dtype=tf.float32)
tf.convert_to_tensor(m)
tf.convert_to_tensor(m, dtype=tf.int32)
tf.identity(m)
tf.identity([1, 2])
tf.placeholder_with_default([1.0, 2.0], [2])
tf.placeholder_with_default(3, shape=[])
tf.one_hot([0, 2, 1], 3)
tf.one_hot([0, 2], depth=3, on_value=5.0, off_value=-1.0)
tf.one_hot([0, -1, 3], 3)
tf.one_hot(k, 4, dtype=tf.int32)
tf.one_hot(k, 4, axis=0)
tf.one_hot(k, 3, 1, 0)
tf.one_hot([[0, 1], [1, 0]], 2, axis=1)
tf.sequence_mask([1, 3, 2], 5)
tf.sequence_mask([1, 2])
tf.sequence_mask([1, 2], 3, tf.float32)
tf.meshgrid([1, 2, 3], [4, 5])
tf.meshgrid([1, 2, 3], [4, 5], indexing="ij")
tf.complex(p, q)
tf.zeros_initializer()([2, 2])
tf.ones_initializer()([2])
tf.constant_initializer(3.0)([2])
tf.ones_initializer(tf.int32)([2])
""",
    "dtypes": """
tf.cast(m, tf.int32)
tf.cast([1.7, -1.7], tf.int64)
tf.cast(b, tf.float32)
tf.cast(i, tf.bool)
tf.cast(u, tf.float32)
tf.cast(m, "float64")
tf.to_float(i)
tf.to_int32(m)
tf.to_int64(m)
tf.to_double(i)
tf.saturate_cast([300.0, -5.0], tf.uint8)
tf.bitcast(tf.constant([1.0]), tf.int32)
tf.as_dtype("float32")
tf.as_dtype("float32").name
tf.float32.name
tf.float32.as_numpy_dtype
tf.float32.is_floating
tf.int32.is_integer
tf.int64.max
tf.float32.size
m.dtype == tf.float32
m.dtype.name
i.dtype == tf.int32
tf.string
""",
    "arithmetic": """
m + 1
m + 1.5
1 - m
i + 1
i + 1.5
i + m[:, :2]
m + d
m * 2
2 * i
m / 2
i / 2
i / j
i // j
m // 2.0
i % j
m % 2.0
-m
abs(m)
m ** 2
i ** 2
2.0 ** m
m @ w
p < q
p <= 2.0
p > q
i >= 5
b & c
b | c
b ^ c
~b
u + u
u / u
tf.add(m, 1.0)
tf.add(1, 2)
tf.add(m, v)
tf.add(i, 2.5)
tf.add(2, m)
tf.add(x, v, "sum")
tf.subtract(m, v)
tf.sub(m, v)
tf.multiply(m, v)
tf.mul(m, v)
tf.divide(i, j)
tf.divide(5, 2)
tf.div(i, j)
tf.div(m, 2.0)
tf.div(7, -2)
tf.truediv(i, j)
tf.realdiv(m, 2.0)
tf.floordiv(i, j)
tf.floor_div(i, j)
tf.truncatediv(i, j)
tf.truncatemod(i, j)
tf.mod(i, j)
tf.floormod(m, 2.0)
tf.div_no_nan(p, [[0.0, 1.0], [2.0, 0.0]])
tf.multiply_no_nan(p, [[0.0, 1.0], [2.0, 0.0]])
tf.scalar_mul(2.0, m)
tf.add_n([p, q, p])
tf.accumulate_n([p, q])
tf.pow(p, 2.0)
tf.pow(i, 2)
tf.pow(p, q)
tf.abs(m)
tf.abs(i)
tf.negative(m)
tf.neg(m)
tf.sign(m)
tf.sign(i)
tf.reciprocal(p)
tf.square(m)
tf.square(i)
tf.sqrt(p)
tf.sqrt(i)
tf.rsqrt(p)
tf.exp(m)
tf.exp([1, 2])
tf.expm1(v)
tf.log(p)
tf.log1p(p)
tf.ceil(d)
tf.floor(m)
tf.rint([0.5, 1.5, 2.5, -0.5])
tf.round([0.5, 1.5, 2.5, -0.5])
tf.round(i)
tf.maximum(m, 0.0)
tf.maximum(i, j)
tf.minimum(p, q)
tf.minimum(m, 1)
tf.cos([1.0])
tf.cos(0.5)
tf.sin(m)
tf.tan(v)
tf.acos([0.5])
tf.asin([0.5])
tf.atan(m)
tf.atan2(p, q)
tf.cosh(v)
tf.sinh(v)
tf.tanh(m)
tf.asinh(v)
tf.acosh([1.5])
tf.atanh([0.5])
tf.sigmoid(m)
tf.lgamma(p)
tf.digamma(p)
tf.erf(v)
tf.erfc(v)
tf.igamma(p, q)
tf.zeta(q, p)
tf.squared_difference(p, q)
tf.squared_difference(m, 1.0)
tf.real(tf.complex(p, q))
tf.imag(tf.complex(p, q))
tf.conj(tf.complex(p, q))
tf.angle(tf.complex(p, q))
tf.math.log(p)
tf.math.add(p, q)
tf.math.ceil(d)
tf.math.softplus(v)
tf.math.reduce_sum(m, 1)
tf.math.argmax(m, 1)
tf.math.xlogy(p, q)
tf.math.log_sigmoid(v)
tf.math.divide_no_nan(p, q)
tf.math.erfinv([0.5])
tf.bitwise.bitwise_and(i, j)
tf.bitwise.invert(i)
""",
    "logic": """
tf.equal(i, [[3, 3], [5, 5]])
tf.equal(m, 1.0)
tf.equal(b, c)
tf.equal(m, i)
tf.not_equal(i, j)
tf.less(p, q)
tf.less(i, 5)
tf.less_equal(p, 2.0)
tf.greater(p, q)
tf.greater_equal(i, j)
tf.less(i, 2.5)
tf.logical_and(b, c)
tf.logical_or(b, c)
tf.logical_not(b)
tf.logical_xor(b, c)
tf.logical_and(i, j)
tf.is_nan([1.0, np.nan])
tf.is_inf([1.0, np.inf])
tf.is_finite([1.0, np.inf])
tf.is_nan(i)
tf.where(b, p, q)
tf.where(b)
tf.where([True, False, True])
tf.where(tf.constant([True, False]), p, q)
tf.where(tf.constant([[True], [False]]), p, q)
tf.where(b, i, j)
tf.where(b, p, i)
tf.where(p > 1.0)
tf.where(b, x=p, y=q)
tf.reduce_all(b)
tf.reduce_any(b, 1)
m == m
m != m
m in [v, m]
b and c
""",
    "reductions": """
tf.reduce_sum(m)
tf.reduce_sum(m, 0)
tf.reduce_sum(m, axis=1)
tf.reduce_sum(m, [0, 1])
tf.reduce_sum(m, 1, True)
tf.reduce_sum(m, 1, keep_dims=True)
tf.reduce_sum(m, axis=-1, keepdims=True)
tf.reduce_sum(m, reduction_indices=[1])
tf.reduce_sum(m, keepdims=True)
tf.reduce_sum(i)
tf.reduce_sum(u)
tf.reduce_sum(b)
tf.reduce_sum(m, 1, False, "total")
tf.reduce_sum([1.0, 2.0])
tf.reduce_sum(m, [])
tf.reduce_sum(m, 2)
tf.reduce_mean(m)
tf.reduce_mean(i)
tf.reduce_mean(i, 0)
tf.reduce_mean([1, 2, 2])
tf.reduce_mean(m, 0)
tf.reduce_mean(x, 0)
tf.reduce_mean(d, axis=[0, 1], keepdims=True)
tf.reduce_mean(tf.cast(tf.equal(tf.argmax(m, 1), [2, 0]), tf.float32))
tf.reduce_max(m)
tf.reduce_max(m, 1)
tf.reduce_max(i, [0])
tf.reduce_max(t, [0, 2])
tf.reduce_min(m, 0, True)
tf.reduce_min(i)
tf.reduce_prod(p)
tf.reduce_prod(i, 1)
tf.reduce_prod(t[:1, :2, 1:3], [1, 2])
tf.reduce_all(b, 0)
tf.reduce_all(b, [0, 1], keepdims=True)
tf.reduce_any(b)
tf.reduce_logsumexp(m, 1)
tf.reduce_logsumexp(m)
tf.reduce_euclidean_norm(p)
tf.math.reduce_std(m)
tf.math.reduce_variance(m, 1)
tf.math.reduce_std(i)
tf.argmax(m)
tf.argmax(m, 1)
tf.argmax(m, axis=-1)
tf.argmax(m, dimension=1)
tf.argmax(m, 0, output_type=tf.int32)
tf.argmax(i, 1)
tf.argmax([1.0, 3.0, 3.0])
tf.argmin(m)
tf.argmin(m, 1)
tf.argmin(t, 2)
tf.arg_max(m, 1)
tf.cumsum(m)
tf.cumsum(m, 1)
tf.cumsum(v, exclusive=True)
tf.cumsum(v, reverse=True)
tf.cumsum(v, 0, True, True)
tf.cumsum(i, 1)
tf.cumprod(v)
tf.cumprod(m, axis=1, exclusive=True)
tf.count_nonzero(i)
tf.count_nonzero([[0.0, 1.0], [2.0, 0.0]], 1)
tf.count_nonzero(b, dtype=tf.int32)
tf.norm(m)
tf.norm(m, axis=1)
tf.norm(m, ord=1)
tf.norm(m, ord=np.inf, axis=1, keepdims=True)
tf.global_norm([p, q])
tf.segment_sum(tf.constant([[1.0], [2.0], [3.0]]), [0, 0, 1])
tf.segment_mean(tf.constant([1.0, 2.0, 6.0]), [0, 0, 1])
tf.unsorted_segment_sum(v, [1, 0, 1], 2)
tf.bincount([1, 2, 2, 5])
tf.nn.moments(m, [0])
tf.nn.moments(m, axes=[0, 1], keep_dims=True)
tf.nn.moments(i, [0])
tf.nn.l2_loss(m)
tf.nn.zero_fraction([0.0, 1.0, 0.0])
""",
    "shapes": """
tf.shape(m)
tf.shape(x)
tf.shape(x)[0]
tf.shape(x, out_type=tf.int64)
tf.shape([1, 2])
tf.shape_n([m, v])
tf.size(m)
tf.size(x)
tf.size(m, out_type=tf.int64)
tf.rank(m)
tf.rank(5)
m.shape
m.get_shape()
m.get_shape().as_list()
x.get_shape().as_list()
x.shape.as_list()
m.shape[0]
m.shape.ndims
m.get_shape().ndims
int(m.get_shape()[1])
x.shape.is_fully_defined()
m.shape.num_elements()
len(m.shape)
tf.TensorShape([None, 3]).as_list()
tf.reshape(m, [3, 2])
tf.reshape(m, [-1])
tf.reshape(m, (-1, 2))
tf.reshape(m, [6, -1])
tf.reshape(x, [-1, 1, 3])
tf.reshape(x, tf.shape(x))
tf.reshape(x, [tf.shape(x)[0], 3, 1])
tf.reshape(m, [4, 2])
tf.reshape(5.0, [1, 1])
tf.reshape(tensor=m, shape=[6])
tf.transpose(m)
tf.transpose(t)
tf.transpose(t, [1, 0, 2])
tf.transpose(t, perm=[0, 2, 1])
tf.matrix_transpose(t)
tf.expand_dims(v, 0)
tf.expand_dims(v, -1)
tf.expand_dims(v, axis=1)
tf.expand_dims(v, dim=0)
tf.expand_dims([1, 2], 0)
tf.squeeze([[[1.0], [2.0]]])
tf.squeeze(t[:1], [0])
tf.squeeze(t[:1], axis=0)
tf.squeeze(t[:1], squeeze_dims=[0])
tf.squeeze(m, 0)
tf.concat([p, q], 0)
tf.concat([p, q], axis=1)
tf.concat([m, x], 0)
tf.concat([[1, 2], [3]], 0)
tf.concat(1, [p, q])
tf.concat([p, i], 0)
tf.concat(values=[p, q], axis=-1)
tf.stack([v, v])
tf.stack([v, v], axis=1)
tf.stack([1, 2, 3])
tf.stack([n, 2])
tf.pack([v, v])
tf.parallel_stack([v, v])
tf.unstack(m)
tf.unstack(m, axis=1)
tf.unstack(m, 2)
tf.unstack(t, num=3, axis=1)
tf.split(t, 3, 1)
tf.split(m, 2)
tf.split(t, [1, 3], 2)
tf.split(m, num_or_size_splits=3, axis=1)
tf.split(t, [1, -1], 2)
tf.split(1, 3, m)
tf.split(m, 4, 1)
tf.tile(v, [2])
tf.tile(m, [2, 1])
tf.tile(tf.expand_dims(v, 0), [3, 2])
tf.tile(m, [n, 1])
tf.tile(m, [2])
tf.repeat([1, 2], 2)
tf.repeat(m, [1, 2], axis=0)
tf.pad(m, [[1, 0], [0, 2]])
tf.pad(m, [[1, 1], [2, 2]], "CONSTANT", constant_values=9)
tf.pad(m, [[1, 1], [1, 1]], "REFLECT")
tf.pad(m, [[1, 1], [1, 1]], mode="SYMMETRIC")
tf.pad(x, [[0, 1], [1, 0]])
tf.slice(m, [0, 1], [2, 2])
tf.slice(m, [0, 1], [-1, 1])
tf.slice(t, [1, 0, 2], [1, 3, 2])
tf.strided_slice(v, [0], [3], [2])
tf.strided_slice(v, [0], [2])
tf.reverse(v, [0])
tf.reverse(m, axis=[0, 1])
tf.reverse(m, [-1])
tf.reverse_v2(v, [0])
tf.reverse_sequence(m, [2, 3], 1)
tf.roll(v, 1, 0)
tf.roll(m, shift=[1, 1], axis=[0, 1])
tf.broadcast_to(v, [2, 3])
tf.broadcast_static_shape(m.shape, v.shape)
tf.space_to_depth(tf.reshape(t, [1, 2, 4, 3]), 2)
tf.depth_to_space(tf.reshape(t, [1, 2, 3, 4]), 2)
tf.ensure_shape(m, [2, 3])
tf.matrix_band_part(tf.ones([3, 3]), -1, 0)
tf.matrix_band_part(tf.ones([3, 3]), 0, 1)
tf.invert_permutation([2, 0, 1])
m[0]
m[:, 1]
m[1, -1]
m[..., 0]
m[:, tf.newaxis]
m[::-1]
v[::2]
m[0:n]
v[n - 2]
x[:, :2]
x[-1]
t[1, :, 2:4]
t[:, tf.newaxis, ..., 0]
m[5]
v[b]
m[[0, 1]]
""",
    "gathering": """
tf.gather(m, 1)
tf.gather(m, [1, 0])
tf.gather(m, [[0], [1]])
tf.gather(m, [2, 0], axis=1)
tf.gather(t, [1, 0], axis=-1)
tf.gather(m, k[:1])
tf.gather(m, tf.constant([1], tf.int64))
tf.gather(m, [5])
tf.gather(t, [[0, 1], [2, 0]], batch_dims=1)
tf.gather_nd(m, [[0, 1], [1, 2]])
tf.gather_nd(t, [[0], [1]])
tf.gather_nd(t, [[[0, 1]], [[1, 2]]])
tf.batch_gather(m, [[0], [2]])
tf.boolean_mask(v, [True, False, True])
tf.boolean_mask(m, [True, False])
tf.boolean_mask(p, b)
tf.boolean_mask(m, [True, False, True], axis=1)
tf.scatter_nd([[1], [3]], [9.0, 8.0], [5])
tf.scatter_nd([[0], [0]], [1.0, 2.0], [2])
tf.scatter_nd([[0, 1], [1, 0]], [1, 2], [2, 2])
tf.tensor_scatter_nd_update(v, [[0]], [9.0])
tf.tensor_scatter_update(v, [[0], [2]], [9.0, 8.0])
tf.tensor_scatter_add(v, [[0], [0]], [1.0, 2.0])
tf.dynamic_partition(v, [0, 1, 0], 2)
tf.dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]])
tf.unique([1, 3, 1, 2])
tf.unique_with_counts([1, 3, 1, 2])
tf.setdiff1d([1, 2, 3], [2])
tf.searchsorted([1.0, 2.0, 3.0], [1.5, 2.0])
tf.sort([3.0, 1.0, 2.0])
tf.sort(m, axis=0, direction="DESCENDING")
tf.argsort([3.0, 1.0, 2.0])
tf.argsort(m, direction="DESCENDING")
tf.nn.top_k(m, 2)
tf.nn.top_k(v)
tf.math.top_k(m, k=2)
tf.nn.in_top_k(m, [2, 0], 1)
tf.nn.embedding_lookup(w, [0, 2, 0])
tf.nn.embedding_lookup(w, [[0, 1], [2, 2]])
tf.confusion_matrix([0, 1, 1], [0, 1, 0])
""",
    "clipping": """
tf.clip_by_value(m, -1.0, 1.0)
tf.clip_by_value(m, 0, 2)
tf.clip_by_value(i, 0, 4)
tf.clip_by_value(t=m, clip_value_min=-1.0, clip_value_max=1.0)
tf.clip_by_norm(m, 1.0)
tf.clip_by_norm(m, 100.0)
tf.clip_by_norm(m, 1.0, axes=[1])
tf.clip_by_average_norm(m, 0.5)
tf.clip_by_global_norm([p, q], 1.0)
tf.clip_by_global_norm([p, None, q], 100.0)
tf.verify_tensor_all_finite(m, "not finite")
tf.check_numerics(m, "not finite")
tf.nn.l2_normalize(m, 1)
tf.nn.l2_normalize(m, axis=0)
tf.nn.l2_normalize(v, dim=0)
tf.nn.l2_normalize([0.0, 0.0], 0)
""",
    "products": """
tf.matmul(m, w)
tf.matmul(m, m, transpose_b=True)
tf.matmul(m, m, True)
tf.matmul(m, m, False, True)
tf.matmul(t, tf.transpose(t, [0, 2, 1]))
tf.matmul(t, t, adjoint_b=True)
tf.matmul(i, j)
tf.matmul(m, v)
tf.matmul(m, m)
tf.matmul(m, d)
tf.matmul(x, w)
tf.batch_matmul(t, t)
tf.linalg.matmul(m, w)
tf.linalg.matvec(m, v)
tf.tensordot(m, w, 1)
tf.tensordot(t, t, [[0, 1], [0, 1]])
tf.tensordot(v, v, axes=0)
tf.einsum("ij,jk->ik", m, w)
tf.einsum("bij,bkj->bik", t, t)
tf.einsum("ii", p)
tf.matrix_inverse(p)
tf.linalg.inv(q)
tf.matrix_determinant(p)
tf.linalg.det(q)
tf.cholesky([[2.0, 0.5], [0.5, 1.0]])
tf.linalg.cholesky([[2.0, 0.5], [0.5, 1.0]])
tf.matrix_solve(p, q)
tf.linalg.solve(p, q)
tf.matrix_triangular_solve([[2.0, 0.0], [0.5, 1.0]], q)
tf.self_adjoint_eigvals([[2.0, 0.5], [0.5, 1.0]])
tf.svd(p, compute_uv=False)
tf.qr(p)
tf.trace(p)
tf.linalg.trace(p)
tf.diag_part(p)
tf.matrix_diag(v)
tf.matrix_diag_part(p)
tf.linalg.diag([1.0, 2.0])
tf.linalg.diag_part(p)
tf.matrix_set_diag(p, [9.0, 8.0])
tf.linalg.norm(m)
tf.linalg.band_part(tf.ones([3, 3]), 1, 0)
tf.linalg.eye(2)
tf.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
tf.fft(tf.complex(v, v))
""",
    "activations": """
tf.nn.relu(m)
tf.nn.relu(i)
tf.nn.relu6([-1.0, 3.0, 9.0])
tf.nn.elu(m)
tf.nn.selu(m)
tf.nn.leaky_relu(m)
tf.nn.leaky_relu(m, 0.1)
tf.nn.leaky_relu(m, alpha=0.3)
tf.nn.crelu(v)
tf.nn.sigmoid(m)
tf.nn.tanh(m)
tf.nn.softplus(v)
tf.nn.softsign(v)
tf.nn.swish(v)
tf.nn.silu(v)
tf.nn.gelu(v)
tf.nn.gelu(v, approximate=True)
tf.nn.softmax(m)
tf.nn.softmax(m, 0)
tf.nn.softmax(m, axis=0)
tf.nn.softmax(logits=m, dim=1)
tf.nn.softmax(i)
tf.nn.log_softmax(m)
tf.nn.log_softmax(m, axis=0)
tf.log_sigmoid(v)
tf.sigmoid(i)
tf.nn.softplus([1, 2])
tf.nn.dropout(m, 1.0)
tf.nn.dropout(m, keep_prob=1.0)
tf.nn.dropout(m, rate=0.0)
tf.nn.dropout(tf.zeros([3]), 0.5)
tf.reduce_max(tf.nn.dropout(tf.ones([1000]), 0.25))
tf.reduce_max(tf.nn.dropout(tf.ones([1000]), rate=0.75))
tf.nn.dropout(m, 0.0)
tf.nn.dropout(m)
""",
    "layers": """
tf.nn.bias_add(m, v)
tf.nn.bias_add(img, v)
tf.nn.bias_add(m, [1.0, 2.0])
tf.nn.xw_plus_b(m, w, [1.0, 2.0])
tf.nn.relu_layer(m, w, [1.0, 2.0])
tf.nn.conv2d(img, ker, [1, 1, 1, 1], "SAME")
tf.nn.conv2d(img, ker, [1, 1, 1, 1], "VALID")
tf.nn.conv2d(img, ker, strides=[1, 2, 2, 1], padding="SAME")
tf.nn.conv2d(img, ker, strides=[1, 2, 2, 1], padding="VALID")
tf.nn.conv2d(img, filter=ker, strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 2, 2, 1])
tf.nn.conv2d(img, ker, 2, "SAME")
tf.nn.conv2d(img, ker[:2, :2], [1, 1, 1, 1], "SAME")
tf.nn.conv2d(img, ker, [1, 1, 1, 1], "same")
tf.nn.conv2d(img, ker)
tf.nn.conv1d(t, tf.ones([2, 4, 5]), 1, "SAME")
tf.nn.conv1d(t, tf.ones([2, 4, 5]), stride=2, padding="VALID")
tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 2]), tf.ones([3, 3, 1, 2]), [1, 4, 4, 1], [1, 2, 2, 1], "SAME")
tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 2]), tf.ones([3, 3, 1, 2]), [1, 5, 5, 1], [1, 2, 2, 1], "VALID")
tf.nn.depthwise_conv2d(img, ker, [1, 1, 1, 1], "SAME")
tf.nn.separable_conv2d(img, ker, tf.ones([1, 1, 6, 2]), [1, 1, 1, 1], "SAME")
tf.nn.max_pool(img, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
tf.nn.max_pool(img, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
tf.nn.max_pool(img, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="SAME")
tf.nn.max_pool2d(img, 2, 2, "VALID")
tf.nn.avg_pool(img, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
tf.nn.avg_pool(img, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
tf.nn.lrn(img)
tf.nn.lrn(img, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
tf.nn.local_response_normalization(img, depth_radius=2)
tf.nn.batch_normalization(m, [0.0, 1.0, 0.5], [1.0, 2.0, 3.0], v, v, 0.001)
tf.nn.batch_normalization(m, 0.0, 1.0, None, None, variance_epsilon=0.1)
tf.nn.fused_batch_norm(img, tf.ones([3]), tf.zeros([3]))[0]
tf.layers.flatten(img)
tf.layers.max_pooling2d(img, 2, 2)
tf.layers.average_pooling2d(img, [2, 2], [2, 2], padding="same")
tf.layers.dropout(m, 0.5)
tf.layers.dropout(m, rate=0.5, training=False)
tf.layers.dense(m, 4, kernel_initializer=tf.ones_initializer())
tf.layers.dense(m, 2, tf.nn.relu, False, tf.constant_initializer(0.5))
tf.layers.dense(inputs=m, units=2, activation=tf.nn.tanh, kernel_initializer=tf.ones_initializer(), name="fc")
tf.layers.dense(t, 2, kernel_initializer=tf.ones_initializer())
tf.layers.conv2d(img, 2, 3, kernel_initializer=tf.ones_initializer())
tf.layers.conv2d(img, 2, [3, 3], 2, "same", activation=tf.nn.relu, kernel_initializer=tf.ones_initializer())
tf.layers.batch_normalization(m, training=True)
tf.layers.batch_normalization(m)
tf.image.resize_nearest_neighbor(img, [10, 12])
tf.image.resize_images(img, [10, 12])
tf.nn.rnn_cell.BasicLSTMCell(4)
tf.nn.dynamic_rnn
tf.nn.static_rnn
tf.nn.bidirectional_dynamic_rnn
tf.nn.nce_loss
tf.nn.sampled_softmax_loss
tf.nn.ctc_loss
tf.contrib.layers.fully_connected(m, 2)
tf.extract_image_patches(img, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
""",
    "losses": """
tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], logits=m)
tf.nn.softmax_cross_entropy_with_logits_v2([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], m)
tf.nn.softmax_cross_entropy_with_logits(m, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
tf.nn.softmax_cross_entropy_with_logits(logits=m, labels=tf.one_hot([1, 2], 3), dim=0)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=m)
tf.nn.sparse_softmax_cross_entropy_with_logits(logits=m, labels=tf.constant([2, 0], tf.int64))
tf.nn.sparse_softmax_cross_entropy_with_logits(m, [2, 0])
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1, 0, 3], [0, 2, 2]], logits=t)
tf.nn.sigmoid_cross_entropy_with_logits(labels=p, logits=q)
tf.nn.sigmoid_cross_entropy_with_logits(logits=p, labels=[[0.0, 1.0], [1.0, 0.0]])
tf.nn.sigmoid_cross_entropy_with_logits(p, q)
tf.nn.weighted_cross_entropy_with_logits(targets=p, logits=q, pos_weight=2.0)
tf.nn.log_poisson_loss(p, q)
tf.losses.mean_squared_error(p, q)
tf.losses.mean_squared_error(labels=p, predictions=q, weights=0.5)
tf.losses.absolute_difference(p, q)
tf.losses.log_loss([[0.0, 1.0]], [[0.25, 0.75]])
tf.losses.huber_loss(p, q)
tf.losses.hinge_loss([[0.0, 1.0]], [[0.5, 2.0]])
tf.losses.sigmoid_cross_entropy([[0.0, 1.0]], [[0.5, 2.0]])
tf.losses.softmax_cross_entropy(tf.one_hot([1, 2], 3), m)
tf.losses.softmax_cross_entropy(onehot_labels=tf.one_hot([1, 2], 3), logits=m)
tf.losses.sparse_softmax_cross_entropy([1, 2], m)
tf.losses.sparse_softmax_cross_entropy(labels=[1, 2], logits=m)
tf.losses.get_total_loss()
tf.metrics.accuracy([1, 0], [1, 1])
""",
    "random": """
tf.shape(tf.random_normal([3, 2]))
tf.random_normal([2], 5.0, 0.0)
tf.random_normal([2], mean=1.0, stddev=0.0, dtype=tf.float64)
tf.shape(tf.random_normal(tf.shape(x)))
tf.random_uniform([2], 3.0, 3.0)
tf.random_uniform([3], 2, 3, tf.int32)
tf.random_uniform([2], maxval=1, dtype=tf.int32)
tf.random_uniform([2], dtype=tf.int32)
tf.shape(tf.random_uniform([tf.shape(x)[0], 2]))
tf.truncated_normal([2], 1.0, 0.0)
tf.random.normal([2], 1.0, 0.0)
tf.random.uniform([2], 3.0, 3.0)
tf.random.truncated_normal([2], mean=1.0, stddev=0.0)
tf.shape(tf.random_shuffle(m))
tf.reduce_sum(tf.random_shuffle(v))
tf.shape(tf.multinomial(tf.log([[0.5, 0.5]]), 4))
tf.multinomial([[0.0, -1000.0]], 3)
tf.shape(tf.random_gamma([3], 0.5))
tf.shape(tf.random_poisson(2.0, [3]))
tf.shape(tf.random_crop(img, [2, 2, 2, 3]))
tf.set_random_seed(1)
tf.random.set_random_seed(1)
""",
    "running": """
tf.gradients(tf.reduce_sum(m * m), m)
tf.gradients(m * m, [m])
tf.gradients([p * q, p], [p, q])
tf.gradients(p * q, p, grad_ys=[tf.ones([2, 2]) * 3.0])
tf.gradients(tf.stop_gradient(p) * p, p)
tf.gradients(p, q)
tf.gradients(p * q, p, stop_gradients=[q])
tf.gradients(tf.gradients(p ** 3.0, p)[0], p)
tf.gradients(tf.reduce_max(tf.constant([1.0, 3.0, 3.0])), tf.constant([1.0]))
tf.gradients(tf.gather(w, [0, 0, 2]), w)
tf.gradients(tf.nn.relu(m), m)
tf.gradients(tf.abs(m), m)
tf.gradients(tf.sqrt(p), p)
tf.gradients(tf.norm(m), m)
tf.gradients(tf.nn.softmax(m)[0, 0], m)
tf.gradients(tf.nn.conv2d(img, ker, [1, 2, 2, 1], "SAME"), ker)
tf.gradients(tf.nn.max_pool(img, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), img)
tf.gradients(tf.reduce_sum(i), i)
tf.gradients(tf.maximum(p, p), p)
tf.gradients(tf.concat([p, q], 0), [p, q])
tf.gradients(tf.clip_by_value(m, -1.0, 1.0), m)
tf.gradients(tf.reduce_prod(v), v)
tf.hessians(tf.reduce_sum(v * v), v)
tf.stop_gradient(m)
tf.cond(tf.constant(True), lambda: p, lambda: q)
tf.cond(tf.less(1, 2), lambda: tf.add(p, 1.0), lambda: p)
tf.cond(n > 2, true_fn=lambda: p, false_fn=lambda: q)
tf.cond(n > 5, lambda: (p, q), lambda: (q, p))
tf.cond(n > 5, lambda: [p], lambda: [q])
tf.cond(n > 2, lambda: 1, lambda: 2)
tf.cond(n > 2, lambda: 1, lambda: 2.0)
tf.cond(True, lambda: p, lambda: q)
tf.case([(n > 5, lambda: p), (n > 2, lambda: q)], default=lambda: p + q)
tf.while_loop(lambda a: a < 10, lambda a: a * 2, [1])
tf.while_loop(lambda a, s: a < n, lambda a, s: [a + 1, s + 0.5], [0, 0.0])
tf.while_loop(lambda a: True, lambda a: a + 1, [0], maximum_iterations=3)
tf.while_loop(lambda a: a < 3, lambda a: a + 0.5, [0])
tf.map_fn(lambda row: row * 2.0, m)
tf.map_fn(lambda row: tf.reduce_sum(row), x)
tf.map_fn(lambda e: tf.cast(e, tf.float32), k, dtype=tf.float32)
tf.scan(lambda a, e: a + e, v)
tf.scan(lambda a, e: a * e, v, initializer=2.0)
tf.foldl(lambda a, e: a + e, v)
tf.foldr(lambda a, e: a - e, v)
tf.py_func(lambda a: a + 1, [m], tf.float32)
tf.py_func(np.sum, [v], tf.float32)
tf.py_func(lambda a: (a, a), [m], [tf.float32, tf.float32])
tf.numpy_function(lambda a: a + 1, [m], tf.float32)
tf.py_function(lambda a: a + 1, [m], tf.float32)
tf.Print(m, [m], "m: ")
tf.print(m)
tf.tuple([p, q])
tf.group(m, v)
tf.no_op()
tf.Assert(tf.reduce_all(p > 0.0), [p])
tf.assert_equal(m, m)
tf.assert_positive(p)
tf.assert_rank(m, 2)
tf.count_up_to(tf.Variable(0), 3)
tf.Variable(3.0)
tf.Variable([1, 2])
tf.Variable(tf.zeros([2]))
tf.Variable(1, dtype=tf.float32)
tf.Variable(m).shape
tf.Variable(2.0) * 3.0
tf.Variable(2.0).assign(5.0)
tf.assign(tf.Variable([1.0, 2.0]), [3.0, 4.0])
tf.assign_add(tf.Variable(2), 3)
tf.assign_sub(tf.Variable(2.0), 0.5)
tf.Variable([1.0, 2.0])[0]
tf.scatter_update(tf.Variable([1.0, 2.0, 3.0]), [0], [9.0])
tf.scatter_add(tf.Variable([1.0, 2.0, 3.0]), [0, 0], [9.0, 1.0])
tf.get_variable("a", [2], initializer=tf.ones_initializer())
tf.get_variable("a", initializer=tf.constant([1.0, 2.0]))
tf.get_variable("a", [2, 2], tf.float64, tf.zeros_initializer())
tf.get_variable("a", (), initializer=tf.constant_initializer(3.0))
tf.get_variable("a", 3, initializer=tf.constant_initializer([1.0, 2.0, 3.0]))
tf.get_variable("a", [2], initializer=tf.random_normal_initializer(1.0, 0.0))
tf.get_variable("a", [2], tf.int32)
tf.train.get_or_create_global_step()
tf.train.exponential_decay(0.1, tf.constant(3), 2, 0.5)
tf.train.exponential_decay(0.1, tf.constant(3), 2, 0.5, staircase=True)
tf.train.piecewise_constant(tf.constant(3), [2, 4], [1.0, 0.5, 0.1])
tf.train.polynomial_decay(0.1, tf.constant(3), 10)
tf.decode_raw("ab", tf.uint8)
tf.string_join(["a", "b"])
tf.as_string(m)
tf.summary.scalar("m", v[0])
tf.SparseTensor([[0, 0]], [1.0], [2, 2])
tf.placeholder("float", [None]).dtype
tf.flags.DEFINE_integer("a", 1, "a")
tf.gfile.Exists("a")
tf.data.Dataset.range(3)
tf.no_such_name
""",
    "names": """
m.name
x.name
m.op.name
m.op.type
x.op.type
tf.constant(1.0).name
tf.constant(1.0, name="one").op.name
tf.placeholder(tf.float32).name
tf.add(m, m).name
tf.add(m, m).op.type
(m + m).name
(m - m).name
(m * m).name
(m / m).name
(-m).name
(m > m).name
m[0].name
m[0].op.type
tf.matmul(m, w).name
tf.matmul(m, w).op.type
tf.matmul(m, w, name="product").name
tf.nn.relu(m).name
tf.nn.relu(m, name="h").name
tf.nn.softmax(m).name
tf.nn.softmax(m, name="probabilities").name
tf.nn.conv2d(img, ker, [1, 1, 1, 1], "SAME").name
tf.nn.conv2d(img, ker, [1, 1, 1, 1], "SAME", name="c1").op.type
tf.nn.max_pool(img, [1, 2, 2, 1], [1, 2, 2, 1], "SAME").name
tf.nn.bias_add(m, v).name
tf.nn.dropout(m, 0.5, name="drop").op.name
tf.reduce_mean(m).name
tf.reduce_mean(m, name="loss").name
tf.reduce_mean(m).op.type
tf.reduce_sum(m).op.type
tf.argmax(m, 1).name
tf.argmax(m, 1, name="predictions").name
tf.cast(m, tf.int32).name
tf.equal(i, j).name
tf.reshape(m, [6]).name
tf.transpose(m).name
tf.concat([p, q], 0).name
tf.stack([v, v]).name
tf.square(m).name
tf.sigmoid(m).name
tf.tanh(m).name
tf.exp(m).name
tf.log(p).name
tf.sqrt(p).name
tf.maximum(p, q).name
tf.identity(m, "same").name
tf.identity(m).name
tf.zeros([2]).name
tf.ones([2]).name
tf.one_hot([1], 2).name
tf.gather(m, [0]).name
tf.expand_dims(v, 0).name
tf.squeeze(m[:1]).name
tf.tile(v, [2]).name
tf.pad(m, [[1, 0], [0, 2]]).name
tf.where(b, p, q).name
tf.shape(m).name
tf.range(3).name
tf.split(t, 3, 1)[1].name
tf.unstack(m)[1].name
tf.nn.top_k(m, 2)[1].name
tf.clip_by_value(m, 0.0, 1.0).name
tf.nn.l2_loss(m).name
tf.nn.softmax_cross_entropy_with_logits_v2(labels=m, logits=m, name="xent").op.name
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=m, name="xent").op.name
tf.nn.sigmoid_cross_entropy_with_logits(labels=m, logits=m, name="xent").op.name
tf.random_normal([2]).name
tf.stop_gradient(m).name
tf.no_op().name
tf.no_op().type
tf.group(m.op, name="both").name
tf.Variable(1.0).name
tf.Variable(1.0, name="w").name
tf.Variable(1.0, name="w").op.name
tf.get_variable("w", [2]).name
tf.get_variable("w", [2]).op.type
tf.Variable(1.0).initializer.name
tf.Variable(1.0).assign(2.0).op.type
tf.Variable(1.0).dtype.base_dtype.name
[each.name for each in (tf.constant(1), tf.constant(2), tf.constant(3))]
[tf.Variable(1.0, name="w").name, tf.Variable(1.0, name="w").name]
tf.get_default_graph().get_tensor_by_name("m:0").name
tf.get_default_graph().get_tensor_by_name("m:0")
tf.get_default_graph().get_tensor_by_name("m")
tf.get_default_graph().get_tensor_by_name("missing:0")
tf.get_default_graph().get_operation_by_name("m").type
tf.get_default_graph().get_operation_by_name("m").outputs[0].name
tf.get_default_graph().get_operation_by_name("m:0")
tf.get_default_graph().as_graph_element("m:0").name
[each.name for each in tf.matmul(m, w).op.inputs][:1]
tf.get_default_graph().unique_name("m")
tf.get_default_graph() is m.graph
m.op.graph is m.graph
m.op.node_def.name
m.consumers()
m.device
tf.add(m, m).op.inputs[0] is m
""",
}
"""By family: expressions, one a line, over the names of GIVEN."""

PROGRAMS: Final = {
    "scopes": """
with tf.name_scope("one") as scope:
    a = tf.constant(1.0, name="a")
    with tf.name_scope("two"):
        e = a + a
with tf.name_scope("one"):
    f = tf.constant(1.0, name="a")
told = [scope, a.name, e.name, f.name]
""",
    "name_scope_none": """
with tf.name_scope("one"):
    with tf.name_scope(None):
        a = tf.constant(1.0, name="a")
    with tf.name_scope(""):
        e = tf.constant(1.0, name="e")
told = [a.name, e.name]
""",
    "name_scope_again": """
with tf.name_scope("one") as scope:
    pass
with tf.name_scope(scope):
    a = tf.constant(1.0, name="a")
told = [a.name]
""",
    "name_scope_default": """
with tf.name_scope(None, "layer", [m]):
    a = tf.constant(1.0, name="a")
with tf.name_scope("given", "layer", [m]):
    e = tf.constant(1.0, name="a")
told = [a.name, e.name]
""",
    "variable_scopes": """
with tf.variable_scope("one") as scope:
    a = tf.get_variable("a", [2])
    e = tf.Variable(1.0, name="e")
    o = tf.add(e, 1.0)
    with tf.variable_scope("two"):
        f = tf.get_variable("a", [2])
told = [scope.name, a.name, e.name, o.name, f.name, scope.original_name_scope, scope.reuse]
""",
    "reuse": """
with tf.variable_scope("one"):
    a = tf.get_variable("a", [2])
with tf.variable_scope("one", reuse=True):
    again = tf.get_variable("a", [2])
    o = tf.add(again, 1.0)
told = [a is again, again.name, o.name, [each.name for each in tf.global_variables()]]
""",
    "auto_reuse": """
def layer():
    with tf.variable_scope("one", reuse=tf.AUTO_REUSE):
        return tf.get_variable("a", [2], initializer=tf.ones_initializer())
a, again = layer(), layer()
told = [a is again, a.name, tf.AUTO_REUSE is not None]
""",
    "reuse_variables": """
with tf.variable_scope("one") as scope:
    a = tf.get_variable("a", [2])
    scope.reuse_variables()
    again = tf.get_variable("a", [2])
told = [a is again]
""",
    "get_variable_scope": """
with tf.variable_scope("one"):
    with tf.variable_scope(tf.get_variable_scope(), reuse=False):
        a = tf.get_variable("a", [2])
told = [a.name, tf.get_variable_scope().name]
""",
    "scope_object": """
with tf.variable_scope("one") as scope:
    a = tf.get_variable("a", [2])
with tf.variable_scope(scope, reuse=True):
    again = tf.get_variable("a")
    o = tf.add(again, 1.0)
told = [a is again, o.name]
""",
    "scope_initializer": """
with tf.variable_scope("one", initializer=tf.constant_initializer(4.0)):
    a = tf.get_variable("a", [2])
told = [a]
""",
    "variable_scope_default_name": """
with tf.variable_scope(None, "layer"):
    a = tf.get_variable("a", [2])
with tf.variable_scope(None, "layer"):
    e = tf.get_variable("a", [2])
told = [a.name, e.name]
""",
    "not_there": """
tf.get_variable("a", [2])
told = [tf.get_variable("a", [2])]
""",
    "refused_by_value_error": """
tf.get_variable("a", [2])
try:
    tf.get_variable("a", [2])
    told = ["made"]
except ValueError:
    told = ["ValueError"]
""",
    "missing_is_a_key_error": """
try:
    tf.get_default_graph().get_tensor_by_name("missing:0")
    told = ["found"]
except KeyError:
    told = ["KeyError"]
""",
    "shapes_are_value_errors": """
try:
    tf.matmul(m, m)
    told = ["made"]
except ValueError:
    told = ["ValueError"]
""",
    "regularizer": """
a = tf.get_variable("a", [2], initializer=tf.ones_initializer(), regularizer=lambda t: tf.reduce_sum(t) * 0.5)
told = [tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)]
""",
    "collections": """
a = tf.Variable(1.0, name="a")
e = tf.Variable(2.0, trainable=False, name="e")
tf.add_to_collection("mine", a)
told = [
    [each.name for each in tf.global_variables()],
    [each.name for each in tf.trainable_variables()],
    [each.name for each in tf.get_collection("mine")],
    [each.name for each in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "a")],
    tf.get_collection("missing"),
    tf.GraphKeys.GLOBAL_VARIABLES,
]
""",
    "local_variables": """
a = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="a")
told = [[each.name for each in tf.local_variables()], [each.name for each in tf.global_variables()]]
""",
    "graph_names": """
graph = tf.Graph()
with graph.as_default():
    a = tf.constant(1.0)
    e = tf.placeholder(tf.float32, name="e")
    o = tf.add(a, e, name="o")
told = [[each.name for each in graph.get_operations()], [each.type for each in graph.get_operations()]]
""",
    "control_dependencies": """
a = tf.Variable(1.0)
with tf.control_dependencies([a.assign(5.0)]):
    e = tf.identity(a.read_value())
told = [e, e.op.type]
""",
    "tensor_array": """
a = tf.TensorArray(tf.float32, size=3)
a = a.write(0, 1.0).write(1, 2.0).write(2, 3.0)
told = [a.stack(), a.read(1), a.size(), a.gather([0, 2])]
""",
    "tensor_array_in_a_loop": """
def body(step, out):
    return step + 1, out.write(step, tf.cast(step, tf.float32) * v)
_, out = tf.while_loop(lambda step, out: step < n, body, [0, tf.TensorArray(tf.float32, size=n)])
told = [out.stack(), tf.gradients(out.stack(), v)]
""",
    "tensor_array_unstack": """
a = tf.TensorArray(tf.float32, size=2, dynamic_size=True).unstack(m)
told = [a.read(1), a.concat()]
""",
    "tensor_array_rnn": """
steps = tf.TensorArray(tf.float32, size=3).unstack(tf.transpose(t, [1, 0, 2]))
def body(step, state, out):
    state = tf.tanh(steps.read(step) + state)
    return step + 1, state, out.write(step, state)
start = [0, tf.zeros([2, 4]), tf.TensorArray(tf.float32, size=3)]
_, state, out = tf.while_loop(lambda step, *_: step < 3, body, start)
told = [state, tf.transpose(out.stack(), [1, 0, 2]), tf.gradients(state, t)]
""",
    "optimizer_by_hand": """
a = tf.Variable([1.0, 2.0])
loss = tf.reduce_sum(a * a)
optimizer = tf.train.GradientDescentOptimizer(0.1)
pairs = optimizer.compute_gradients(loss)
train = optimizer.apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), each) for g, each in pairs])
with tf.control_dependencies([train]):
    told = [a.read_value(), train.name, train.type]
""",
    **{
        f"optimizer_{number}": f"""
a = tf.Variable([1.0, -2.0])
step = tf.Variable(0, trainable=False)
train = tf.train.{call}.minimize(tf.reduce_sum(a * a * a), global_step=step)
session.run(tf.global_variables_initializer())
for _ in range(4):
    session.run(train)
told = [a.read_value(), step.read_value()]
"""
        for number, call in enumerate(
            (
                "GradientDescentOptimizer(0.1)",
                "MomentumOptimizer(0.1, 0.9)",
                "MomentumOptimizer(0.1, 0.9, use_nesterov=True)",
                "AdamOptimizer()",
                "AdamOptimizer(0.1)",
                "AdamOptimizer(learning_rate=0.1, beta1=0.5)",
                "AdagradOptimizer(0.1)",
                "RMSPropOptimizer(0.1)",
                "RMSPropOptimizer(0.1, 0.8, 0.5)",
                "RMSPropOptimizer(0.1, centered=True)",
                "AdadeltaOptimizer(0.1)",
                "FtrlOptimizer(0.1)",
            )
        )
    },
    "moving_average": """
a = tf.Variable(1.0)
average = tf.train.ExponentialMovingAverage(0.9)
kept = average.apply([a])
with tf.control_dependencies([kept]):
    told = [average.average(a).read_value()]
""",
    "batch_normalization": """
out = tf.layers.batch_normalization(m, training=True, momentum=0.9, name="bn")
updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
session.run(tf.global_variables_initializer())
session.run(updates)
told = [out, [each.name for each in tf.global_variables()], [each.read_value() for each in tf.global_variables()]]
""",
    "layers_names": """
hidden = tf.layers.dense(m, 4, tf.nn.relu)
out = tf.layers.dense(hidden, 2, name="out")
told = [hidden.name, out.name, [each.name for each in tf.trainable_variables()]]
""",
    "session_and_names": """
a = tf.multiply(x, 2.0, name="double")
one = np.ones((1, 3), np.float32)
told = [session.run("double:0", {"x:0": one}), session.run(["m:0"]), session.run("double", {x: one})]
""",
    "fetch_kinds": """
a = tf.Variable(1.0)
session.run(tf.global_variables_initializer())
told = [session.run({"a": a, "b": [a, (a,)]}), session.run(a.op), session.run([]), session.run(tf.no_op())]
""",
    "feeding_a_wrong_shape": """
told = [session.run(x, {x: np.ones((2, 2))})]
""",
    "not_fed": """
told = [session.run(x)]
""",
    "feeding_lists": """
told = [session.run(x * 2.0, {x: [[1, 2, 3]]}), session.run(m + 1.0, {m: np.zeros((2, 3))})]
""",
    "eval_and_run": """
with session.as_default():
    a = tf.Variable(4.0)
    a.initializer.run()
    told = [m.eval(), x.eval({x: np.ones((1, 3))}), a.eval(), a.assign_add(1.0).eval()]
""",
    "variables_of_their_own": """
a = tf.Variable(tf.ones([2]), name="a")
session.run(a.initializer)
a.load([3.0, 4.0], session)
told = [a.value(), a.read_value(), a.initialized_value(), a.get_shape().as_list(), a.initial_value, a.trainable]
""",
    "set_shape": """
a = tf.placeholder(tf.float32)
a.set_shape([None, 3])
told = [a.get_shape().as_list(), a.shape.ndims]
""",
    "growing": """
told = tf.while_loop(
    lambda a, s: a < n,
    lambda a, s: (a + 1, tf.concat([s, [1.0]], 0)),
    [0, tf.constant([0.0])],
    shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
)
""",
    "slopes_where_they_bend": """
e = tf.constant([-6.0, -1.0, 0.0, 1.0, 6.0])
told = [tf.gradients(call, e) for call in (
    tf.maximum(e, 0.0), tf.maximum(0.0, e), tf.minimum(e, 1.0), tf.minimum(1.0, e), tf.clip_by_value(e, -1.0, 1.0),
    tf.abs(e), tf.sign(e), tf.nn.relu(e), tf.nn.relu6(e), tf.nn.elu(e), tf.nn.selu(e), tf.nn.leaky_relu(e),
    tf.nn.softplus(e), tf.nn.softsign(e), tf.reduce_max(e * e), tf.reduce_min(e * e), tf.pow(e, 2.0), e ** 3.0,
    tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(e), logits=e), tf.square(e), tf.nn.crelu(e),
    tf.nn.weighted_cross_entropy_with_logits(targets=tf.ones_like(e), logits=e, pos_weight=2.0), tf.floor(e),
    tf.round(e), e % 4.0, tf.div_no_nan(tf.ones_like(e), e), tf.div_no_nan(e, tf.zeros_like(e)),
    tf.reduce_prod(e), tf.nn.l2_normalize(e, 0), tf.clip_by_norm(e, 1.0), tf.clip_by_norm(e * 0.0, 1.0),
    tf.where(e > 0.0, e, tf.zeros_like(e)), tf.nn.top_k(e, 2)[0], tf.sort(e), tf.norm(e), tf.sqrt(tf.abs(e) + 1.0),
    tf.losses.huber_loss(e * 0.0, e), tf.losses.absolute_difference(e * 0.0, e), tf.truediv(e, 2.0), tf.reduce_std(e)
    if hasattr(tf, "reduce_std") else e, tf.log1p(tf.abs(e)), tf.nn.swish(e), tf.reduce_logsumexp(e),
    tf.atan2(e, e + 7.0),
)]
""",
    "iterating": """
told = [[each.get_shape().as_list() for each in m], len(m.get_shape())]
""",
    "truth_of_a_tensor": """
told = ["taken" if m[0, 0] > 0.0 else "not"]
""",
    "custom_gradient": """
@tf.custom_gradient
def clipped(a):
    return tf.identity(a), lambda g: tf.clip_by_value(g, -0.5, 0.5)
told = [tf.gradients(clipped(m) * m, m)]
""",
    "py_func_shape": """
a = tf.py_func(lambda e: e, [m], tf.float32)
told = [a.shape.ndims is None]
""",
    "global_step": """
step = tf.train.create_global_step()
a = tf.Variable(1.0)
train = tf.train.GradientDescentOptimizer(0.1).minimize(a * a, global_step=step)
session.run(tf.global_variables_initializer())
session.run(train)
told = [tf.train.global_step(session, step), tf.train.get_global_step().name, step.dtype.base_dtype.name]
""",
    "device": """
with tf.device("/cpu:0"):
    a = tf.constant(1.0)
told = [a]
""",
    "uninitialized_names": """
a = tf.Variable(1.0, name="a")
session.run(tf.variables_initializer([a]))
told = [tf.is_variable_initialized(a), tf.report_uninitialized_variables()]
""",
    "convert_on_the_way": """
told = [
    tf.matmul(np.ones((1, 2), np.float32), [[1.0], [2.0]]), tf.reduce_sum(np.arange(3)), tf.square(3),
    tf.add([1, 2], np.array([3, 4], np.int32)),
]
""",
    "grads_of_cond_and_while": """
a = tf.Variable(1.5)
out = tf.while_loop(lambda s, e: s < 3, lambda s, e: (s + 1, tf.cond(e > 2.0, lambda: e + a, lambda: e * a)), [0, a])[1]
told = [out, tf.gradients(out, a)]
""",
    "nested_fetches_of_optimizers": """
a = tf.Variable([2.0])
train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(a))
session.run(tf.global_variables_initializer())
found, loss = session.run([train, tf.reduce_sum(a) * 0.0])
told = [found, loss]
""",
    "embedding_updates": """
table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, [0, 0, 2]))))
session.run(tf.global_variables_initializer())
session.run(train)
session.run(train)
told = [table.read_value()]
""",
    "graph_finalize": """
tf.get_default_graph().finalize()
told = [tf.constant(1.0)]
""",
    "saver": """
import os, tempfile
a = tf.Variable(3.0, name="a")
session.run(tf.global_variables_initializer())
saver = tf.train.Saver()
with tempfile.TemporaryDirectory() as folder:
    path = saver.save(session, os.path.join(folder, "model"), global_step=7)
    session.run(a.assign(0.0))
    saver.restore(session, path)
    told = [session.run(a), os.path.basename(path), os.path.basename(tf.train.latest_checkpoint(folder))]
""",
    "variables_names_in_minimize": """
with tf.variable_scope("net"):
    a = tf.get_variable("a", [2], initializer=tf.ones_initializer())
train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(a))
told = [[each.name for each in tf.global_variables()], train.name]
""",
}
"""By name: programs over the names of GIVEN, with `session`; what they tell is in `told`."""
