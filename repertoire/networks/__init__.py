"""Neural networks that learn by gradients."""
