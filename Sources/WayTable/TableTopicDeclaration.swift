import WayRouting
import WayValues

/// The declaration of a topic that the app publishes.
package struct TableTopicDeclaration: Sendable, Hashable {
  /// The whole topic, such as `cart.changed`.
  package let name: String
  /// A short title for people.
  package let title: String?
  /// A description of its events, in a sentence or two.
  package let purpose: String?
  /// The data of its events; `nil` if undeclared.
  package let data: ValueSchema?
}
