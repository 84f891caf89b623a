"""What keeps a flow from being run; the message is one line for the user."""


class FlowError(Exception):
    """Base of the errors of this room."""


class ServerError(FlowError):
    """There is no Prefect server to run against, and why."""
