"""The tools of `jsctl mcp`, for assistants that speak the Model Context Protocol."""
