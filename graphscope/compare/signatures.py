"""What functions of PyTorch call their arguments, and what they take where a call does not say it."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping, Sequence
from typing import Any, Final

_SIGNATURES: Final = """
add sub mul div floor_divide remainder fmod pow maximum minimum eq ne lt le gt ge: input number
sum mean: input dim=None keepdim=False
amax amin prod max min argmax argmin logsumexp all any: input dim keepdim
softmax: input dim=None
log_softmax softmin cumsum cumprod cummax cummin logcumsumexp unbind squeeze unsqueeze glu: input dim
addcdiv addcmul: input tensor1 tensor2 value
as_strided: input size stride storage_offset
avg_pool1d avg_pool3d: input kernel_size stride padding ceil_mode count_include_pad
avg_pool2d: input kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True
batch_norm: input running_mean running_var weight bias training=False momentum=0.1 eps=1e-05
bincount: input weights minlength
broadcast_to expand repeat tile: input size
cat stack concat: tensors dim
cdist: x1 x2 p
celu: input alpha
chunk tensor_split: input chunks dim
clamp clip: input min max
constant_pad_nd: input pad value
conv1d conv2d: input weight bias=None stride=1 padding=0 dilation=1 groups=1
conv3d: input weight bias stride padding dilation groups
conv_transpose1d conv_transpose2d conv_transpose3d: input weight bias stride padding output_padding groups dilation
cosine_similarity: x1 x2 dim eps
cross_entropy: input target weight=None * reduction='mean' label_smoothing=0.0 ignore_index=-100
nll_loss: input target weight=None * reduction='mean' ignore_index=-100
diag tril triu: input diagonal
diagonal: input offset dim1 dim2
diff: input n dim
dist: input other p
dropout: input p=0.5 training=True
einsum: equation
elu: input alpha=1.0 scale input_scale
embedding: weight indices padding_idx=None * max_norm=None scale_grad_by_freq=False
fill full_like new_full: input fill_value
flatten: input start_dim end_dim
flip: input dims
full: size fill_value
gather: input dim index
getitem: input index
group_norm: input num_groups weight bias eps=1e-05
hardshrink softshrink: input lambd
hardtanh: input min_val max_val
histc: input bins min max
index_add index_copy: input dim index source
index_fill: input dim index value
index_select: input dim index
kthvalue: input k dim keepdim
instance_norm: input running_mean running_var weight bias use_input_stats=True momentum=0.1 eps=1e-05
layer_norm: input normalized_shape weight bias eps=1e-05
leaky_relu: input negative_slope=0.01
lerp: input end weight
linear: input weight bias=None
bilinear: input1 input2 weight bias
prelu: input weight
rms_norm: input normalized_shape weight eps=None
scaled_dot_product_attention: query key value attn_mask=None dropout_p=0.0 is_causal=False * scale=None
linspace: start end steps
logit: input eps
masked_fill: input mask value
matrix_power: input n
max_pool1d max_pool3d: input kernel_size stride padding dilation ceil_mode
max_pool2d: input kernel_size stride=None padding=0 dilation=1 ceil_mode=False
median mode nanmedian: input dim keepdim
movedim: input source destination
multinomial: input num_samples replacement
nan_to_num: input nan posinf neginf
narrow: input dim start length
norm: input p dim keepdim
one_hot: input num_classes
permute: input dims
pixel_shuffle: input upscale_factor
pixel_unshuffle: input downscale_factor
quantile nanquantile: input q dim keepdim
renorm: input p dim maxnorm
repeat_interleave: input repeats dim
reshape view: input shape
roll: input shifts dims
rot90: input k dims
round: input decimals
scatter scatter_add: input dim index src
select: input dim index
softplus: input beta threshold
sort argsort: input dim descending
split: input sizes dim
std var: input dim unbiased=True keepdim=False * correction=1
std_mean var_mean: input dim unbiased keepdim
threshold: input threshold value
topk: input k dim largest sorted
transpose swapaxes: input dim0 dim1
unflatten: input dim sizes
unfold: input dimension size step
where: condition input other
gelu: * approximate='none'
mse_loss l1_loss binary_cross_entropy binary_cross_entropy_with_logits: * reduction='mean'
smooth_l1_loss: * reduction='mean' beta=1.0
huber_loss: * reduction='mean' delta=1.0
kl_div: * reduction='mean' log_target=False
interpolate: * mode='nearest' align_corners=None scale_factor=None size=None
grid_sample: * mode='bilinear' padding_mode='zeros' align_corners=None
normalize: * p=2.0 dim=1 eps=1e-12
"""
"""By the names of functions what they call their arguments, in order, with some of what they take where a call does not
say it; behind a `*` those that are given by name.
"""

_BY_NAME: Final[Mapping[str, str]] = {
    name: arguments
    for names, _, arguments in (line.partition(": ") for line in _SIGNATURES.strip().splitlines())
    for name in names.split()
}

PARAMETERS: Final[Mapping[str, Sequence[str]]] = {
    name: [each.partition("=")[0] for each in arguments.partition("*")[0].split()]
    for name, arguments in _BY_NAME.items()
}
"""What functions call their arguments, where a log does not say it."""

DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    name: {
        argument: literal_eval(value)
        for argument, is_given, value in (each.partition("=") for each in arguments.split())
        if is_given
    }
    for name, arguments in _BY_NAME.items()
}
"""What functions take where the call does not say, as far as it is known."""
