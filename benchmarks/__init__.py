"""Speed and memory, side by side with other libraries in one run: see README.md."""
