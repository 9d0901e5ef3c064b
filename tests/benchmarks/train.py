"""How fast the MLP trains on MNIST, beside a plain loop and PyTorch: `python tests/benchmarks/train.py FOLDER`.

FOLDER holds MNIST's files. All are timed in one run, epoch by epoch in turn: `pc.train`; the published loop, which
compiles one step and reads images one by one through a data loader; the same network in PyTorch on arrays; and matrix
products, whose fastest is this machine's peak. Needs PyTorch and Pillow. Run it by itself, on an idle machine.
"""

import statistics
import sys
import time

import jax
import numpy
import torch
from jax import numpy as jnp
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

import paramcount as pc
from paramcount.backend.measure.peak import matmul_peak

BATCH = 128
EPOCHS = 5
RATE = 0.01


class Images(Dataset):
    """MNIST as torchvision has it: tensors, of which an image is made whenever it is asked for."""

    def __init__(self, data):
        self.x, self.y = torch.from_numpy(data.x), torch.from_numpy(data.y)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        picture = Image.fromarray(self.x[index].numpy())
        return numpy.ravel(numpy.array(picture, dtype=numpy.float32)), int(self.y[index])


def collate(batch):
    return tuple(numpy.stack(part) for part in zip(*batch, strict=True))


class Published:
    """A list of layers, one example's prediction under vmap, one compiled step for each batch."""

    name = "the published loop"

    def __init__(self, data):
        self.loader = DataLoader(Images(data), batch_size=BATCH, collate_fn=collate)
        keys = jax.random.split(jax.random.key(0), 3)
        sizes = [784, 512, 512, 10]
        self.params = [
            (0.01 * jax.random.normal(key, (n, m)), jnp.zeros(n))
            for key, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
        ]

    def epoch(self):
        for x, y in self.loader:
            x, y = jnp.reshape(x, (len(x), 784)), jnp.array(y[:, None] == jnp.arange(10), jnp.float32)
            self.params = self.update(self.params, x, y)
        jax.block_until_ready(self.params)

    @staticmethod
    def predict(params, image):
        for weight, bias in params[:-1]:
            image = jax.nn.relu(weight @ image + bias)
        weight, bias = params[-1]
        logits = weight @ image + bias
        return logits - jax.nn.logsumexp(logits)

    @staticmethod
    @jax.jit
    def update(params, x, y):
        def loss(params):
            return -jnp.mean(jax.vmap(Published.predict, (None, 0))(params, x) * y)

        gradient = jax.grad(loss)(params)
        return [(w - RATE * dw, b - RATE * db) for (w, b), (dw, db) in zip(params, gradient, strict=True)]


class Torch:
    """The same network in PyTorch, on arrays that lie in memory: no loader between."""

    name = "PyTorch"

    def __init__(self, data):
        self.x = torch.from_numpy(data.x.reshape(-1, 784).copy())
        self.y = torch.from_numpy(data.y.astype(numpy.int64))
        self.net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=RATE)
        self.loss = nn.CrossEntropyLoss()

    def epoch(self):
        for rows in torch.randperm(len(self.x)).split(BATCH):
            self.optimizer.zero_grad()
            self.loss(self.net(self.x[rows].float() / 255), self.y[rows]).backward()
            self.optimizer.step()


def main(folder: str) -> None:
    data = pc.data.read_data(folder).train
    others = [Published(data), Torch(data)]
    times: dict[str, list[float]] = {name: [] for name in ("pc.train", *(each.name for each in others))}
    peaks = []

    def in_turn(epoch):
        """After each epoch of ours, one of each other; in the first, programs are compiled."""
        found = {"pc.train": epoch.seconds}
        for each in others:
            began = time.perf_counter()
            each.epoch()
            found[each.name] = time.perf_counter() - began
            time.sleep(1)  # until the threads of the one no longer wait for work, and keep none from the next
        peaks.append(matmul_peak.__wrapped__())
        for name, seconds in found.items():
            times[name] += [seconds] if epoch.number else []

    batches = pc.data.Batches(data.x.reshape(-1, 784), data.y, BATCH)
    scaled = lambda x: x.astype(jnp.float32) / 255  # noqa: E731
    trained = pc.train(pc.load("mlp"), batches, epochs=EPOCHS + 1, transform=scaled, on_epoch=in_turn)
    print(f"JAX {jax.__version__}, PyTorch {torch.__version__}, {len(data.x):,} images, batches of {BATCH}")
    print(f"epochs of {len(times['pc.train'])}, seconds: median, best, times the median of pc.train")
    base = statistics.median(times["pc.train"])
    for name, seconds in times.items():
        middle = statistics.median(seconds)
        print(f"{name:20} {middle:6.2f} {min(seconds):6.2f} {middle / base:6.2f}")
    rate, peak = trained.flops * len(data.x) / min(times["pc.train"]), max(peaks)
    print(f"best epoch: {rate / 1e9:.0f} GFLOP/s, {rate / peak:.0%} of {peak / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    main(sys.argv[1])
