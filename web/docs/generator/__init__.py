"""What web/docs/build makes the site of: pages from Markdown, DocC, the types of JavaScript and openrpc.json."""
