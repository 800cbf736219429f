"""The pages: sentences, views, and a real browser."""
