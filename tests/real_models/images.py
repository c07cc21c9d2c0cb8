"""Models of timm and torchvision, on small pictures."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import nn

from tests.real_models.data import CLASSES, Batches, Result, painted, pictures, seen

TIMM: dict[str, tuple[int, dict[str, Any]]] = {
    "resnet10t": (32, {}), "resnet18": (32, {}), "resnext26ts": (32, {}), "seresnet18": (32, {}),
    "mobilenetv2_035": (32, {}), "mobilenetv3_small_050": (32, {}), "efficientnet_lite0": (32, {}),
    "mnasnet_050": (32, {}), "ghostnet_050": (32, {}), "lcnet_035": (32, {}), "fbnetc_100": (32, {}),
    "regnetx_002": (32, {}), "regnety_002": (32, {}), "densenet121": (32, {}), "dla46_c": (64, {}),
    "convnext_atto": (32, {}), "convnextv2_atto": (32, {}), "hardcorenas_a": (32, {}), "repvgg_a0": (32, {}),
    "edgenext_xx_small": (64, {}), "mobilevit_xxs": (64, {}), "poolformer_s12": (64, {}), "cspresnet50": (64, {}),
    "vit_tiny_patch16_224": (32, {"img_size": 32, "patch_size": 8, "depth": 3}),
    "deit_tiny_patch16_224": (32, {"img_size": 32, "patch_size": 8, "depth": 3}),
    "cait_xxs24_224": (32, {"img_size": 32, "patch_size": 8, "depth": 3}),
    "mixer_s32_224": (64, {"img_size": 64}),
    "gmlp_ti16_224": (32, {"img_size": 32}),
    "swin_tiny_patch4_window7_224": (
        32, {"img_size": 32, "window_size": 4, "embed_dim": 24, "depths": (1, 1), "num_heads": (2, 2)},
    ),
    "pit_ti_224": (32, {"img_size": 32, "patch_size": 8, "stride": 4}),
    "levit_128s": (64, {"img_size": 64}), "xcit_nano_12_p16_224": (32, {"img_size": 32, "depth": 3}),
    "beit_base_patch16_224": (32, {"img_size": 32, "patch_size": 8, "depth": 2, "embed_dim": 32, "num_heads": 4}),
    "eva02_tiny_patch14_224": (28, {"img_size": 28, "depth": 2}), "nfnet_l0": (32, {}),
    "tf_efficientnetv2_b0": (64, {}), "nf_regnet_b0": (64, {}),
    "tinynet_e": (32, {}), "mobilenetv4_conv_small_050": (32, {}), "repghostnet_050": (32, {}), "starnet_s1": (32, {}),
    "mobileone_s0": (32, {}), "pvt_v2_b0": (32, {}), "selecsls42": (32, {}), "semnasnet_075": (32, {}),
    "rexnet_100": (32, {}), "hgnetv2_b0": (32, {}), "efficientvit_b0": (32, {}), "repvit_m0_9": (32, {}),
    "mambaout_femto": (32, {}), "resnetv2_18": (32, {}), "inception_next_atto": (32, {}), "shvit_s1": (32, {}),
    "lambda_resnet26t": (32, {}),
    "fastvit_t8": (64, {}), "maxvit_rmlp_pico_rw_256": (64, {"img_size": 64}),
}  # fmt: skip

TORCHVISION: dict[str, int] = {
    "resnet18": 32, "alexnet": 64, "vgg11": 32, "vgg11_bn": 32, "squeezenet1_1": 64, "densenet121": 32,
    "mobilenet_v2": 32, "mobilenet_v3_small": 32, "shufflenet_v2_x0_5": 32, "mnasnet0_5": 32, "efficientnet_b0": 32,
    "regnet_y_400mf": 32, "convnext_tiny": 32, "googlenet": 64, "resnext50_32x4d": 32,
    "wide_resnet50_2": 32, "swin_t": 32, "fcn_resnet50": 32, "deeplabv3_mobilenet_v3_large": 64,
    "lraspp_mobilenet_v3_large": 64, "r3d_18": 16, "retinanet_resnet50_fpn": 64,
}  # fmt: skip


class Scored(nn.Module):
    """A model of pictures with its loss, as those of transformers have it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, pixel_values: torch.Tensor, labels: torch.Tensor) -> Any:
        scores = self.model(pixel_values)
        if isinstance(scores, dict):  # models of segmentation
            scores = scores["out"]
        loss = nn.functional.cross_entropy(getattr(scores, "logits", scores), labels)
        return Result(loss=loss)


class Detecting(nn.Module):
    """A model that finds things, with the sum of its losses."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, pixel_values: torch.Tensor, labels: torch.Tensor) -> Any:
        box = torch.tensor([[8.0, 8.0, 40.0, 40.0]])
        target = [{"boxes": box, "labels": label[None]} for label in labels]
        found = self.model(list(pixel_values), target) if self.training else {}
        return Result(loss=sum(found.values()))


def timm_model(name: str) -> tuple[nn.Module, Batches]:
    size, settings = TIMM[name]
    model = import_module("timm").create_model(name, pretrained=False, num_classes=CLASSES, **settings)
    return Scored(model), seen(size)


def timm_attention(name: str, *, fused: bool) -> tuple[nn.Module, Batches]:
    """A model with attention as one op, or written out."""
    layers = import_module("timm.layers")
    layers.set_fused_attn(fused)
    try:
        return timm_model(name)
    finally:
        layers.set_fused_attn(True)


def torchvision_model(name: str) -> tuple[nn.Module, Batches]:
    models = import_module("torchvision.models")
    size, plain = TORCHVISION[name], {"weights": None, "num_classes": CLASSES}
    if name.startswith("retinanet"):
        return Detecting(models.detection.retinanet_resnet50_fpn(weights_backbone=None, min_size=64, **plain)), seen(64)
    if name.startswith("r3d"):
        images = lambda: dict(zip(("pixel_values", "labels"), pictures(3, 4, size, size), strict=True))  # noqa: E731
        return Scored(models.video.r3d_18(**plain)), images
    if name.startswith(("fcn", "deeplab", "lraspp")):
        made = getattr(models.segmentation, name)(weights_backbone=None, **{**plain, "num_classes": 2})
        return Scored(made), painted(size)
    if name == "googlenet":
        plain["init_weights"] = True
    return Scored(getattr(models, name)(**plain)), seen(size)
