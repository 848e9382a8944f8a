"""The socket that a server answers on."""

from __future__ import annotations

import signal
import socket

from aligner.errors import AlignerError


def listen(host: str, port: int) -> socket.socket:
    """A socket to answer HTTP on; port 0 is any that is free.  AlignerError where it cannot be used.

    From now on a client that hangs up in the middle of an answer does not end this process.
    """
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise AlignerError(f"port {port} of {host}: {_reason(error)} (give another `port`)") from error
    # Connections inherit it; without, answers after the first wait 40 ms for the client to confirm what came before.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _reason(error: OSError) -> str:
    """Why, without what the socket module adds."""
    return str(error.strerror).partition(" (")[0]
