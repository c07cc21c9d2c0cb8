import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from classifier import StarClassifier
from corpus import VOCAB, encode, write_reviews

torch.manual_seed(3)
gen = torch.Generator().manual_seed(7)
reviews, stars = write_reviews(480, gen)
ids = encode(reviews)
train = DataLoader(TensorDataset(ids[:400], stars[:400]), batch_size=40, shuffle=True)

model = StarClassifier(len(VOCAB) + 1)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(1, 7):
    model.train()
    running = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() / len(train)
    model.eval()
    accuracy = (model.predict(ids[400:]) == stars[400:]).float().mean()
    print(f"epoch {epoch} loss {running:.4f} test accuracy {accuracy:.3f}")
