from .layers import SongNet
