import torch
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=64,
    max_position_embeddings=32,
    attention_dropout=0.1,
)
model = LlamaForCausalLM(config)
model.train()
tokens = torch.randint(0, 60, (3, 12))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    optimizer.zero_grad()
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
