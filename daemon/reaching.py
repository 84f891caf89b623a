"""Why no daemon answers where something does: asked of the socket itself, once gRPC has failed there."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

from daemon.address import Address

WITHIN_S = 2.0
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""Of a client of HTTP/2, as gRPC's: the preface, and settings without one."""
OTHER_NAME = (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL
OF_STATUS = "it is a server of HTTP, no daemon's: name daemon.listen, not daemon.status_listen"


async def why_not(address: Address, ca: Path | None) -> str | None:
    """A sentence about what listens at the address, and what to do; None where nothing does.

    "": something does, and nothing is seen that is wrong with it.
    """
    try:
        answer = await _answer(address)
    except OSError:
        return None
    if address.tls:
        return "it speaks no TLS: use http://" if _is_plain(answer) else await _of_tls(address, ca)
    if answer is None:
        return f"it takes connections and gives no answer within {WITHIN_S:g} s: it hangs or was stopped"
    if answer.startswith(b"HTTP/1"):
        return OF_STATUS
    if address.path is None and not _is_plain(answer) and await _speaks_tls(address):
        return "it speaks TLS: use https://, and --ca for an authority of your own"
    return "" if _is_plain(answer) else "it is no daemon"


def _is_plain(answer: bytes | None) -> bool:
    """Whether it is a server of HTTP without TLS: its settings, or a status of HTTP/1."""
    return answer is not None and (answer[3:4] == b"\x04" or answer.startswith(b"HTTP/1"))


async def _answer(address: Address) -> bytes | None:
    """The first bytes to a client's greeting; None for none in time. Raises OSError where nobody listens."""
    async with asyncio.timeout(WITHIN_S):
        if address.path is not None:
            reader, writer = await asyncio.open_unix_connection(address.path)
        else:
            reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        writer.write(GREETING)
        async with asyncio.timeout(WITHIN_S):
            return await reader.read(9)
    except TimeoutError:
        return None
    except OSError:  # it let the connection go
        return b""
    finally:
        writer.transport.abort()


async def _speaks_tls(address: Address) -> bool:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        await _shake_hands(address, context)
    except ssl.SSLError as error:
        return "WRONG_VERSION_NUMBER" not in str(error)
    except OSError:
        return False
    return True


async def _of_tls(address: Address, ca: Path | None) -> str:
    """What is wrong with a handshake as gRPC makes it."""
    context = ssl.create_default_context(cafile=ca)
    context.set_alpn_protocols(["h2"])
    try:
        if await _shake_hands(address, context) != "h2":
            return OF_STATUS
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in OTHER_NAME:
            return f"its certificate is not for {address.host!r}: call it by a name that the certificate has"
        given = (
            "in the file of --ca"
            if ca is not None
            else "that this machine knows: name its own by --ca or [client]"
        )
        return f"its certificate is of no authority {given} ({error.verify_message})"
    except TimeoutError:
        return f"it takes connections and gives no answer within {WITHIN_S:g} s: it hangs or was stopped"
    except OSError as error:
        return f"its TLS ends the connection ({error.strerror or error}): it may want --cert and --key"
    return "it may want a certificate of this client: give --cert and --key"


async def _shake_hands(address: Address, context: ssl.SSLContext) -> str | None:
    """Returns the protocol that was agreed on."""
    async with asyncio.timeout(WITHIN_S):
        _, writer = await asyncio.open_connection(
            address.host, address.port, ssl=context, server_hostname=address.host
        )
    agreed: str | None = writer.get_extra_info("ssl_object").selected_alpn_protocol()
    writer.transport.abort()  # nothing is left to be said
    return agreed
