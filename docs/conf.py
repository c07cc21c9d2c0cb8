"""The site of these pages: `make site` builds it into `build/site`, without a network, to be read from disk."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

project = "graphscope"
copyright = "the graphscope contributors, MIT licence"

extensions = ["myst_parser", "docs.site.playing"]
exclude_patterns = ["reference/*.py"]
highlight_language = "none"  # what is indented is a transcript; programs say their language
nitpicky = True
myst_heading_anchors = 4
myst_links_external_new_tab = False

pygments_style = "default"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_title = "graphscope"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # would ask for pages, which a browser forbids to what was opened from disk
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "color-brand-primary": "#1d4fd7",
        "color-brand-content": "#1d4fd7",
        "color-brand-visited": "#1d4fd7",
    },
    "dark_css_variables": {
        "color-brand-primary": "#7ea6ff",
        "color-brand-content": "#7ea6ff",
        "color-brand-visited": "#7ea6ff",
    },
}
