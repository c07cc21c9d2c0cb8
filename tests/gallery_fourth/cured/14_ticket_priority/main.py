import torch
from tickets import TicketNet, tickets
from training import train

torch.manual_seed(41)
ids, priority = tickets(300)
train(TicketNet(), ids, priority)
