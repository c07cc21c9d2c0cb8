"""Programs that debug programs: a server of the Model Context Protocol over the same tables that people ask."""
