import CWebClient
import WaySockets

/// The JavaScript client, which every server has with it.
enum WebClient {
  /// The name at the top of a server's paths below which it is served.
  static let folder = "bridge"

  /// The files by their paths.
  static let files: [String: EmbeddedFile] = {
    var files: [String: EmbeddedFile] = [:]
    for file in UnsafeBufferPointer(start: web_client_files(), count: web_client_file_count()) {
      let name = String(cString: file.name)
      files["/\(folder)/\(name)"] = EmbeddedFile(
        name: name, bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.size)))
    }
    return files
  }()
}
