"""The worker's main function: takes one request from the channel and hands it to a session."""

from __future__ import annotations

from typing import NoReturn

from ..document.request import RUN, RequestError, RunRequest
from .channel import Channel, leave
from .recording import MakeRecording, make
from .session import Session


def serve(source: int, sink: int, make_recording: MakeRecording = make) -> NoReturn:
    """Answer the one request that comes from `source`, into `sink`; then end the process."""
    channel = Channel(source, sink)
    body = channel.receive()
    if body is None:
        leave(0)
    if body.get("kind") != RUN or not isinstance(body.get("crash_file"), str):
        raise RequestError(f"not a request: {sorted(body)}")
    session = Session(RunRequest.from_json(body["request"]), channel, body["crash_file"], make_recording)
    try:
        session.run()
    except BaseException as error:
        session.fault(error)
