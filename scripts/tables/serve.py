"""What a service answers, how fast, and in what memory."""

import asyncio
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from peers import ALIGNER

from corpora.readers import open_corpus
from tables import DATA, ROOT, markdown, table

LUA = """
local bodies, n = {}, 0
for line in io.lines(os.getenv("BODIES")) do bodies[#bodies + 1] = line end
wrk.method, wrk.headers["content-type"] = "POST", "application/json"
function request()
  n = n % #bodies + 1
  return wrk.format(nil, "/align", nil, bodies[n])
end
"""

HEAD = b"POST /align HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"

Row = tuple[float, float, float, float]  # requests a second, p50 and p99 in ms, share of refusals


class Load:
    """A service as a process, and requests of one pair and of a hundred."""

    def __init__(self, model: Path, pairs: Sequence[dict[str, str]], folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen([*ALIGNER, "serve", "-m", model, "--port", "0"], stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        while (found := re.search(rb"serving .* on (http://\S+)", line := self.process.stderr.readline())) is None:
            assert line, "the service has ended"
        self.address = found[1].decode()
        self.bodies = {
            1: [json.dumps(pair) for pair in pairs],
            100: [json.dumps({"pairs": pairs[n : n + 100]}) for n in range(0, len(pairs), 100)],
        }
        for size, bodies in self.bodies.items():
            (folder / f"bodies{size}").write_text("".join(f"{body}\n" for body in bodies))
        (folder / "post.lua").write_text(LUA)

    def memory(self) -> float:
        """MiB in use."""
        with urllib.request.urlopen(f"{self.address}/metrics") as answer:
            return int(re.search(rb"resident_memory_bytes (\d+)", answer.read())[1]) / 2**20  # type: ignore[index]

    def at_once(self, size: int, connections: int, seconds: float) -> Row:
        """By wrk, as fast as answers come."""
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "--latency", "-s", self.folder / "post.lua"]
        environment = {**os.environ, "BODIES": str(self.folder / f"bodies{size}")}
        told = subprocess.run([*command, self.address], env=environment, capture_output=True, text=True, check=True)
        assert not re.search("(connect|read|write) [1-9]", told.stdout), told.stdout
        units, found = {"us": 1e-3, "ms": 1.0, "s": 1e3}, partial(re.findall, string=told.stdout)
        times = [float(number) * units[unit] for number, unit in found(r"(?:50|99)%\s+([\d.]+)(us|ms|s)")]
        (requests,), (rate,) = found(r"(\d+) requests in"), found(r"Requests/sec: +([\d.]+)")
        refused = sum(map(int, found(r"Non-2xx or 3xx responses: (\d+)")))
        return float(rate), *times, refused / int(requests)

    async def at_rate(self, size: int, rate: float, seconds: float) -> Row:
        """One request every 1 / rate seconds."""
        host, port = self.address.removeprefix("http://").split(":")
        free: deque[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = deque()
        times, refused = [], 0

        async def ask(body: bytes, due: float) -> None:
            nonlocal refused
            reader, writer = free.popleft() if free else await asyncio.open_connection(host, port)
            writer.write(HEAD % len(body) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"content-length: (\d+)", head)[1]))  # type: ignore[index]
            free.append((reader, writer))
            times.append(1e3 * (time.perf_counter() - due))
            refused += head.split()[1] == b"503"

        async with asyncio.TaskGroup() as tasks:
            began = time.perf_counter()
            for n, body in enumerate(islice(cycle(self.bodies[size]), int(rate * seconds))):
                due = began + n / rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                tasks.create_task(ask(body.encode(), due))
        took = time.perf_counter() - began
        for _, writer in free:
            writer.close()
        ordered = sorted(times)
        p50, p99 = (ordered[int(len(ordered) * share)] for share in (0.5, 0.99))
        return len(times) / took, p50, p99, refused / len(times)


class Crowd(threading.Thread):
    """Clients that never end a request: of a head, of a body, or that take no answers; each anew when it is closed."""

    def __init__(self, address: str, each: int) -> None:
        super().__init__(daemon=True)
        host, port = address.removeprefix("http://").split(":")
        self._at, self._each = (host, int(port)), each

    def run(self) -> None:
        asyncio.run(self._all())

    async def _all(self) -> None:
        kinds = (
            (b"POST /align HTTP/1.1\r\nho", False),
            (HEAD % 9999, True),
            (b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 200, False),
        )
        await asyncio.gather(*(self._client(*kind) for kind in kinds for _ in range(self._each)))

    async def _client(self, start: bytes, goes_on: bool) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(*self._at, limit=1)  # takes no more than fits on the way
                writer.write(start)
                for _ in range(40):  # until it has surely been closed, which who takes nothing does not see
                    await asyncio.sleep(1.0)
                    if writer.is_closing() or reader.at_eof():
                        break
                    if goes_on:
                        writer.write(b" ")
                        await writer.drain()
                writer.close()


def train(data: Path, folder: Path) -> Path:
    """A model of 10,000 pairs of the Hansards."""
    texts = [*islice(open_corpus(data / "hansards" / "train").texts(), 10_000)]
    for side in (1, 2):
        (folder / f"text.{side}").write_bytes(b"".join(text[side] + b"\n" for text in texts))
    gold = ["--gold", data / "hansards" / "gold-train", "-q"]
    subprocess.run([*ALIGNER, "train", folder / "text.1", folder / "text.2", "-m", folder / "M", *gold], check=True)
    return folder / "M"


@table("serve")
def serve(
    data: Path = DATA, seconds: float = 20.0, requests: int = 100_000, model: Path | None = None, crowd: int = 25
) -> str:
    """What a service answers, how fast, and in what memory: pairs of the Hansards, by a model of 10,000 of them.

    Needs Debian's package wrk and the extra web. At a constant rate requests are sent when they are due, whether others
    are answered or not, and their time counts from then; wrk's connections each send the next request at the answer.
    Meanwhile there are clients that send half a head, or a body at a byte a second, or take no answers.
    seconds: of each row.  requests: of the last row.  model: to serve.  crowd: clients of each kind that end no
    request.
    """
    os.environ["PYTHONPATH"] = str(ROOT)
    folder, rows = Path(tempfile.mkdtemp()), []
    # Sentences of the labelled sets, which the model has not seen, and of the text it was made of.
    texts = [
        line for name in ("gold-dev", "train") for line in islice(open_corpus(data / "hansards" / name).texts(), 2000)
    ]
    pairs = [{"source": source.decode(), "target": target.decode()} for _, source, target in texts[:2000]]
    load = Load(model or train(data, folder), pairs, folder)

    def row(what: str, size: int, found: Row) -> None:
        rate, p50, p99, refused = found
        answered = f"{rate:,.0f}", f"{rate * size * (1 - refused):,.0f}"
        rows.append([what, size, *answered, f"{p50:.1f}", f"{p99:.1f}", f"{refused:.0%}", f"{load.memory():.0f}"])
        print(*rows[-1], flush=True)

    try:
        Crowd(load.address, crowd).start()
        load.at_once(1, 4, 3)  # warm
        for rate in (100, 1000):
            row(f"{rate:,} a second", 1, asyncio.run(load.at_rate(1, rate, seconds)))
        row("4 connections", 100, load.at_once(100, 4, seconds))
        row("1,000 connections", 1, load.at_once(1, 1000, seconds))
        row("16 connections", 1, first := load.at_once(1, 16, seconds))
        if requests > first[0] * seconds:
            row(f"16 connections, {requests:,} requests later", 1, load.at_once(1, 16, requests / first[0]))
    finally:
        load.process.terminate()
        load.process.wait()
    header = ["load", "pairs a request", "requests/s", "pairs/s", "p50, ms", "p99, ms", "refused (503)", "MiB in use"]
    return markdown(header, rows)
