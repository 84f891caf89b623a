"""The engine of a host as a service: gRPC and HTTP in front, jobs that outlive the process behind."""

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it prints lines of its own to errors that we word
