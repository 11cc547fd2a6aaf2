"""The explorer: a page in the browser that shows a repertoire, damage and recovery as they are evaluated."""
