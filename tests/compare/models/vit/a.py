import torch
from torch.nn import functional as F
from torchvision.models import VisionTransformer

torch.manual_seed(0)
model = VisionTransformer(
    image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=128, num_classes=10
)
torch.nn.init.normal_(model.heads.head.weight, std=0.02)
x, labels = torch.randn(4, 3, 32, 32), torch.randint(0, 10, (4,))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
