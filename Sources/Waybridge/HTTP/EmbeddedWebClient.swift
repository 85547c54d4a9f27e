import CWebClient
import WaySockets

/// The JavaScript client, which every server has with it.
enum EmbeddedWebClient {
  /// The name at the top of a server's paths below which it is served.
  static let folder = "bridge"

  /// The files by their paths.
  static let files = WebFolder.files(of: folder)
}

/// The inspector, a page that shows what `admin.…` tells.
enum WebInspector {
  /// The name at the top of a server's paths below which it is served.
  static let folder = "inspector"

  /// The files by their paths; the page is that of the folder, too.
  static let files: [String: HTTPEmbeddedFile] = {
    var files = WebFolder.files(of: folder)
    files["/\(folder)/"] = files["/\(folder)/index.html"]
    return files
  }()
}

/// The folders of `web` that are part of the program.
private enum WebFolder {
  /// The files of one by their paths.
  static func files(of folder: String) -> [String: HTTPEmbeddedFile] {
    var files: [String: HTTPEmbeddedFile] = [:]
    for file in UnsafeBufferPointer(start: web_client_files(), count: web_client_file_count()) {
      let name = String(cString: file.name)
      guard name.hasPrefix(folder + "/") else { continue }
      files["/" + name] = HTTPEmbeddedFile(
        name: name, bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.size)))
    }
    return files
  }
}
