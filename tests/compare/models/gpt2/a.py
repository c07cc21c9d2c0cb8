import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="eager")
model = GPT2LMHeadModel(config)
tokens = torch.randint(0, config.vocab_size, (2, 64))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
loss = model(input_ids=tokens, labels=tokens).loss
loss.backward()
optimizer.step()
