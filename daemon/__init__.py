"""The engine of a host as a service: gRPC and HTTP in front, jobs that outlive the process behind."""
