/// The media type of a file, by its file name extension.
enum ContentType {
  static func of(_ name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: 0x2E) else { return "application/octet-stream" }
    return switch name[name.utf8.index(after: dot)...].lowercased() {
    case "html", "htm": "text/html; charset=utf-8"
    case "js", "mjs": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "txt": "text/plain; charset=utf-8"
    case "md": "text/markdown; charset=utf-8"
    case "csv": "text/csv; charset=utf-8"
    case "ts": "text/plain; charset=utf-8"
    case "xml": "application/xml; charset=utf-8"
    case "json", "map": "application/json; charset=utf-8"
    case "webmanifest": "application/manifest+json; charset=utf-8"
    case "svg": "image/svg+xml; charset=utf-8"
    case "wasm": "application/wasm"
    case "png": "image/png"
    case "jpg", "jpeg": "image/jpeg"
    case "gif": "image/gif"
    case "webp": "image/webp"
    case "avif": "image/avif"
    case "ico": "image/x-icon"
    case "woff": "font/woff"
    case "woff2": "font/woff2"
    case "ttf": "font/ttf"
    case "otf": "font/otf"
    case "mp3": "audio/mpeg"
    case "mp4": "video/mp4"
    case "webm": "video/webm"
    case "pdf": "application/pdf"
    default: "application/octet-stream"
    }
  }
}
