import CWebClient
import WaySockets

/// The JavaScript client, which is part of every server.
enum EmbeddedWebClient {
  /// The top-level folder of the server's paths below which it is served.
  static let folder = "bridge"

  /// The files by path.
  static let files = EmbeddedFolder.files(of: folder)
}

/// The inspector, a page that shows the results of `admin.…`.
enum WebInspector {
  /// The top-level folder of the server's paths below which it is served.
  static let folder = "inspector"
  /// It runs only its own scripts, connects only to its own server, and no page shows it in a frame,
  /// whatever the policy of other files allows.
  static let contentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// The files by path; the page is also served for the folder.
  static let files: [String: HTTPEmbeddedFile] = {
    var files = EmbeddedFolder.files(of: folder)
    files["/\(folder)/"] = files["/\(folder)/index.html"]
    return files
  }()
}

/// The folders of `web` that are part of the program.
private enum EmbeddedFolder {
  /// The files of a folder by path.
  static func files(of folder: String) -> [String: HTTPEmbeddedFile] {
    var contents: [String: [UInt8]] = [:]
    for file in UnsafeBufferPointer(start: web_client_files(), count: web_client_file_count()) {
      let name = String(cString: file.name)
      if name.hasPrefix(folder + "/") {
        contents[name] = Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
      }
    }
    let names = contents.keys.filter { !$0.hasSuffix(".gz") }
    return Dictionary(
      uniqueKeysWithValues: names.map { name in
        let file = HTTPEmbeddedFile(
          name: name, bytes: contents[name] ?? [], gzipped: contents[name + ".gz"])
        return ("/" + name, file)
      })
  }
}
