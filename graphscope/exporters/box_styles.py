"""How the parts of a picture look. Kinds differ by shape, so that nobody needs to see colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphscope.exporters.dot_syntax import Attributes
    from graphscope.graph.view import Changed, Compared, ViewNode

__all__ = [
    "ALARM",
    "CHANGED",
    "CHANGED_EDGES",
    "CLUSTER",
    "COMPARED_EDGES",
    "EDGES",
    "FAINT",
    "GRADIENT",
    "GRAPH",
    "HIGHLIGHTED",
    "LARGE",
    "LARGE_GRAPH",
    "TEXT",
    "look",
]

INK: Final = "#1f2937"
FAINT: Final = "#6b7280"
ALARM: Final = "#c81e1e"
GRADIENT: Final = "#b4533c"
FONT: Final = "Helvetica"

LARGE: Final = 1500
"""Pictures of more arrows are laid out with less effort, and the shapes are set beside the arrows afterwards."""

GRAPH: Final[Attributes] = {
    "bgcolor": "white",  # a picture on a dark page is a light card
    "charset": "UTF-8",
    "fontname": FONT,
    "fontsize": "10",
    "fontcolor": FAINT,
    "nodesep": "0.25",
    "ranksep": "0.3",
    "pad": "0.15",
}

LARGE_GRAPH: Final[Attributes] = {"ranksep": "0.4", "nslimit": "0.1", "nslimit1": "0.1", "mclimit": "0.1"}

TEXT: Final[dict[str, Attributes]] = {
    "node": {"fontname": FONT, "fontsize": "12", "fontcolor": INK, "height": "0.3", "margin": "0.11,0.05"},
    "edge": {"fontname": FONT, "fontsize": "9", "fontcolor": FAINT, "arrowsize": "0.6"},
}

BOXES: Final[dict[str, Attributes]] = {
    "leaf": {"shape": "ellipse", "style": "filled", "fillcolor": "#f3f4f6", "color": "#6b7280"},
    "parameter": {
        "shape": "cylinder",
        "style": "filled",
        "fillcolor": "#fdf3d7",
        "color": "#a97a1c",
        "margin": "0.11,0.1",
    },
    "op": {"shape": "box", "style": "rounded,filled", "fillcolor": "#e6effb", "color": "#3a6ea5"},
    "grad": {"shape": "octagon", "style": "filled", "fillcolor": "#fbeae7", "color": GRADIENT, "margin": "0.02"},
    "accumulate": {"shape": "circle", "style": "filled", "fillcolor": "#fbeae7", "color": GRADIENT, "margin": "0.01"},
    "tensor": {
        "shape": "ellipse",
        "style": "filled",
        "fillcolor": "#e6effb",
        "color": "#3a6ea5",
        "margin": "0.04,0.02",
    },
    "gradient": {
        "shape": "ellipse",
        "style": "filled,dashed",
        "fillcolor": "#fbeae7",
        "color": GRADIENT,
        "margin": "0.02",
    },
    "joint": {
        "shape": "circle",
        "style": "filled",
        "fillcolor": "#3a6ea5",
        "color": "#3a6ea5",
        "width": "0.1",
        "height": "0.1",
        "fixedsize": "true",
    },
    "scope": {"shape": "folder", "style": "filled", "fillcolor": "#e9f5ec", "color": "#3f7f56"},
}
"""What is drawn for each kind of node; a parameter is a leaf that a module or an optimizer owns."""

EDGES: Final[dict[str, Attributes]] = {
    "data": {"color": "#4b5563"},
    "gradient": {"color": GRADIENT, "style": "dashed", "arrowhead": "normal"},
    "link": {"color": "#c3c8d0", "style": "dotted", "arrowhead": "none"},
    "carried": {"color": "#7a4fb5", "style": "bold"},
}

COMPARED: Final[dict[Compared, Attributes]] = {
    "same": {"fillcolor": "white", "color": "#9aa1ac"},
    "parted": {"fillcolor": "#fde2e2", "color": ALARM, "penwidth": "2"},
    "a": {"fillcolor": "#fdebd0", "color": "#b45309"},
    "b": {"fillcolor": "#dbe9fd", "color": "#1d4ed8"},
}
"""Two runs in one picture: what is the same steps back. Glyphs in the labels say it, too."""

COMPARED_EDGES: Final[dict[Compared, Attributes]] = {
    "same": {},
    "parted": {},
    "a": {"color": "#b45309", "style": "dashed"},
    "b": {"color": "#1d4ed8", "style": "bold"},
}

CHANGED: Final[dict[Changed, Attributes]] = {
    "removed": {"fillcolor": "#fbe4d8", "color": "#d55e00", "style": "rounded,filled,dashed", "penwidth": "1.6"},
    "joined": {"fillcolor": "#fff3cf", "color": "#a97c00", "style": "rounded,filled,dashed", "penwidth": "1.6"},
    "added": {"fillcolor": "#d9eaf6", "color": "#0072b2", "penwidth": "2.2"},
    "fused": {"fillcolor": "#ead9ee", "color": "#7b3294", "penwidth": "2.2", "peripheries": "2"},
    "grown": {"fillcolor": "#ead9ee", "color": "#7b3294", "penwidth": "1.6"},
    "rewired": {"fillcolor": "white", "color": "#111827", "penwidth": "1.6"},
    "kept": {"fillcolor": "white", "color": "#9aa1ac"},
}
"""What a pass of a compiler did with a node; colours that all people can tell apart, and marks in the labels, too."""

CHANGED_EDGES: Final[dict[Changed, Attributes]] = {
    "removed": {"color": "#d55e00", "style": "dashed"},
    "added": {"color": "#0072b2", "style": "bold"},
}

CLUSTER: Final[dict[str, Attributes]] = {
    "scope": {
        "style": "rounded,filled",
        "color": "#d5d9e0",
        "fillcolor": "#fafbfc",
        "fontcolor": INK,
        "labeljust": "l",
        "margin": "10",
    },
    "repeat": {"style": "rounded,bold", "color": "#7a4fb5", "fontcolor": "#7a4fb5", "labeljust": "r", "margin": "12"},
}

HIGHLIGHTED: Final[Attributes] = {"color": "#d97706", "penwidth": "3"}
"""What changes of an arrow that lies on a way that is shown."""

MARKS: Final[tuple[tuple[str, Attributes], ...]] = (
    ("loss", {"color": INK, "penwidth": "1.5", "peripheries": "2"}),
    ("highlighted", HIGHLIGHTED),
    ("nonfinite", {"color": ALARM, "penwidth": "2.5", "fillcolor": "#fde2e2"}),
    ("breakpoint", {"color": ALARM, "penwidth": "2"}),
    ("current", {"color": INK, "penwidth": "3.5"}),
)
"""Facts about a node that change its outline; of several, the later one wins. All but `highlighted`, which is a matter
of the screen, are told in the label too."""


def look(node: ViewNode, lines: int) -> dict[str, str]:
    """The attributes of a node's box around a label of so many lines."""
    attributes = dict(BOXES["parameter" if node.kind == "leaf" and node.parameter else node.kind])
    if node.kind == "accumulate" and lines > 1:
        # A circle around long lines would be as high as they are wide.
        attributes |= {"shape": "ellipse", "style": "filled,dashed"}
    if attributes["shape"] == "octagon":
        # Given just the height of its label, Graphviz makes an octagon almost twice as wide as that.
        attributes["height"] = f"{0.26 + 0.18 * lines:.2f}"
    if node.compared is not None:
        attributes |= COMPARED[node.compared]
    if node.changed is not None:
        attributes |= {**CHANGED[node.changed], "class": f"pass-{node.changed}"}
    if node.count > 1:
        attributes["peripheries"] = "2"
    for fact, change in MARKS:
        if getattr(node, fact):
            attributes |= change
    return attributes
