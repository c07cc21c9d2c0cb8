import timm
import torch
from torch.nn import functional as F
from torchvision.models import resnet18

torch.manual_seed(0)
theirs = resnet18(num_classes=10)
x, labels = torch.randn(4, 3, 64, 64), torch.randint(0, 10, (4,))
model = timm.create_model("resnet18", num_classes=10)
model.load_state_dict(theirs.state_dict())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(2):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
