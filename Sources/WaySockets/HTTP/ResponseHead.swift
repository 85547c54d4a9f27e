/// The first lines of an HTTP/1.1 response.
struct ResponseHead {
  var status: Int
  var fields: [(String, String)] = []

  /// - Parameters:
  ///   - contentLength: The length of the body; `nil` if it is unknown, or if there is no body.
  ///   - isChunked: Whether the body has the transfer coding chunked.
  ///   - keepsAlive: Whether another request may follow on the connection.
  func bytes(contentLength: Int?, isChunked: Bool = false, keepsAlive: Bool) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(Self.reason(status))\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    if let contentLength { text += "Content-Length: \(contentLength)\r\n" }
    if isChunked { text += "Transfer-Encoding: chunked\r\n" }
    text += keepsAlive ? "\r\n" : "Connection: close\r\n\r\n"
    return Array(text.utf8)
  }

  static func reason(_ status: Int) -> String {
    switch status {
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 411: "Length Required"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    case 507: "Insufficient Storage"
    default: status < 400 ? "OK" : "Error"
    }
  }
}
