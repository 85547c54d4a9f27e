import WayRPC
import WayValues

extension Value {
  /// As JSON. A document that was read is never nested too deep to be written.
  var text: String { (try? JSON.text(self)) ?? brief }

  /// As JSON for people, without what is not seen.
  var visibleText: String { text.visible }
}
