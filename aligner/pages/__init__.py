"""Pages for a browser: the report, the page to annotate on, and the service with its page."""
