import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=32,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
    attn_implementation="sdpa",
)
model = BertForSequenceClassification(config)
tokens, labels = torch.randint(0, 60, (4, 12)), torch.randint(0, 2, (4,))
mask = (torch.arange(12) < torch.tensor([[12], [7], [9], [5]])).long()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    optimizer.zero_grad()
    loss = model(input_ids=tokens, attention_mask=mask, labels=labels).loss
    loss.backward()
    optimizer.step()
