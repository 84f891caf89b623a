"""What a run writes once nobody reads it any more, as where its worker was killed."""

import os

from flows.deployments.flow_process import unread


def test_lines_are_written_as_long_as_somebody_reads_them() -> None:
    reader, writer = os.pipe()
    stream = unread(writer)
    assert (stream.fileno(), stream.isatty()) == (writer, False)
    print("proved ×2", file=stream)
    assert os.read(reader, 100).decode() == "proved ×2\n"
    os.close(reader)
    print("nobody reads this", file=stream)
    stream.close()
    os.close(writer)
