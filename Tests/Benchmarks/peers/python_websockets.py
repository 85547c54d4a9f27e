"""A bare server on Python's `websockets`, for comparison: python_websockets.py PORT. It parses each message as JSON and
responds with the result of such a task, as JSON."""

import asyncio
import json
import signal
import sys

from websockets.exceptions import ConnectionClosed
from websockets.server import serve


async def respond(connection):
    try:
        async for text in connection:
            request = json.loads(text)
            response = {"jsonrpc": "2.0", "id": request["id"], "result": request["params"]["params"]}
            await connection.send(json.dumps(response, separators=(",", ":")))
    except ConnectionClosed:
        pass


async def main(port):
    end = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set_result, None)
    async with serve(respond, "127.0.0.1", port, compression=None, ping_interval=None, backlog=2048):
        await end


asyncio.run(main(int(sys.argv[1])))
