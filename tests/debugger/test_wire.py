"""The line between a debugger and the program that it holds."""

from __future__ import annotations

import os
import resource
import socket

from graphscope.debugger.wire import Channel, pack


def test_a_socket_with_a_high_number_is_looked_at() -> None:
    low, high = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(low, min(high, 4096)), high))
    ours, theirs = socket.socketpair()
    with ours, socket.socket(fileno=os.dup2(theirs.detach(), 2000)) as far:
        channel = Channel(far)
        assert not channel.waiting()
        ours.sendall(pack({"ask": "pause"}))
        channel.wait()
        assert channel.waiting()
        assert channel.receive() == {"ask": "pause"}
        ours.close()
        assert channel.waiting()
        assert channel.receive() is None
    resource.setrlimit(resource.RLIMIT_NOFILE, (low, high))
