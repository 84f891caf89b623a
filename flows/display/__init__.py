"""What a batch shows in Prefect: tasks, artifacts, words and log lines."""
