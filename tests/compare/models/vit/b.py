import timm
import torch
from torch.nn import functional as F
from torchvision.models import VisionTransformer

NAMES = {
    "class_token": "cls_token",
    "conv_proj": "patch_embed.proj",
    "encoder.pos_embedding": "pos_embed",
    "encoder.layers.encoder_layer_": "blocks.",
    "ln_1": "norm1",
    "ln_2": "norm2",
    "self_attention.in_proj_": "attn.qkv.",
    "self_attention.out_proj": "attn.proj",
    "mlp.0": "mlp.fc1",
    "mlp.3": "mlp.fc2",
    "encoder.ln": "norm",
    "heads.head": "head",
}


def renamed(name):
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name


torch.manual_seed(0)
theirs = VisionTransformer(
    image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=128, num_classes=10
)
torch.nn.init.normal_(theirs.heads.head.weight, std=0.02)
x, labels = torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,))
model = timm.models.vision_transformer.VisionTransformer(
    img_size=32, patch_size=8, depth=2, num_heads=4, embed_dim=32, num_classes=10
)
model.load_state_dict({renamed(name): value for name, value in theirs.state_dict().items()})
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
