"""Two runs side by side on the screen."""
