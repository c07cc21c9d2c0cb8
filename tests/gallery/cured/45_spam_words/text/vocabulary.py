import torch


class Vocabulary:
    def __init__(self, texts):
        words = {w for text in texts for w in text}
        self.index = {w: i for i, w in enumerate(sorted(words))}

    def __len__(self):
        return len(self.index)

    def encode(self, text):
        return torch.tensor([self.index[w] for w in text])
