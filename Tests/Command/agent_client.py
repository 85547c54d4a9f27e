"""An agent with the official Python SDK: does one thing with a server, and prints what it got as JSON.

Usage: agent_client.py URL TOKEN MODE ACTION [TOOL [ARGUMENTS]]. MODE is `2026-07-28`, `auto` or `legacy`.
"""

import json
import sys

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ToolsListChanged


def described(result):
    """A tool's result as JSON."""
    return {
        "isError": bool(result.is_error), "structured": result.structured_content,
        "text": " ".join(part.text for part in result.content), "meta": result.meta,
    }


async def act(client, action, tool=None, arguments="{}"):
    arguments = json.loads(arguments)
    if action == "list":
        page = await client.list_tools(cache_mode="bypass")
        return [found.name for found in page.tools]
    if action == "call":
        await client.list_tools()
        return described(await client.call_tool(tool, arguments))
    if action == "progress":
        reports = []

        async def report(progress, total, message):
            reports.append([progress, total, message])

        result = await client.call_tool(tool, arguments, progress_callback=report)
        return {"reports": reports} | described(result)
    if action == "cancel":
        started = anyio.Event()

        async def report(*_):
            started.set()

        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.call_tool(tool, arguments, progress_callback=report))
            await started.wait()
            group.cancel_scope.cancel()
        return "cancelled"
    if action == "listen":
        async with client.listen(tools_list_changed=True) as changes:
            print(json.dumps("listening"), flush=True)
            async for change in changes:
                return isinstance(change, ToolsListChanged)
    raise ValueError(action)


async def main(url, token, mode, *action):
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300)) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            print(json.dumps(client.protocol_version), flush=True)
            try:
                result = await act(client, *action)
            except MCPError as error:
                result = {"code": error.code, "message": str(error)}
            print(json.dumps(result), flush=True)


anyio.run(main, *sys.argv[1:])
