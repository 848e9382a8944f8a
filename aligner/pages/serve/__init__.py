"""The service for programs, with a page to try it."""
