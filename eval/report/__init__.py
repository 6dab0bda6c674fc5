"""The report: a Markdown table and plot for the README, and one self-contained HTML page."""
