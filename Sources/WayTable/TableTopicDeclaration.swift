import WayRouting
import WayValues

/// What a table says of one topic that the app publishes.
package struct TableTopicDeclaration: Sendable, Hashable {
  /// The whole topic, `cart.changed`.
  package let name: String
  /// A few words for people.
  package let title: String?
  /// What it tells, in a sentence or two.
  package let purpose: String?
  /// The data of its events; nil where that is not said.
  package let data: ValueSchema?
}
