"""Deployments, automations, and the worker that runs them on a host."""
