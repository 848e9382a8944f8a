"""Reports: from links to figures."""
