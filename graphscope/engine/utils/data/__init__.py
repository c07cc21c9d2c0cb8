"""Datasets, and loaders that go through them in batches, in PyTorch's spelling."""

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.utils.data.collate import default_collate as default_collate
from graphscope.engine.utils.data.collate import default_convert as default_convert
from graphscope.engine.utils.data.dataloader import DataLoader as DataLoader
from graphscope.engine.utils.data.dataloader import get_worker_info as get_worker_info
from graphscope.engine.utils.data.dataset import ConcatDataset as ConcatDataset
from graphscope.engine.utils.data.dataset import Dataset as Dataset
from graphscope.engine.utils.data.dataset import IterableDataset as IterableDataset
from graphscope.engine.utils.data.dataset import Subset as Subset
from graphscope.engine.utils.data.dataset import TensorDataset as TensorDataset
from graphscope.engine.utils.data.dataset import random_split as random_split
from graphscope.engine.utils.data.sampler import BatchSampler as BatchSampler
from graphscope.engine.utils.data.sampler import RandomSampler as RandomSampler
from graphscope.engine.utils.data.sampler import Sampler as Sampler
from graphscope.engine.utils.data.sampler import SequentialSampler as SequentialSampler
from graphscope.engine.utils.data.sampler import SubsetRandomSampler as SubsetRandomSampler
from graphscope.engine.utils.data.sampler import WeightedRandomSampler as WeightedRandomSampler

_answer_for(__name__)
