"""What is measured: a function a task, each of which adds its measurements to the result."""
