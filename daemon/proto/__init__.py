"""Generated from the .proto files by `python -m daemon.proto.generate`; do not edit."""
