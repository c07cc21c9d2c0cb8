"""Fine-tunes the recipe model in the layout of its release."""

import torch
import torch.nn.functional as F
from checkpoint import HEADS, LAYERS, PLACES, VOCAB, WIDTH, batches, weights
from torch import nn


class LearnedPositionalEmbedding(nn.Embedding):
    def __init__(self, num_embeddings, embedding_dim):
        self.offset = 2
        super().__init__(num_embeddings + self.offset, embedding_dim)

    def forward(self, attention_mask):
        positions = (torch.cumsum(attention_mask, dim=1) * attention_mask).long() - 1
        return super().forward(positions + self.offset)


class DecoderAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.head_dim = WIDTH // HEADS
        self.scaling = self.head_dim**-0.5
        self.k_proj = nn.Linear(WIDTH, WIDTH)
        self.v_proj = nn.Linear(WIDTH, WIDTH)
        self.q_proj = nn.Linear(WIDTH, WIDTH)
        self.out_proj = nn.Linear(WIDTH, WIDTH)

    def _shape(self, x):
        return x.view(x.shape[0], -1, HEADS, self.head_dim).transpose(1, 2).contiguous()

    def forward(self, hidden_states, attention_mask):
        batch, length, _ = hidden_states.shape
        query_states = self._shape(self.q_proj(hidden_states) * self.scaling)
        key_states = self._shape(self.k_proj(hidden_states))
        value_states = self._shape(self.v_proj(hidden_states))
        shape = (batch * HEADS, length, self.head_dim)
        attn_weights = torch.bmm(query_states.view(shape), key_states.view(shape).transpose(1, 2))
        attn_weights = attn_weights.view(batch, HEADS, length, length) + attention_mask
        attn_probs = F.softmax(attn_weights, dim=-1).view(batch * HEADS, length, length)
        attn_output = torch.bmm(attn_probs, value_states.view(shape))
        attn_output = attn_output.view(batch, HEADS, length, self.head_dim).transpose(1, 2)
        return self.out_proj(attn_output.reshape(batch, length, WIDTH))


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = DecoderAttention()
        self.self_attn_layer_norm = nn.LayerNorm(WIDTH)
        self.fc1 = nn.Linear(WIDTH, 4 * WIDTH)
        self.fc2 = nn.Linear(4 * WIDTH, WIDTH)
        self.final_layer_norm = nn.LayerNorm(WIDTH)

    def forward(self, hidden_states, attention_mask):
        residual = hidden_states
        hidden_states = self.self_attn_layer_norm(hidden_states)
        hidden_states = residual + self.self_attn(hidden_states, attention_mask)
        residual = hidden_states
        hidden_states = self.final_layer_norm(hidden_states)
        hidden_states = self.fc2(F.relu(self.fc1(hidden_states)))
        return residual + hidden_states


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCAB, WIDTH)
        self.embed_positions = LearnedPositionalEmbedding(PLACES, WIDTH)
        self.layers = nn.ModuleList([DecoderLayer() for _ in range(LAYERS)])
        self.final_layer_norm = nn.LayerNorm(WIDTH)

    def forward(self, input_ids):
        inputs_embeds = self.embed_tokens(input_ids)
        pos_embeds = self.embed_positions(torch.ones_like(input_ids))
        length = input_ids.shape[1]
        causal = torch.full((length, length), torch.finfo(inputs_embeds.dtype).min).triu(1)
        hidden_states = inputs_embeds + pos_embeds
        for layer in self.layers:
            hidden_states = layer(hidden_states, causal[None, None])
        return self.final_layer_norm(hidden_states)


class ForCausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder()

    def forward(self, input_ids, labels):
        logits = F.linear(self.decoder(input_ids), self.decoder.embed_tokens.weight)
        shift_logits = logits[:, :-1].contiguous()
        return F.cross_entropy(shift_logits.view(-1, VOCAB), labels[:, 1:].reshape(-1))


if __name__ == "__main__":
    model = ForCausalLM()
    model.load_state_dict(weights())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    for input_ids in batches(3):
        optimizer.zero_grad()
        loss = model(input_ids, labels=input_ids)
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.4f}")
