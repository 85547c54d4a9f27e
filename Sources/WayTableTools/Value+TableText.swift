import WayRPC
import WayValues

extension Value {
  /// The value as JSON. A parsed document is never nested too deeply to be written.
  var text: String { (try? JSON.text(self)) ?? brief }

  /// The value as JSON for people, with invisible characters escaped.
  var visibleText: String { text.visible }
}
