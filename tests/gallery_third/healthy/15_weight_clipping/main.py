# GAN after Arjovsky et al., clipped weights, 1-d time series
import torch
import torch.nn as nn
from torch.autograd import Variable

torch.manual_seed(15)
nz, length, n_critic, clip = 6, 16, 3, 0.05

netG = nn.Sequential(nn.Linear(nz, 48), nn.ReLU(True), nn.Linear(48, length))
netD = nn.Sequential(nn.Linear(length, 48), nn.LeakyReLU(0.2, inplace=True), nn.Linear(48, 1))
optG = torch.optim.RMSprop(netG.parameters(), lr=2e-3)
optD = torch.optim.RMSprop(netD.parameters(), lr=2e-3)
grid = torch.linspace(0, 3.14, length)


def real_batch(n=48):
    return 1 + torch.sin(grid + torch.rand(n, 1)) + 0.05 * torch.randn(n, length)


for it in range(30):
    for p in netD.parameters():
        p.requires_grad = True
    for _ in range(n_critic):
        netD.zero_grad()
        real = Variable(real_batch())
        fake = Variable(netG(torch.randn(48, nz)).data)
        lossD = netD(fake).mean() - netD(real).mean()
        lossD.backward()
        optD.step()
        for p in netD.parameters():
            p.data.clamp_(-clip, clip)
    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    fake = netG(torch.randn(48, nz))
    lossG = -netD(fake).mean()
    lossG.backward()
    optG.step()
    if it % 5 == 4:
        print("[%d/30] Loss_D: %.4f Loss_G: %.4f off by %.4f"
              % (it + 1, lossD.item(), lossG.item(), (fake.mean(0) - real.mean(0)).abs().mean().item()))
