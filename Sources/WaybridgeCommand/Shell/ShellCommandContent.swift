import Waybridge
import WaybridgeClient

/// What can be chosen on pages, by route name or URI: in an app its native code knows it.
enum ShellCommandContent {
  private static let limit = 4 << 20

  static func read(_ path: String) throws(CommandError) -> [String: [Value]] {
    let value: Value
    do {
      let file = try BoundedFile(path, limit: limit).read()
      value = try Value(json: String(decoding: file.bytes, as: UTF8.self))
    } catch {
      throw CommandError("The content \(path): \(error)")
    }
    guard let members = value.object?.members else {
      throw CommandError("The content \(path) must be an object, not \(value.kindWithArticle)")
    }
    var content: [String: [Value]] = [:]
    for member in members {
      guard let values = member.value.list else {
        throw CommandError(
          "The content \(path): \(quoted(member.name)) must be an array of what can be chosen")
      }
      content[member.name] = values
    }
    return content
  }
}
