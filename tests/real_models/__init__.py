"""Models of transformers, timm and torchvision, trained for 20 steps: the doctor is to have nothing to say of them."""
