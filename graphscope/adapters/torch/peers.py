"""What one rank sends to another: from which to which, and with which tag; who it was, of whoever may send."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch

from graphscope.eventlog import numbering

PEERS: Final = {"send": "dst", "recv": "src", "isend": "dst", "irecv": "src"}
"""Functions of `torch.distributed` that two ranks call, one each: the parameter that names the other one."""


class Message(NamedTuple):
    """What a call sends or receives."""

    group: Any
    sender: int | None
    """None where a rank receives from whoever sends."""
    receiver: int
    tag: int

    @property
    def name(self) -> str:
        """What is counted together: as a rank sends, the other receives what has the same tag."""
        tagged = f", tag {self.tag}" if self.tag else ""
        return f"{self.group.group_name}: {'any' if self.sender is None else self.sender} to {self.receiver}{tagged}"

    @property
    def ranks(self) -> list[int]:
        """Those that may take part."""
        if self.sender is None:
            return list(torch.distributed.get_process_group_ranks(self.group))
        return [self.sender, self.receiver]

    @property
    def attributes(self) -> dict[str, Any]:
        """What a log says of it beside the group."""
        found: dict[str, Any] = {numbering.TAG: self.tag}
        return found if self.sender is not None else {**found, numbering.ANYONE: True}

    def sent(self, result: Any) -> Message:
        """The same, once a receive has returned the sender, or a work that it is known by."""
        library = torch.distributed
        is_known = isinstance(result, int)
        return self._replace(sender=result if is_known else library.get_global_rank(self.group, result._source_rank()))


def message(name: str, given: dict[str, Any]) -> Message | None:
    """What a call of one of PEERS sends or receives; None in a process that is not of the group.

    Args:
        name: The function.
        given: The arguments, by parameter.
    """
    library = torch.distributed.distributed_c10d
    group = given.get("group") or library._get_default_group()
    if group is library.GroupMember.NON_GROUP_MEMBER:
        return None
    parameter = PEERS[name]
    peer: Any = given.get(parameter)
    if peer is None and given.get(f"group_{parameter}") is not None:
        peer = library.get_global_rank(group, given[f"group_{parameter}"])
    own, tag = library.get_rank(), int(given.get("tag") or 0)
    return Message(group, own, peer, tag) if parameter == "dst" else Message(group, peer, own, tag)
