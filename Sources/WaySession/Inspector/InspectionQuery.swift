import WayRouting
import WayValues

/// What who inspects a server asks of all of it.
enum InspectionQuery: Sendable {
  /// The sessions, in the order of their ids, behind one of them.
  case sessions(after: String?, limit: Int)
  /// One session in full, and what has happened in it of late where that is wanted.
  case session(String, withRecords: Bool)
  /// What routes there are, who serves them, and what their calls came to.
  case routes
  /// Who was not let in of late.
  case refusals
  /// The tables and policies that were in force.
  case versions
  /// Where a URI leads somebody who is told by hand.
  /// The servers that this is one of.
  case cluster
  case explain(uri: String, params: ValueObject, asker: Caller)
}
