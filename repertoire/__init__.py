"""What a robot has learned: archives, algorithms, training and storage."""
