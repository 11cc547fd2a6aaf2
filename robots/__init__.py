"""What moves: robot models, controllers, closed-loop simulation."""
