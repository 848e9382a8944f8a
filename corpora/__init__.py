"""Text in: bitexts, links, and the formats they come in."""
