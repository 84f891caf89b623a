"""What may be written into fields of the form, so that a slip is told there and not by a run that fails.

Regular expressions as JSON schemas have them: for the browser, and for Prefect's server. Each takes nothing
as well, which is what a field is that was left out. What they let through is read again when the run begins.
"""

DUE = r"^\s*([0-9]{1,2}:[0-9]{2}|([0-9.]+\s*(ms|s|m|h|d)\s*)+|[0-9]{4}-[0-9]{2}-[0-9]{2}.*)?\s*$"
SIZE_OR_AUTO = r"^(auto|\s*[0-9.]+\s*(?![KMGTP][Ii]?b)[KkMmGgTtPp]?[Ii]?[Bb]\s*)?$"
DEVICES = r"^\s*(auto|all|none|[0-9]+(\s*,\s*[0-9]+)*)?\s*$"
ADDRESS = r"^\s*((https?://)?[^/@ ]+:[0-9]+/?|unix:(//)?/[^/].*)?\s*$"
RUN = r"^[0-9a-f-]*$"
