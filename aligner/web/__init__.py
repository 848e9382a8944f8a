"""What answers over HTTP, which needs the extra ``web``."""
